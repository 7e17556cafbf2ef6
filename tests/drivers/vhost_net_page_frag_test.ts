import { assert, assertEquals, assertThrows } from "@std/assert";
import { randomLcg } from "d3-random";
import { vhostBufferLength } from "../../lib/drivers/vhost_net.ts";
import { VhostNetPageFrag } from "../../lib/drivers/vhost_net_page_frag.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { FragLedger } from "../mm/frag_ledger.ts";

function rig(name: string): { pages: PageAllocator; frag: VhostNetPageFrag } {
  const pages = new PageAllocator(kernel(name), { pages: 4096 });
  return { pages, frag: new VhostNetPageFrag(pages) };
}

/** Addresses in the first block, relative to the lowest. */
function firstBlock(name: string, buflen: number): number[] {
  const { frag } = rig(name);
  const found: number[] = [];
  for (;;) {
    const address = frag.alloc(buflen);
    if (frag.counters.refills > 1) return found;
    found.push(address - frag.pfn * 4096);
  }
}

for (
  const [frame, xdp, buflen, perBlock] of [
    [60, false, 576, 56],
    [256, false, 768, 42],
    [1514, false, 1984, 16],
    [1514, true, 2240, 14],
    [3636, false, 4096, 8],
  ] as const
) {
  Deno.test(`${perBlock} frames of ${frame} bytes${xdp ? " with XDP headroom" : ""} fit 32 KiB in 6.8 and in 6.12`, () => {
    assertEquals(vhostBufferLength(kernel("6.8"), frame, xdp), buflen);
    assertEquals(firstBlock("6.8", buflen).length, perBlock);
    assertEquals(firstBlock("6.12", buflen).length, perBlock);
  });
}

Deno.test("a frame of 3637 bytes needs more than a page, which is not asked for", () => {
  const buflen = vhostBufferLength(kernel("6.8"), 3637);
  assertEquals(buflen, 4160);
  assertThrows(() => rig("6.8").frag.alloc(buflen), RangeError, "4160");
});

Deno.test("its own allocator goes up and takes 65535 references at once", () => {
  assertEquals(
    firstBlock("6.8", 768),
    Array.from({ length: 42 }, (_, i) => i * 768),
  );
  const { pages, frag } = rig("6.8");
  frag.alloc(768);
  assertEquals([pages.refcount[frag.pfn], frag.bias], [65535, 65534]);
});

Deno.test("its own allocator aligns each buffer to a cache line", () => {
  assertEquals(firstBlock("6.8", 1000).slice(0, 3), [0, 1024, 2048]);
});

Deno.test("its own allocator never starts a block again: 24,967 blocks where the newer one takes 1", () => {
  const N = 1_048_576;
  for (
    const [name, refills, reuses] of [
      ["6.1", 24_967, 0],
      ["6.8", 24_967, 0],
      ["6.12", 1, 24_966],
      ["6.18", 1, 24_966],
    ] as const
  ) {
    const { pages, frag } = rig(name);
    for (let i = 0; i < N; i++) frag.free(frag.alloc(768));
    assertEquals(
      [frag.counters.refillsOrder3, frag.counters.reuses],
      [refills, reuses],
    );
    assertEquals(pages.counters.frees[3], refills - 1);
    frag.drain();
    assertEquals(pages.counters.frees[3], refills);
  }
});

Deno.test("with single pages only five buffers fit: 209,716 blocks for 1,048,576 packets", () => {
  const { pages, frag } = rig("6.8");
  pages.failOrders(1);
  for (let i = 0; i < 1_048_576; i++) frag.free(frag.alloc(768));
  assertEquals(frag.counters.refillsOrder0, 209_716);
});

Deno.test("a buffer that could not be filled leaves nothing behind in vhost's own allocator", () => {
  const { pages, frag } = rig("6.8");
  frag.alloc(768);
  const address = frag.alloc(768);
  frag.abort(address, 768);
  assertEquals([frag.offset, frag.bias, frag.counters.frags], [768, 65534, 1]);
  assertEquals(pages.refcount[frag.pfn], 65535);
  assertEquals(frag.alloc(768), address);
  assertThrows(() => frag.abort(address + 64, 768), RangeError, "last buffer");
});

Deno.test("a buffer that could not be filled is freed from 6.9 on, and its bytes are lost", () => {
  const { pages, frag } = rig("6.12");
  frag.alloc(768);
  frag.abort(frag.alloc(768), 768);
  assertEquals(frag.offset, 32768 - 2 * 768);
  assertEquals([pages.refcount[frag.pfn], frag.bias], [32768, 32767]);
});

Deno.test("no memory is -1 and counted, and the next try starts anew", () => {
  for (const name of ["6.8", "6.12"]) {
    const { pages, frag } = rig(name);
    pages.failOrders(0);
    assertEquals(frag.alloc(768), -1);
    assertEquals([frag.counters.failures, frag.pfn, frag.size], [1, -1, 0]);
    pages.failOrders();
    assert(frag.alloc(768) >= 0);
  }
});

Deno.test("the order-3 attempt never enters direct reclaim", () => {
  for (const name of ["6.8", "6.12"]) {
    const orders: number[] = [];
    const pages = new PageAllocator(kernel(name), {
      pages: 4096,
      onDirectReclaim: (order) => {
        orders.push(order);
        return 0;
      },
    });
    pages.pressure(4);
    new VhostNetPageFrag(pages).alloc(768);
    assertEquals([orders.includes(3), orders.includes(0)], [false, true]);
  }
});

Deno.test("kernels before 4.20 have no such fragments, and bad arguments name themselves", () => {
  assertThrows(() => rig("4.3"), RangeError, "4.3 takes no page fragments");
  for (const name of ["6.8", "6.12"]) {
    for (const buflen of [0, -1, 1.5, NaN, 4097]) {
      assertThrows(() => rig(name).frag.alloc(buflen), RangeError, "buflen");
    }
  }
  assertThrows(() => rig("6.8").frag.free(4096), Error, "nothing is allocated");
  assertThrows(() => rig("6.8").frag.abort(0, 768), RangeError, "address");
});

for (const name of ["6.1", "6.8", "6.12", "6.18"]) {
  Deno.test(`${name}: a million random buffers keep bytes, references and counters right`, () => {
    const random = randomLcg(0.3);
    const below = (n: number): number => Math.floor(random() * n);
    const pages = new PageAllocator(kernel(name), {
      pages: 2048,
      minFreeKbytes: 128,
    });
    const frag = new VhostNetPageFrag(pages);
    const { counters } = frag;
    const ledger = new FragLedger(pages);
    let calls = 0;
    let aborted = 0;
    for (let i = 0; i < 1_000_000; i++) {
      if (i % 20_000 === 0) {
        const minOrder = below(4);
        pages.failPageAlloc({ minOrder, probability: below(3) / 2, seed: i });
        if (below(4) === 0) frag.drain();
      }
      const grows = below(100) < (Math.floor(i / 5000) % 2 === 0 ? 56 : 42);
      if (grows && ledger.addresses.length < 2000) {
        const buflen = 1 + below(below(4) === 0 ? 4096 : 800);
        calls++;
        const address = frag.alloc(buflen);
        if (address < 0) continue;
        assertEquals(address % 64, 0);
        if (below(50) === 0) {
          aborted++;
          frag.abort(address, buflen);
        } else ledger.take(address, buflen, frag.pfn);
      } else if (ledger.addresses.length > 0) {
        frag.free(ledger.give(below(ledger.addresses.length)));
      }
      if (i % 50_000 === 0) {
        ledger.checkRefcounts(frag.pfn, frag.bias);
        pages.check();
      }
    }
    const own = pages.kernel.vhost.frag === "own-refill";
    assertEquals(
      calls,
      counters.frags + counters.failures + (own ? aborted : 0),
    );
    assertEquals(counters.failures > 0 && aborted > 0, true);
    assertEquals(counters.reuses > 0, !own);
    while (ledger.addresses.length > 0) frag.free(ledger.give(0));
    frag.drain();
    pages.drainPcp();
    pages.check();
    assertEquals(pages.freePages(), 2048);
  });
}
