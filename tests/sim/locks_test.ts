import { assert, assertEquals, assertThrows } from "@std/assert";
import { lockBound, lockHold, pageCost } from "../../lib/sim/locks.ts";

Deno.test("page costs are those measured, orders 1 and 2 under several CPUs in between", () => {
  assertEquals([1, 8].map((n) => pageCost(0, n).cycles), [274, 620]);
  assertEquals([1, 2, 8].map((n) => pageCost(3, n).cycles), [524, 2131, 9364]);
  assertEquals(pageCost(5).cycles, 910);
  const between = pageCost(1, 4);
  assertEquals(between.known, "interpolated");
  assert(between.cycles > 288 && between.cycles < 4520);
});

Deno.test("a contended lock is held about as long whatever the number of CPUs", () => {
  const { cycles, low, high } = lockHold();
  assert(low > 0.85 * cycles && high < 1.15 * cycles);
  // Two takings a pair: what the measurement at 8 CPUs was made of.
  const bound = lockBound(2, 8);
  assert(bound.low <= 9364 && bound.high >= 9364);
  assertEquals(lockBound(2, 1).cycles, 0);
});

Deno.test("bad arguments name themselves", () => {
  assertThrows(() => pageCost(4, 2), RangeError, "order 4");
  assertThrows(() => pageCost(0, 9), RangeError, "cpus 9");
  assertThrows(() => pageCost(-1), RangeError, "order -1");
  assertThrows(() => lockBound(-1, 2), RangeError, "takings -1");
  assertThrows(() => lockBound(1, 0), RangeError, "cpus 0");
});
