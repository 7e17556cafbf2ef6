/**
 * `page_frag_1k`: the 1 KiB fragments that `napi_alloc_skb` uses for small heads from 6.1 on.
 *
 * @module
 */

import type { PageAllocator } from "./page_alloc.ts";
import { checkCpu, pageShift, putFragment } from "./page_frag_put.ts";

const SZ_1K = 1024;

/**
 * Cuts single pages into four (`page_frag_alloc_1k`, net/core/skbuff.c, 6.1 on; only with 4 KiB pages). A small head then
 * pins a page at most, not 32 KiB. The references of all four are taken at once, and a page is never used again.
 *
 * @example
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageFrag1k } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = new PageFrag1k(new PageAllocator(kernel("6.8")));
 * assertEquals([0, 1, 2, 3].map(() => cache.alloc(Gfp.GFP_ATOMIC) % 4096), [3072, 2048, 1024, 0]);
 * assertEquals(cache.refills, 1);
 * ```
 */
export class PageFrag1k {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** CPU whose per-CPU page lists serve it. */
  readonly cpu: number;
  readonly #shift: number;
  /** Head page of the current page, or -1. */
  pfn: number = -1;
  /** `offset` of the last fragment, bytes: 3072, 2048, 1024, 0. */
  offset = 0;
  /** Whether the current page came from the reserve. */
  pfmemalloc = false;
  /** Pages taken. */
  refills = 0;
  /** Fragments handed out. */
  frags = 0;
  /** Calls that found no memory. */
  failures = 0;

  /**
   * A cache without a page.
   *
   * @param pages The page allocator.
   * @param options `cpu`: CPU whose page lists serve it, default 0.
   * @throws {RangeError} The kernel has no such fragments, or `cpu` is none of the page allocator's CPUs.
   */
  constructor(
    pages: PageAllocator,
    options: { readonly cpu?: number | undefined } = {},
  ) {
    if (!pages.kernel.skb.napiSmallFrag || pages.pageSize !== 4096) {
      throw new RangeError(
        `pages: ${pages.kernel.name} with pages of ${pages.pageSize} bytes has no 1 KiB fragments`,
      );
    }
    this.pages = pages;
    this.cpu = checkCpu(pages, options.cpu);
    this.#shift = pageShift(pages);
  }

  /**
   * A fragment of 1,024 bytes.
   *
   * @param gfp What the page allocator may do, from `Gfp`.
   * @returns Its address, or -1 without memory.
   */
  alloc(gfp: number): number {
    let offset = this.offset - SZ_1K;
    if (offset < 0) {
      const pfn = this.pages.alloc(gfp, 0, this.cpu);
      if (pfn < 0) {
        this.failures++;
        return -1;
      }
      this.pfn = pfn;
      this.pfmemalloc = this.pages.isPfmemalloc(pfn);
      this.refills++;
      offset = this.pages.pageSize - SZ_1K;
      this.pages.refcount[pfn]! += offset / SZ_1K;
    }
    this.offset = offset;
    this.frags++;
    return this.pfn * this.pages.pageSize + offset;
  }

  /**
   * Gives a fragment back (`page_frag_free`).
   *
   * @param address What `alloc` returned.
   * @throws {Error} The address lies in no allocated page.
   */
  free(address: number): void {
    if (!putFragment(this.pages, this.#shift, address, this.cpu)) {
      throw new Error(`free(${address}): nothing is allocated at this address`);
    }
  }

  /** Gives up the references of the fragments not handed out; no kernel does so, it lets a run end without pages lost. */
  drain(): void {
    const unused = this.offset / SZ_1K;
    if (unused > 0) {
      const left = this.pages.refcount[this.pfn]! - unused;
      this.pages.refcount[this.pfn] = left;
      if (left === 0) this.pages.free(this.pfn, this.cpu);
    }
    this.pfn = -1;
    this.offset = 0;
  }
}
