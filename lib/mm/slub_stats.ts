/**
 * SLUB's statistics by their kernel names (CONFIG_SLUB_STATS), and what a slab allocator did beside them.
 *
 * @module
 */

/**
 * What each counter of `enum stat_item` counts (mm/slub.c), in the kernel's order.
 *
 * @example
 * ```ts
 * import { SLUB_STATS } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(Object.keys(SLUB_STATS).length, 26);
 * ```
 */
export const SLUB_STATS = {
  /** Allocations from the CPU's freelist. */
  ALLOC_FASTPATH: "allocation from the CPU's freelist",
  /** Allocations that found it empty. */
  ALLOC_SLOWPATH: "allocation that found the CPU's freelist empty",
  /** Frees to the cpu slab. */
  FREE_FASTPATH: "free to the cpu slab",
  /** Frees to any other slab. */
  FREE_SLOWPATH: "free to another slab",
  /** Slow frees to a frozen slab. */
  FREE_FROZEN: "free to a frozen slab",
  /** Slabs that a free or a drain put on the node's partial list. */
  FREE_ADD_PARTIAL: "slab put on the node's partial list by a free",
  /** Slabs that a free emptied and took off the node's partial list. */
  FREE_REMOVE_PARTIAL: "slab taken off the node's partial list by a free",
  /** Slabs that became the cpu slab from the node's partial list. */
  ALLOC_FROM_PARTIAL: "cpu slab from the node's partial list",
  /** Slabs that became the cpu slab from the page allocator. */
  ALLOC_SLAB: "cpu slab from the page allocator",
  /** Freelists taken over from the cpu slab itself. */
  ALLOC_REFILL: "CPU's freelist refilled from the slab's",
  /** Cpu slabs dropped because they were of another node; 0 here, one node is modelled. */
  ALLOC_NODE_MISMATCH: "cpu slab of another node",
  /** Slabs given back to the page allocator. */
  FREE_SLAB: "slab given to the page allocator",
  /** Cpu slabs given up by force. */
  CPUSLAB_FLUSH: "cpu slab given up by force",
  /** Deactivated cpu slabs without a free object. */
  DEACTIVATE_FULL: "deactivated slab was full",
  /** Slabs that were empty when they left a CPU, and were given back. */
  DEACTIVATE_EMPTY: "deactivated slab was empty",
  /** Deactivated cpu slabs put at the head of the node's partial list. */
  DEACTIVATE_TO_HEAD: "deactivated slab put first on the node's list",
  /** Deactivated cpu slabs put at the tail of it. */
  DEACTIVATE_TO_TAIL: "deactivated slab put last on the node's list",
  /** Deactivated cpu slabs that other CPUs had freed objects to. */
  DEACTIVATE_REMOTE_FREES: "deactivated slab had remote frees",
  /** Cpu slabs let go because they were full. */
  DEACTIVATE_BYPASS: "full cpu slab let go",
  /** Slabs of a smaller order, for want of pages. */
  ORDER_FALLBACK: "slab of the smallest order",
  /** Exchanges of (freelist, tid) that failed. */
  CMPXCHG_DOUBLE_CPU_FAIL: "per-CPU compare-exchange failed",
  /** Exchanges on a slab that failed; 0 here, CPUs take turns. */
  CMPXCHG_DOUBLE_FAIL: "slab compare-exchange failed",
  /** Slabs that became the cpu slab from the CPU's partial list. */
  CPU_PARTIAL_ALLOC: "cpu slab from the CPU's partial list",
  /** Slabs that a free put on the CPU's partial list. */
  CPU_PARTIAL_FREE: "slab put on the CPU's partial list by a free",
  /** Slabs that an allocation moved from the node's to the CPU's partial list. */
  CPU_PARTIAL_NODE: "slab moved from the node's to the CPU's list",
  /** Times that the CPU's partial list was moved to the node's. */
  CPU_PARTIAL_DRAIN: "CPU's partial list moved to the node's",
} as const;

/** A counter of SLUB by its kernel name. */
export type SlubStat = keyof typeof SLUB_STATS;

/**
 * Names of {@linkcode SLUB_STATS} in the kernel's order.
 *
 * @example
 * ```ts
 * import { SLUB_STAT_NAMES } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(SLUB_STAT_NAMES.includes("ALLOC_FASTPATH"));
 * ```
 */
export const SLUB_STAT_NAMES: readonly SlubStat[] = Object.freeze(
  Object.keys(SLUB_STATS) as SlubStat[],
);

/** Counters by name: live, enumerable, so that `{ ...counters }` is a snapshot. */
export type SlubCounters = { readonly [K in SlubStat]: number };

/**
 * Counters of one CPU as SLUB writes them (mm/slub.c: `stat`).
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, SlubStats } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { perCpu } = kmemCache({ kernel: kernel("6.1"), objectSize: 256, cpus: 2 });
 * const stats: SlubStats = perCpu[1]!;
 * assertEquals([stats.ALLOC_FASTPATH, stats.FREE_SLOWPATH], [0, 0]);
 * ```
 */
export class SlubStats implements Record<SlubStat, number> {
  /** Allocations from the CPU's freelist. */
  ALLOC_FASTPATH = 0;
  /** Allocations that found it empty. */
  ALLOC_SLOWPATH = 0;
  /** Frees to the cpu slab. */
  FREE_FASTPATH = 0;
  /** Frees to any other slab. */
  FREE_SLOWPATH = 0;
  /** Slow frees to a frozen slab. */
  FREE_FROZEN = 0;
  /** Slabs that a free or a drain put on the node's partial list. */
  FREE_ADD_PARTIAL = 0;
  /** Slabs that a free emptied and took off the node's partial list. */
  FREE_REMOVE_PARTIAL = 0;
  /** Slabs that became the cpu slab from the node's partial list. */
  ALLOC_FROM_PARTIAL = 0;
  /** Slabs that became the cpu slab from the page allocator. */
  ALLOC_SLAB = 0;
  /** Freelists taken over from the cpu slab itself. */
  ALLOC_REFILL = 0;
  /** Cpu slabs dropped because they were of another node; 0 here, one node is modelled. */
  ALLOC_NODE_MISMATCH = 0;
  /** Slabs given back to the page allocator. */
  FREE_SLAB = 0;
  /** Cpu slabs given up by force. */
  CPUSLAB_FLUSH = 0;
  /** Deactivated cpu slabs without a free object. */
  DEACTIVATE_FULL = 0;
  /** Slabs that were empty when they left a CPU, and were given back. */
  DEACTIVATE_EMPTY = 0;
  /** Deactivated cpu slabs put at the head of the node's partial list. */
  DEACTIVATE_TO_HEAD = 0;
  /** Deactivated cpu slabs put at the tail of it. */
  DEACTIVATE_TO_TAIL = 0;
  /** Deactivated cpu slabs that other CPUs had freed objects to. */
  DEACTIVATE_REMOTE_FREES = 0;
  /** Cpu slabs let go because they were full. */
  DEACTIVATE_BYPASS = 0;
  /** Slabs of a smaller order, for want of pages. */
  ORDER_FALLBACK = 0;
  /** Exchanges of (freelist, tid) that failed. */
  CMPXCHG_DOUBLE_CPU_FAIL = 0;
  /** Exchanges on a slab that failed; 0 here, CPUs take turns. */
  CMPXCHG_DOUBLE_FAIL = 0;
  /** Slabs that became the cpu slab from the CPU's partial list. */
  CPU_PARTIAL_ALLOC = 0;
  /** Slabs that a free put on the CPU's partial list. */
  CPU_PARTIAL_FREE = 0;
  /** Slabs that an allocation moved from the node's to the CPU's partial list. */
  CPU_PARTIAL_NODE = 0;
  /** Times that the CPU's partial list was moved to the node's. */
  CPU_PARTIAL_DRAIN = 0;
}

/**
 * Counters to look at: of one CPU, or summed over several.
 *
 * @param cpus The CPUs' counters.
 *
 * @example
 * ```ts
 * import { slubCounters, SlubStats } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [a, b] = [new SlubStats(), new SlubStats()];
 * a.ALLOC_FASTPATH = 2;
 * b.ALLOC_FASTPATH = 3;
 * assertEquals(slubCounters([a, b]).ALLOC_FASTPATH, 5);
 * ```
 */
export function slubCounters(cpus: readonly SlubStats[]): SlubCounters {
  const counters = {};
  for (const name of SLUB_STAT_NAMES) {
    Object.defineProperty(counters, name, {
      enumerable: true,
      get: (): number => {
        let sum = 0;
        for (const cpu of cpus) sum += cpu[name];
        return sum;
      },
    });
  }
  return Object.freeze(counters) as SlubCounters;
}

/**
 * What a slab allocator did that the kernel does not count; what a price list needs. Zeroed only by the user.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, SlabEvents } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("6.1"), objectSize: 256 });
 * const objects = new Int32Array(8);
 * cache.allocBulk(8, objects);
 * const events: SlabEvents = cache.events;
 * assertEquals([events.bulkAllocs, events.bulkAllocObjects], [1, 8]);
 * ```
 */
export class SlabEvents {
  /** Times that the node's `list_lock` was taken. */
  listLock = 0;
  /** LOCKed exchanges of a slab's (freelist, counters). */
  cmpxchgDouble = 0;
  /** Calls of `kmem_cache_alloc_bulk`. */
  bulkAllocs = 0;
  /** Objects that they returned. */
  bulkAllocObjects = 0;
  /** Calls of `kmem_cache_free_bulk`. */
  bulkFrees = 0;
  /** Objects that they took. */
  bulkFreeObjects = 0;
  /** Detached freelists that they built. */
  detachedFreelists = 0;
  /** Slots of the caller's array that they looked at. */
  detachedScans = 0;
  /** Allocations that failed for want of memory; a bulk allocation counts once. */
  failures = 0;
  /** Slabs given back that no kernel counter knows: all of SLAB's, and those that shrinking a SLUB cache finds. */
  slabsDestroyed = 0;
  /** Warnings of the kernel (`WARN_ON`). */
  warnings = 0;
}
