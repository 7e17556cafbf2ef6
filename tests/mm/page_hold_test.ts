import { assert, assertEquals, assertThrows } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";

const { GFP_ATOMIC, GFP_KERNEL, __GFP_NOWARN } = Gfp;

Deno.test("fragment: order 3 fails, order 2 and less go on, release undoes it", () => {
  for (const name of ["3.12", "4.3", "6.8", "6.18"]) {
    const pages = new PageAllocator(kernel(name));
    const held = pages.fragment();
    assertEquals(held.pages, 65_536 / 8);
    assertEquals(pages.freePages(), 65_536 - 8192);
    assertEquals(pages.buddyInfo().slice(0, 4), [8192, 8192, 8192, 0]);
    pages.check();
    assertEquals(pages.alloc(GFP_ATOMIC, 3), -1);
    const page = pages.alloc(GFP_ATOMIC, 0);
    assert(page >= 0);
    assert(pages.alloc(GFP_ATOMIC, 2) >= 0 || name < "5", "6.x finds order 2");
    pages.free(page);
    held.release();
    held.release();
    assertEquals([held.pages, held.pfns.length], [0, 0]);
    assert(pages.alloc(GFP_ATOMIC, 3) >= 0);
    pages.check();
  }
});

Deno.test("fragment: a held page cannot be freed by others", () => {
  const pages = new PageAllocator(kernel("6.8"));
  const held = pages.fragment({ order: 1 });
  assertThrows(
    () => pages.free(held.pfns[0]!),
    Error,
    "held by the simulation",
  );
  held.release();
  assertEquals(pages.freeBlocks(10), 64);
});

Deno.test("fragment: a fraction leaves the rest whole; a seed is a layout", () => {
  const layout = (seed: number) => {
    const pages = new PageAllocator(kernel("6.8"));
    const held = pages.fragment({ order: 3, fraction: 0.5, seed });
    pages.check();
    const pfns = [...held.pfns];
    held.release();
    assertEquals(pages.freeBlocks(10), 64);
    return pfns;
  };
  const first = layout(1);
  assert(Math.abs(first.length - 4096) < 200, `${first.length} of 8192`);
  assertEquals(layout(1), first);
  assert(layout(2).join() !== first.join());
});

Deno.test("fragment: other counters than those of the requests stay as they were", () => {
  const pages = new PageAllocator(kernel("6.8"));
  const before = structuredClone({ ...pages.counters });
  pages.fragment().release();
  pages.pressure(100).release();
  assertEquals(structuredClone({ ...pages.counters }), before);
});

Deno.test("pressure leaves exactly so many pages, in as few blocks as it can", () => {
  const pages = new PageAllocator(kernel("6.8"));
  const held = pages.pressure(1000);
  assertEquals(pages.freePages(), 1000);
  assertEquals(held.pages, 64_536);
  assertEquals(held.pfns.length, 63 + 2, "63 of order 10, then 16 and 8");
  pages.check();
  assertEquals(pages.pressure(5000).pages, 0);
  held.release();
  assertEquals(pages.freePages(), 65_536);
  pages.check();
});

Deno.test("fragment and pressure refuse what makes no sense", () => {
  const pages = new PageAllocator(kernel("6.8"));
  assertThrows(() => pages.fragment({ order: 0 }), RangeError, "order 0");
  assertThrows(() => pages.fragment({ order: 11 }), RangeError, "order 11");
  assertThrows(
    () => pages.fragment({ fraction: 1.1 }),
    RangeError,
    "fraction 1.1",
  );
  assertThrows(() => pages.fragment({ seed: NaN }), RangeError, "seed NaN");
  assertThrows(() => pages.pressure(-1), RangeError, "freePages -1");
  assertEquals(pages.freePages(), 65_536);
});

Deno.test("failOrders: from an order on nothing is had, until it is lifted", () => {
  const pages = new PageAllocator(kernel("6.8"));
  pages.failOrders(1);
  assertEquals(pages.alloc(GFP_KERNEL, 3), -1);
  assertEquals(pages.alloc(GFP_KERNEL | __GFP_NOWARN, 1), -1);
  assert(pages.alloc(GFP_KERNEL, 0) >= 0);
  assertEquals(pages.counters.injected, 2);
  assertEquals(pages.counters.warnAlloc, 1);
  assertEquals(pages.counters.allocstall, 0);
  pages.failOrders(0);
  assertEquals(pages.alloc(GFP_KERNEL, 0), -1);
  pages.failOrders();
  assert(pages.alloc(GFP_KERNEL, 3) >= 0);
  assertThrows(() => pages.failOrders(11), RangeError, "minOrder 11");
  pages.check();
});

Deno.test("failPageAlloc: a share fails, the same one for the same seed", () => {
  const run = (seed: number) => {
    const pages = new PageAllocator(kernel("6.8"));
    pages.failPageAlloc({ minOrder: 0, probability: 0.25, seed });
    let failed = "";
    for (let i = 0; i < 400; i++) {
      const pfn = pages.alloc(GFP_KERNEL, i & 1);
      failed += pfn < 0 ? "x" : ".";
      if (pfn >= 0) pages.free(pfn);
    }
    assertEquals(pages.counters.injected, failed.split("x").length - 1);
    return failed;
  };
  const first = run(7);
  const share = (first.split("x").length - 1) / 400;
  assert(share > 0.15 && share < 0.35, `share ${share}`);
  assertEquals(run(7), first);
  assert(run(8) !== first);
  const pages = new PageAllocator(kernel("6.8"));
  pages.failPageAlloc({});
  assert(
    pages.alloc(GFP_KERNEL, 0) >= 0,
    "orders from 1 unless told otherwise",
  );
  assertEquals(pages.alloc(GFP_KERNEL, 1), -1);
  assertThrows(
    () => pages.failPageAlloc({ probability: -0.1 }),
    RangeError,
    "probability -0.1",
  );
});
