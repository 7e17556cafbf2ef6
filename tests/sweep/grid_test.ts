import { assertEquals, assertThrows } from "@std/assert";
import { gridOf, type SweepOver } from "../../lib/sweep/grid.ts";

Deno.test("axes make every combination, the last one fastest", () => {
  const { axes, cells } = gridOf({ a: ["x", "y"], b: [1, 2, 3], c: [true] });
  assertEquals(axes, ["a", "b", "c"]);
  assertEquals(
    cells.map(({ a, b, c }) => `${a}${b}${c}`),
    ["x1true", "x2true", "x3true", "y1true", "y2true", "y3true"],
  );
});

Deno.test("cells can be listed; what one lacks is null", () => {
  const { axes, cells } = gridOf([{ a: 1 }, { b: "x", a: -0 }]);
  assertEquals(axes, ["a", "b"]);
  assertEquals(cells, [{ a: 1, b: null }, { a: 0, b: "x" }]);
  assertEquals(Object.is(cells[1]!.a, 0), true);
});

Deno.test("what no column holds is refused, with its place", () => {
  const cases: [unknown, string][] = [
    [null, "over is null"],
    [[], "no cells"],
    [{}, "0 cells"],
    [{ a: [] }, "0 cells"],
    [{ a: 5 }, "over.a is 5"],
    [{ a: [1, { deep: 1 }] }, "over.a[1]"],
    [{ a: [NaN] }, "over.a[0] is NaN"],
    [[{ a: 1 }, 3], "over[1] is 3"],
    [[{ a: Infinity }], "over[0].a is Infinity"],
    [{ error: [1] }, '"error"'],
    [{ 1: [1] }, '"1"'],
    [{ a: new Array(4000).fill(1), b: new Array(4000).fill(1) }, "16000000"],
  ];
  for (const [over, message] of cases) {
    assertThrows(() => gridOf(over as SweepOver), Error, message);
  }
});
