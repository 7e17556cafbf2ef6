/**
 * What differs between releases in the slab allocators beyond their geometry, as data.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";

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

/** Up to 4.1: no bulk functions. */
const FIRST: SlubRules = {
  partialsFrozen: true,
  refillCounted: true,
  slowpathCountedBy: "caller",
  bulkPopsCounted: false,
  freeFastpathCounts: "lists",
  bulkAlloc: "single calls",
  bulkAllocBumpsTid: false,
  bulkAllocUndo: "single calls",
  deactivationBumpsTid: false,
  bulkFree: "single calls",
  bulkFreeOfNone: "silent",
  bulkFreeOfNull: "bug",
  deactivate: "one by one",
  slab: true,
  slabBulk: "single calls",
  slabFreeLimit: "each",
  slabIndex: "off-slab",
};

const V4_3: SlubRules = { ...FIRST, bulkAlloc: "irq save", bulkFree: "each" };

/** 4.3 with the slab patches that the kmem_cache bulk thread names. */
const SEED: SlubRules = {
  ...V4_3,
  bulkFree: "detached",
  bulkFreeOfNone: "bug",
  bulkFreeOfNull: "skipped",
  slabBulk: "irq off, leaks",
};

const V4_6: SlubRules = {
  ...SEED,
  bulkAlloc: "irq off",
  bulkFreeOfNone: "warns",
  slabBulk: "irq off",
  slabIndex: "objfreelist",
};

const V5_12: SlubRules = {
  ...V4_6,
  bulkAllocBumpsTid: true,
  slabFreeLimit: "after",
};

const V6_1: SlubRules = {
  ...V5_12,
  slowpathCountedBy: "slow path",
  bulkAlloc: "unlocked",
  bulkAllocUndo: "bulk",
  deactivationBumpsTid: true,
  bulkFree: "detached, swap",
  bulkFreeOfNone: "silent",
  bulkFreeOfNull: "bug",
  deactivate: "spliced",
};

const V6_8: SlubRules = {
  ...V6_1,
  partialsFrozen: false,
  refillCounted: false,
  bulkPopsCounted: true,
  freeFastpathCounts: "objects",
  slab: false,
};

const BY_RELEASE: Record<string, SlubRules> = {
  "3.12": FIRST,
  "3.13": FIRST,
  "3.14": FIRST,
  "net-next-2013-10": FIRST,
  "4.3": V4_3,
  "net-next-2015-10": SEED,
  "4.6": V4_6,
  "5.12": V5_12,
  "6.1": V6_1,
  "6.8": V6_8,
  "6.12": V6_8,
  "6.18": V6_8,
};

/** What each patch of `lib/patches/slab_bulk.ts` changes; a patch without behaviour changes nothing. */
const BY_PATCH: Record<string, Partial<SlubRules>> = {
  slubDetachedFreelist: {
    bulkFree: "detached",
    bulkFreeOfNone: "bug",
    bulkFreeOfNull: "skipped",
  },
  slabBulkSlab: { slabBulk: "irq off, leaks" },
  slabBulkErrorPath: { slabBulk: "irq off" },
  slubBulkIrqOff: { bulkAlloc: "irq off" },
  slubBulkTidBump: { bulkAllocBumpsTid: true },
  slubDeactivationTid: { deactivationBumpsTid: true },
  slubBulkStats: { bulkPopsCounted: true, freeFastpathCounts: "objects" },
};

/** Rules of a release that is not listed: those of the newest listed one with the same facts. */
function nearest(kernel: Kernel): SlubRules {
  if (kernel.slub.orderSearch === "more-waste") return V6_8;
  return kernel.slub.cpuPartialInSlabs ? V6_1 : V5_12;
}

/**
 * The slab allocators' rules of a kernel: those of its release with its patches applied in order.
 *
 * @param kernel The kernel.
 * @returns The rules; the geometry's stand in `kernel.slub`.
 *
 * @example A patch turns one rule
 * ```ts
 * import { kernel, slabBulkSlab, slubRules } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(slubRules(kernel("4.3")).slabBulk, "single calls");
 * assertEquals(slubRules(kernel("4.3").am(slabBulkSlab)).slabBulk, "irq off, leaks");
 * ```
 */
export function slubRules(kernel: Kernel): SlubRules {
  let rules = BY_RELEASE[kernel.name] ?? nearest(kernel);
  for (const patch of kernel.patches) {
    const change = BY_PATCH[patch];
    if (change !== undefined) rules = { ...rules, ...change };
  }
  return rules;
}
