import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { billTable, OPERATIONS, price } from "../../lib/sim/cpu.ts";
import { cpu, cpus } from "../../lib/sim/cpus.ts";

const i7 = cpu("i7-4790K");

Deno.test("prices stand as the benchmarks have them: cycles at 4 GHz", () => {
  const cycles = (operation: keyof typeof OPERATIONS): number =>
    price([{ operation, count: 1 }], i7).cycles;
  assertAlmostEquals(cycles("slubFreeSlow"), 71.2, 1e-9);
  assertAlmostEquals(cycles("slubAllocFast"), 25.2, 1e-9);
  assertAlmostEquals(cycles("slabAlloc"), 48, 1e-9);
});

Deno.test("the pair of bulk calls is the line of series C", () => {
  const pair = (size: number): number =>
    price([
      { operation: "slubBulkAlloc", count: 1, size },
      { operation: "slubBulkFree", count: 1, size },
    ], i7).ns;
  const line = (n: number): number =>
    n <= 4
      ? 9.8 + 2.6 * n
      : n <= 16
      ? 20.2 + 4.31 * (n - 4)
      : 71.92 + 4.55 * (n - 16);
  for (const n of [1, 2, 4, 5, 8, 16, 17, 32, 64, 250]) {
    assertAlmostEquals(pair(n), line(n), 1e-9);
  }
});

Deno.test("a clock changes ns and not cycles; a price of one's own replaces one", () => {
  const work = [{ operation: "slubDrain" as const, count: 2 }];
  assertEquals(price(work, i7).ns, 180);
  const fast = cpu("i7-4790K", { ghz: 8 });
  assertEquals([price(work, fast).ns, price(work, fast).cycles], [90, 720]);
  const free = cpu("i7-4790K", {
    prices: { slubDrain: { cycles: 0, low: 1, high: 1, source: "what if" } },
  });
  assertEquals(price(work, free).ns, 0);
});

Deno.test("the interval holds the price, and per divides all of it", () => {
  const work = [
    { operation: "slubDrain" as const, count: 3 },
    { operation: "napiPush" as const, count: 10 },
  ];
  const bill = price(work, i7, 10);
  assertEquals(bill.rows.map(({ count }) => count), [0.3, 1]);
  assertAlmostEquals(bill.ns, 28, 1e-9);
  assertAlmostEquals(bill.interval[0], 0.5, 1e-9);
  assertAlmostEquals(bill.interval[1], 28.5, 1e-9);
});

Deno.test("every price names its source and a range around itself", () => {
  for (const name of cpus) {
    for (const [operation, entry] of Object.entries(cpu(name).prices)) {
      assert(operation in OPERATIONS, operation);
      assert(entry.source.length > 0, `${name} ${operation}`);
      assert(entry.low <= 1 && entry.high >= 1, `${name} ${operation}`);
    }
  }
});

Deno.test("a bill is a table with its sum", () => {
  const bill = price([{ operation: "slabRefill", count: 2 }], i7);
  const { rows, columns } = billTable(bill, "bill", "A bill");
  assertEquals(columns.length, 5);
  assertEquals(rows.map(({ label }) => label), ["SLAB refill", "all"]);
  assertEquals(rows[1]!.cells[2]!.simulated, 90);
});

Deno.test("bad arguments name themselves", () => {
  assertThrows(() => cpu("Z80"), RangeError, 'cpu "Z80"');
  assertThrows(() => cpu("i7-4790K", { ghz: 0 }), RangeError, "ghz 0");
  const one = [{ operation: "slabFree" as const, count: 1 }];
  assertThrows(() => price(one, cpu("E5-2695")), RangeError, "slabFree");
  assertThrows(() => price(one, i7, 0), RangeError, "per 0");
  assertThrows(
    () => price([{ operation: "slabFree", count: -1 }], i7),
    RangeError,
    "count -1",
  );
});
