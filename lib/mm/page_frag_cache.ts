/**
 * `page_frag_cache`: the per-CPU allocator of receive fragments, in the four shapes it has had. Fragments are cut from a
 * block of up to 32 KiB that stays alive until the last of them is freed. The shapes stand side by side in
 * `page_frag_up_3_7.ts`, `page_frag_down_4_2.ts` and `page_frag_up_6_13.ts`; the second and third differ by rules only.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import type { PageAllocator } from "./page_alloc.ts";
import {
  countRest,
  forgetBlock,
  PageFragCacheCounters,
  type PageFragCacheRules,
  pageFragCacheRules,
  type PageFragCacheState,
} from "./page_frag_block.ts";
import { pageFragAllocDown } from "./page_frag_down_4_2.ts";
import {
  checkAlign,
  checkCpu,
  MAX_FRAGSZ,
  pageShift,
  putFragment,
} from "./page_frag_put.ts";
import { PAGE_USED } from "./zone.ts";
import { netdevAllocFrag } from "./page_frag_up_3_7.ts";
import { pageFragAllocUp } from "./page_frag_up_6_13.ts";

/** How a {@linkcode PageFragCache} is made. */
export interface PageFragCacheOptions {
  /** CPU whose per-CPU page lists it takes from, default 0. */
  readonly cpu?: number | undefined;
  /**
   * Called with the head page of each fresh block before its references are taken: the moment in which another CPU may
   * take a speculative reference (`get_page_unless_zero`). Absent: nobody does.
   */
  readonly speculate?: ((pfn: number) => void) | undefined;
}

const UP_3_7 = 0;
const DOWN_4_2 = 1;
const UP_6_13 = 2;

/**
 * `page_frag_cache` as the page allocator's kernel has it: `__netdev_alloc_frag` in net/core/skbuff.c (3.7 to 3.18),
 * `__alloc_page_frag` and `page_frag_alloc_align` in mm/page_alloc.c (4.2 to 6.12), mm/page_frag_cache.c (6.13 on).
 * Driven by `kernel.pageFragCache`.
 *
 * The block's refcount is always `bias` plus the fragments outstanding.
 *
 * @example 42 receive buffers of 768 bytes share 32 KiB, and freed ones are reused in place
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageFragCache } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pages = new PageAllocator(kernel("6.12"));
 * const cache = new PageFragCache(pages);
 * const addresses = Array.from({ length: 42 }, () => cache.alloc(768, Gfp.GFP_ATOMIC));
 * assertEquals(addresses[0]! - cache.base, 32_000);
 * assertEquals(cache.offset, 512);
 *
 * for (const address of addresses) cache.free(address);
 * cache.alloc(768, Gfp.GFP_ATOMIC);
 * assertEquals(cache.counters.refills, 1);
 * assertEquals(cache.counters.reuses, 1);
 * ```
 */
export class PageFragCache {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** CPU whose per-CPU page lists serve the cache. */
  readonly cpu: number;
  /** The rules that `kernel.pageFragCache` gives. */
  readonly rules: PageFragCacheRules;
  /** See {@linkcode PageFragCacheOptions.speculate}. */
  readonly speculate: ((pfn: number) => void) | undefined;
  /** Head page of the current block, or -1. */
  readonly pfn: number = -1;
  /** Address of the current block, bytes; 0 without one. */
  readonly base: number = 0;
  /** `offset`, bytes in the block: where the next fragment starts (up) or ends (down). */
  readonly offset: number = 0;
  /** `size` of the current block, bytes; 0 without one. */
  readonly size: number = 0;
  /** `pagecnt_bias`: references that the cache still holds. */
  readonly bias: number = 0;
  /** References that it held when the block was started. */
  readonly total: number = 0;
  /** Fragments handed out from earlier blocks. */
  readonly settled: number = 0;
  /** `pfmemalloc`: whether the current block came from the reserve. */
  readonly pfmemalloc: boolean = false;
  /** What is counted. */
  readonly counters: PageFragCacheCounters = new PageFragCacheCounters(this);
  readonly #refcount: Int32Array;
  readonly #kind: Uint8Array;
  readonly #shift: number;
  readonly #blockMask: number;
  readonly #blockKind: number;
  readonly #shape: number;
  readonly #aligns: boolean;

  /**
   * A cache without a block.
   *
   * @param pages The page allocator; its kernel decides the shape.
   * @param options CPU and hooks.
   * @throws {RangeError} `cpu` is none of the page allocator's CPUs.
   * @throws {TypeError} `speculate` is no function.
   */
  constructor(pages: PageAllocator, options: PageFragCacheOptions = {}) {
    const { speculate } = options;
    if (speculate !== undefined && typeof speculate !== "function") {
      throw new TypeError(
        `speculate must be a function of a pfn, got ${typeof speculate}`,
      );
    }
    const facts = pages.kernel.pageFragCache;
    this.pages = pages;
    this.kernel = pages.kernel;
    this.cpu = checkCpu(pages, options.cpu);
    this.#refcount = pages.refcount;
    this.#kind = pages.zone.kind;
    this.#shift = pageShift(pages);
    this.rules = pageFragCacheRules(pages.kernel);
    this.#blockMask = -1 << this.rules.order;
    this.#blockKind = PAGE_USED | this.rules.order;
    this.speculate = speculate;
    this.#aligns = facts.align !== "none";
    this.#shape = facts.direction === "down"
      ? DOWN_4_2
      : facts.tooLarge === "loops"
      ? UP_3_7
      : UP_6_13;
  }

  /**
   * A fragment of `fragsz` bytes (`netdev_alloc_frag`, `page_frag_alloc`, `page_frag_alloc_align`).
   *
   * @param fragsz Bytes, 1 to 2^30. No rounding happens here: see {@linkcode netdevFragSize}.
   * @param gfp What the page allocator may do, from `Gfp`.
   * @param align Power of two, bytes: the offset becomes a multiple of it. 1 (no alignment) by default; releases up to
   *   5.11 take nothing else.
   * @returns Its address, or -1 where the kernel returns NULL or never returns; the counters say which. A corrupt
   *   fragment of 4.2 to 5.19 may lie in front of its block, at a negative address where that is the first one.
   * @throws {RangeError} `fragsz` or `align` is out of range, or this kernel takes no alignment.
   */
  alloc(fragsz: number, gfp: number, align = 1): number {
    if ((fragsz | 0) !== fragsz || fragsz < 1 || fragsz > MAX_FRAGSZ) {
      refuseFragsz(fragsz);
    }
    if (align !== 1) checkAlign(align, this.#aligns, this.kernel.name);
    // The block has room: all that most calls do, down from its end or up from its start.
    if (this.#shape === DOWN_4_2) {
      const next = this.offset - fragsz;
      // An offset over the size is one that wrapped (4.2 to 5.19).
      if (next >= 0 && this.offset <= this.size) {
        const offset = next & -align;
        return this.#cut(offset, offset, next - offset);
      }
    } else {
      const offset = (this.offset + align - 1) & -align;
      const end = offset + fragsz;
      if (end <= this.size) return this.#cut(offset, end, offset - this.offset);
    }
    switch (this.#shape) {
      case UP_3_7:
        return netdevAllocFrag(this, fragsz, gfp);
      case DOWN_4_2:
        return pageFragAllocDown(this, fragsz, gfp, align);
      default:
        return pageFragAllocUp(this, fragsz, gfp, align);
    }
  }

  #cut(start: number, offset: number, gap: number): number {
    const state = this as PageFragCacheState;
    if (gap !== 0) state.counters.wastedBytes += gap;
    state.offset = offset;
    state.bias--;
    return this.base + start;
  }

  /**
   * Gives a fragment back: drops one reference of its block, and the block with the last (`page_frag_free`, before 4.12
   * `put_page` or `__free_page_frag`).
   *
   * @param address What `alloc` returned.
   * @throws {Error} The address lies in no allocated block: freed twice, or never handed out. After a corruption that is
   *   the simulated kernel's fault and is counted in `corruptions`.
   */
  free(address: number): void {
    const refcount = this.#refcount;
    const small = address | 0;
    if (small === address && small >= 0) {
      // Nearly every fragment lies in a large block, whose head the address tells without a search.
      const head = (small >>> this.#shift) & this.#blockMask;
      if (this.#kind[head] === this.#blockKind) {
        const left = refcount[head]! - 1;
        if (left > 0) {
          refcount[head] = left;
          return;
        }
      }
    }
    this.#putElsewhere(address);
  }

  // The last fragment of a block, one of a single page, or an address that was never handed out.
  #putElsewhere(address: number): void {
    if (putFragment(this.pages, this.#shift, address, this.cpu)) return;
    if (this.counters.corruptions === 0) {
      throw new Error(
        `free(${address}): no fragment is allocated at this address`,
      );
    }
    this.counters.corruptions++;
  }

  /**
   * Gives up the cache's own references to its block and the block itself if no fragment is left
   * (`page_frag_cache_drain`, 6.9 on). Older kernels have no such function: their caches keep a block for ever, and the
   * drivers that own a cache drop its references by hand (`__page_frag_cache_drain`); here it works for all.
   */
  drain(): void {
    if (this.pfn < 0) return;
    const { pages, pfn, bias } = this;
    countRest(this);
    forgetBlock(this);
    const before = pages.refcount[pfn]!;
    if (before === 0 && bias === 0) {
      this.counters.useAfterFrees++;
      return;
    }
    pages.refcount[pfn] = before - bias;
    if (before === bias) pages.free(pfn, this.cpu);
  }
}

// Apart from its callers, which stay small enough to be inlined.
function refuseFragsz(fragsz: number): never {
  throw new RangeError(
    `fragsz must be a whole number of bytes from 1 to ${MAX_FRAGSZ}, got ${fragsz}`,
  );
}

/**
 * Bytes that `netdev_alloc_frag` and `napi_alloc_frag` ask the cache for: rounded up to a cache line
 * (`SKB_DATA_ALIGN`) where the kernel does so (`__netdev_alloc_frag_align`, net/core/skbuff.c; not in 3.x and 4.x).
 *
 * @param kernel The kernel.
 * @param fragsz Bytes, 1 to 2^30.
 * @returns Bytes.
 * @throws {RangeError} `fragsz` is out of range.
 *
 * @example
 * ```ts
 * import { kernel, netdevFragSize } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(netdevFragSize(kernel("6.18"), 1000), 1024);
 * ```
 */
export function netdevFragSize(kernel: Kernel, fragsz: number): number {
  if ((fragsz | 0) !== fragsz || fragsz < 1 || fragsz > MAX_FRAGSZ) {
    refuseFragsz(fragsz);
  }
  const line = kernel.build.cacheLine;
  return kernel.pageFragCache.roundsToCacheLine
    ? (fragsz + line - 1) & -line
    : fragsz;
}
