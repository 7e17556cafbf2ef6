import { assertEquals, assertThrows } from "@std/assert";
import { randomLcg } from "d3-random";
import type { Kernel } from "../../lib/kernel.ts";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { PageFrag } from "../../lib/mm/page_frag.ts";
import {
  skbPageFragRefillV1,
  skbPageFragRefillV2,
} from "../../lib/patches/skb_page_frag_refill.ts";
import { kernel, releases } from "../../lib/releases/mod.ts";
import { FragLedger } from "./frag_ledger.ts";

const { GFP_ATOMIC, GFP_KERNEL } = Gfp;

function rig(of: string | Kernel): { pages: PageAllocator; frag: PageFrag } {
  const k = typeof of === "string" ? kernel(of) : of;
  const pages = new PageAllocator(k, { pages: 4096 });
  return { pages, frag: new PageFrag(pages) };
}

/** A frag whose block is in use by somebody and filled up to `offset`. */
function filled(of: string | Kernel, offset: number): PageFrag {
  const { frag } = rig(of);
  frag.refill(32, GFP_KERNEL);
  frag.take(offset);
  return frag;
}

Deno.test("before the thread one free byte is enough", () => {
  const frag = filled("3.12", 32767);
  assertEquals(frag.refill(1, GFP_KERNEL), true);
  assertEquals([frag.offset, frag.counters.refills], [32767, 1]);
  frag.take(1);
  frag.refill(1, GFP_KERNEL);
  assertEquals([frag.offset, frag.counters.refills], [0, 2]);
});

Deno.test("version 1 refuses the last 2048 bytes, version 2 and the releases after it do not", () => {
  const base = kernel("net-next-2013-10");
  for (
    const [k, refills] of [
      [base.am(skbPageFragRefillV1), 2],
      [base.am(skbPageFragRefillV2), 1],
      [kernel("4.3"), 1],
      [kernel("6.12"), 1],
    ] as const
  ) {
    const frag = filled(k, 30720);
    assertEquals(frag.refill(2048, GFP_KERNEL), true);
    assertEquals(frag.counters.refills, refills);
  }
});

Deno.test("one byte too many takes a fresh block in every version", () => {
  for (const k of [kernel("4.3"), kernel("6.1"), kernel("6.18")]) {
    const frag = filled(k, 30721);
    frag.refill(2048, GFP_KERNEL);
    assertEquals([frag.counters.refills, frag.offset], [2, 0]);
    assertEquals(frag.counters.wastedBytes, 32768 - 30721);
  }
});

Deno.test("a block that nobody else uses is started again, whatever room it has", () => {
  for (const name of releases) {
    const { frag, pages } = rig(name);
    frag.refill(4096, GFP_KERNEL);
    const address = frag.take(32768);
    frag.free(address);
    assertEquals(pages.refcount[frag.pfn], 1);
    assertEquals(frag.refill(4096, GFP_KERNEL), true);
    assertEquals(
      [frag.offset, frag.counters.rewinds, frag.counters.refills],
      [0, 1, 1],
    );
  }
});

Deno.test("4096 bytes on a single page are granted once a page, in every version", () => {
  const base = kernel("net-next-2013-10");
  for (const patch of [skbPageFragRefillV1, skbPageFragRefillV2]) {
    const { frag, pages } = rig(base.am(patch));
    pages.failOrders(1);
    for (let i = 0; i < 3; i++) {
      assertEquals(frag.refill(4096, GFP_KERNEL), true);
      frag.take(4096);
    }
    assertEquals(frag.counters.refillsOrder0, 3);
  }
});

Deno.test("over a page with single pages only, the caller gets less than it asked for", () => {
  const { frag, pages } = rig("6.12");
  pages.failOrders(1);
  assertEquals(frag.refill(5000, GFP_KERNEL), true);
  assertEquals([frag.size, frag.counters.tooSmall], [4096, 1]);
  assertThrows(() => frag.take(5000), RangeError, "4096");
});

Deno.test("orders: 3.12 descends for those who may wait and takes a single page for the others", () => {
  const waits = rig("3.12");
  waits.pages.failOrders(2);
  waits.frag.refill(32, GFP_KERNEL);
  assertEquals(waits.frag.size, 8192);
  const atomic = rig("3.12");
  atomic.frag.refill(32, GFP_ATOMIC);
  assertEquals(atomic.frag.size, 4096);
  assertEquals(atomic.pages.counters.failures[3], 0);
});

Deno.test("orders: 4.3 and later try order 3 once for everybody, then a single page", () => {
  for (const name of ["4.3", "6.1", "6.8", "6.12", "6.18"]) {
    const { frag, pages } = rig(name);
    frag.refill(32, GFP_ATOMIC);
    assertEquals(frag.size, 32768);
    frag.release();
    pages.failOrders(2);
    frag.refill(32, GFP_ATOMIC);
    assertEquals(frag.size, 4096);
    assertEquals(
      Array.from(pages.counters.failures.slice(0, 4)),
      [0, 0, 0, 1],
    );
  }
});

Deno.test("orders: 3.14 descends for everybody", () => {
  const { frag, pages } = rig(kernel("3.14"));
  pages.failOrders(2);
  frag.refill(32, GFP_ATOMIC);
  assertEquals(frag.size, 8192);
});

Deno.test("3.14 reclaims once for order 3, 3.12 for as long as something comes of it", () => {
  for (
    const [k, once] of [[kernel("3.12"), false], [
      kernel("3.14"),
      true,
    ]] as const
  ) {
    let passes = 0;
    const pages = new PageAllocator(k, {
      pages: 4096,
      onDirectReclaim: (order) => {
        if (order === 3) passes++;
        return 1;
      },
    });
    pages.pressure(4);
    new PageFrag(pages).refill(32, GFP_KERNEL);
    assertEquals(passes === 1, once);
  }
});

Deno.test("up to 4.1 an order-3 attempt enters direct reclaim, from 4.2 on it does not", () => {
  for (
    const [name, reclaims] of [["3.12", true], ["4.3", false], [
      "6.12",
      false,
    ]] as const
  ) {
    const orders: number[] = [];
    const pages = new PageAllocator(kernel(name), {
      pages: 4096,
      onDirectReclaim: (order) => {
        orders.push(order);
        return 0;
      },
    });
    pages.pressure(4);
    new PageFrag(pages).refill(32, GFP_KERNEL);
    assertEquals(orders.includes(3), reclaims, name);
    assertEquals(orders.includes(0), true, name);
  }
});

Deno.test("high_order_alloc_disable allows single pages only, where the sysctl exists", () => {
  const pages = new PageAllocator(kernel("6.12"));
  const frag = new PageFrag(pages, { highOrderAllocDisable: true });
  frag.refill(32, GFP_KERNEL);
  assertEquals([frag.size, pages.counters.allocations[3]], [4096, 0]);
  assertThrows(
    () =>
      new PageFrag(new PageAllocator(kernel("4.3")), {
        highOrderAllocDisable: true,
      }),
    RangeError,
    "highOrderAllocDisable",
  );
});

Deno.test("where longs have 32 bits a block is limited to 2^15 bytes", () => {
  const large = kernel("6.12").with("large", {
    skbPageFrag: {
      maxSize: {
        value: 65536,
        file: "net/core/sock.c",
        symbol: "SKB_FRAG_PAGE_ORDER",
        origin: "test",
      },
    },
  });
  const pages = new PageAllocator(large);
  assertThrows(
    () => new PageFrag(pages, { bitsPerLong: 32 }),
    RangeError,
    "32768",
  );
  const frag = new PageFrag(pages, { bitsPerLong: 64 });
  frag.refill(32, GFP_KERNEL);
  assertEquals(frag.size, 65536);
});

Deno.test("with 64 KiB pages a block is one page", () => {
  const pages = new PageAllocator(kernel("6.12", { pageSize: 65536 }), {
    pages: 256,
  });
  const frag = new PageFrag(pages, { bitsPerLong: 32 });
  frag.refill(32, GFP_KERNEL);
  assertEquals([frag.size, pages.counters.allocations[0]], [65536, 1]);
});

for (
  const [offset, order0, expected] of [
    [0, false, [32768, 32768]],
    [20000, false, [12768, 32768, 20000]],
    [0, true, Array.from({ length: 16 }, () => 4096)],
  ] as const
) {
  Deno.test(`a write of 65536 bytes from offset ${offset}${order0 ? " with single pages" : ""} makes ${expected.length} fragments`, () => {
    const { frag, pages } = rig("6.12");
    if (order0) pages.failOrders(1);
    frag.refill(32, GFP_KERNEL);
    if (offset > 0) frag.take(offset);
    const lengths: number[] = [];
    for (let left = 65536; left > 0; left -= lengths.at(-1)!) {
      frag.refill(32, GFP_KERNEL);
      const copy = Math.min(left, frag.size - frag.offset);
      frag.take(copy);
      lengths.push(copy);
    }
    assertEquals(lengths, expected);
  });
}

Deno.test("no memory: false and no block, and the old one goes with its last user", () => {
  const { frag, pages } = rig("6.12");
  frag.refill(32, GFP_KERNEL);
  const { pfn } = frag;
  const address = frag.take(32768);
  pages.failOrders(0);
  assertEquals(frag.refill(32, GFP_ATOMIC), false);
  assertEquals([frag.pfn, frag.size, frag.counters.failures], [-1, 0, 1]);
  assertEquals(pages.refcount[pfn], 1);
  frag.free(address);
  assertEquals(pages.counters.frees[3], 1);
});

Deno.test("a block that nobody cut from is not wasted", () => {
  const { frag } = rig("6.12");
  frag.refill(32, GFP_KERNEL);
  frag.release();
  frag.release();
  assertEquals([frag.counters.wastedBytes, frag.pfn], [0, -1]);
});

Deno.test("bad arguments name themselves", () => {
  const { frag, pages } = rig("6.12");
  for (const sz of [0, -1, 1.5, NaN, Infinity]) {
    assertThrows(() => frag.refill(sz, GFP_KERNEL), RangeError, "sz must");
  }
  assertThrows(() => frag.take(1), RangeError, "bytes must");
  frag.refill(32, GFP_KERNEL);
  for (const bytes of [0, 1.5, NaN, 32769]) {
    assertThrows(() => frag.take(bytes), RangeError, "bytes must");
  }
  assertThrows(
    () => new PageFrag(pages, { bitsPerLong: 16 as 32 }),
    RangeError,
    "bitsPerLong",
  );
  assertThrows(
    () => new PageFrag(pages, { highOrderAllocDisable: 1 as unknown as true }),
    TypeError,
    "highOrderAllocDisable",
  );
  assertEquals(
    new PageFrag(pages, {
      bitsPerLong: undefined,
      highOrderAllocDisable: undefined,
    }).cpu,
    0,
  );
  assertThrows(() => frag.free(4096 * 4000), Error, "nothing is allocated");
});

for (const name of releases) {
  Deno.test(`${name}: a million random operations on page_frag keep bytes, references and counters right`, () => {
    const random = randomLcg(0.7);
    const below = (n: number): number => Math.floor(random() * n);
    const pages = new PageAllocator(kernel(name), {
      pages: 2048,
      minFreeKbytes: 128,
    });
    const frag = new PageFrag(pages);
    const { counters } = frag;
    const ledger = new FragLedger(pages);
    const any = pages.kernel.skbPageFrag.fits === "offset < size";
    let calls = 0;
    let capacity = 0;
    for (let i = 0; i < 1_000_000; i++) {
      if (i % 20_000 === 0) {
        const minOrder = below(4);
        pages.failPageAlloc({ minOrder, probability: below(3) / 2, seed: i });
        if (below(4) === 0) frag.release();
      }
      const grows = below(100) < (Math.floor(i / 5000) % 2 === 0 ? 56 : 42);
      if (grows && ledger.addresses.length < 3000) {
        const size = 1 + below(below(4) === 0 ? 4096 : 800);
        calls++;
        const granted = frag.refill(
          size,
          below(4) === 0 ? GFP_ATOMIC : GFP_KERNEL,
        );
        assertEquals(granted, frag.pfn >= 0);
        if (!granted) continue;
        const room = frag.size - frag.offset;
        assertEquals(any ? room > 0 : room >= size, true);
        if (frag.offset === 0) capacity += frag.size;
        const length = Math.min(size, room);
        ledger.take(frag.take(length), length, frag.pfn);
      } else if (ledger.addresses.length > 0) {
        frag.free(ledger.give(below(ledger.addresses.length)));
      }
      if (i % 50_000 === 0) {
        ledger.checkRefcounts(frag.pfn, 1);
        pages.check();
      }
    }
    assertEquals(
      calls,
      counters.fits + counters.rewinds + counters.refills + counters.failures,
    );
    assertEquals(counters.rewinds > 0 && counters.failures > 0, true);
    assertEquals(counters.tooSmall > 0, any);
    while (ledger.addresses.length > 0) frag.free(ledger.give(0));
    frag.release();
    pages.drainPcp();
    pages.check();
    assertEquals(pages.freePages(), 2048);
    assertEquals(capacity, ledger.bytes + counters.wastedBytes);
  });
}
