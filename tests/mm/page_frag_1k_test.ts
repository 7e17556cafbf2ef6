import { assertEquals, assertThrows } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { PageFrag1k } from "../../lib/mm/page_frag_1k.ts";
import { kernel } from "../../lib/releases/mod.ts";

const { GFP_ATOMIC } = Gfp;

function rig(): { pages: PageAllocator; cache: PageFrag1k } {
  const pages = new PageAllocator(kernel("6.8"), { pages: 1024 });
  return { pages, cache: new PageFrag1k(pages) };
}

Deno.test("a page gives four fragments, downwards", () => {
  const { pages, cache } = rig();
  const offsets = [0, 1, 2, 3].map(() => cache.alloc(GFP_ATOMIC) % 4096);
  assertEquals(offsets, [3072, 2048, 1024, 0]);
  assertEquals([cache.refills, pages.refcount[cache.pfn]], [1, 4]);
  cache.alloc(GFP_ATOMIC);
  assertEquals(cache.refills, 2);
});

Deno.test("a page is never started again, even with all four back", () => {
  const { pages, cache } = rig();
  for (let i = 0; i < 40; i++) cache.free(cache.alloc(GFP_ATOMIC));
  assertEquals([cache.refills, pages.counters.frees[0]], [10, 10]);
});

Deno.test("draining gives up the fragments that were not handed out", () => {
  const { pages, cache } = rig();
  const address = cache.alloc(GFP_ATOMIC);
  const { pfn } = cache;
  cache.drain();
  assertEquals(pages.refcount[pfn], 1);
  cache.free(address);
  cache.drain();
  pages.drainPcp();
  assertEquals(pages.freePages(), 1024);
});

Deno.test("without memory there is no fragment, and it is counted", () => {
  const { pages, cache } = rig();
  pages.failOrders(0);
  assertEquals(cache.alloc(GFP_ATOMIC), -1);
  assertEquals([cache.failures, cache.frags], [1, 0]);
});

Deno.test("kernels before 6.1 and large pages have none", () => {
  for (const k of [kernel("4.3"), kernel("6.8", { pageSize: 16384 })]) {
    assertThrows(
      () => new PageFrag1k(new PageAllocator(k, { pages: 1024 })),
      RangeError,
      "no 1 KiB fragments",
    );
  }
});

Deno.test("freeing what is not handed out is an error", () => {
  const { cache } = rig();
  assertThrows(() => cache.free(4096), Error, "nothing is allocated");
});
