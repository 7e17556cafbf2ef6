import { assertEquals } from "@std/assert";
import { grown, grownRing } from "../../lib/sim/grown.ts";

Deno.test("grown keeps the old entries and what the new array holds behind them", () => {
  assertEquals(
    [...grown(new Int32Array(4).fill(-1), new Int32Array([7, 8]))],
    [7, 8, -1, -1],
  );
});

Deno.test("grownRing turns a full ring so that its oldest entry is the first", () => {
  const ring = grownRing(new Int32Array([3, 4, 1, 2]), 2);
  assertEquals([ring instanceof Int32Array, ...ring], [
    true,
    ...[1, 2, 3, 4, 0, 0, 0, 0],
  ]);
  const whole = grownRing(new Float64Array([0.5, 1.5]), 0);
  assertEquals([whole instanceof Float64Array, ...whole], [
    true,
    ...[0.5, 1.5, 0, 0],
  ]);
});
