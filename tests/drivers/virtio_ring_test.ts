import { assert, assertEquals, assertThrows } from "@std/assert";
import { virtioMergeable } from "../../lib/drivers/virtio_net.ts";
import { MergeableRing } from "../../lib/drivers/virtio_ring.ts";
import type { Kernel } from "../../lib/kernel.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";
import {
  virtioHoleTruesize,
  virtioSmallRings,
} from "../../lib/patches/virtio_net_buffers.ts";

const BLOCK = 32768;
const GSO_FRAME = 65226;

function pagesOf(k: Kernel): PageAllocator {
  return new PageAllocator(k, { pages: 8192, cpus: 1 });
}

/** Lengths of the buffers that a ring filled from fresh blocks has, in order. */
function bufferLengths(length: number, record = 0): number[] {
  const each = Math.floor((BLOCK - record) / length);
  const rest = BLOCK - record - each * length;
  const block = Array<number>(each).fill(length);
  block[each - 1]! += rest;
  return [...block, ...block, ...block];
}

function charges(ring: MergeableRing, frame: number, packets: number) {
  return Array.from({ length: packets }, () => ring.receive(frame));
}

Deno.test("a full ring lies in blocks of 21 buffers", () => {
  const ring = new MergeableRing(pagesOf(kernel("6.1")));
  assertEquals(ring.memory(), {
    buffers: 256,
    bytes: 12 * BLOCK + 4 * 1536,
    blocks: 13,
    blockBytes: 13 * BLOCK,
  });
  // 12 full blocks of 21 and 4 of the thirteenth.
  assertEquals(ring.frag.offset, 4 * 1536);
  assertEquals(ring.counters.holes, 12);
  const large = new MergeableRing(pagesOf(kernel("6.1")), { average: 9000 });
  assertEquals(large.memory().blocks, 32);
  const whole = new MergeableRing(pagesOf(kernel("3.12")));
  assertEquals(whole.memory(), {
    buffers: 256,
    bytes: 1 << 20,
    blocks: 256,
    blockBytes: 1 << 20,
  });
});

Deno.test("the last buffer of a block gets what is left of it", () => {
  const ring = (average: number, release = "6.1") =>
    charges(
      new MergeableRing(pagesOf(kernel(release)), { average }),
      2500,
      24,
    );
  // 2,560 bytes: 12 in a block, the last 4,608 long and wide enough to be built around.
  assertEquals(ring(2509).slice(10, 13), [1280 + 2560, 4608 + 256, 3840]);
  assertEquals(ring(2509, "4.3").slice(10, 13), [3328, 3328, 3328]);
  const pages = pagesOf(kernel("6.1"));
  pages.failOrders(1);
  const single = new MergeableRing(pages);
  assertEquals(charges(single, 1514, 4), [2816, 2816, 2816, 2816]);
  assertEquals(single.memory().bytes, 126 * 4096);
});

Deno.test("receive charges what virtioMergeable builds", () => {
  const frames = [14, 128, 129, 640, 641, 1204, 1205, 1514, 1524, 1525];
  frames.push(2036, 2037, 4000, 9014, 30000, GSO_FRAME, 65549);
  const cases: [Kernel, number, number][] = [
    [kernel("3.12"), 0, 4096],
    [kernel("3.13"), 0, 1536],
    [kernel("4.3"), 1514, 1536],
    [kernel("4.3"), 2509, 2560],
    [kernel("6.1"), 0, 1536],
    [kernel("6.8"), 3488, 3520],
    [kernel("6.12"), 9000, 4096],
  ];
  for (const [k, average, length] of cases) {
    const lengths = k.virtio.mergeable === "ewma"
      ? bufferLengths(length)
      : Array<number>(50).fill(length);
    for (const frame of frames) {
      const ring = new MergeableRing(pagesOf(k), { average });
      const skb = virtioMergeable(k, frame, lengths, {
        adjacent: true,
        nominal: length,
      })!;
      assertEquals(ring.receive(frame), skb.truesize, `${k.name} ${frame}`);
      assertEquals(ring.counters.fragLists, skb.fragList.length);
    }
  }
});

Deno.test("a 64 KiB packet takes 42 buffers from any slot of a block", () => {
  for (const [release, first] of [["4.3", 768], ["6.8", 1280]] as const) {
    for (let slot = 0; slot < 21; slot++) {
      const ring = new MergeableRing(pagesOf(kernel(release)));
      for (let i = 0; i < slot; i++) ring.receive(60);
      const buffers = ring.counters.buffers;
      const truesize = ring.receive(GSO_FRAME);
      assertEquals(ring.counters.buffers - buffers, 42);
      const exact = release === "4.3" && slot === 0 ? 12 + GSO_FRAME : 65536;
      assertEquals(truesize, first + exact, `${release} slot ${slot}`);
      assertEquals(42 - ring.counters.coalesced, slot === 0 ? 2 : 3);
    }
  }
});

Deno.test("4.3 hides the hole: 21 buffers are charged 32,256 bytes of 32,768", () => {
  const ring = new MergeableRing(pagesOf(kernel("4.3")));
  const charged = charges(ring, 1514, 21).reduce((sum, t) => sum + t - 768, 0);
  assertEquals(charged, 32256);
});

Deno.test("a poll refills what is free once enough is", () => {
  const ring = new MergeableRing(pagesOf(kernel("6.1")));
  charges(ring, 60, 32);
  assertEquals([ring.freeSlots, ring.counters.refills], [32, 0]);
  ring.receive(60);
  assertEquals([ring.freeSlots, ring.counters.refills], [0, 1]);
  for (let i = 0; i < 40; i++) ring.receive(60, false);
  assertEquals(ring.freeSlots, 40);
  ring.receive(60);
  assertEquals(ring.freeSlots, 0);
  const old = new MergeableRing(pagesOf(kernel("4.3")));
  charges(old, 60, 128);
  assertEquals([old.freeSlots, old.counters.refills], [128, 0]);
  old.receive(60);
  assertEquals(old.freeSlots, 0);
  const tiny = new MergeableRing(pagesOf(kernel("6.1")), { size: 16 });
  assertEquals(tiny.refillAbove, 8);
});

Deno.test("the average sizes what is posted later, not what waits", () => {
  const ring = new MergeableRing(pagesOf(kernel("6.1")));
  for (let i = 0; i < 3; i++) ring.receive(GSO_FRAME);
  assertEquals(ring.bufferLength, 4096);
  assertEquals(ring.receive(1514), 2816);
  const before = charges(ring, 1514, 256 - 42 * 3 - 1);
  assert(before.includes(2816) && !before.includes(4352));
  assertEquals(ring.receive(1514), 4352);
});

Deno.test("without memory packets are missed until refill_work finds some", () => {
  const pages = pagesOf(kernel("6.1"));
  const ring = new MergeableRing(pages);
  pages.failOrders(0);
  charges(ring, 60, 300);
  assertEquals(ring.counters.packets + ring.counters.missed, 300);
  // The last block still had room for some.
  assertEquals(ring.counters.packets, 256 + 17);
  assert(ring.counters.oom > 0);
  assertEquals(ring.receive(60), 0);
  pages.failOrders();
  ring.refillWork();
  assertEquals(ring.posted, 256);
  assertEquals(ring.receive(60), 1280);
});

Deno.test("whole pages: a long packet is dropped, copied pages wait again", () => {
  const pages = pagesOf(kernel("3.12"));
  const ring = new MergeableRing(pages);
  const allocated = pages.counters.pgalloc;
  charges(ring, 60, 1000);
  assertEquals(pages.counters.pgalloc, allocated);
  assertEquals(ring.receive(17 * 4096 - 12), 768 + 17 * 4096);
  assertEquals(ring.receive(17 * 4096 - 11), 0);
  const { drops, rxLengthErrors, packets } = ring.counters;
  assertEquals([drops, rxLengthErrors, packets], [1, 1, 1001]);
});

Deno.test("short frames are counted and charge nothing", () => {
  const ring = new MergeableRing(pagesOf(kernel("6.8")));
  assertEquals(ring.receive(13), 0);
  assertEquals(ring.counters.rxLengthErrors, 1);
  assertEquals(ring.average, 0);
});

Deno.test("3.13's ring fills from the page-fragment cache in softirq", () => {
  const pages = pagesOf(kernel("3.13"));
  const ring = new MergeableRing(pages);
  assertEquals(ring.frag.counters.frags, 256);
  assertEquals(new Set(charges(ring, 1514, 600)), new Set([2304]));
  assertEquals(ring.frag.counters.frags, 256);
  assertEquals(ring.counters.posted, 256 + 4 * 129);
  ring.close();
  pages.check();
  assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
});

Deno.test("a record of 16 bytes in front of each block that the driver maps", () => {
  const dma = true;
  const ring = new MergeableRing(pagesOf(kernel("6.8")), { dma });
  const lengths = bufferLengths(1536, 16);
  assertEquals(lengths.slice(19, 22), [1536, 2032, 1536]);
  for (const length of lengths) {
    assertEquals(
      ring.receive(1514),
      length === 2032 ? 2032 + 256 : 1280 + 1536,
    );
  }
  // 256 buffers at first and 33 after a refill.
  assertEquals(ring.counters.dmaMaps, 14);
  // Three blocks are used up; each is unmapped with its last buffer.
  assertEquals(ring.counters.dmaUnmaps, 3);
  const large = new MergeableRing(pagesOf(kernel("6.12")), {
    dma,
    average: 9000,
  });
  // 7 of 4,096 in a block, the last 8,176 long.
  assertEquals(charges(large, 1514, 8).slice(5), [4352, 8176 + 256, 4352]);
  assertEquals(large.memory().blocks, 36);
});

Deno.test("6.7 to 6.11 overrun a single page by the record, 6.12 does not", () => {
  const overruns = (release: string, options = {}) => {
    const pages = pagesOf(kernel(release));
    pages.failOrders(1);
    const ring = new MergeableRing(pages, {
      dma: true,
      average: 9000,
      ...options,
    });
    const { counters } = ring;
    const truesize = ring.receive(1514);
    ring.close();
    pages.check();
    assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
    return [counters.overruns, counters.overrunBytes, truesize];
  };
  assertEquals(overruns("6.8"), [256, 256 * 16, 4352]);
  assertEquals(overruns("6.12"), [0, 0, 4080 + 256]);
  assertEquals(overruns("6.12", { dmaShortens: false })[0], 256);
  assertEquals(overruns("6.8", { dma: false }), [0, 0, 4352]);
});

Deno.test("a ring of 16 asks for more than a page and overruns single ones", () => {
  const pages = pagesOf(kernel("6.8"));
  pages.failOrders(1);
  const ring = new MergeableRing(pages, { size: 16 });
  assertEquals(ring.bufferLength, 4160);
  assertEquals([ring.counters.overruns, ring.counters.overrunBytes], [
    16,
    16 * 64,
  ]);
});

Deno.test("up to 4.11 a ring of 16 never holds a 64 KiB packet, from 4.12 on it does", () => {
  const received = (k: Kernel) => {
    const ring = new MergeableRing(pagesOf(k), { size: 16 });
    return [ring.receive(65549) > 0, ring.counters.missed, ring.memory().bytes];
  };
  const old = kernel("4.3");
  // 16 buffers of 1,536 bytes; the ring is too short for the hole of a block to matter.
  assertEquals(received(old), [false, 1, 24576]);
  // Of 4.12's buffers one is longer than it was noted, which drops the packet; 4.13 notes the hole.
  const small = old.am(virtioSmallRings);
  assertEquals(received(small).slice(0, 2), [false, 0]);
  assertEquals(received(small.am(virtioHoleTruesize)).slice(0, 2), [true, 0]);
  assertEquals(received(kernel("6.8"))[0], true);
  const sizes = [16, 32, 64, 128, 256].map((size) =>
    new MergeableRing(pagesOf(kernel("6.8")), { size }).bufferLength
  );
  assertEquals(sizes, [4160, 2112, 1536, 1536, 1536]);
});

Deno.test("4.12 hands out the hole without noting it: what is written there drops the packet", () => {
  const k412 = kernel("4.6").am(virtioSmallRings);
  // 1,530 bytes and the header fill two buffers of 1,536, or one with the hole.
  const run = (k: Kernel) => {
    const ring = new MergeableRing(pagesOf(k));
    for (let i = 0; i < 20; i++) ring.receive(60);
    const last = ring.receive(1530);
    const next = ring.receive(1530);
    ring.close();
    const { pgalloc, pgfree } = ring.pages.counters;
    assertEquals(pgalloc, pgfree);
    return [last, next, ring.counters.drops, ring.counters.rxLengthErrors];
  };
  assertEquals(run(kernel("4.6")), [768 + 1542, 768 + 2 * 1536, 0, 0]);
  assertEquals(run(k412), [0, 768 + 2 * 1536, 1, 1]);
  assertEquals(run(k412.am(virtioHoleTruesize)), [
    768 + 2048,
    768 + 2 * 1536,
    0,
    0,
  ]);
  // In the middle of a packet too: its other buffers are freed with it.
  const ring = new MergeableRing(pagesOf(k412));
  assertEquals(ring.receive(GSO_FRAME), 0);
  assertEquals([ring.held.packets, ring.counters.drops], [0, 1]);
  ring.close();
  assertEquals(ring.pages.counters.pgalloc, ring.pages.counters.pgfree);
});

Deno.test("held packets pin their blocks, and everything comes back", () => {
  for (const release of ["3.12", "4.3", "6.1", "6.12"]) {
    for (const dma of release === "6.12" ? [true, false] : [false]) {
      const pages = pagesOf(kernel(release));
      const ring = new MergeableRing(pages, { dma });
      let sum = 0;
      for (let i = 0; i < 400; i++) {
        sum += ring.receive(i % 7 === 0 ? 20000 : 1514);
        if (i % 3 === 0) sum -= ring.consume();
      }
      assertEquals(ring.held.truesize, sum);
      assertEquals(ring.held.packets, 400 - 134);
      pages.check();
      ring.consume(1000);
      assertEquals([ring.held.packets, ring.held.truesize], [0, 0]);
      ring.close();
      ring.close();
      pages.check();
      assertEquals(pages.counters.pgalloc, pages.counters.pgfree, release);
      assertThrows(() => ring.receive(60), Error, "closed");
      assertThrows(() => ring.refillWork(), Error, "closed");
    }
  }
});

Deno.test("a stated start: average, free slots and offset in the block", () => {
  const pages = pagesOf(kernel("6.1"));
  const ring = new MergeableRing(pages, {
    average: 1514,
    freeSlots: 30,
    blockOffset: 20 * 1536,
  });
  assertEquals([ring.posted, ring.average], [226, 1514]);
  charges(ring, 60, 3);
  assertEquals(ring.counters.refills, 1);
  const rest = charges(ring, 1514, 226);
  assertEquals(rest.slice(222), [2816, 2304, 2816, 2816]);
  ring.close();
  assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
});

Deno.test("bad arguments are named", () => {
  const pages = pagesOf(kernel("6.1"));
  const bad = (options: Record<string, unknown>, name: string) =>
    assertThrows(() => new MergeableRing(pages, options), Error, name);
  bad({ size: 255 }, "size");
  bad({ size: 0 }, "size");
  bad({ average: -1 }, "average");
  bad({ freeSlots: 257 }, "freeSlots");
  bad({ blockOffset: NaN }, "blockOffset");
  bad({ budget: 0 }, "budget");
  bad({ refillAbove: 256 }, "refillAbove");
  bad({ minimum: 0.5 }, "minimum");
  bad({ cpu: -1 }, "cpu");
  bad({ dma: 1 }, "dma");
  bad({ dma: true }, "6.1");
  const ring = new MergeableRing(pages, { size: undefined, dma: undefined });
  for (const frame of [-1, 0.5, NaN, 2 ** 20 + 1]) {
    assertThrows(() => ring.receive(frame), RangeError, "frame");
  }
  assertThrows(() => ring.consume(-1), RangeError, "packets");
  assertEquals(ring.counters.packets, 0);
});
