/**
 * page_pool: receive pages that come back to the driver instead of the page allocator, whole or as fragments.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { whole } from "../sim/check.ts";

export {
  pagePoolFragSize,
  pagePoolReceive,
  type PagePoolReceiveOptions,
} from "./page_pool_receive.ts";

/** `PP_ALLOC_CACHE_SIZE`: pages that the lockless cache takes. */
const ALLOC_CACHE_SIZE = 128;
/** `PP_ALLOC_CACHE_REFILL`: pages that a refill of the cache moves or takes at once. */
const ALLOC_CACHE_REFILL = 64;

/** How a {@linkcode PagePool} is made. An option given as `undefined` is absent. */
export interface PagePoolOptions {
  /** Order of its pages, 0 to 3; default 0. */
  readonly order?: number | undefined;
  /** `pool_size`: pages that the ring for returned ones takes, 1 to 32,768; default 1,024. */
  readonly poolSize?: number | undefined;
  /** CPU whose per-CPU page lists serve it, default 0. */
  readonly cpu?: number | undefined;
}

/**
 * What a {@linkcode PagePool} counts, by the names of `ethtool -S` (`rx_pp_...`).
 *
 * @example
 * ```ts
 * import { kernel, PageAllocator, PagePool, PagePoolCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pool = new PagePool(new PageAllocator(kernel("6.8")));
 * pool.alloc(1536);
 * pool.alloc(1536);
 * const counters: PagePoolCounters = pool.counters;
 * assertEquals([counters.frags, counters.pagesHold], [2, 64]);
 * ```
 */
export class PagePoolCounters {
  /** `alloc_fast`: requests that the cache or the current page served. */
  allocFast = 0;
  /** `alloc_slow`: requests that went to the page allocator. */
  allocSlow = 0;
  /** `alloc_slow_ho`: the same for pages above order 0. */
  allocSlowHo = 0;
  /** `alloc_empty`: times that the ring had nothing for the cache. */
  allocEmpty = 0;
  /** `alloc_refill`: refills of the cache from the ring. */
  allocRefill = 0;
  /** Requests that got nothing. */
  allocFailed = 0;
  /** `recycle_cached`: pages that went back to the cache. */
  recycleCached = 0;
  /** `recycle_cache_full`: pages that the cache did not take. */
  recycleCacheFull = 0;
  /** `recycle_ring`: pages that went back to the ring. */
  recycleRing = 0;
  /** `recycle_ring_full`: pages that the ring did not take: freed. */
  recycleRingFull = 0;
  /** `recycle_released_ref`: pages that somebody else also holds or that came from the reserve: freed. */
  recycleReleasedRef = 0;
  /** Fragments handed out; whole pages are not among them. */
  frags = 0;
  /** Pages taken from the page allocator (`pages_state_hold_cnt`). */
  pagesHold = 0;
  /** Pages given back to it (`pages_state_release_cnt`). */
  pagesRelease = 0;
}

/**
 * `struct page_pool` with fragments: `page_pool_alloc` (include/net/page_pool/helpers.h), `page_pool_alloc_frag`,
 * `page_pool_put_page` (net/core/page_pool.c, 6.12) over the page allocator. Left out: NUMA, DMA, memory providers.
 *
 * @example Two fragments a page, and the page comes back with the second
 * ```ts
 * import { kernel, PageAllocator, PagePool } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pool = new PagePool(new PageAllocator(kernel("6.8")));
 * const first = pool.alloc(1536);
 * const second = pool.alloc(1536);
 * assertEquals([pool.size, second - first], [2560, 1536]);
 * pool.put(first);
 * assertEquals(pool.counters.recycleCached, 0);
 * ```
 */
export class PagePool {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** What is counted. */
  readonly counters: PagePoolCounters = new PagePoolCounters();
  /** Bytes of one of its pages. */
  readonly pageBytes: number;
  /** What the last request really got, bytes: the charge of its fragment. */
  size = 0;
  readonly #order: number;
  readonly #cpu: number;
  readonly #cache = new Int32Array(ALLOC_CACHE_SIZE);
  #cached = 0;
  readonly #ring: Int32Array;
  #ringHead = 0;
  #ringed = 0;
  // pp_ref_count: users of each page, the pool itself not counted.
  readonly #users: Int32Array;
  #fragPfn = -1;
  #fragOffset = 0;
  #destroyed = false;

  /**
   * A pool without pages.
   *
   * @param pages The page allocator.
   * @param options Order and size.
   * @throws {RangeError} An option is out of range.
   */
  constructor(pages: PageAllocator, options: PagePoolOptions = {}) {
    this.pages = pages;
    this.kernel = pages.kernel;
    this.#order = whole("options.order", options.order ?? 0, 0, 3);
    this.#cpu = whole("options.cpu", options.cpu ?? 0, 0, 4095);
    this.#ring = new Int32Array(
      whole("options.poolSize", options.poolSize ?? 1024, 1, 32768),
    );
    this.#users = new Int32Array(pages.refcount.length);
    this.pageBytes = pages.pageSize << this.#order;
  }

  /** Pages that are with the driver or the stack (`page_pool_inflight`), those that the pool keeps not counted. */
  get inflight(): number {
    const { pagesHold, pagesRelease } = this.counters;
    return pagesHold - pagesRelease - this.#cached - this.#ringed;
  }

  /**
   * A fragment, or a whole page where two do not fit (`page_pool_alloc`). `size` then says how much it really is.
   *
   * @param size Bytes, 1 to a page of the pool.
   * @param gfp What the page allocator may do; default `GFP_ATOMIC`.
   * @returns Its address, bytes; -1 where there is no memory.
   * @throws {RangeError} `size` is out of range.
   * @throws {Error} The pool is destroyed.
   */
  alloc(size: number, gfp: number = Gfp.GFP_ATOMIC): number {
    if (this.#destroyed) throw new Error("alloc: the pool is destroyed");
    const most = this.pageBytes;
    if (size >>> 0 !== size || size < 1 || size > most) {
      whole("size", size, 1, most);
    }
    if (size * 2 > most) {
      const pfn = this.#allocPages(gfp);
      if (pfn < 0) return -1;
      this.#users[pfn] = 1;
      this.size = most;
      return pfn * this.pages.pageSize;
    }
    const step = (size + 7) & ~7;
    if (this.#fragPfn >= 0 && this.#fragOffset + step > most) this.#drainFrag();
    if (this.#fragPfn < 0) {
      const pfn = this.#allocPages(gfp);
      if (pfn < 0) return -1;
      this.#fragPfn = pfn;
      this.#fragOffset = 0;
      this.#users[pfn] = 0;
    } else {
      this.counters.allocFast++;
    }
    const pfn = this.#fragPfn;
    const offset = this.#fragOffset;
    this.#users[pfn]!++;
    this.counters.frags++;
    this.#fragOffset = offset + step;
    this.size = size;
    if (this.#fragOffset + size > most) {
      this.size = most - offset;
      this.#fragOffset = most;
    }
    return pfn * this.pages.pageSize + offset;
  }

  /**
   * Returns a fragment or page; the last one of a page recycles it (`page_pool_put_page`, `napi_pp_put_page`).
   *
   * @param address What `alloc` returned.
   * @param direct Whether the pool's own NAPI context frees it, so that the lockless cache may take it. Default true.
   * @throws {Error} Nothing of this pool is allocated at the address.
   */
  put(address: number, direct = true): void {
    const pfn = Math.floor(address / this.pageBytes) << this.#order;
    const users = this.#users[pfn];
    if (users === undefined || users <= 0) {
      throw new Error(`put(${address}): the pool has nothing allocated there`);
    }
    this.#users[pfn] = users - 1;
    // The page that fragments are cut from has the pool as one more user.
    if (users > 1 || pfn === this.#fragPfn) return;
    this.#recycle(pfn, direct);
  }

  /** Gives all pages back that the pool keeps (`page_pool_destroy`); those in flight are freed as they return. */
  destroy(): void {
    this.#destroyed = true;
    if (this.#fragPfn >= 0) {
      const pfn = this.#fragPfn;
      this.#fragPfn = -1;
      if (this.#users[pfn] === 0) this.#release(pfn);
    }
    while (this.#cached > 0) this.#release(this.#cache[--this.#cached]!);
    while (this.#ringed > 0) this.#release(this.#consumeRing());
  }

  /** `page_pool_drain_frag`: gives up the page that fragments are cut from, or starts it again if all came back. */
  #drainFrag(): void {
    const pfn = this.#fragPfn;
    this.#fragPfn = -1;
    if (this.#users[pfn]! > 0) return;
    if (!this.#recyclable(pfn)) {
      this.#release(pfn);
      return;
    }
    this.#fragPfn = pfn;
    this.#fragOffset = 0;
  }

  /** `page_pool_alloc_pages`: from the cache, from the ring, or 64 at once from the page allocator. */
  #allocPages(gfp: number): number {
    const { counters } = this;
    if (this.#cached > 0) {
      counters.allocFast++;
      return this.#cache[--this.#cached]!;
    }
    if (this.#ringed > 0) {
      while (this.#ringed > 0 && this.#cached < ALLOC_CACHE_REFILL) {
        this.#cache[this.#cached++] = this.#consumeRing();
      }
      counters.allocRefill++;
      return this.#cache[--this.#cached]!;
    }
    counters.allocEmpty++;
    const order = this.#order;
    const request = gfp | Gfp.__GFP_NOWARN | (order > 0 ? Gfp.__GFP_COMP : 0);
    const bulk = order > 0 ? 1 : ALLOC_CACHE_REFILL;
    while (this.#cached < bulk) {
      const pfn = this.pages.alloc(request, order, this.#cpu);
      if (pfn < 0) break;
      counters.pagesHold++;
      this.#cache[this.#cached++] = pfn;
    }
    if (this.#cached === 0) {
      counters.allocFailed++;
      return -1;
    }
    if (order > 0) counters.allocSlowHo++;
    else counters.allocSlow++;
    return this.#cache[--this.#cached]!;
  }

  #recyclable(pfn: number): boolean {
    return this.pages.refcount[pfn] === 1 && !this.pages.isPfmemalloc(pfn);
  }

  #recycle(pfn: number, direct: boolean): void {
    const { counters } = this;
    if (this.#destroyed) {
      this.#release(pfn);
      return;
    }
    if (!this.#recyclable(pfn)) {
      counters.recycleReleasedRef++;
      this.#release(pfn);
      return;
    }
    if (direct) {
      if (this.#cached < ALLOC_CACHE_SIZE) {
        this.#cache[this.#cached++] = pfn;
        counters.recycleCached++;
        return;
      }
      counters.recycleCacheFull++;
    }
    if (this.#ringed < this.#ring.length) {
      this.#ring[(this.#ringHead + this.#ringed++) % this.#ring.length] = pfn;
      counters.recycleRing++;
      return;
    }
    counters.recycleRingFull++;
    this.#release(pfn);
  }

  #consumeRing(): number {
    const pfn = this.#ring[this.#ringHead]!;
    this.#ringHead = (this.#ringHead + 1) % this.#ring.length;
    this.#ringed--;
    return pfn;
  }

  #release(pfn: number): void {
    this.counters.pagesRelease++;
    this.pages.putPage(pfn, this.#cpu);
  }
}
