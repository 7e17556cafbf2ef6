/**
 * The gate in front of a zone: which requests its free pages let through (mm/page_alloc.c).
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import {
  type Watermarks,
  zoneWatermarkOk,
  zoneWatermarks,
} from "./watermark.ts";
import type { Zone } from "./zone.ts";

/** A zone's watermarks and the release's way of checking them. */
export class ZoneWatermark {
  /** The marks, pages. */
  readonly marks: Watermarks;

  readonly #zone: Zone;
  readonly #rule: "per-order" | "order-0";
  readonly #tracksHigh: boolean;
  readonly #low: number;
  readonly #high: number;

  /**
   * The marks of a zone that is all the memory there is.
   *
   * @param kernel The release.
   * @param zone The zone.
   * @param minFreeKbytes `vm.min_free_kbytes`, KiB; absent: computed.
   */
  constructor(kernel: Kernel, zone: Zone, minFreeKbytes?: number) {
    this.marks = zoneWatermarks(kernel, zone.managed, minFreeKbytes);
    this.#zone = zone;
    this.#rule = kernel.page.watermark;
    this.#tracksHigh = kernel.page.pcpRefill === "scaled";
    this.#low = this.marks.low;
    this.#high = this.marks.high;
    zone.highMark = this.#high;
  }

  /**
   * Whether the fast path may go ahead (`get_page_from_freelist` with `ALLOC_WMARK_LOW`). From 6.7 on it first
   * tries the high mark and remembers in {@linkcode Zone.belowHigh} that it was missed.
   *
   * @param order Order of the request.
   */
  fast(order: number): boolean {
    const zone = this.#zone;
    if (this.#tracksHigh && !zone.belowHigh) {
      if (this.ok(order, this.#high, 0)) return true;
      zone.belowHigh = true;
    }
    return this.ok(order, this.#low, 0);
  }

  /**
   * Whether a request leaves enough behind (`zone_watermark_fast`).
   *
   * @param order Order of the request.
   * @param mark The mark, pages.
   * @param flags Rights below it.
   */
  ok(order: number, mark: number, flags: number): boolean {
    const zone = this.#zone;
    if (order === 0 && zone.freePages > mark) return true;
    return zoneWatermarkOk(
      this.#rule,
      order,
      mark,
      flags,
      zone.freePages,
      zone.nrFree,
    );
  }
}
