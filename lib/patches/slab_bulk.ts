/**
 * The memory-management patches under the kmem_cache bulk thread: those its cover letter picks from the mmotm tree of
 * 6 October 2015, and those that came after them.
 *
 * @module
 */

import type { Fact, Facts, Kernel, Patch, SlubFacts } from "../kernel.ts";
import { definePatch } from "./define_patch.ts";

const THREAD = "kmem-cache-bulk";

type Fits = (kernel: Kernel, slub: SlubFacts) => string | undefined;

function fact<T>(
  value: T,
  file: "mm/slub.c" | "mm/slab.c",
  symbol: string,
  origin: string,
): Fact<T> {
  return { value, file, symbol, origin };
}

function slabPatch(
  name: string,
  subject: string,
  date: string,
  fits: Fits,
  slub: Partial<Facts<SlubFacts>> = {},
): Patch {
  return definePatch({
    name,
    subject,
    date,
    thread: THREAD,
    fits: (kernel) => fits(kernel, kernel.slub),
    changes: { slub },
  });
}

/** Needs 4.3's bulk functions. */
const hasBulk: Fits = (_, { bulkAlloc }) =>
  bulkAlloc === "single calls"
    ? "the kernel has no bulk functions yet"
    : undefined;

const unlessMerged = (merged: boolean): string | undefined =>
  merged ? "already merged" : undefined;

/** Whether the kernel has the bulk functions of 4.3 and nothing that came after. */
const isBase: Fits = (kernel, slub) =>
  hasBulk(kernel, slub) ?? unlessMerged(slub.bulkFree !== "each");

/** Whether its bulk allocation is 4.3's; whatever else there is does not matter. */
const isBefore4_4: Fits = (kernel, slub) =>
  hasBulk(kernel, slub) ?? unlessMerged(slub.bulkAlloc !== "irq save");

/**
 * Cleans up an `#ifdef`; without behaviour.
 *
 * @example
 * ```ts
 * import { kernel, slubDanglingIfdef } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("4.3").am(slubDanglingIfdef).patches, ["slubDanglingIfdef"]);
 * ```
 */
export const slubDanglingIfdef: Patch = slabPatch(
  "slubDanglingIfdef",
  "slub: mark the dangling ifdef #else of CONFIG_SLUB_DEBUG",
  "2015-09-28",
  isBefore4_4,
);

/**
 * SLAB's bulk calls switch interrupts off once instead of once an object. A bulk allocation that fails returns with them
 * off: {@linkcode slabBulkErrorPath} mends it.
 *
 * @example 37 cycles an object become 7 a call
 * ```ts
 * import { kernel, kmemCache, slabBulkSlab } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const saves = (patched: boolean) => {
 *   const base = kernel("4.3");
 *   const cache = kmemCache({ kernel: patched ? base.am(slabBulkSlab) : base, allocator: "slab", objectSize: 256 });
 *   cache.allocBulk(64, new Int32Array(64));
 *   return [cache.irq.saves, cache.irq.disables];
 * };
 * assertEquals(saves(false), [64, 0]);
 * assertEquals(saves(true), [0, 1]);
 * ```
 */
export const slabBulkSlab: Patch = slabPatch(
  "slabBulkSlab",
  "[PATCH 4/7] slab: implement bulking for SLAB allocator",
  "2015-09-28",
  (kernel, slub) =>
    slub.slab
      ? hasBulk(kernel, slub) ?? unlessMerged(slub.slabBulk !== "single calls")
      : "SLAB is gone",
  {
    slabBulk: fact(
      "irq off, leaks",
      "mm/slab.c",
      "kmem_cache_alloc_bulk",
      "the patch as posted, by the specification",
    ),
  },
);

/**
 * `slab_free` takes a chain of objects; without behaviour until something builds chains.
 *
 * @example
 * ```ts
 * import { kernel, slubFreelistSupport } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("4.3").am(slubFreelistSupport).patches, ["slubFreelistSupport"]);
 * ```
 */
export const slubFreelistSupport: Patch = slabPatch(
  "slubFreelistSupport",
  "[PATCH 5/7] slub: support for bulk free with SLUB freelists",
  "2015-09-28",
  isBase,
);

/**
 * A bulk free sorts objects by slab, looking three foreign objects ahead, and frees each chain at once.
 *
 * @example One slow free a slab instead of one an object
 * ```ts
 * import { kernel, kmemCache, slubDetachedFreelist, slubFreelistSupport } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("4.3", { cpus: 8 });
 * const slow = [base, base.am(slubFreelistSupport, slubDetachedFreelist)].map((kernel) => {
 *   const cache = kmemCache({ kernel, objectSize: 256 });
 *   const objects = new Int32Array(64);
 *   cache.allocBulk(64, objects);
 *   cache.freeBulk(64, objects);
 *   return cache.counters.FREE_SLOWPATH;
 * });
 * assertEquals(slow, [32, 1]);
 * ```
 */
export const slubDetachedFreelist: Patch = slabPatch(
  "slubDetachedFreelist",
  "[PATCH 6/7] slub: optimize bulk slowpath free by detached freelist",
  "2015-09-28",
  (kernel, slub) =>
    isBase(kernel, slub) ??
      (kernel.patches.includes("slubFreelistSupport")
        ? undefined
        : "it uses what slubFreelistSupport adds: apply that first"),
  {
    bulkFree: fact(
      "detached",
      "mm/slub.c",
      "build_detached_freelist",
      "the patch as posted, by the specification",
    ),
    bulkFreeOfNone: fact(
      "bug",
      "mm/slub.c",
      "kmem_cache_free_bulk",
      "the patch as posted, by the specification",
    ),
    bulkFreeOfNull: fact(
      "skipped",
      "mm/slub.c",
      "build_detached_freelist",
      "the patch as posted, by the specification",
    ),
  },
);

/**
 * A follow-up to {@linkcode slubDetachedFreelist}; its text is not known, and nothing is changed by it here.
 *
 * @example
 * ```ts
 * import { kernel, slubDetachedFreelist, slubDetachedFreelistFix, slubFreelistSupport } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const patched = kernel("4.3").am(slubFreelistSupport, slubDetachedFreelist, slubDetachedFreelistFix);
 * assertEquals(patched.slub.bulkFree, "detached");
 * ```
 */
export const slubDetachedFreelistFix: Patch = slabPatch(
  "slubDetachedFreelistFix",
  "slub-optimize-bulk-slowpath-free-by-detached-freelist-fix",
  "2015-10-06",
  (kernel) =>
    kernel.patches.includes("slubDetachedFreelist")
      ? undefined
      : "it mends slubDetachedFreelist: apply that first",
);

/**
 * An attribute for the compiler; without behaviour.
 *
 * @example
 * ```ts
 * import { assumeAligned, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("4.3").am(assumeAligned).patches, ["assumeAligned"]);
 * ```
 */
export const assumeAligned: Patch = slabPatch(
  "assumeAligned",
  "compiler.h: add support for function attribute assume_aligned",
  "2015-10-06",
  isBefore4_4,
);

/**
 * Uses the attribute in slab.h; without behaviour.
 *
 * @example
 * ```ts
 * import { assumeAligned, kernel, slabAssumeAligned } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("4.3").am(assumeAligned, slabAssumeAligned).patches, ["assumeAligned", "slabAssumeAligned"]);
 * ```
 */
export const slabAssumeAligned: Patch = slabPatch(
  "slabAssumeAligned",
  "slab.h: sprinkle __assume_aligned attributes",
  "2015-10-06",
  (kernel, slub) =>
    isBefore4_4(kernel, slub) ??
      (kernel.patches.includes("assumeAligned")
        ? undefined
        : "it uses the attribute that assumeAligned adds: apply that first"),
);

/**
 * `virt_to_head_page` without a barrier (Kirill A. Shutemov); a matter of instructions, without behaviour.
 *
 * @example
 * ```ts
 * import { compoundHead, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("4.3").am(compoundHead).patches, ["compoundHead"]);
 * ```
 */
export const compoundHead: Patch = slabPatch(
  "compoundHead",
  "mm: make compound_head() robust",
  "2015-10-20",
  isBefore4_4,
);

/**
 * SLAB's bulk allocation switches interrupts on again when it fails, as it was merged for 4.6.
 *
 * @example
 * ```ts
 * import { kernel, slabBulkErrorPath } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("net-next-2015-10").am(slabBulkErrorPath).patches, ["slabBulkErrorPath"]);
 * ```
 */
export const slabBulkErrorPath: Patch = slabPatch(
  "slabBulkErrorPath",
  "slab: implement bulk alloc in SLAB allocator",
  "2016-03-15",
  (_, { slabBulk }) =>
    slabBulk === "irq off, leaks"
      ? undefined
      : slabBulk === "irq off"
      ? "already merged"
      : "it mends slabBulkSlab: apply that first",
  {
    slabBulk: fact(
      "irq off",
      "mm/slab.c",
      "kmem_cache_alloc_bulk",
      "4.9 tree; since 4.6",
    ),
  },
);

/**
 * Bulk allocation calls the slow path with interrupts still off (4.4).
 *
 * @example
 * ```ts
 * import { kernel, slubBulkIrqOff } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("4.3").am(slubBulkIrqOff).slub.bulkAlloc, "irq off");
 * ```
 */
export const slubBulkIrqOff: Patch = slabPatch(
  "slubBulkIrqOff",
  "slub: avoid irqoff/on in bulk allocation",
  "2015-11-20",
  isBefore4_4,
  {
    bulkAlloc: fact(
      "irq off",
      "mm/slub.c",
      "kmem_cache_alloc_bulk",
      "4.4 tree",
    ),
  },
);

/**
 * Bulk allocation moves `tid` on before the slow path, so that an overtaken fast path notices (5.6).
 *
 * @example
 * ```ts
 * import { kernel, slubBulkTidBump } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(kernel("4.6").am(slubBulkTidBump).slub.bulkAllocBumpsTid);
 * ```
 */
export const slubBulkTidBump: Patch = slabPatch(
  "slubBulkTidBump",
  "mm: slub: add missing TID bump in kmem_cache_alloc_bulk()",
  "2020-03-17",
  (kernel, slub) =>
    hasBulk(kernel, slub) ?? unlessMerged(slub.bulkAllocBumpsTid),
  {
    bulkAllocBumpsTid: fact(
      true,
      "mm/slub.c",
      "kmem_cache_alloc_bulk",
      "6.1.192 tree; fd4d9c7d0c71",
    ),
  },
);

/**
 * The slow path moves `tid` on when it lets the cpu slab go (6.0).
 *
 * @example
 * ```ts
 * import { kernel, slubDeactivationTid } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(kernel("5.12").am(slubDeactivationTid).slub.deactivationBumpsTid);
 * ```
 */
export const slubDeactivationTid: Patch = slabPatch(
  "slubDeactivationTid",
  "mm/slub: add missing TID updates on slab deactivation",
  "2022-06-08",
  (_, { deactivationBumpsTid }) => unlessMerged(deactivationBumpsTid),
  {
    deactivationBumpsTid: fact(
      true,
      "mm/slub.c",
      "___slab_alloc",
      "6.1.192 tree",
    ),
  },
);

/**
 * A CPU's partial list is limited in slabs, not in objects counted when a slab was put there (5.16); with it come the
 * larger defaults.
 *
 * @example
 * ```ts
 * import { kernel, slubPartialInSlabs } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(kernel("5.12").am(slubPartialInSlabs).slub.cpuPartialInSlabs);
 * ```
 */
export const slubPartialInSlabs: Patch = slabPatch(
  "slubPartialInSlabs",
  "mm, slub: change percpu partial accounting from objects to pages",
  "2021-10-12",
  (_, { cpuPartialInSlabs }) => unlessMerged(cpuPartialInSlabs),
  {
    cpuPartialInSlabs: fact(
      true,
      "mm/slub.c",
      "put_cpu_partial",
      "6.1 tree; the hash b47291ef02b0 is UNVERIFIED",
    ),
    cpuPartial: fact(
      [6, 24, 52, 120],
      "mm/slub.c",
      "set_cpu_partial",
      "6.1 tree",
    ),
  },
);

/**
 * Bulk calls count objects in `ALLOC_FASTPATH` and `FREE_FASTPATH` (6.8).
 *
 * @example
 * ```ts
 * import { kernel, slubBulkStats } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(kernel("6.1").am(slubBulkStats).slub.bulkPopsCounted);
 * ```
 */
export const slubBulkStats: Patch = slabPatch(
  "slubBulkStats",
  "mm/slub: fix bulk alloc and free stats",
  "2023-11-20",
  (kernel, slub) => hasBulk(kernel, slub) ?? unlessMerged(slub.bulkPopsCounted),
  {
    bulkPopsCounted: fact(
      true,
      "mm/slub.c",
      "__kmem_cache_alloc_bulk",
      "6.12.117 tree; UNVERIFIED for 6.8",
    ),
    freeFastpathCounts: fact(
      "objects",
      "mm/slub.c",
      "do_slab_free",
      "6.12.117 tree; UNVERIFIED for 6.8",
    ),
  },
);
