/**
 * The marks under which a zone keeps a reserve, and who may go below them (mm/page_alloc.c).
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "./gfp.ts";
import { whole } from "../sim/check.ts";

/** `ALLOC_HIGH`, since 6.4 `ALLOC_MIN_RESERVE`: half of the mark may be used. */
export const ALLOC_HIGH = 1;
/** `ALLOC_HARDER`, since 6.4 `ALLOC_NON_BLOCK`: another quarter of what is left of the mark. */
export const ALLOC_HARDER = 2;
/** `ALLOC_NO_WATERMARKS`: everything may be used; the block is marked pfmemalloc. */
export const ALLOC_NO_WATERMARKS = 4;

/** A zone's watermarks in pages. */
export interface Watermarks {
  /** `WMARK_MIN`: what ordinary requests leave alone. */
  readonly min: number;
  /** `WMARK_LOW`: below it kswapd is woken and the slow path begins. */
  readonly low: number;
  /** `WMARK_HIGH`: kswapd sleeps again. */
  readonly high: number;
}

/**
 * `min_free_kbytes` as the kernel computes it at boot (`init_per_zone_wmark_min`, since 5.15
 * `calculate_min_free_kbytes`).
 *
 * @param kernel The release: only its upper clamp matters.
 * @param lowmemKbytes Memory that can be handed out, KiB.
 * @returns KiB, 128 to `kernel.page.minFreeKbytesMax`.
 * @throws {RangeError} `lowmemKbytes` is negative or no whole number.
 *
 * @example
 * ```ts
 * import { kernel, minFreeKbytes } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(minFreeKbytes(kernel("6.18"), 4 * 1024 * 1024), 8192);
 * ```
 */
export function minFreeKbytes(kernel: Kernel, lowmemKbytes: number): number {
  whole("lowmemKbytes", lowmemKbytes, 0, 2 ** 40);
  const root = Math.floor(Math.sqrt(lowmemKbytes * 16));
  return Math.min(Math.max(root, 128), kernel.page.minFreeKbytesMax);
}

/**
 * The marks of a machine's only zone (`__setup_per_zone_wmarks`).
 *
 * @param kernel The release: the distance between the marks differs.
 * @param managed Pages that the zone manages.
 * @param minFree `min_free_kbytes`, KiB; absent: {@linkcode minFreeKbytes}.
 * @returns The marks in pages.
 * @throws {RangeError} `managed` or `minFree` is negative, no whole number, or more than there is.
 *
 * @example 4 GiB
 * ```ts
 * import { kernel, zoneWatermarks } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const marks = zoneWatermarks(kernel("6.8"), 1_048_576);
 * assertEquals(marks, { min: 2048, low: 3096, high: 4144 });
 * ```
 */
export function zoneWatermarks(
  kernel: Kernel,
  managed: number,
  minFree?: number,
): Watermarks {
  const kbytesPerPage = kernel.build.pageSize / 1024;
  whole("managed", managed, 0, MOST_PAGES);
  if (minFree !== undefined) {
    whole("minFree", minFree, 0, managed * kbytesPerPage);
  }
  const min = Math.floor(
    (minFree ?? minFreeKbytes(kernel, managed * kbytesPerPage)) / kbytesPerPage,
  );
  if (kernel.page.watermarkGap === "quarter") {
    return { min, low: min + (min >> 2), high: min + (min >> 1) };
  }
  const gap = Math.max(
    min >> 2,
    Math.floor(managed * WATERMARK_SCALE_FACTOR / 10_000),
  );
  return { min, low: min + gap, high: min + 2 * gap };
}

/** 16 TiB of 4 KiB pages. */
const MOST_PAGES = 2 ** 32;
/** `vm.watermark_scale_factor`, ten-thousandths of the zone. */
const WATERMARK_SCALE_FACTOR = 10;

/**
 * What a request may do below the min mark (`gfp_to_alloc_flags`), without `ALLOC_NO_WATERMARKS`.
 *
 * @param gfp The request.
 * @param atomicByNoWait `PageFacts.atomicByNoWait`: up to 4.3 not being allowed to sleep was a right by itself.
 * @returns Bits of {@linkcode ALLOC_HIGH} and {@linkcode ALLOC_HARDER}.
 */
export function gfpToAllocFlags(gfp: number, atomicByNoWait: boolean): number {
  let flags = 0;
  if (gfp & Gfp.__GFP_HIGH) flags |= ALLOC_HIGH;
  if ((gfp & (Gfp.__GFP_DIRECT_RECLAIM | Gfp.__GFP_NOMEMALLOC)) === 0) {
    // A request that does not even wake kswapd was not atomic in 4.3: it is what THP used.
    if (
      atomicByNoWait
        ? (gfp & Gfp.__GFP_KSWAPD_RECLAIM) !== 0
        : (gfp & Gfp.__GFP_HIGH) !== 0
    ) {
      flags |= ALLOC_HARDER;
    }
  }
  return flags;
}

/**
 * Whether a request leaves enough behind (`zone_watermark_ok`).
 *
 * "per-order" (up to 4.3) takes each smaller order's free pages away and halves the mark; it can refuse while
 * a block that would do is free. "order-0" (4.4+) tests the free pages once and then looks for any block that is large enough.
 *
 * The arguments are trusted: this runs once a request.
 *
 * @param rule `kernel.page.watermark`.
 * @param order Order of the request.
 * @param mark The mark in pages.
 * @param flags Rights: {@linkcode ALLOC_HIGH}, {@linkcode ALLOC_HARDER}.
 * @param freePages The zone's free pages, per-CPU lists not counted.
 * @param nrFree Free blocks by order.
 * @returns Whether the request may go ahead.
 *
 * @example A fragmented zone: 4.3 refuses order 3, 6.8 does not
 * ```ts
 * import { zoneWatermarkOk } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const nrFree = Int32Array.of(3000, 500, 200, 10, 0, 0, 0, 0, 0, 0, 0);
 * assert(!zoneWatermarkOk("per-order", 3, 2560, 0, 4880, nrFree));
 * assert(zoneWatermarkOk("order-0", 3, 3096, 0, 4880, nrFree));
 * ```
 */
export function zoneWatermarkOk(
  rule: "per-order" | "order-0",
  order: number,
  mark: number,
  flags: number,
  freePages: number,
  nrFree: Int32Array,
): boolean {
  let free = freePages - ((1 << order) - 1);
  let min = mark;
  if (flags & ALLOC_HIGH) min -= min >> 1;
  if (flags & ALLOC_HARDER) min -= min >> 2;
  if (free <= min) return false;
  if (rule === "per-order") {
    for (let o = 0; o < order; o++) {
      free -= nrFree[o]! << o;
      min >>= 1;
      if (free <= min) return false;
    }
    return true;
  }
  if (order === 0) return true;
  for (let o = order; o < nrFree.length; o++) if (nrFree[o]! > 0) return true;
  return false;
}
