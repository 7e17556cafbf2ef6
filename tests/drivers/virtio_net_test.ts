import { assertEquals, assertThrows } from "@std/assert";
import type { Kernel } from "../../lib/kernel.ts";
import { kernel } from "../../lib/releases/mod.ts";
import {
  ewmaAdd,
  mergeableBufferLength,
  mergeableMinBufLen,
  virtioBig,
  virtioMergeable,
  type VirtioMergeableOptions,
  virtioOverlong,
  virtioSmall,
} from "../../lib/drivers/virtio_net.ts";
import { skbPageFragRefillV3 } from "../../lib/patches/skb_page_frag_refill.ts";
import {
  virtioCoalesceRxFrags,
  virtioMtuBuffers,
} from "../../lib/patches/virtio_net_buffers.ts";

/** Buffers of 1,536 bytes as a ring starts: 20 in a block and one that gets the rest. */
const FRESH = [...Array<number>(20).fill(1536), 2048];
const TWO_BLOCKS = [...FRESH, ...FRESH];
/** November 2013: buffers without room for the header. */
const FIRST_FRAGS = kernel("net-next-2013-10").am(
  skbPageFragRefillV3,
  virtioMtuBuffers,
  virtioCoalesceRxFrags,
);
const GSO_FRAME = 65226;

function truesize(
  k: Kernel,
  frame: number,
  buffers?: number | readonly number[],
  options?: VirtioMergeableOptions,
): number | undefined {
  return virtioMergeable(k, frame, buffers, options)?.truesize;
}

Deno.test("virtioMergeable charges an MTU frame by the strategy of its time", () => {
  assertEquals(truesize(kernel("3.12"), 1514), 4864);
  assertEquals(truesize(FIRST_FRAGS, 1514), 3804);
  assertEquals(truesize(kernel("3.13"), 1514), 2304);
  assertEquals(truesize(kernel("4.3"), 1514, 4096), 4864);
  assertEquals(truesize(kernel("4.3"), 1514, 1536), 2304);
  assertEquals(truesize(kernel("6.8"), 1514, 1536), 2816);
  assertEquals(truesize(kernel("6.8"), 1514, 2048), 2304);
  assertEquals(truesize(kernel("6.8"), 1514, 4096), 4352);
});

Deno.test("virtioMergeable charges a 64 KiB frame, fragment by fragment", () => {
  assertEquals(truesize(kernel("3.12"), GSO_FRAME), 66304);
  assertEquals(truesize(FIRST_FRAGS, GSO_FRAME), 67578);
  assertEquals(truesize(kernel("3.13"), GSO_FRAME), 68352);
  assertEquals(truesize(kernel("4.3"), GSO_FRAME, 4096), 66304);
  assertEquals(
    truesize(kernel("4.3"), GSO_FRAME, TWO_BLOCKS, { nominal: 1536 }),
    67542,
  );
  assertEquals(truesize(kernel("6.8"), GSO_FRAME, TWO_BLOCKS), 68608);
  assertEquals(truesize(kernel("6.8"), GSO_FRAME, 4096), 66816);
  assertEquals(
    virtioMergeable(kernel("6.8"), GSO_FRAME, 4096)!.frags.length,
    16,
  );
});

Deno.test("virtioMergeable merges adjacent buffers, which saves the chained skbs", () => {
  const adjacent = true;
  assertEquals(
    truesize(FIRST_FRAGS, GSO_FRAME, 1518, { adjacent }),
    66042,
  );
  assertEquals(
    truesize(kernel("3.13"), GSO_FRAME, 1536, { adjacent }),
    66816,
  );
  const m3 = virtioMergeable(kernel("4.3"), GSO_FRAME, TWO_BLOCKS, {
    adjacent,
    nominal: 1536,
  })!;
  assertEquals([m3.truesize, m3.frags.length, m3.fragList.length], [
    66006,
    2,
    0,
  ]);
  const m5 = virtioMergeable(kernel("6.8"), GSO_FRAME, TWO_BLOCKS, {
    adjacent,
  })!;
  assertEquals([m5.truesize, m5.frags.length], [66816, 2]);
  assertEquals(m5.len, GSO_FRAME);
  // 3.12 has no such merging.
  assertEquals(truesize(kernel("3.12"), GSO_FRAME, 4096, { adjacent }), 66304);
  // In the middle of a block the merging ends with it.
  const late = virtioMergeable(kernel("6.8"), GSO_FRAME, 4096, {
    adjacent,
    blockOffset: 28672,
  })!;
  assertEquals(late.frags.map((frag) => frag.room), [4096, 32768, 28672]);
});

Deno.test("virtioMergeable chains skbs after MAX_SKB_FRAGS, whole pages are dropped instead", () => {
  const skb = virtioMergeable(kernel("6.8"), GSO_FRAME, TWO_BLOCKS)!;
  assertEquals(skb.frags.length, 17);
  assertEquals(skb.fragList.map((next) => next.frags.length), [17, 8]);
  assertEquals(skb.len, GSO_FRAME);
  assertEquals(
    skb.headlen + skb.frags.reduce((sum, frag) => sum + frag.size, 0) +
      skb.fragList.reduce((sum, next) => sum + next.len, 0),
    GSO_FRAME,
  );
  const most = 17 * 4096 - 12;
  assertEquals(truesize(kernel("3.12"), most), 768 + 17 * 4096);
  assertEquals(truesize(kernel("3.12"), most + 1), undefined);
  assertEquals(truesize(kernel("4.3"), most + 1, 4096), 768 * 2 + 18 * 4096);
});

Deno.test("virtioMergeable copies, wraps or keeps at the right byte", () => {
  const k = kernel("6.1");
  assertEquals([128, 129].map((n) => truesize(k, n, 1536)), [1280, 1792]);
  // 320 bytes of tailroom are enough for the shared info, 319 are not.
  assertEquals([1204, 1205].map((n) => truesize(k, n, 1536)), [1792, 2816]);
  const kept = virtioMergeable(k, 1514, 1536)!;
  assertEquals([kept.headlen, kept.frags[0]!.size], [14, 1500]);
  // What fits the small head's tailroom is copied whole where no shared info fits the buffer.
  assertEquals([640, 641].map((n) => truesize(k, n, 700)), [1280, 1980]);
  const old = virtioMergeable(kernel("4.3"), 1514, 1536)!;
  assertEquals([old.headlen, old.frags[0]!.size], [128, 1386]);
  assertEquals([128, 129].map((n) => truesize(kernel("4.3"), n, 1536)), [
    768,
    2304,
  ]);
  assertEquals(truesize(k, 13), undefined);
  assertEquals(truesize(k, 14), 1280);
});

Deno.test("virtioMergeable up to 4.12 charges the hole only where it is filled", () => {
  const nominal = 1536;
  assertEquals(truesize(kernel("4.3"), 1524, 2048, { nominal }), 2304);
  assertEquals(truesize(kernel("4.3"), 2000, 2048, { nominal }), 768 + 2012);
});

Deno.test("a device that reports 5,000 bytes in a buffer of 1,536: cut, charged, dropped", () => {
  const of = (name: string, reported = 5000, noted?: number) => {
    const skb = virtioOverlong(kernel(name), reported, noted);
    return skb === null ? null : [skb.truesize, skb.len];
  };
  assertEquals(of("3.13"), [768 + 1536, 1524]);
  assertEquals(of("3.14"), [768 + 5000, 4988]);
  assertEquals(of("4.3"), [768 + 5000, 4988]);
  assertEquals([of("5.12"), of("6.8"), of("6.18")], [null, null, null]);
  // What fits is no fault.
  assertEquals(of("6.8", 1536), [2816, 1524]);
  assertEquals(of("6.8", 1537), null);
  assertEquals(of("6.8", 4096, 4096)![1], 4084);
  assertEquals(of("3.12", 5000), [4864, 4084]);
  for (const bad of [25, 65537, NaN]) {
    assertThrows(
      () => virtioOverlong(kernel("6.8"), bad),
      RangeError,
      "reported",
    );
    assertThrows(
      () => virtioOverlong(kernel("6.8"), 5000, bad),
      RangeError,
      "noted",
    );
  }
});

Deno.test("virtioBig keeps a chain of pages", () => {
  assertEquals(virtioBig(kernel("4.3"), 1514)!.truesize, 4864);
  assertEquals(virtioBig(kernel("4.3"), 128)!.truesize, 768);
  assertEquals(virtioBig(kernel("4.3"), GSO_FRAME)!.truesize, 66304);
  assertEquals(virtioBig(kernel("6.1"), 128)!.truesize, 1280);
  assertEquals(virtioBig(kernel("6.1"), 1514)!.truesize, 4352);
  assertEquals(virtioBig(kernel("6.1"), 4096 - 16 - 320)!.truesize, 4352);
  assertEquals(virtioBig(kernel("6.1"), 4096 - 16 - 319)!.truesize, 5376);
  const large = virtioBig(kernel("6.1"), GSO_FRAME)!;
  assertEquals([large.truesize, large.frags.length], [66816, 16]);
  // The first page starts with 16 bytes of header.
  assertEquals(large.frags[0]!.size, 4096 - 16 - 14);
  // 3.10 to 3.12 pass a length of 0 and drop each packet.
  assertEquals(virtioBig(kernel("3.12"), 1514), null);
  assertEquals(
    virtioBig(kernel("6.1"), 9014, { guestGso: false, mtu: 9000 })!.len,
    9014,
  );
  assertEquals(
    virtioBig(kernel("6.1"), 9014, { guestGso: false, mtu: 1500 }),
    null,
  );
});

Deno.test("virtioSmall charges every frame alike", () => {
  for (const frame of [14, 60, 1514, 1518]) {
    assertEquals(virtioSmall(kernel("3.12"), frame)!.truesize, 2176);
    assertEquals(
      virtioSmall(kernel("4.3"), frame, { filledBySleeper: true })!.truesize,
      2304,
    );
    const skb = virtioSmall(kernel("6.12"), frame)!;
    assertEquals([skb.headSize, skb.truesize, skb.len], [1920, 2176, frame]);
  }
  assertEquals(virtioSmall(kernel("6.12"), 1519), null);
  assertEquals(virtioSmall(kernel("6.12"), 13), null);
});

Deno.test("ewmaAdd follows large frames fast and comes back slowly", () => {
  const up = [1514];
  for (let i = 0; i < 3; i++) up.push(ewmaAdd(up[i]!, GSO_FRAME));
  assertEquals(up.slice(1), [2509, 3488, 4452]);
  assertEquals(ewmaAdd(0, 1514), 1514);
  const length = (release: string) =>
    up.slice(1).map((average) =>
      mergeableBufferLength(kernel(release), average)
    );
  assertEquals(length("4.3"), [2560, 3584, 4096]);
  assertEquals(length("6.1"), [2560, 3520, 4096]);
  let average = GSO_FRAME;
  let frames = 0;
  for (; average >= 4084; frames++) average = ewmaAdd(average, 1514);
  assertEquals([frames, average], [204, 4049]);
  for (; average > 1518; frames++) average = ewmaAdd(average, 1514);
  assertEquals(frames, 472);
});

Deno.test("mergeableBufferLength is fixed before 3.14 and bounded later", () => {
  assertEquals(mergeableBufferLength(kernel("3.12"), 65226), 4096);
  assertEquals(mergeableBufferLength(kernel("3.13"), 65226), 1536);
  assertEquals(mergeableBufferLength(kernel("6.8"), 0), 1536);
  assertEquals(mergeableBufferLength(kernel("6.8"), 1525), 1600);
  assertEquals(mergeableBufferLength(kernel("4.3"), 1525), 1792);
  assertEquals([256, 64, 16].map((size) => mergeableMinBufLen(size)), [
    1518,
    1518,
    4086,
  ]);
  // The bounds of a ring of 16 are the wrong way round: longer than a page.
  const minimum = mergeableMinBufLen(16);
  assertEquals(mergeableBufferLength(kernel("6.8"), 0, { minimum }), 4160);
  assertEquals(mergeableBufferLength(kernel("6.8"), 65226, { minimum }), 4096);
});

Deno.test("bad arguments are named", () => {
  const k = kernel("6.1");
  for (const bad of [-1, 1.5, NaN, Infinity, 2 ** 21]) {
    assertThrows(() => virtioMergeable(k, bad), RangeError, "frame");
    assertThrows(() => virtioBig(k, bad), RangeError, "frame");
    assertThrows(() => virtioSmall(k, bad), RangeError, "frame");
  }
  assertThrows(() => virtioMergeable(k, 1514, 10), RangeError, "buffers");
  assertThrows(
    () => virtioMergeable(k, 1514, [1536, NaN, 3].slice(1)),
    RangeError,
    "buffers[0]",
  );
  assertThrows(
    () => virtioMergeable(k, 1514, [1024]),
    RangeError,
    "1024 bytes",
  );
  assertThrows(
    () => virtioMergeable(kernel("3.12"), 1514, 1536),
    RangeError,
    "4096",
  );
  assertThrows(
    () => virtioMergeable(k, 1514, 1536, { nominal: 0 }),
    RangeError,
    "nominal",
  );
  assertThrows(
    () => virtioMergeable(k, 1514, 1536, { blockOffset: 32768 }),
    RangeError,
    "blockOffset",
  );
  assertThrows(() => virtioBig(k, 1514, { mtu: 0 }), RangeError, "mtu");
  assertThrows(
    () => virtioSmall(k, 60, { filledBySleeper: 1 as unknown as boolean }),
    TypeError,
    "filledBySleeper",
  );
  assertThrows(() => ewmaAdd(-1, 5), RangeError, "average");
  assertThrows(() => ewmaAdd(1, 0.5), RangeError, "sample");
  assertThrows(() => mergeableBufferLength(k, NaN), RangeError, "average");
  assertThrows(() => mergeableMinBufLen(0), RangeError, "ringSize");
  assertEquals(
    virtioSmall(k, 60, { filledBySleeper: undefined })!.truesize,
    2176,
  );
});
