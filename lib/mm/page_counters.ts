/**
 * What the page allocator counts.
 *
 * @module
 */

/**
 * Counters of a {@linkcode PageAllocator}. Names of /proc/vmstat where it has one; all start at 0.
 * Blocks of any order count as one unless a line says pages.
 *
 * @example
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pages = new PageAllocator(kernel("6.18"));
 * pages.alloc(Gfp.GFP_KERNEL, 3);
 * const counters: PageCounters = pages.counters;
 * assertEquals([counters.allocations[3], counters.pgalloc], [1, 8]);
 * ```
 */
export class PageCounters {
  /** Blocks handed out, by order. */
  readonly allocations: Float64Array;
  /** Requests that got nothing, by order. */
  readonly failures: Float64Array;
  /** Blocks given back, by order. */
  readonly frees: Float64Array;
  /** `pgalloc`: pages handed out. */
  pgalloc = 0;
  /** `pgfree`: pages given back. */
  pgfree = 0;
  /** Requests served by a per-CPU list without a refill. */
  pcpHits = 0;
  /** Refills of a per-CPU list (`rmqueue_bulk`). */
  pcpRefills = 0;
  /** Blocks that refills moved to per-CPU lists. */
  pcpRefilled = 0;
  /** Blocks freed to a per-CPU list. */
  pcpFrees = 0;
  /** Times that a per-CPU list gave blocks back to the zone (`free_pcppages_bulk`). */
  pcpDrains = 0;
  /** `mm_page_pcpu_drain`: blocks that per-CPU lists gave back. */
  pcpDrained = 0;
  /** Acquisitions of `zone->lock`. */
  zoneLock = 0;
  /** Halvings of a free block (`expand`). */
  splits = 0;
  /** Free buddies joined (`__free_one_page`). */
  merges = 0;
  /** Requests that the low mark refused: each enters the slow path. */
  lowRefusals = 0;
  /** Attempts that the min mark refused, the request's rights considered. */
  minRefusals = 0;
  /** Calls of `wake_all_kswapds`: one an entry into the slow path, sleeping or not. */
  kswapdWakeups = 0;
  /** `allocstall`: passes of direct reclaim. */
  allocstall = 0;
  /** Pages that direct reclaim reported as freed. */
  reclaimed = 0;
  /** `oom_kill`: requests that would have called the OOM killer; here they fail. */
  oomKill = 0;
  /** Blocks marked pfmemalloc: handed out without regard to the watermarks. */
  pfmemalloc = 0;
  /** "page allocation failure" messages (`warn_alloc`), before the kernel's rate limit. */
  warnAlloc = 0;
  /** Failures that {@linkcode PageAllocator.failOrders} or {@linkcode PageAllocator.failPageAlloc} made. */
  injected = 0;

  /**
   * All 0.
   *
   * @param orders Number of orders that the allocator has.
   */
  constructor(orders: number) {
    this.allocations = new Float64Array(orders);
    this.failures = new Float64Array(orders);
    this.frees = new Float64Array(orders);
  }
}
