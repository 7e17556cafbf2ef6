import { assert, assertEquals } from "@std/assert";
import type { Kernel } from "../../lib/kernel.ts";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import type { PageAllocatorOptions } from "../../lib/mm/page_options.ts";
import { pcpSizes, zoneBatchsize } from "../../lib/mm/pcp.ts";
import { kernel } from "../../lib/releases/mod.ts";

const { GFP_ATOMIC, GFP_KERNEL, __GFP_COLD } = Gfp;
const FOUR_GIB = 1_048_576;

/** 4 GiB in 8 CPUs: the lists' high mark is then 387 pages from 5.14 on. */
function pagesOf(
  k: Kernel | string,
  options: PageAllocatorOptions = {},
): PageAllocator {
  return new PageAllocator(typeof k === "string" ? kernel(k) : k, {
    pages: FOUR_GIB,
    cpus: 8,
    ...options,
  });
}

/** Takes `n` blocks on CPU 0. */
function take(pages: PageAllocator, n: number, order = 0): number[] {
  return Array.from({ length: n }, () => pages.alloc(GFP_KERNEL, order));
}

/** Frees blocks on a CPU and returns how many went back to the zone each time that some did. */
function freeAll(pages: PageAllocator, pfns: number[], cpu: number): number[] {
  const drains: number[] = [];
  for (const pfn of pfns) {
    const before = pages.counters.pcpDrained;
    pages.free(pfn, cpu);
    if (pages.counters.pcpDrained > before) {
      drains.push(pages.counters.pcpDrained - before);
    }
  }
  return drains;
}

/** Pages of each refill while `n` pages are taken. */
function refills(pages: PageAllocator, n: number, order = 0): number[] {
  const sizes: number[] = [];
  for (let i = 0; i < n; i++) {
    const before = pages.counters.pcpRefilled;
    pages.alloc(GFP_KERNEL, order);
    if (pages.counters.pcpRefilled > before) {
      sizes.push(pages.counters.pcpRefilled - before);
    }
  }
  return sizes;
}

Deno.test("batch: 31 from 512 MiB on up to 4.3, 63 from 1 GiB on later, less in small zones", () => {
  const sizes = (name: string) =>
    [64, 256, 512, 1024, 4096].map((mib) =>
      zoneBatchsize(kernel(name), mib * 256)
    );
  assertEquals(sizes("3.12"), [3, 15, 31, 31, 31]);
  assertEquals(sizes("4.3"), [3, 15, 31, 31, 31]);
  assertEquals(sizes("6.8"), [3, 15, 31, 63, 63]);
  assertEquals(zoneBatchsize(kernel("6.8"), 1024), 0);
});

Deno.test("batch: large pages move fewer at once", () => {
  const batch = (name: string, pageSize: number) =>
    zoneBatchsize(
      kernel(name, { pageSize }),
      64 * 1024 * 1024 * 1024 / pageSize,
    );
  assertEquals([4096, 16384, 65536].map((size) => batch("3.12", size)), [
    31,
    7,
    1,
  ]);
  assertEquals([4096, 16384, 65536].map((size) => batch("6.8", size)), [
    63,
    15,
    3,
  ]);
});

Deno.test("high mark: six batches, later a CPU's share of the low mark, then also a share of the zone", () => {
  assertEquals(pcpSizes(kernel("4.3"), FOUR_GIB, 2560, 8), {
    batch: 31,
    highMin: 186,
    highMax: 186,
  });
  assertEquals(pcpSizes(kernel("6.1"), FOUR_GIB, 3096, 8), {
    batch: 63,
    highMin: 387,
    highMax: 387,
  });
  assertEquals(pcpSizes(kernel("6.8"), FOUR_GIB, 3096, 8), {
    batch: 63,
    highMin: 387,
    highMax: 16_384,
  });
  assertEquals(pcpSizes(kernel("6.1"), FOUR_GIB, 3096, 64).highMin, 252);
});

Deno.test("refill: a batch of 31 under one lock in 3.12", () => {
  const pages = pagesOf("3.12");
  assertEquals(refills(pages, 100), [31, 31, 31, 31]);
  assertEquals(pages.counters.zoneLock, 4);
  assertEquals(pages.counters.pcpHits, 96);
});

Deno.test("refill: 6.1 keeps 63, 6.8 doubles while nothing is freed, up to 32-fold", () => {
  assertEquals(refills(pagesOf("6.1"), 200), [63, 63, 63, 63]);
  assertEquals(refills(pagesOf("6.8"), 5000), [
    63,
    126,
    252,
    504,
    1008,
    2016,
    2016,
  ]);
});

Deno.test("refill: a free halves what the next one of 6.8 takes", () => {
  const pages = pagesOf("6.8");
  const held = take(pages, 63 + 126 + 252);
  assertEquals(pages.pcp[0]!.count, 0);
  pages.free(held.pop()!);
  pages.alloc(GFP_KERNEL, 0);
  assertEquals(refills(pages, 1), [126], "504 without the free");
});

Deno.test("refill: 7 blocks of order 3, 15 of order 2, 31 of order 1 from 5.14 on", () => {
  for (const name of ["6.1", "6.8", "6.12", "6.18"]) {
    const pages = pagesOf(name);
    assertEquals(
      [1, 2, 3].map((order) => refills(pages, 1, order)),
      [[31], [15], [7]],
      name,
    );
    pages.alloc(GFP_KERNEL, 4);
    assertEquals(pages.counters.pcpRefills, 3, "order 4 has no list");
  }
});

Deno.test("refill: at least 2 blocks, unless the batch is a single page", () => {
  const blocks = (pages: number) =>
    refills(pagesOf("6.8", { pages, cpus: 1 }), 1, 3);
  assertEquals(blocks(16_384), [2]);
  assertEquals(blocks(4096), [1]);
});

Deno.test("an order-3 pair takes the zone lock twice in 3.12 and 4.3, once in seven at first later", () => {
  for (
    const [name, first, later] of [
      ["3.12", 2, 200],
      ["4.3", 2, 200],
      ["6.1", 1, 0],
      ["6.8", 1, 0],
    ] as const
  ) {
    const pages = pagesOf(name);
    pages.free(pages.alloc(GFP_ATOMIC, 3));
    assertEquals(pages.counters.zoneLock, first, name);
    for (let i = 0; i < 100; i++) pages.free(pages.alloc(GFP_ATOMIC, 3));
    assertEquals(pages.counters.zoneLock - first, later, name);
  }
});

Deno.test("the list is last in, first out, and each CPU has its own", () => {
  const pages = pagesOf("3.12");
  const [a, b] = take(pages, 2) as [number, number];
  pages.free(a);
  pages.free(b);
  assertEquals([pages.alloc(GFP_KERNEL, 0), pages.alloc(GFP_KERNEL, 0)], [
    b,
    a,
  ]);
  pages.free(a, 3);
  assert(pages.alloc(GFP_KERNEL, 0, 0) !== a);
  assertEquals(pages.alloc(GFP_KERNEL, 0, 3), a);
});

Deno.test("__GFP_COLD takes from the tail up to 4.14", () => {
  const pages = pagesOf("4.3");
  const [a, b] = take(pages, 31) as [number, number];
  pages.free(a);
  pages.free(b);
  assertEquals(pages.alloc(GFP_KERNEL | __GFP_COLD, 0), a);
  const later = pagesOf("6.8");
  const [c, d] = take(later, 63) as [number, number];
  later.free(c);
  later.free(d);
  assertEquals(later.alloc(GFP_KERNEL | __GFP_COLD, 0), d);
});

Deno.test("a refill hands pages out by address, hot or cold", () => {
  for (const cold of [0, __GFP_COLD]) {
    const pages = pagesOf("4.3");
    const pfns = [1, 2, 3].map(() => pages.alloc(GFP_KERNEL | cold, 0));
    assertEquals(pfns, [0, 1, 2]);
  }
});

Deno.test("give-back: 3.12 returns 31 pages, the coldest, at 186", () => {
  const pages = pagesOf("3.12");
  const held = take(pages, 186);
  assertEquals(pages.pcp[0]!.count, 0);
  assertEquals(freeAll(pages, held.slice(0, 185), 0), []);
  assertEquals(pages.pcp[0]!.count, 185);
  assertEquals(freeAll(pages, held.slice(185), 0), [31]);
  assertEquals(pages.pcp[0]!.count, 155);
  // The oldest 31 went: what is left comes back newest first, without a refill.
  const { pcpRefills } = pages.counters;
  const back = take(pages, 155);
  assertEquals(pages.counters.pcpRefills, pcpRefills);
  assertEquals(back, held.slice(31).reverse());
});

Deno.test("give-back: 6.1 doubles while only frees come, and leaves a batch", () => {
  const pages = pagesOf("6.1");
  const held = take(pages, 1152);
  assertEquals(freeAll(pages, held, 1), [63, 126, 252, 324, 324]);
  assertEquals(pages.pcp[1]!.count, 63);
});

Deno.test("give-back: 6.1 lets an order-3 block go with all else after one give-back", () => {
  const pages = pagesOf("6.1");
  const block = pages.alloc(GFP_KERNEL, 3);
  const held = take(pages, 387);
  assertEquals(freeAll(pages, held, 1), [63]);
  assertEquals(pages.pcp[1]!.count, 324);
  pages.free(block, 1);
  assertEquals(pages.pcp[1]!.count, 0);
});

Deno.test("give-back: 6.8 raises its mark by what was freed, and returns as much", () => {
  const pages = pagesOf("6.8");
  const held = take(pages, 387 + 387 + 774 + 1548);
  // Marks 387, 450, 837, 1611; each leaves a batch of 63.
  assertEquals(freeAll(pages, held, 1), [324, 387, 774, 1548]);
  assertEquals(pages.pcp[1]!.count, 63);
  assertEquals(pages.pcp[1]!.high, 2079);
});

Deno.test("give-back: allocations raise the mark of 6.8, so that the same pages fit on return", () => {
  const pages = pagesOf("6.8");
  const held = take(pages, 1000);
  assertEquals(pages.pcp[0]!.high, 387 + 63 + 126 + 252 + 504 + 1008);
  assertEquals(freeAll(pages, held, 0), []);
  assertEquals(freeAll(pagesOf("6.1"), [], 0), []);
  const old = pagesOf("6.1");
  assert(freeAll(old, take(old, 1000), 0).length > 0);
});

Deno.test("give-back: 6.8 keeps order-3 blocks up to a batch of pages, or none where the cache is small", () => {
  const pages = pagesOf("6.8");
  assertEquals(freeAll(pages, take(pages, 40, 3), 1), [9, 8, 8, 8]);
  const small = pagesOf("6.8", { freeHighBatch: false });
  assertEquals(freeAll(small, take(small, 12, 3), 1), [9, 1, 1, 1]);
});

Deno.test("give-back: from 6.16 on order-3 blocks stay until half the lowest mark was freed as well", () => {
  const pages = pagesOf("6.18");
  // 63 + 387 / 2 = 256 pages are freed before the 33rd block; all 33 go, then 8 at a time.
  assertEquals(freeAll(pages, take(pages, 49, 3), 1), [33, 8, 8]);
});

Deno.test("give-back: while kswapd works the lists hold four batches", () => {
  for (const [name, drained] of [["6.1", 63], ["6.8", 189]] as const) {
    const pages = pagesOf(name);
    const held = take(pages, 252);
    pages.setReclaimActive(true);
    assertEquals(freeAll(pages, held, 1), [drained], name);
    const idle = pagesOf(name);
    assertEquals(freeAll(idle, take(idle, 252), 1), [], name);
  }
});

Deno.test("below the high mark 6.8 stops growing its lists", () => {
  const pages = pagesOf("6.8");
  const hold = pages.pressure(pages.watermarks.high);
  assertEquals(refills(pages, 1), [63]);
  assert(pages.zone.belowHigh);
  assertEquals(pages.pcp[0]!.high, pages.pcp[0]!.highMin);
  hold.release();
  const held = take(pages, 62);
  freeAll(pages, held, 1);
  assert(pages.zone.belowHigh, "only a give-back clears it");
  const many = take(pages, 500);
  assert(freeAll(pages, many, 1).length > 0);
  assert(!pages.zone.belowHigh);
});

Deno.test("a zone too small for a batch keeps nothing on the lists of 3.12", () => {
  const pages = pagesOf("3.12", { pages: 4096, cpus: 1 });
  const pfn = pages.alloc(GFP_KERNEL, 0);
  assertEquals(pages.pcp[0]!.count, 0);
  pages.free(pfn);
  assertEquals(pages.pcp[0]!.count, 0);
  assertEquals(pages.freePages(), 4096);
});

Deno.test("drainPcp empties one CPU or all", () => {
  const pages = pagesOf("6.8");
  for (const cpu of [0, 1, 2]) {
    pages.free(pages.alloc(GFP_KERNEL, 0, cpu), cpu);
    pages.free(pages.alloc(GFP_KERNEL, 3, cpu), cpu);
  }
  assert(pages.freePages() < FOUR_GIB);
  pages.drainPcp(1);
  assertEquals(pages.pcp.map((pcp) => pcp.count > 0).slice(0, 3), [
    true,
    false,
    true,
  ]);
  pages.drainPcp();
  assertEquals(pages.freePages(), FOUR_GIB);
  assertEquals(pages.freeBlocks(10), 1024);
  pages.check();
});
