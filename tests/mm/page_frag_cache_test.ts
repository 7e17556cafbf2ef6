import { assert, assertEquals, assertThrows } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { netdevFragSize, PageFragCache } from "../../lib/mm/page_frag_cache.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { type Rig, rig, steps, variant } from "./page_frag_cache_rig.ts";

const { GFP_ATOMIC, GFP_KERNEL } = Gfp;
const ALL = ["3.12", "4.3", "6.1", "6.8", "6.12", "6.18"];
const UP = ["3.12", "6.18"];
const DOWN = ["4.3", "6.1", "6.8", "6.12"];

/** Offsets of the fragments of the first block. */
function offsets({ cache }: Rig, fragsz: number, align = 1): number[] {
  const found: number[] = [];
  for (;;) {
    const address = cache.alloc(fragsz, GFP_ATOMIC, align);
    if (address < 0 || cache.counters.refills > 1) return found;
    found.push(address - cache.base);
  }
}

for (
  const [fragsz, up, down, count] of [
    [1664, 0, 31104, 19],
    [1920, 0, 30848, 17],
    [768, 0, 32000, 42],
    [2048, 0, 30720, 16],
    [512, 0, 32256, 64],
    [640, 0, 32128, 51],
  ] as const
) {
  for (const name of UP) {
    Deno.test(`${name}: ${count} fragments of ${fragsz} go up in 32 KiB`, () => {
      assertEquals(offsets(rig(name), fragsz), steps(up, fragsz, count));
    });
  }
  for (const name of DOWN) {
    Deno.test(`${name}: ${count} fragments of ${fragsz} go down in 32 KiB`, () => {
      assertEquals(offsets(rig(name), fragsz), steps(down, -fragsz, count));
    });
  }
}

for (
  const [name, fragsz, align, expected] of [
    ["6.18", 1000, 64, steps(0, 1024, 32)],
    ["6.12", 1000, 64, steps(31744, -1024, 32)],
    ["6.8", 1000, 64, steps(31744, -1024, 32)],
    ["6.18", 1500, 256, steps(0, 1536, 21)],
    ["6.1", 1500, 256, steps(31232, -1536, 21)],
  ] as const
) {
  Deno.test(`${name}: ${fragsz} bytes aligned to ${align} lie ${expected[1]! - expected[0]!} apart`, () => {
    assertEquals(offsets(rig(name), fragsz, align), expected);
  });
}

Deno.test("a single page holds two fragments of 1664 bytes", () => {
  for (const name of UP) {
    assertEquals(offsets(rig(name, true), 1664), [0, 1664]);
  }
  for (const name of DOWN) {
    assertEquals(offsets(rig(name, true), 1664), [2432, 768]);
  }
});

Deno.test("3.12: a single page holds two of 1920 and eight of 512 bytes", () => {
  assertEquals(offsets(rig("3.12", true), 1920), [0, 1920]);
  assertEquals(offsets(rig("3.12", true), 512), steps(0, 512, 8));
});

Deno.test("3.12: the cache starts with 32768 references, whatever the block", () => {
  for (const order0 of [false, true]) {
    const { pages, cache } = rig("3.12", order0);
    cache.alloc(1920, GFP_ATOMIC);
    assertEquals(
      [pages.refcount[cache.pfn], cache.bias],
      [32768, 32767],
    );
  }
});

Deno.test("4.3: the cache starts with as many references as the block has bytes", () => {
  const { pages, cache } = rig("4.3");
  cache.alloc(1920, GFP_ATOMIC);
  assertEquals([pages.refcount[cache.pfn], cache.bias], [32768, 32767]);
  const single = rig("4.3", true);
  single.cache.alloc(1920, GFP_ATOMIC);
  assertEquals(
    [single.pages.refcount[single.cache.pfn], single.cache.bias],
    [4096, 4095],
  );
});

Deno.test("5.0: one reference more than bytes, so that 1-byte fragments cannot spend them all", () => {
  const { pages, cache } = rig(variant("4.3", { bias: "size+1" }));
  cache.alloc(1, GFP_ATOMIC);
  assertEquals([pages.refcount[cache.pfn], cache.bias], [32769, 32768]);
});

Deno.test("5.1 on: 32769 references, for a single page too", () => {
  for (const name of ["6.1", "6.8", "6.12", "6.18"]) {
    for (const order0 of [false, true]) {
      const { pages, cache } = rig(name, order0);
      cache.alloc(768, GFP_ATOMIC);
      assertEquals([pages.refcount[cache.pfn], cache.bias], [32769, 32768]);
    }
  }
});

Deno.test("3.12: all 17 of 1920 bytes back means reuse without the page allocator", () => {
  const { pages, cache } = rig("3.12");
  const held = steps(0, 1, 17).map(() => cache.alloc(1920, GFP_ATOMIC));
  assertEquals(cache.bias, 32751);
  for (const address of held) cache.free(address);
  assertEquals(pages.refcount[cache.pfn], 32751);
  assertEquals(cache.alloc(1920, GFP_ATOMIC), held[0]);
  assertEquals([cache.counters.refills, cache.counters.reuses], [1, 1]);
});

Deno.test("one fragment still out means a fresh block, and the old one goes with that fragment", () => {
  for (const name of ALL) {
    const { pages, cache } = rig(name);
    const held = steps(0, 1, 17).map(() => cache.alloc(1920, GFP_ATOMIC));
    const old = cache.pfn;
    for (const address of held.slice(1)) cache.free(address);
    cache.alloc(1920, GFP_ATOMIC);
    assertEquals([cache.counters.refills, cache.counters.reuses], [2, 0]);
    assertEquals(pages.refcount[old], 1);
    cache.free(held[0]!);
    assertEquals(pages.refcount[old], 0);
    assertEquals(pages.counters.frees[3], 1);
  }
});

Deno.test("6.1 to 6.18: refcounts through 42 fragments of 768 bytes and a reuse", () => {
  for (const name of ["6.1", "6.8", "6.12", "6.18"]) {
    const { pages, cache } = rig(name);
    const held = steps(0, 1, 42).map(() => cache.alloc(768, GFP_ATOMIC));
    assertEquals([pages.refcount[cache.pfn], cache.bias], [32769, 32727]);
    for (const address of held) cache.free(address);
    assertEquals(pages.refcount[cache.pfn], 32727);
    assertEquals(cache.alloc(768, GFP_ATOMIC), held[0]);
    assertEquals([pages.refcount[cache.pfn], cache.bias], [32769, 32768]);
    assertEquals(cache.counters.reuses, 1);
    assertEquals(cache.counters.wastedBytes, 512);
  }
});

Deno.test("drain keeps the block for the fragments that are out", () => {
  for (const name of ALL) {
    const { pages, cache } = rig(name);
    const free = pages.freePages();
    const held = steps(0, 1, 5).map(() => cache.alloc(768, GFP_ATOMIC));
    const { pfn } = cache;
    cache.drain();
    assertEquals([cache.pfn, cache.size, cache.bias], [-1, 0, 0]);
    assertEquals(pages.refcount[pfn], 5);
    for (const address of held) cache.free(address);
    pages.drainPcp();
    assertEquals(pages.freePages(), free);
  }
});

Deno.test("drain frees a block that nobody uses, and a second one does nothing", () => {
  const { pages, cache } = rig("6.12");
  cache.free(cache.alloc(768, GFP_ATOMIC));
  cache.drain();
  cache.drain();
  assertEquals(pages.counters.frees[3], 1);
});

Deno.test("3.12 tries orders 3, 2, 1, 0 in turn", () => {
  const { pages, cache } = rig("3.12");
  pages.failOrders(2);
  cache.alloc(1920, GFP_ATOMIC);
  assertEquals(cache.size, 8192);
  assertEquals(Array.from(pages.counters.failures.slice(0, 4)), [0, 0, 1, 1]);
  assertEquals(pages.counters.warnAlloc, 0);
});

Deno.test("4.3 and later try order 3 and then a single page", () => {
  for (const name of [...DOWN, "6.18"]) {
    const { pages, cache } = rig(name);
    pages.failOrders(2);
    cache.alloc(1920, GFP_ATOMIC);
    assertEquals(cache.size, 4096);
    assertEquals(
      Array.from(pages.counters.failures.slice(0, 4)),
      [0, 0, 0, 1],
    );
    assertEquals(cache.counters.refillsOrder0, 1);
  }
});

Deno.test("no memory at all is a failure that leaves no block, and only the single page may warn", () => {
  for (const name of ALL) {
    const { pages, cache } = rig(name);
    cache.alloc(30000, GFP_ATOMIC);
    pages.failOrders(0);
    assertEquals(cache.alloc(4096, GFP_ATOMIC), -1);
    assertEquals([cache.pfn, cache.counters.failures], [-1, 1]);
    assertEquals(pages.counters.warnAlloc, 1);
    assertEquals(cache.alloc(64, GFP_ATOMIC | Gfp.__GFP_NOWARN), -1);
    assertEquals(pages.counters.warnAlloc, 1);
    pages.failOrders();
    assert(cache.alloc(64, GFP_ATOMIC) >= 0);
  }
});

Deno.test("a large block comes from the reserve in 3.12 only; later just a single page may", () => {
  for (
    const [name, size] of [["3.12", 32768], ["4.3", 4096], ["6.8", 4096], [
      "6.18",
      4096,
    ]] as const
  ) {
    const { pages, cache } = rig(name);
    pages.pressure(32);
    assert(pages.buddyInfo().slice(3).some((blocks) => blocks > 0));
    cache.alloc(768, GFP_ATOMIC | Gfp.__GFP_MEMALLOC);
    assertEquals([cache.size, cache.pfmemalloc], [size, true]);
  }
});

Deno.test("only from 6.9 on does the order-3 attempt give up direct reclaim", () => {
  for (
    const [name, asked] of [["4.3", true], ["6.8", true], ["6.12", false], [
      "6.18",
      false,
    ]] as const
  ) {
    const orders: number[] = [];
    const pages = new PageAllocator(kernel(name), {
      pages: 4096,
      onDirectReclaim: (order) => orders.push(order) * 0,
    });
    const hold = pages.pressure(4);
    new PageFragCache(pages).alloc(768, GFP_KERNEL);
    assertEquals(orders.includes(3), asked, name);
    hold.release();
  }
});

Deno.test("netdev fragments are rounded to a cache line in 6.x only", () => {
  assertEquals(netdevFragSize(kernel("3.12"), 1500), 1500);
  assertEquals(netdevFragSize(kernel("4.3"), 1500), 1500);
  assertEquals(netdevFragSize(kernel("6.1"), 1500), 1536);
  assertEquals(netdevFragSize(kernel("6.18", { cacheLine: 128 }), 1500), 1536);
  assertThrows(
    () => netdevFragSize(kernel("6.1"), 0),
    RangeError,
    "fragsz",
  );
});

Deno.test("with 16 KiB pages the large block is order 1, with 64 KiB pages a single page", () => {
  for (const [pageSize, order] of [[16384, 1], [65536, 0]] as const) {
    for (const name of ["4.3", "6.8", "6.18"]) {
      const pages = new PageAllocator(kernel(name, { pageSize }), {
        pages: 512,
      });
      const cache = new PageFragCache(pages);
      cache.alloc(1920, GFP_ATOMIC);
      assertEquals(cache.size, Math.max(32768, pageSize));
      assertEquals(pages.counters.allocations[order], 1);
    }
  }
});

Deno.test("bad arguments name themselves", () => {
  const { cache } = rig("6.12");
  for (const fragsz of [0, -1, 1.5, NaN, Infinity, 2 ** 30 + 1]) {
    assertThrows(() => cache.alloc(fragsz, GFP_ATOMIC), RangeError, "fragsz");
  }
  for (const align of [0, -64, 3, 2.5, NaN, 65536]) {
    assertThrows(() => cache.alloc(64, GFP_ATOMIC, align), RangeError, "align");
  }
  assertThrows(
    () => rig("4.3").cache.alloc(64, GFP_ATOMIC, 64),
    RangeError,
    "cannot be aligned",
  );
  for (const cpu of [-1, 0.5, NaN, cache.pages.cpus]) {
    assertThrows(
      () => new PageFragCache(cache.pages, { cpu }),
      RangeError,
      "cpu",
    );
  }
  assertThrows(
    () =>
      new PageFragCache(cache.pages, { speculate: 1 as unknown as () => void }),
    TypeError,
    "speculate",
  );
  assertEquals(new PageFragCache(cache.pages, { cpu: undefined }).cpu, 0);
  assertEquals(cache.counters.frags, 0);
});

Deno.test("freeing twice, or what was never handed out, is an error", () => {
  const { cache } = rig("6.12");
  const address = cache.alloc(768, GFP_ATOMIC);
  cache.drain();
  cache.free(address);
  assertThrows(() => cache.free(address), Error, `free(${address})`);
  for (const wrong of [-5, NaN, 1.5, 2 ** 40, 4096 * 4000]) {
    assertThrows(() => cache.free(wrong), Error, "no fragment");
  }
});

Deno.test("a fragment may be freed when the cache has long moved on", () => {
  const { pages, cache } = rig("6.12");
  const held = steps(0, 1, 200).map(() => cache.alloc(768, GFP_ATOMIC));
  const single = pages.alloc(GFP_KERNEL, 0);
  for (const address of held.reverse()) cache.free(address);
  assertEquals(pages.refcount[single], 1);
  cache.drain();
  pages.free(single);
  pages.drainPcp();
  assertEquals(pages.freePages(), 4096);
});
