import { assertEquals, assertThrows } from "@std/assert";
import { buffersPerBlock } from "../../lib/experiments/page_frag_blocks.ts";
import {
  skbPageFragRefillV1,
  skbPageFragRefillV2,
  skbPageFragRefillV3,
} from "../../lib/patches/skb_page_frag_refill.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("net-next-2013-10");
const v1 = base.am(skbPageFragRefillV1);
const v2 = base.am(skbPageFragRefillV2);
const v3 = base.am(skbPageFragRefillV3);

for (
  const [size, first, later] of [
    [2048, 15, 16],
    [4096, 7, 8],
    [32, 1023, 1024],
    [1536, 21, 21],
  ] as const
) {
  Deno.test(`${size} bytes: ${first} from a block in version 1, ${later} in version 2 and since`, () => {
    assertEquals(buffersPerBlock({ kernel: v1, size }).count, first);
    for (const k of [v2, v3, kernel("4.3"), kernel("6.18")]) {
      assertEquals(buffersPerBlock({ kernel: k, size }).count, later);
    }
  });
}

Deno.test("offsets, lengths and the rest are those of the drawing", () => {
  const { buffers, blockSize, unused } = buffersPerBlock({
    kernel: v1,
    size: 2048,
  });
  assertEquals(blockSize, 32768);
  assertEquals(
    buffers,
    Array.from({ length: 15 }, (_, i) => ({ offset: i * 2048, size: 2048 })),
  );
  assertEquals(unused, 2048);
});

Deno.test("before the thread the last buffer is what is left", () => {
  const { count, buffers, unused } = buffersPerBlock({
    kernel: base,
    size: 1536,
  });
  assertEquals([count, unused], [21, 0]);
  assertEquals(buffers.at(-1), { offset: 32256, size: 512 });
});

Deno.test("smaller blocks: on a single page version 1 wastes the second half", () => {
  assertEquals(buffersPerBlock({ kernel: v1, size: 2048, order: 0 }).count, 1);
  assertEquals(buffersPerBlock({ kernel: v2, size: 2048, order: 0 }).count, 2);
  assertEquals(buffersPerBlock({ kernel: v1, size: 4096, order: 0 }).count, 1);
  assertEquals(
    buffersPerBlock({ kernel: v2, size: 2048, order: 1 }).blockSize,
    8192,
  );
  assertEquals(
    buffersPerBlock({ kernel: v2, size: 2048, order: undefined }).count,
    16,
  );
});

Deno.test("bad arguments name themselves", () => {
  for (const size of [0, -1, 1.5, NaN, 4097]) {
    assertThrows(
      () => buffersPerBlock({ kernel: v2, size }),
      RangeError,
      "size",
    );
  }
  for (const order of [-1, 6, 0.5, NaN]) {
    assertThrows(
      () => buffersPerBlock({ kernel: v2, size: 64, order }),
      RangeError,
      "order",
    );
  }
});
