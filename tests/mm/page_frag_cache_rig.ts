/** What the tests of page_frag_cache share. */
import type { Kernel } from "../../lib/kernel.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { PageFragCache } from "../../lib/mm/page_frag_cache.ts";
import { kernel } from "../../lib/releases/mod.ts";

/** A page allocator and a cache on top. */
export interface Rig {
  pages: PageAllocator;
  cache: PageFragCache;
}

/** A rig of a release or kernel, with order 0 only if asked. */
export function rig(of: string | Kernel, order0 = false): Rig {
  const k = typeof of === "string" ? kernel(of) : of;
  const pages = new PageAllocator(k, { pages: 4096 });
  if (order0) pages.failOrders(1);
  return { pages, cache: new PageFragCache(pages) };
}

/** `count` numbers from `first`, `step` apart. */
export function steps(first: number, step: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i * step);
}

/** A kernel that differs in one rule of the cache. */
export function variant(
  name: string,
  changes: Partial<Kernel["pageFragCache"]>,
): Kernel {
  const facts = Object.fromEntries(
    Object.entries(changes).map(([key, value]) => [
      key,
      { value, file: "mm/page_alloc.c", symbol: "test", origin: "test" },
    ]),
  );
  return kernel(name).with("variant", { pageFragCache: facts });
}
