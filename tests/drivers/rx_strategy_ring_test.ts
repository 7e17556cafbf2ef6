import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  buildSkb,
  defineRxStrategy,
  Head,
  kernel,
  napiAllocSkb,
  PageAllocator,
  receiveYears,
  type RxStrategy,
  RxStrategyRing,
  skbAddRxFrag,
  skbPut,
  skbReserve,
} from "@truesize/lab";

const k = kernel("6.12");

const pages = (from: "pages" | "page_frag_cache", size = 2048): RxStrategy =>
  defineRxStrategy({
    name: "scatter",
    buffer: { size, from },
    receive: (kernel, frame) => {
      if (frame > 9000) return null;
      const skb = napiAllocSkb(kernel, 128);
      if (frame <= 128) return skbPut(skb, frame);
      for (let at = 0; at < frame; at += size) {
        skbAddRxFrag(skb, Math.min(size, frame - at), size);
      }
      return skb;
    },
  });

Deno.test("every page comes back, whatever was received, read and dropped", () => {
  for (const from of ["pages", "page_frag_cache"] as const) {
    for (const size of [768, 2048, 4096]) {
      const allocator = new PageAllocator(k, { cpus: 1 });
      const { counters } = allocator;
      const ring = new RxStrategyRing(allocator, pages(from, size), {
        size: 64,
      });
      for (let i = 0; i < 5000; i++) {
        ring.receive([60, 1514, 9000, 9014, 300][i % 5]!, i % 7 !== 0);
        if (i % 3 === 0) ring.consume(i % 4);
      }
      assertEquals(ring.counters.dropped, 1000);
      assertEquals(
        ring.counters.packets + ring.counters.dropped + ring.counters.noBuffer,
        5000,
      );
      assert(ring.held.packets > 0 && counters.pgalloc > counters.pgfree);
      ring.close();
      allocator.drainPcp();
      allocator.check();
      assertEquals([from, size, counters.pgalloc - counters.pgfree], [
        from,
        size,
        0,
      ]);
    }
  }
});

Deno.test("fragments share blocks, pages do not; copied buffers wait again", () => {
  const ring = (from: "pages" | "page_frag_cache") =>
    new RxStrategyRing(new PageAllocator(k, { cpus: 1 }), pages(from), {
      size: 64,
    });
  assertEquals(ring("pages").memory().blockBytes, 64 * 4096);
  assertEquals(ring("page_frag_cache").memory(), {
    buffers: 64,
    bytes: 64 * 2048,
    blocks: 4,
    blockBytes: 4 * 32768,
  });
  const [first, second, , , , , , , , , , , , , , , next] = ring(
    "page_frag_cache",
  ).buffers();
  // 6.12 cuts a block from its end.
  assertEquals([first!.offset, second!.offset, next!.offset], [
    30720,
    28672,
    30720,
  ]);
  assertEquals(second!.pfn, first!.pfn);
  const copying = ring("pages");
  const { pgalloc } = copying.pages.counters;
  for (let i = 0; i < 1000; i++) copying.receive(60);
  assertEquals([copying.counters.copies, copying.posted], [1000, 64]);
  assertEquals(copying.pages.counters.pgalloc, pgalloc);
});

Deno.test("a strategy is an era of receiveYears", () => {
  const eras = [{ label: "own", kernel: k, path: pages("pages", 4096) }];
  const [row] = receiveYears({ eras, frames: [1514], packets: 100 });
  // napi_alloc_skb's 1 KiB head of 6.12, and a page.
  assertEquals(
    [row!.buffers, row!.truesize, row!.order0, row!.order3],
    [1, 256 + 1024 + 4096, 1, 0],
  );
  assertEquals(row!.ring.blockBytes, 256 * 4096);
});

Deno.test("a ring without pages counts and goes on once there are some", () => {
  const allocator = new PageAllocator(k, { pages: 4096, cpus: 1 });
  const ring = new RxStrategyRing(allocator, pages("pages", 4096), {
    size: 16,
  });
  allocator.failOrders(0);
  for (let i = 0; i < 16; i++) assert(ring.receive(1514) > 0);
  assertEquals([ring.receive(1514), ring.counters.noBuffer], [0, 1]);
  assertEquals(ring.posted, 0);
  assert(ring.counters.allocFailed > 0);
  allocator.failOrders();
  ring.receive(1514);
  assertEquals(ring.posted, 16);
  assert(ring.receive(1514) > 0);
});

Deno.test("an skb keeps no more buffers than the frame lies in", () => {
  const greedy = defineRxStrategy({
    name: "greedy",
    buffer: { size: 2048, data: 1600 },
    receive: (kernel, frame) => {
      const skb = skbReserve(buildSkb(kernel, 2048, Head.RX_BUFFER), 64);
      skbPut(skb, 100);
      skbAddRxFrag(skb, frame - 100, 2048);
      return skb;
    },
  });
  const ring = new RxStrategyRing(new PageAllocator(k), greedy);
  assertThrows(
    () => ring.receive(1514),
    RangeError,
    'receive strategy "greedy": a frame of 1514 bytes lies in 1 buffers of 1600, the skb keeps 2',
  );
  for (const frame of [13, -1, 1.5, 70000, NaN]) {
    assertThrows(() => ring.receive(frame), RangeError, "frame");
  }
});
