import { assert, assertEquals, assertThrows } from "@std/assert";
import { ixgbeReceive } from "../../lib/drivers/ixgbe.ts";
import { ixgbeBuffers } from "../../lib/drivers/ixgbe_buffers.ts";
import { IxgbeRxRing } from "../../lib/drivers/ixgbe_ring.ts";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";

function pagesOf(release: string): PageAllocator {
  return new PageAllocator(kernel(release), { pages: 4096, cpus: 1 });
}

Deno.test("ixgbeReceive keeps half a page behind a small head up to 4.3", () => {
  for (const release of ["3.12", "4.3"]) {
    const skb = ixgbeReceive(kernel(release), 1514);
    assertEquals(skb.truesize, 640 + 256 + 2048);
    assertEquals([skb.headlen, skb.frags[0]!.size], [42, 1472]);
    assertEquals(ixgbeReceive(kernel(release), 256).truesize, 896);
    assertEquals(ixgbeReceive(kernel(release), 257).truesize, 2944);
    assertEquals(
      ixgbeReceive(kernel(release), 1514, { headers: 66 }).headlen,
      66,
    );
    assertEquals(ixgbeReceive(kernel(release), 9014).truesize, 896 + 5 * 2048);
  }
});

Deno.test("ixgbeReceive builds the skb around half a page, legacy-rx does not", () => {
  const k = kernel("6.8");
  for (const frame of [60, 1514, 1518]) {
    assertEquals(ixgbeReceive(k, frame).truesize, 2304);
  }
  // 2,048 - 320 - 1,536 bytes in front of the frame.
  assertEquals(ixgbeReceive(k, 1514).data, 192);
  const legacy = { legacyRx: true };
  assertEquals(ixgbeReceive(k, 1514, legacy).truesize, 1280 + 2048);
  assertEquals(ixgbeReceive(k, 256, legacy).truesize, 1280);
});

Deno.test("an MTU over 1,500 doubles the pages that skbs are built around", () => {
  const k = kernel("6.8");
  assertEquals(ixgbeReceive(k, 1514, { mtu: 9000 }).truesize, 4096 + 256);
  // 9,014 bytes in buffers of 3,072: one built around, two behind it.
  const jumbo = ixgbeReceive(k, 9014);
  assertEquals(jumbo.truesize, 3 * 4096 + 256);
  assertEquals([jumbo.headlen, jumbo.len], [3072, 9014]);
  assertEquals(
    ixgbeReceive(k, 9014, { legacyRx: true }).truesize,
    1280 + 5 * 2048,
  );
  assertEquals(ixgbeBuffers(k, 9000).order, 1);
});

Deno.test("build options move the buffers", () => {
  // A cache line of 256 bytes leaves no room for a frame in 2 KiB.
  const wide = kernel("6.8", { cacheLine: 256 });
  assertEquals(ixgbeBuffers(wide).bufsz, 3072);
  const large = kernel("6.8", { pageSize: 65536 });
  const { sharedInfo } = large.skb;
  // Pages are not halved: the charge follows the data.
  assertEquals(ixgbeBuffers(large).half, 0);
  assertEquals(
    ixgbeReceive(large, 1514).truesize,
    256 + sharedInfo + Math.ceil((64 + 1514) / 64) * 64,
  );
});

Deno.test("a fast stack never costs a page, whatever the era", () => {
  for (const release of ["3.12", "4.3", "6.8"]) {
    const pages = pagesOf(release);
    const ring = new IxgbeRxRing(pages);
    assertEquals([ring.posted, ring.counters.allocRxPage], [511, 511]);
    const free = pages.counters.pgalloc;
    for (let i = 0; i < 5000; i++) {
      assertEquals(ring.receive(1514), release === "6.8" ? 2304 : 2944);
      ring.consume();
    }
    assertEquals(pages.counters.pgalloc, free);
    assertEquals(ring.counters.reuses, 5000);
    assertEquals(ring.counters.givenUp, 0);
  }
});

Deno.test("a stack that holds everything costs a page for two packets", () => {
  for (const release of ["3.12", "4.3", "6.8"]) {
    const pages = pagesOf(release);
    const ring = new IxgbeRxRing(pages);
    for (let i = 0; i < 2000; i++) ring.receive(1514);
    const { allocRxPage, givenUp, reuses } = ring.counters;
    // 511 pages serve 1,022 packets, each with one half and then the other; 16 slots wait for the next refill.
    assertEquals([givenUp, reuses], [511 + 467, 1022]);
    assertEquals(allocRxPage, 511 + givenUp - 16);
    pages.check();
    ring.close();
    pages.check();
    assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
  }
});

Deno.test("a page is given up while its other half is with the stack", () => {
  for (const release of ["4.3", "6.8"]) {
    const ring = new IxgbeRxRing(pagesOf(release), { count: 64 });
    // The stack keeps the first packet only.
    for (let i = 0; i < 63; i++) ring.receive(1514);
    assertEquals(ring.counters.givenUp, 0);
    ring.consume(0);
    for (let i = 0; i < 63; i++) {
      ring.receive(1514);
      if (i === 0) assertEquals(ring.counters.givenUp, 1);
    }
    const freed = ring.consume(126);
    assertEquals(freed, 126 * (release === "6.8" ? 2304 : 2944));
  }
});

Deno.test("copied frames leave the same half in the ring", () => {
  for (const [release, legacyRx] of [["4.3", false], ["6.8", true]] as const) {
    const pages = pagesOf(release);
    const ring = new IxgbeRxRing(pages, { legacyRx });
    const head = release === "6.8" ? 1280 : 896;
    for (let i = 0; i < 1000; i++) assertEquals(ring.receive(256), head);
    assertEquals([ring.counters.copies, ring.counters.reuses], [1000, 1000]);
    assertEquals(ring.counters.allocRxPage, 511);
    ring.close();
    assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
  }
});

Deno.test("descriptors are written sixteen at a time", () => {
  const ring = new IxgbeRxRing(pagesOf("6.8"));
  for (let i = 0; i < 16; i++) ring.receive(60);
  assertEquals([ring.posted, ring.counters.refills], [511 - 16, 1]);
  ring.receive(60);
  assertEquals([ring.posted, ring.counters.refills], [510, 2]);
});

Deno.test("the ring restocks a page's references before they run out", () => {
  const pages = pagesOf("6.8");
  const ring = new IxgbeRxRing(pages, { count: 64 });
  const turns = 63 * 65534;
  for (let i = 0; i < turns; i++) {
    ring.receive(60);
    ring.consume();
  }
  // Each of the 63 pages has handed out 65,534 of its references and took as many anew.
  assertEquals(ring.counters.restocks, 63);
  assertEquals(ring.counters.allocRxPage, 63);
  ring.close();
  pages.check();
});

Deno.test("without memory the ring runs dry and says so", () => {
  const pages = pagesOf("6.8");
  const ring = new IxgbeRxRing(pages, { count: 64 });
  pages.failOrders(0);
  for (let i = 0; i < 200; i++) ring.receive(1514);
  const { packets, noBuffer, allocRxPageFailed } = ring.counters;
  assertEquals(packets + noBuffer, 200);
  assertEquals(packets, 126);
  assert(allocRxPageFailed > 0);
  pages.failOrders();
  assertEquals(ring.receive(1514), 2304);
});

Deno.test("pages from the reserve are not used again", () => {
  const pages = pagesOf("6.8");
  const alloc = pages.alloc.bind(pages);
  pages.alloc = (gfp, order, cpu) =>
    alloc(gfp | Gfp.__GFP_MEMALLOC, order, cpu);
  const hold = pages.pressure(140);
  const ring = new IxgbeRxRing(pages, { count: 128 });
  for (let i = 0; i < 100; i++) {
    ring.receive(1514);
    ring.consume();
  }
  assert(ring.counters.givenUp > 0);
  ring.close();
  hold.release();
});

Deno.test("jumbo frames span buffers of order-1 pages", () => {
  const pages = pagesOf("6.8");
  const ring = new IxgbeRxRing(pages, { count: 64, mtu: 9000 });
  assertEquals(pages.counters.pgalloc, 126);
  for (const frame of [60, 1514, 3072, 3073, 9014]) {
    assertEquals(
      ring.receive(frame),
      ixgbeReceive(pages.kernel, frame, { mtu: 9000 }).truesize,
    );
  }
  ring.close();
  assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
});

Deno.test("large pages are cut in turn", () => {
  const k = kernel("6.8", { pageSize: 65536 });
  const pages = new PageAllocator(k, { pages: 1024, cpus: 1 });
  const ring = new IxgbeRxRing(pages);
  assertEquals(ring.count, 128);
  for (let i = 0; i < 3000; i++) {
    assertEquals(ring.receive(1514), ixgbeReceive(k, 1514).truesize);
    ring.consume();
  }
  assert(ring.counters.reuses > 2500);
  ring.close();
  pages.check();
  assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
});

Deno.test("bad arguments are named, frames that the device drops are counted", () => {
  const k = kernel("6.8");
  for (const bad of [-1, 13, 0.5, NaN, 9725]) {
    assertThrows(() => ixgbeReceive(k, bad), RangeError, "frame");
  }
  assertThrows(() => ixgbeReceive(k, 1519, { mtu: 1500 }), RangeError, "1518");
  assertThrows(() => ixgbeReceive(k, 60, { mtu: 10 }), RangeError, "mtu");
  assertThrows(
    () => ixgbeReceive(k, 60, { headers: 257 }),
    RangeError,
    "headers",
  );
  assertThrows(
    () => ixgbeReceive(k, 60, { legacyRx: 1 as unknown as boolean }),
    TypeError,
    "legacyRx",
  );
  assertEquals(ixgbeReceive(k, 60, { mtu: undefined }).truesize, 2304);
  const pages = pagesOf("6.8");
  assertThrows(() => new IxgbeRxRing(pages, { count: 63 }), RangeError, "64");
  assertThrows(() => new IxgbeRxRing(pages, { count: 65 }), RangeError, "8");
  assertThrows(() => new IxgbeRxRing(pages, { cpu: -1 }), RangeError, "cpu");
  const ring = new IxgbeRxRing(pages);
  assertThrows(() => ring.receive(NaN), RangeError, "frame");
  assertThrows(() => ring.consume(0.5), RangeError, "packets");
  assertEquals([ring.receive(1519), ring.receive(13)], [0, 0]);
  assertEquals(ring.counters.lengthErrors, 2);
  ring.close();
  assertThrows(() => ring.receive(60), Error, "closed");
});
