import { assertEquals, assertThrows } from "@std/assert";
import {
  HIGH_ORDER_BITS,
  highOrderAttempt,
  type Shortage,
} from "../../lib/experiments/high_order_attempt.ts";
import { Gfp } from "../../lib/mm/gfp.ts";
import { kernel } from "../../lib/releases/mod.ts";

const { GFP_KERNEL, GFP_ATOMIC, __GFP_DIRECT_RECLAIM, __GFP_MEMALLOC } = Gfp;
const attempt = (gfp: number, shortage: Shortage, order?: number) =>
  highOrderAttempt({ kernel: kernel("6.8"), gfp, shortage, order });

Deno.test("direct reclaim: one pass with __GFP_NORETRY, none where it is masked off", () => {
  const gfp = GFP_KERNEL | HIGH_ORDER_BITS;
  const passes = [
    gfp & ~__GFP_DIRECT_RECLAIM,
    gfp,
    gfp & ~Gfp.__GFP_NORETRY,
  ].map((bits) => attempt(bits, "fragmented"));
  assertEquals(passes.map((r) => r.allocstall), [0, 1, 16]);
  assertEquals(passes.map((r) => r.oomKill), [0, 0, 1]);
  // Masked or not, kswapd is woken, and nobody gets a block.
  assertEquals(passes.map((r) => r.kswapdWakeups), [1, 1, 1]);
  assertEquals(passes.map((r) => r.got), [false, false, false]);
});

Deno.test("__GFP_NOWARN keeps the log clean", () => {
  const gfp = GFP_ATOMIC | HIGH_ORDER_BITS;
  assertEquals(attempt(gfp, "fragmented").warnings, 0);
  assertEquals(attempt(gfp & ~Gfp.__GFP_NOWARN, "fragmented").warnings, 1);
});

Deno.test("__GFP_NOMEMALLOC keeps a block of 8 pages out of the reserve", () => {
  const gfp = GFP_ATOMIC | __GFP_MEMALLOC | HIGH_ORDER_BITS;
  const [with_, without] = [gfp, gfp & ~Gfp.__GFP_NOMEMALLOC].map((bits) =>
    attempt(bits, "reserve")
  );
  assertEquals([with_!.got, with_!.reservePages], [false, 0]);
  assertEquals([without!.got, without!.reservePages], [true, 8]);
  // Without __GFP_MEMALLOC it changes nothing: vhost_net's case.
  assertEquals(
    attempt(GFP_KERNEL | HIGH_ORDER_BITS, "reserve"),
    attempt((GFP_KERNEL | HIGH_ORDER_BITS) & ~Gfp.__GFP_NOMEMALLOC, "reserve"),
  );
});

Deno.test("bad options are named", () => {
  assertThrows(
    () => attempt(GFP_KERNEL, "none" as Shortage),
    RangeError,
    'shortage "none"',
  );
  assertThrows(() => attempt(GFP_KERNEL, "reserve", 0), RangeError, "order 0");
  assertThrows(() => attempt(1.5, "reserve"), RangeError, "gfp 1.5");
});
