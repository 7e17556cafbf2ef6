/**
 * What the bits of a high-order request change when memory is short: the subject of "page_frag: unify gfp bits for order 3
 * page allocation".
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { whole } from "../sim/check.ts";

/**
 * How memory is short: plenty of single pages but no block of the order, though reclaim frees something at each pass; or a
 * few large blocks and so little in all, a quarter of the min mark, that only the reserve is left.
 */
export type Shortage = "fragmented" | "reserve";

/** What {@linkcode highOrderAttempt} asks. An option given as `undefined` is absent. */
export interface HighOrderAttemptOptions {
  /** The kernel. */
  readonly kernel: Kernel;
  /** The request's bits, from `Gfp`. */
  readonly gfp: number;
  /** How memory is short. */
  readonly shortage: Shortage;
  /** Order of the block, 1 to 10; 3 when absent. */
  readonly order?: number | undefined;
}

/** What came of it. */
export interface HighOrderAttemptResult {
  /** Whether there was a block. */
  readonly got: boolean;
  /** Passes of direct reclaim, during which the caller waits. */
  readonly allocstall: number;
  /** Times that kswapd was woken. */
  readonly kswapdWakeups: number;
  /** Times that the OOM killer would have been called. */
  readonly oomKill: number;
  /** "page allocation failure" messages. */
  readonly warnings: number;
  /** Pages that were taken from the reserve without regard to the watermarks. */
  readonly reservePages: number;
}

/**
 * Makes one request of a page allocator that is short of memory.
 *
 * @param options Kernel, request and shortage.
 * @returns What was counted.
 * @throws {RangeError} An option is out of range.
 *
 * @example Why __GFP_NOMEMALLOC is there: the fallback needs no reserve
 * ```ts
 * import { Gfp, highOrderAttempt, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { GFP_ATOMIC, __GFP_MEMALLOC, __GFP_COMP, __GFP_NOMEMALLOC } = Gfp;
 * const gfp = GFP_ATOMIC | __GFP_MEMALLOC | __GFP_COMP;
 * const attempt = (gfp: number) =>
 *   highOrderAttempt({ kernel: kernel("6.8"), gfp, shortage: "reserve" }).reservePages;
 * assertEquals(attempt(gfp), 8);
 * assertEquals(attempt(gfp | __GFP_NOMEMALLOC), 0);
 * ```
 */
export function highOrderAttempt(
  options: HighOrderAttemptOptions,
): HighOrderAttemptResult {
  const { kernel, gfp, shortage } = options;
  if (shortage !== "fragmented" && shortage !== "reserve") {
    throw new RangeError(
      `shortage "${shortage}": "fragmented" or "reserve" is allowed`,
    );
  }
  const order = whole("order", options.order ?? 3, 1, kernel.page.maxOrder);
  const fragmented = shortage === "fragmented";
  const pages = new PageAllocator(kernel, {
    // Progress without a block of the order: what a fragmented zone's reclaim is like.
    onDirectReclaim: () => fragmented ? 1 : 0,
  });
  if (fragmented) pages.fragment({ order });
  else pages.pressure(pages.watermarks.min >> 2);
  const got = pages.alloc(gfp, order) >= 0;
  const { counters } = pages;
  return {
    got,
    allocstall: counters.allocstall,
    kswapdWakeups: counters.kswapdWakeups,
    oomKill: counters.oomKill,
    warnings: counters.warnAlloc,
    reservePages: counters.pfmemalloc << order,
  };
}

/**
 * The bits that `__page_frag_cache_refill` adds to a high-order attempt.
 *
 * @example
 * ```ts
 * import { gfpNames, HIGH_ORDER_BITS } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const bits = HIGH_ORDER_BITS;
 * assertEquals(gfpNames(bits), "__GFP_NOWARN|__GFP_NORETRY|__GFP_COMP|__GFP_NOMEMALLOC");
 * ```
 */
export const HIGH_ORDER_BITS: number = Gfp.__GFP_COMP | Gfp.__GFP_NOWARN |
  Gfp.__GFP_NORETRY | Gfp.__GFP_NOMEMALLOC;
