/**
 * The page allocator: buddy blocks behind per-CPU lists and watermarks (mm/page_alloc.c).
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { FailPageAlloc, type FailPageAllocOptions } from "./fail_page_alloc.ts";
import { Gfp, GFP_BITS_MASK, gfpNames } from "./gfp.ts";
import { checkPages } from "./page_check.ts";
import { PageCounters } from "./page_counters.ts";
import {
  type FragmentOptions,
  fragmentZone,
  type PageHold,
  pressZone,
} from "./page_hold.ts";
import type { PageAllocatorOptions } from "./page_options.ts";
import { finite, flag, hook, share, whole } from "../sim/check.ts";
import { PageRefs } from "./page_ref.ts";
import { pcpSizes, PerCpuPages } from "./pcp.ts";
import {
  ALLOC_NO_WATERMARKS,
  gfpToAllocFlags,
  type Watermarks,
} from "./watermark.ts";
import {
  PAGE_ORDER,
  PAGE_PFMEMALLOC,
  PAGE_STATE,
  PAGE_USED,
  Zone,
} from "./zone.ts";
import { ZoneWatermark } from "./zone_watermark.ts";

export type { PageAllocatorOptions } from "./page_options.ts";

/** Default zone: 65,536 pages. */
const PAGES = 65_536;
/** Most pages that a zone may have. */
const MAX_PAGES = 1 << 24;
/** Most CPUs. */
const MAX_CPUS = 4096;
/** `MAX_RECLAIM_RETRIES`: reclaim passes without success before the model gives up. */
const MAX_RECLAIM_RETRIES = 16;

/**
 * One zone of memory and the allocator in front of it: `alloc_pages`, `__free_pages`, `get_page`, `put_page`.
 *
 * A page is its pfn, 0 to `pages` - 1; a block is known by its first page, and so is its refcount, with or without
 * `__GFP_COMP`. What no memory is available for is counted and answered with -1. Freeing what is not
 * handed out is a mistake of the simulation and throws.
 *
 * Left out: migrate types, the high-order atomic reserve (4.4+), watermark boosting, several zones and nodes,
 * per-CPU lists of 2 MiB blocks, memory hot-plug.
 *
 * @example An order-3 block costs 4.3 the zone lock each time, 6.8 only once in a while
 * ```ts
 * import { Gfp, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const locks = ["4.3", "6.8"].map((release) => {
 *   const pages = new PageAllocator(kernel(release));
 *   for (let i = 0; i < 1000; i++) pages.free(pages.alloc(Gfp.GFP_ATOMIC, 3));
 *   return pages.counters.zoneLock;
 * });
 * assertEquals(locks, [2000, 1]);
 * ```
 */
export class PageAllocator extends PageRefs {
  /** The release whose rules apply. */
  readonly kernel: Kernel;
  /** `PAGE_SIZE`, bytes. */
  readonly pageSize: number;
  /** CPUs with lists of their own. */
  readonly cpus: number;
  /** What happened so far. */
  readonly counters: PageCounters;
  /** Watermarks of the zone, pages. */
  readonly watermarks: Watermarks;
  /** Per-CPU lists by CPU. */
  readonly pcp: readonly PerCpuPages[];
  /**
   * Direct reclaim and compaction: what a request that may sleep does when memory is short. Frees pages through
   * this allocator and returns how many; 0 means no progress. Absent: nothing can be reclaimed.
   */
  onDirectReclaim: ((order: number) => number) | undefined;
  /** Called when a request wakes kswapd; may free pages through this allocator at once. */
  onWakeKswapd: ((order: number) => void) | undefined;

  readonly #maxOrder: number;
  readonly #pcpMaxOrder: number;
  readonly #coldLists: boolean;
  readonly #watermark: ZoneWatermark;
  readonly #pcpLists: number;
  readonly #failPageAlloc = new FailPageAlloc();

  /**
   * All memory free.
   *
   * @param kernel The release.
   * @param options Size and reserves.
   * @throws {RangeError | TypeError} An option is out of range or of the wrong type.
   */
  constructor(kernel: Kernel, options: PageAllocatorOptions = {}) {
    const { page, build } = kernel;
    const pages = whole("pages", options.pages ?? PAGES, 1, MAX_PAGES);
    const cpus = whole("cpus", options.cpus ?? build.cpus, 1, MAX_CPUS);
    const { minFreeKbytes } = options;
    if (minFreeKbytes !== undefined) {
      whole("minFreeKbytes", minFreeKbytes, 0, pages * build.pageSize / 1024);
    }
    const early = flag("freeHighBatch", options.freeHighBatch ?? true);
    const counters = new PageCounters(page.maxOrder + 1);
    const perCpu = page.pcpMaxOrder + 1;
    super(new Zone(pages, page.maxOrder, perCpu * cpus, counters));
    this.onDirectReclaim = hook("onDirectReclaim", options.onDirectReclaim);
    this.onWakeKswapd = hook("onWakeKswapd", options.onWakeKswapd);
    this.kernel = kernel;
    this.pageSize = build.pageSize;
    this.cpus = cpus;
    this.counters = counters;
    this.#maxOrder = page.maxOrder;
    this.#pcpMaxOrder = page.pcpMaxOrder;
    this.#coldLists = page.coldPages;
    this.#watermark = new ZoneWatermark(kernel, this.zone, minFreeKbytes);
    this.watermarks = this.#watermark.marks;
    this.#pcpLists = this.zone.lists + page.maxOrder + 1;
    const sizes = pcpSizes(kernel, pages, this.watermarks.low, cpus);
    this.pcp = Array.from(
      { length: cpus },
      (_, cpu) =>
        new PerCpuPages(
          this.zone,
          kernel,
          sizes,
          this.#pcpLists + cpu * perCpu,
          early,
        ),
    );
  }

  /**
   * Takes a block with one reference (`alloc_pages`, `__alloc_pages`).
   *
   * @param gfp What the caller allows: bits of {@linkcode Gfp}.
   * @param order The block has 2^order pages.
   * @param cpu On which CPU; 0 when absent.
   * @returns The first page's pfn, or -1 where there is none: counted in `failures`.
   * @throws {RangeError} An argument is out of range.
   */
  alloc(gfp: number, order: number, cpu: number = 0): number {
    if (
      (gfp & GFP_BITS_MASK) !== gfp || order >>> 0 !== order ||
      order > this.#maxOrder ||
      cpu >>> 0 !== cpu || cpu >= this.cpus
    ) this.#badRequest(gfp, order, cpu);
    const { zone, counters } = this;
    if (this.#failPageAlloc.shouldFail(order)) {
      counters.injected++;
      return this.#fail(gfp, order);
    }
    let pfn = this.#watermark.fast(order) ? this.#rmqueue(gfp, order, cpu) : -1;
    if (pfn >= 0) {
      zone.kind[pfn] = PAGE_USED | order;
    } else {
      pfn = this.#slowpath(gfp, order, cpu);
      if (pfn < 0) return this.#fail(gfp, order);
    }
    this.refcount[pfn] = 1;
    counters.allocations[order]!++;
    counters.pgalloc += 1 << order;
    return pfn;
  }

  /**
   * Gives a block back whatever its refcount (`__free_pages_ok`, `free_unref_page`).
   *
   * @param pfn First page of a block that is handed out.
   * @param cpu On which CPU; 0 when absent.
   * @throws {RangeError} `pfn` is no page of this zone, or `cpu` none of its CPUs.
   * @throws {Error} The block is not handed out: a double free, or not its first page.
   */
  free(pfn: number, cpu: number = 0): void {
    const { zone, counters } = this;
    const kind = zone.kind[pfn];
    if (kind === undefined || (kind & PAGE_STATE) !== PAGE_USED) {
      this.badPage(pfn, "free");
    }
    if (cpu >>> 0 !== cpu || cpu >= this.cpus) this.#badRequest(0, 0, cpu);
    const order = kind & PAGE_ORDER;
    this.refcount[pfn] = 0;
    counters.frees[order]!++;
    counters.pgfree += 1 << order;
    if (order <= this.#pcpMaxOrder) {
      this.pcp[cpu]!.free(pfn, order);
    } else {
      counters.zoneLock++;
      zone.freeOnePage(pfn, order);
    }
  }

  /**
   * Drops a reference; the last one gives the block back (`put_page`).
   *
   * @param pfn First page of a block that is handed out.
   * @param cpu On which CPU; 0 when absent.
   * @returns Whether it was the last reference.
   * @throws {Error} Nobody holds the block.
   */
  putPage(pfn: number, cpu: number = 0): boolean {
    const count = this.refcount[pfn];
    if (count === undefined || count <= 0) this.badPage(pfn, "putPage");
    if (count > 1) {
      this.refcount[pfn] = count - 1;
      return false;
    }
    this.free(pfn, cpu);
    return true;
  }

  /**
   * Empties per-CPU lists into the zone (`drain_local_pages`, `drain_all_pages`).
   *
   * @param cpu One CPU; absent: all.
   * @throws {RangeError} There is no such CPU.
   */
  drainPcp(cpu?: number): void {
    if (cpu === undefined) { for (const pcp of this.pcp) pcp.drain(); }
    else this.pcp[whole("cpu", cpu, 0, this.cpus - 1)]!.drain();
  }

  /**
   * Breaks free memory up, so that requests of an order and above fail while plenty of pages are free.
   * Per-CPU lists are drained first. Blocks that are broken leave one page in 2^order held.
   *
   * @param options What to break and how much of it.
   * @returns A handle that undoes it.
   * @throws {RangeError} An option is out of range.
   *
   * @example No order 3 left
   * ```ts
   * import { Gfp, kernel, PageAllocator } from "@truesize/lab";
   * import { assert, assertEquals } from "@std/assert";
   *
   * const pages = new PageAllocator(kernel("6.8"));
   * const fragments = pages.fragment({ order: 3 });
   * assertEquals(pages.alloc(Gfp.GFP_ATOMIC, 3), -1);
   * fragments.release();
   * assert(pages.alloc(Gfp.GFP_ATOMIC, 3) >= 0);
   * ```
   */
  fragment(options: FragmentOptions = {}): PageHold {
    const order = whole("order", options.order ?? 3, 1, this.#maxOrder);
    const fraction = share("fraction", options.fraction ?? 1);
    const seed = finite("seed", options.seed ?? 1);
    this.drainPcp();
    return fragmentZone(this.zone, order, fraction, seed);
  }

  /**
   * Takes memory away until so many free pages are left, in blocks as large as possible. Per-CPU lists are drained first.
   *
   * @param freePages Free pages to leave, from 0; nothing is taken where fewer are free.
   * @returns A handle that undoes it.
   * @throws {RangeError} `freePages` is out of range.
   */
  pressure(freePages: number): PageHold {
    whole("freePages", freePages, 0, this.zone.managed);
    this.drainPcp();
    return pressZone(this.zone, freePages);
  }

  /**
   * `ZONE_RECLAIM_ACTIVE`: from 5.14 on the per-CPU lists stay short while kswapd is at work.
   *
   * @param active Whether kswapd is at work.
   * @throws {TypeError} It is no boolean.
   */
  setReclaimActive(active: boolean): void {
    this.zone.reclaimActive = flag("active", active);
  }

  /**
   * Lets every request from an order on fail, as if no memory was there; a warning counts where the request allows it.
   *
   * @param minOrder Smallest order that fails; absent: none fails any more.
   * @throws {RangeError} There is no such order.
   */
  failOrders(minOrder?: number): void {
    this.failPageAlloc(minOrder === undefined ? undefined : { minOrder });
  }

  /**
   * Lets some requests fail at random (`fail_page_alloc` of the kernel's fault injection, though with the warning).
   *
   * @param options Which and how many; absent: none fails any more.
   * @throws {RangeError} An option is out of range.
   */
  failPageAlloc(options?: FailPageAllocOptions): void {
    this.#failPageAlloc.set(options, this.#maxOrder);
  }

  /**
   * Verifies every invariant: each page in exactly one place, free buddies joined, counters in balance.
   *
   * @throws {Error} Naming the first that is broken.
   */
  check(): void {
    checkPages(this.zone, this.pcp, this.#pcpLists, this.refcount);
  }

  /** A block from the per-CPU list or the zone, whatever the watermarks say (`rmqueue`). */
  #rmqueue(gfp: number, order: number, cpu: number): number {
    if (order <= this.#pcpMaxOrder) {
      return this.pcp[cpu]!.alloc(
        order,
        this.#coldLists && (gfp & Gfp.__GFP_COLD) !== 0,
      );
    }
    this.counters.zoneLock++;
    return this.zone.rmqueue(order);
  }

  /** An attempt with rights (`get_page_from_freelist`); marks the block. */
  #attempt(gfp: number, order: number, cpu: number, flags: number): number {
    const ignore = (flags & ALLOC_NO_WATERMARKS) !== 0;
    if (!ignore && !this.#watermark.ok(order, this.watermarks.min, flags)) {
      this.counters.minRefusals++;
      return -1;
    }
    const pfn = this.#rmqueue(gfp, order, cpu);
    if (pfn < 0) return -1;
    if (ignore) this.counters.pfmemalloc++;
    this.zone.kind[pfn] = PAGE_USED | order | (ignore ? PAGE_PFMEMALLOC : 0);
    return pfn;
  }

  /** Below the low mark: rights, reserve, reclaim (`__alloc_pages_slowpath`). */
  #slowpath(gfp: number, order: number, cpu: number): number {
    const { counters } = this;
    counters.lowRefusals++;
    if (gfp & Gfp.__GFP_KSWAPD_RECLAIM) {
      counters.kswapdWakeups++;
      this.onWakeKswapd?.(order);
    }
    let flags = gfpToAllocFlags(gfp, this.kernel.page.atomicByNoWait);
    let pfn = this.#attempt(gfp, order, cpu, flags);
    if (pfn >= 0) return pfn;
    if (
      (gfp & (Gfp.__GFP_MEMALLOC | Gfp.__GFP_NOMEMALLOC)) === Gfp.__GFP_MEMALLOC
    ) {
      flags |= ALLOC_NO_WATERMARKS;
      pfn = this.#attempt(gfp, order, cpu, flags);
      if (pfn >= 0) return pfn;
    }
    if ((gfp & Gfp.__GFP_DIRECT_RECLAIM) === 0) return -1;
    const costly = order > this.kernel.page.costlyOrder;
    for (let pass = 0; pass < MAX_RECLAIM_RETRIES; pass++) {
      counters.allocstall++;
      const hook = this.onDirectReclaim;
      const freed = hook === undefined
        ? 0
        : whole("onDirectReclaim()", hook(order), 0, this.zone.managed);
      counters.reclaimed += freed;
      pfn = this.#attempt(gfp, order, cpu, flags);
      if (pfn < 0 && freed > 0) {
        // What was reclaimed may sit on per-CPU lists, where neither the marks nor the buddies see it.
        this.drainPcp();
        pfn = this.#attempt(gfp, order, cpu, flags);
      }
      if (pfn >= 0 || (gfp & Gfp.__GFP_NORETRY)) return pfn;
      if (costly && (gfp & Gfp.__GFP_RETRY_MAYFAIL) === 0) return -1;
      if (!(freed > 0)) break;
    }
    if (!costly && (gfp & Gfp.__GFP_RETRY_MAYFAIL) === 0) counters.oomKill++;
    return -1;
  }

  #fail(gfp: number, order: number): -1 {
    this.counters.failures[order]!++;
    if ((gfp & Gfp.__GFP_NOWARN) === 0) this.counters.warnAlloc++;
    return -1;
  }

  #badRequest(gfp: number, order: number, cpu: number): never {
    gfpNames(gfp);
    whole("order", order, 0, this.#maxOrder);
    whole("cpu", cpu, 0, this.cpus - 1);
    throw new RangeError(`gfp ${gfp}, order ${order}, cpu ${cpu}: not allowed`);
  }
}
