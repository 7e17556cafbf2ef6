/** SLAB's statistics. @module */

/**
 * SLAB's statistics (CONFIG_DEBUG_SLAB), by the names of the macros that count them.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, SlabCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const slab = kmemCache({ kernel: kernel("4.3"), allocator: "slab", objectSize: 256 });
 * slab.alloc();
 * const counters: SlabCounters = slab.counters;
 * assertEquals(counters.ALLOCMISS, 1);
 * ```
 */
export class SlabCounters {
  /** Allocations from the CPU's array. */
  ALLOCHIT = 0;
  /** Allocations that found it empty. */
  ALLOCMISS = 0;
  /** Frees to the CPU's array. */
  FREEHIT = 0;
  /** Frees that found it full. */
  FREEMISS = 0;
  /** Slabs made. */
  GROWN = 0;
  /** Objects taken from slabs. */
  ALLOCED = 0;
  /** Objects not in their slab now. */
  ACTIVE = 0;
  /** Most objects that were not in their slab at once. */
  HIGH = 0;
}

/** {@linkcode SlabCounters} as a reader sees them. */
export type SlabCounterValues = Readonly<Record<keyof SlabCounters, number>>;
