/**
 * What differs between releases in the slab allocators beyond their geometry, as types; the values stand in
 * `lib/releases/`.
 *
 * @module
 */

/** Rules of SLUB, and of SLAB where the release has it, that the state machines ask for. */
export interface SlubRules {
  /**
   * Whether a slab on a CPU's partial list is frozen, so that a free to it counts `FREE_FROZEN` (mm/slub.c:
   * `__slab_free`, up to 6.7).
   */
  readonly partialsFrozen: boolean;
  /**
   * Whether a slab taken from the CPU's partial list counts `ALLOC_REFILL` too, because it goes through
   * `get_freelist` like a cpu slab (mm/slub.c: `___slab_alloc`, up to 6.7).
   */
  readonly refillCounted: boolean;
  /** Who counts `ALLOC_SLOWPATH`: the caller of a single allocation (up to 5.12), or the slow path itself. */
  readonly slowpathCountedBy: "caller" | "slow path";
  /** Whether bulk allocation counts `ALLOC_FASTPATH` for each object popped (6.8+). */
  readonly bulkPopsCounted: boolean;
  /** Whether `FREE_FASTPATH` counts the objects of a detached freelist (6.8+) or the list once. */
  readonly freeFastpathCounts: "objects" | "lists";
  /**
   * How `kmem_cache_alloc_bulk` gets its objects: by single calls (no such function before 4.2), or off the CPU's
   * freelist with interrupts off, calling the slow path with interrupts saved again (4.3), still off (4.4+), or with
   * the lock dropped (5.15+).
   */
  readonly bulkAlloc: "single calls" | "irq save" | "irq off" | "unlocked";
  /** Whether the bulk allocation moves `tid` on before it enters the slow path (5.6+ and stable trees). */
  readonly bulkAllocBumpsTid: boolean;
  /** How a bulk allocation that fails gives back what it had: by single frees, or by a bulk free. */
  readonly bulkAllocUndo: "single calls" | "bulk";
  /** Whether `tid` moves on when the cpu slab is let go in the slow path (6.0+ and stable trees). */
  readonly deactivationBumpsTid: boolean;
  /**
   * How `kmem_cache_free_bulk` works: by single calls, object by object with interrupts off (4.3), or by detached
   * freelists, overwriting the caller's array with nulls (4.4+) or reordering it (5.17+).
   */
  readonly bulkFree: "single calls" | "each" | "detached" | "detached, swap";
  /** What a bulk free of no objects is: fine, a warning, or a BUG. */
  readonly bulkFreeOfNone: "silent" | "warns" | "bug";
  /** What a null in the array of a bulk free is: skipped, or not allowed. */
  readonly bulkFreeOfNull: "skipped" | "bug";
  /** How a deactivated slab gets the CPU's objects back: one by one (their order turns), or spliced at once. */
  readonly deactivate: "one by one" | "spliced";
  /** Whether mm/slab.c exists (up to 6.7). */
  readonly slab: boolean;
  /**
   * Bulk calls of SLAB: loops of single calls, one interrupts-off section that a failed allocation forgets to end,
   * or one that it ends.
   */
  readonly slabBulk: "single calls" | "irq off, leaks" | "irq off";
  /** Whether SLAB looks at its limit of free objects after each object or after the batch (mm/slab.c: `free_block`). */
  readonly slabFreeLimit: "each" | "after";
  /** Where SLAB keeps a slab's index array: outside from 128 bytes up, or inside a free object (4.6+). */
  readonly slabIndex: "off-slab" | "objfreelist";
}
