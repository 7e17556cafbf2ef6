import { assert, assertEquals, assertThrows } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel, releases } from "../../lib/releases/mod.ts";

const {
  GFP_ATOMIC,
  GFP_KERNEL,
  __GFP_COMP,
  __GFP_DIRECT_RECLAIM,
  __GFP_HIGH,
  __GFP_MEMALLOC,
  __GFP_NOMEMALLOC,
  __GFP_NORETRY,
  __GFP_NOWARN,
  __GFP_RETRY_MAYFAIL,
  __GFP_WAIT,
} = Gfp;

Deno.test("alloc hands out a block with one reference, free takes it back", () => {
  for (const name of releases) {
    const pages = new PageAllocator(kernel(name));
    const pfn = pages.alloc(GFP_ATOMIC | __GFP_COMP, 3, 0);
    assertEquals(pages.refcount[pfn], 1, name);
    assertEquals(pages.orderOf(pfn), 3);
    assertEquals(pfn % 8, 0);
    assert(!pages.isPfmemalloc(pfn));
    pages.free(pfn);
    assertEquals(pages.refcount[pfn], 0);
    pages.drainPcp();
    assertEquals(pages.freePages(), 65_536);
    assertEquals(pages.buddyInfo(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64]);
    pages.check();
  }
});

Deno.test("the last put gives the block back, the ones before do not", () => {
  const pages = new PageAllocator(kernel("6.8"));
  const pfn = pages.alloc(GFP_KERNEL | __GFP_COMP, 3);
  pages.getPage(pfn);
  assertEquals(pages.putPage(pfn), false);
  assertEquals(pages.orderOf(pfn), 3);
  assertEquals(pages.putPage(pfn), true);
  assertThrows(() => pages.orderOf(pfn), Error, "free, on a per-CPU list");
  pages.check();
});

Deno.test("references move in bulk; none left does not free", () => {
  const pages = new PageAllocator(kernel("6.8"));
  const pfn = pages.alloc(GFP_ATOMIC, 3);
  pages.refAdd(pfn, 32_768);
  assertEquals(pages.refcount[pfn], 32_769);
  assertEquals(pages.refSubAndTest(pfn, 32_768), false);
  assertEquals(pages.refSubAndTest(pfn, 1), true);
  assertEquals(pages.orderOf(pfn), 3);
  pages.refAdd(pfn, 5);
  assertEquals(pages.refcount[pfn], 5);
  pages.free(pfn);
  pages.check();
});

Deno.test("mistakes of a simulation are errors that say which", () => {
  const pages = new PageAllocator(kernel("4.3"));
  const block = pages.alloc(GFP_KERNEL, 3);
  const page = pages.alloc(GFP_KERNEL, 0);
  pages.free(page);
  assertThrows(() => pages.free(page), Error, `free: pfn ${page} is free`);
  assertThrows(() => pages.putPage(page), Error, `putPage: pfn ${page} is`);
  assertThrows(() => pages.getPage(page), Error, `getPage: pfn ${page} is`);
  assertThrows(() => pages.refAdd(page, 1), Error, "on a per-CPU list");
  assertThrows(
    () => pages.free(block + 1),
    Error,
    "inside a block of which it is not the first page",
  );
  assertThrows(() => pages.free(40_000), Error, "is ");
  for (const pfn of [-1, 65_536, NaN, 0.5]) {
    assertThrows(() => pages.free(pfn), RangeError, `pfn ${pfn}`);
    assertThrows(() => pages.putPage(pfn), RangeError, `pfn ${pfn}`);
    assertThrows(() => pages.isPfmemalloc(pfn), RangeError, `pfn ${pfn}`);
  }
  assertThrows(() => pages.refSubAndTest(block, 2), RangeError, "n 2");
  assertThrows(() => pages.refAdd(block, 2 ** 31), RangeError, "n 2147483648");
  assertThrows(() => pages.refAdd(block, 0.5), RangeError, "n 0.5");
  assertEquals(pages.refSubAndTest(block, 1), true);
  assertThrows(
    () => pages.putPage(block),
    Error,
    "handed out without a reference",
  );
  assertEquals(pages.refcount[block], 0);
  pages.free(block);
  pages.check();
});

Deno.test("a bad request is refused before anything changes", () => {
  const pages = new PageAllocator(kernel("6.8"), { cpus: 2 });
  for (const order of [-1, 11, 0.5, NaN]) {
    assertThrows(
      () => pages.alloc(GFP_KERNEL, order),
      RangeError,
      `order ${order}`,
    );
  }
  assertThrows(() => pages.alloc(2, 0), RangeError, "gfp 2");
  assertThrows(() => pages.alloc(GFP_KERNEL, 0, 2), RangeError, "cpu 2");
  const pfn = pages.alloc(GFP_KERNEL, 0);
  assertThrows(() => pages.free(pfn, 2), RangeError, "cpu 2");
  assertEquals(pages.refcount[pfn], 1);
  pages.check();
  const k = kernel("6.8");
  assertThrows(
    () => new PageAllocator(k, { pages: 0 }),
    RangeError,
    "pages 0",
  );
  assertThrows(() => new PageAllocator(k, { pages: 2 ** 24 + 1 }), RangeError);
  assertThrows(
    () => new PageAllocator(k, { cpus: 1.5 }),
    RangeError,
    "cpus 1.5",
  );
  assertThrows(
    () => new PageAllocator(k, { minFreeKbytes: -1 }),
    RangeError,
    "minFreeKbytes -1",
  );
  assertThrows(
    () => new PageAllocator(k, { freeHighBatch: 1 as unknown as boolean }),
    TypeError,
    "freeHighBatch 1",
  );
  assertThrows(
    () => new PageAllocator(k, { onWakeKswapd: 1 as unknown as () => void }),
    TypeError,
    "onWakeKswapd",
  );
});

Deno.test("an option given as undefined is absent", () => {
  const pages = new PageAllocator(kernel("6.8"), {
    pages: undefined,
    cpus: undefined,
    minFreeKbytes: undefined,
    freeHighBatch: undefined,
    onDirectReclaim: undefined,
    onWakeKswapd: undefined,
  });
  const plain = new PageAllocator(kernel("6.8"));
  assertEquals(pages.watermarks, plain.watermarks);
  assertEquals(pages.freePages(), plain.freePages());
  assertEquals(pages.cpus, kernel("6.8").build.cpus);
});

/** 4 GiB of which 3000, 500, 200 and 10 blocks of order 0 to 3 are free, no two of them buddies. */
function fragmented(name: string): PageAllocator {
  const pages = new PageAllocator(kernel(name), { pages: 1_048_576, cpus: 1 });
  const free: number[] = [];
  [3000, 500, 200, 10].forEach((count, order) => {
    const blocks = Array.from(
      { length: 2 * count },
      () => pages.alloc(GFP_KERNEL, order),
    );
    // Refills hand out by address: every other one has its buddy in use.
    for (let i = 0; i < blocks.length; i += 2) free.push(blocks[i]!);
  });
  pages.pressure(0);
  for (const pfn of free) pages.free(pfn);
  pages.drainPcp();
  return pages;
}

Deno.test("a fragmented zone: 4.3 fails order 3 with ten blocks free, 6.8 takes one", () => {
  const old = fragmented("4.3");
  assertEquals(old.buddyInfo(), [3000, 500, 200, 10, 0, 0, 0, 0, 0, 0, 0]);
  assertEquals(old.watermarks, { min: 2048, low: 2560, high: 3072 });
  const refused = { ...old.counters };
  assertEquals(old.alloc(GFP_ATOMIC, 3), -1);
  assertEquals(old.counters.lowRefusals - refused.lowRefusals, 1);
  assertEquals(old.counters.minRefusals - refused.minRefusals, 1);
  assertEquals(old.freeBlocks(3), 10);
  old.check();

  const later = fragmented("6.8");
  assertEquals(later.buddyInfo(), [3000, 500, 200, 10, 0, 0, 0, 0, 0, 0, 0]);
  const { lowRefusals } = later.counters;
  assert(later.alloc(GFP_ATOMIC, 3) >= 0);
  assertEquals(later.counters.lowRefusals, lowRefusals);
  later.check();
});

Deno.test("how far each request may go down", () => {
  const cases: [string, number, "min" | "half" | "quarter" | "both"][] = [
    ["3.12", GFP_KERNEL, "min"],
    ["6.8", GFP_KERNEL, "min"],
    ["3.12", GFP_ATOMIC, "both"],
    ["4.3", GFP_ATOMIC, "both"],
    ["6.8", GFP_ATOMIC, "both"],
    ["4.3", GFP_KERNEL & ~__GFP_WAIT, "quarter"],
    ["6.1", GFP_KERNEL & ~__GFP_DIRECT_RECLAIM, "min"],
    ["6.18", GFP_KERNEL & ~__GFP_DIRECT_RECLAIM, "min"],
    ["4.3", GFP_KERNEL | __GFP_HIGH, "half"],
    ["6.8", GFP_KERNEL | __GFP_HIGH, "half"],
    ["4.3", GFP_ATOMIC | __GFP_NOMEMALLOC, "half"],
    ["6.8", GFP_ATOMIC | __GFP_NOMEMALLOC, "half"],
  ];
  for (const [name, gfp, right] of cases) {
    // 2,048 pages of min, as in 4 GiB.
    const pages = new PageAllocator(kernel(name), { minFreeKbytes: 8192 });
    const mark = { min: 2048, half: 1024, quarter: 1536, both: 768 }[right];
    const at = pages.pressure(mark);
    assertEquals(pages.alloc(gfp, 0), -1, `${name} ${right}`);
    at.release();
    const above = pages.pressure(mark + 1);
    assert(pages.alloc(gfp, 0) >= 0, `${name} ${right}`);
    above.release();
    pages.check();
  }
});

Deno.test("__GFP_MEMALLOC uses the reserve, and only then is the page pfmemalloc", () => {
  for (const name of ["3.12", "4.3", "6.8", "6.18"]) {
    const pages = new PageAllocator(kernel(name));
    const gfp = GFP_ATOMIC | __GFP_MEMALLOC;
    assert(!pages.isPfmemalloc(pages.alloc(gfp, 0)));
    const hold = pages.pressure(8);
    assertEquals(pages.alloc(GFP_ATOMIC, 0), -1);
    assertEquals(pages.alloc(gfp | __GFP_NOMEMALLOC, 0), -1);
    const pfn = pages.alloc(gfp, 0);
    assert(pages.isPfmemalloc(pfn), name);
    assertEquals(pages.counters.pfmemalloc, 1);
    pages.free(pfn);
    hold.release();
    assertEquals(pages.alloc(GFP_ATOMIC, 0), pfn);
    assert(!pages.isPfmemalloc(pfn), "the mark goes with the block");
    pages.check();
  }
});

Deno.test("a failure is counted by order, and warned about unless the caller does not care", () => {
  const pages = new PageAllocator(kernel("6.8"), { pages: 1024 });
  const hold = pages.pressure(0);
  assertEquals(pages.alloc(GFP_ATOMIC, 3), -1);
  assertEquals(pages.alloc(GFP_ATOMIC | __GFP_NOWARN, 3), -1);
  assertEquals(pages.alloc(GFP_ATOMIC, 0), -1);
  assertEquals(Array.from(pages.counters.failures.slice(0, 4)), [1, 0, 0, 2]);
  assertEquals(pages.counters.warnAlloc, 2);
  assertEquals(pages.counters.kswapdWakeups, 3);
  assertEquals(pages.counters.allocstall, 0);
  assertEquals(pages.counters.pgalloc, 0);
  hold.release();
  pages.check();
});

Deno.test("direct reclaim: NORETRY makes one pass, a cheap order goes on while there is progress", () => {
  const run = (gfp: number, order: number, progress: number) => {
    let passes = 0;
    const pages = new PageAllocator(kernel("6.8"), {
      onDirectReclaim: () => passes++ < progress ? 1 : 0,
    });
    const hold = pages.pressure(0);
    assertEquals(pages.alloc(gfp, order), -1);
    hold.release();
    return [pages.counters.allocstall, pages.counters.oomKill];
  };
  assertEquals(run(GFP_KERNEL | __GFP_NORETRY, 0, 5), [1, 0]);
  assertEquals(run(GFP_KERNEL, 3, 5), [6, 1]);
  assertEquals(run(GFP_KERNEL, 4, 5), [1, 0]);
  assertEquals(run(GFP_KERNEL | __GFP_RETRY_MAYFAIL, 4, 5), [6, 0]);
  assertEquals(run(GFP_KERNEL, 0, 1000), [16, 1]);
  assertEquals(run(GFP_ATOMIC, 0, 5), [0, 0]);
  assertEquals(run(GFP_KERNEL & ~__GFP_DIRECT_RECLAIM, 3, 5), [0, 0]);
});

Deno.test("direct reclaim: what it frees serves the request, off the per-CPU lists too", () => {
  const pages = new PageAllocator(kernel("6.8"), { cpus: 2 });
  const cache = Array.from({ length: 200 }, () => pages.alloc(GFP_KERNEL, 3));
  const hold = pages.pressure(pages.watermarks.min);
  pages.onDirectReclaim = (order) => {
    assertEquals(order, 3);
    let freed = 0;
    for (const pfn of cache.splice(0, 4)) {
      pages.free(pfn, 1);
      freed += 8;
    }
    return freed;
  };
  assert(pages.alloc(GFP_KERNEL, 3) >= 0);
  assertEquals(pages.counters.allocstall, 1);
  assertEquals(pages.counters.reclaimed, 32);
  assertEquals(pages.counters.failures[3], 0);
  hold.release();
  pages.check();
  pages.onDirectReclaim = () => -1;
  pages.pressure(0);
  assertThrows(
    () => pages.alloc(GFP_KERNEL, 3),
    RangeError,
    "onDirectReclaim() -1",
  );
});

Deno.test("kswapd is told of the order and may help at once", () => {
  const orders: number[] = [];
  const pages = new PageAllocator(kernel("4.3"));
  const hold = pages.pressure(0);
  pages.onWakeKswapd = (order) => {
    orders.push(order);
    hold.release();
  };
  assert(pages.alloc(GFP_ATOMIC, 3) >= 0);
  assertEquals(orders, [3]);
  assertEquals(pages.counters.kswapdWakeups, 1);
  pages.check();
});

Deno.test("splits and merges are counted, zone lock acquisitions too", () => {
  const pages = new PageAllocator(kernel("4.3"), { pages: 1024 });
  const pfn = pages.alloc(GFP_KERNEL, 3);
  assertEquals([pages.counters.splits, pages.counters.zoneLock], [7, 1]);
  pages.free(pfn);
  assertEquals([pages.counters.merges, pages.counters.zoneLock], [7, 2]);
  assertEquals([pages.counters.pgalloc, pages.counters.pgfree], [8, 8]);
  assertEquals(
    [pages.counters.allocations[3], pages.counters.frees[3]],
    [1, 1],
  );
});

Deno.test("large pages: the same orders of larger bytes, smaller batches", () => {
  for (const pageSize of [16_384, 65_536]) {
    const pages = new PageAllocator(kernel("6.12", { pageSize }), {
      pages: 65_536,
    });
    assertEquals(pages.pageSize, pageSize);
    const pfn = pages.alloc(GFP_KERNEL, 0);
    assertEquals(
      pages.counters.pcpRefilled,
      pageSize === 16_384 ? 15 : 3,
    );
    pages.free(pfn);
    pages.drainPcp();
    assertEquals(pages.freePages(), 65_536);
    pages.check();
  }
});
