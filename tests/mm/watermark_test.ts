import { assert, assertEquals, assertThrows } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import {
  ALLOC_HARDER,
  ALLOC_HIGH,
  gfpToAllocFlags,
  minFreeKbytes,
  zoneWatermarkOk,
  zoneWatermarks,
} from "../../lib/mm/watermark.ts";
import { kernel } from "../../lib/releases/mod.ts";

const FOUR_GIB = 1_048_576;
const FRAGMENTED = Int32Array.of(3000, 500, 200, 10, 0, 0, 0, 0, 0, 0, 0);
const FREE = 4880;

Deno.test("min_free_kbytes is four times the root of the memory in KiB", () => {
  const k = kernel("6.8");
  const mib = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
  assertEquals(
    mib.map((m) => minFreeKbytes(k, m * 1024)),
    [512, 724, 1024, 1448, 2048, 2896, 4096, 5792, 8192, 11585, 16384],
  );
});

Deno.test("min_free_kbytes is clamped, four times higher in later releases", () => {
  const tib = 1024 ** 3;
  assertEquals(minFreeKbytes(kernel("3.12"), 100), 128);
  assertEquals(minFreeKbytes(kernel("4.3"), tib), 65_536);
  assertEquals(minFreeKbytes(kernel("6.8"), 16 * tib), 262_144);
  assertThrows(
    () => minFreeKbytes(kernel("6.8"), -1),
    RangeError,
    "lowmemKbytes -1",
  );
  assertThrows(() => minFreeKbytes(kernel("6.8"), 0.5), RangeError);
  assertThrows(
    () => zoneWatermarks(kernel("6.8"), NaN),
    RangeError,
    "managed NaN",
  );
  assertThrows(
    () => zoneWatermarks(kernel("6.8"), 10, 41),
    RangeError,
    "minFree 41",
  );
});

Deno.test("the marks of 4 GiB: a quarter of min apart, or a thousandth of the zone", () => {
  assertEquals(zoneWatermarks(kernel("3.12"), FOUR_GIB), {
    min: 2048,
    low: 2560,
    high: 3072,
  });
  assertEquals(zoneWatermarks(kernel("4.3"), FOUR_GIB), {
    min: 2048,
    low: 2560,
    high: 3072,
  });
  assertEquals(zoneWatermarks(kernel("6.8"), FOUR_GIB), {
    min: 2048,
    low: 3096,
    high: 4144,
  });
});

Deno.test("min_free_kbytes is in KiB, the marks in pages of any size", () => {
  const pages = (pageSize: number) =>
    zoneWatermarks(kernel("6.8", { pageSize }), FOUR_GIB * 4096 / pageSize).min;
  assertEquals([4096, 16384, 65536].map(pages), [2048, 512, 128]);
  assertEquals(zoneWatermarks(kernel("6.8"), FOUR_GIB, 65_536).min, 16_384);
});

Deno.test("a fragmented zone: 4.3 refuses order 3 at the low mark, and at the min mark with GFP_ATOMIC", () => {
  assert(!zoneWatermarkOk("per-order", 3, 2560, 0, FREE, FRAGMENTED));
  assert(!zoneWatermarkOk("per-order", 3, 2048, ALLOC_HIGH, FREE, FRAGMENTED));
  // 73 pages are left above order 2: more than an eighth of any mark up to 583.
  assert(zoneWatermarkOk("per-order", 3, 583, 0, FREE, FRAGMENTED));
  assert(!zoneWatermarkOk("per-order", 3, 584, 0, FREE, FRAGMENTED));
});

Deno.test("a fragmented zone: 6.8 lets order 3 pass, and order 4 not, for want of a block", () => {
  assert(zoneWatermarkOk("order-0", 3, 3096, 0, FREE, FRAGMENTED));
  assert(!zoneWatermarkOk("order-0", 4, 3096, 0, FREE, FRAGMENTED));
  assert(!zoneWatermarkOk("order-0", 3, 4873, 0, FREE, FRAGMENTED));
  assert(zoneWatermarkOk("order-0", 3, 4872, 0, FREE, FRAGMENTED));
});

Deno.test("GFP_ATOMIC may use five eighths of min in either form", () => {
  for (
    const [rule, name] of [["per-order", "4.3"], ["order-0", "6.8"]] as const
  ) {
    const flags = gfpToAllocFlags(
      Gfp.GFP_ATOMIC,
      kernel(name).page.atomicByNoWait,
    );
    assertEquals(flags, ALLOC_HIGH | ALLOC_HARDER);
    const ok = (free: number, rights: number) =>
      zoneWatermarkOk(rule, 0, 2048, rights, free, new Int32Array(11));
    assert(!ok(2048, 0) && ok(2049, 0));
    assert(!ok(1024, ALLOC_HIGH) && ok(1025, ALLOC_HIGH));
    assert(!ok(768, flags) && ok(769, flags));
  }
});

Deno.test("not to sleep is a right by itself up to 4.3 only", () => {
  const { GFP_KERNEL, GFP_ATOMIC, __GFP_WAIT, __GFP_KSWAPD_RECLAIM } = Gfp;
  const noWait = GFP_KERNEL & ~__GFP_WAIT;
  assertEquals(
    ["3.12", "4.3", "6.1", "6.18"].map((name) =>
      gfpToAllocFlags(noWait, kernel(name).page.atomicByNoWait)
    ),
    [ALLOC_HARDER, ALLOC_HARDER, 0, 0],
  );
  assertEquals(gfpToAllocFlags(GFP_KERNEL, true), 0);
  // __GFP_NO_KSWAPD, as transparent huge pages used it.
  assertEquals(gfpToAllocFlags(noWait & ~__GFP_KSWAPD_RECLAIM, true), 0);
  for (const rule of [true, false]) {
    assertEquals(
      gfpToAllocFlags(GFP_ATOMIC | Gfp.__GFP_NOMEMALLOC, rule),
      ALLOC_HIGH,
    );
    assertEquals(
      gfpToAllocFlags(GFP_KERNEL | Gfp.__GFP_HIGH, rule),
      ALLOC_HIGH,
    );
  }
});
