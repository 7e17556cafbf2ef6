/**
 * Per-CPU page lists: what spares most requests the zone's lock (mm/page_alloc.c).
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { whole } from "../sim/check.ts";
import { PAGE_PCP, type Zone } from "./zone.ts";

/** `CONFIG_PCP_BATCH_SCALE_MAX`: doublings that a batch may take. */
const PCP_BATCH_SCALE_MAX = 5;
/** `MIN_PERCPU_PAGELIST_HIGH_FRACTION`: all lists together may hold an eighth of the zone. */
const MIN_PERCPU_PAGELIST_HIGH_FRACTION = 8;

/** 16 TiB of 4 KiB pages. */
const MOST_PAGES = 2 ** 32;

/** How a per-CPU list adapts: not at all, on the free side (5.14 to 6.6), on both sides (6.7+). */
const FIXED = 0, FREE_FACTOR = 1, AUTO = 2;

/** Sizes of a zone's per-CPU lists, in pages. */
export interface PcpSizes {
  /** Pages moved at once. */
  readonly batch: number;
  /** Lower bound of the high mark; the mark itself up to 6.6. */
  readonly highMin: number;
  /** Upper bound of the high mark. */
  readonly highMax: number;
}

/**
 * `zone_batchsize`: pages that move at once between a zone and a per-CPU list.
 *
 * @param kernel The release: its cap differs.
 * @param managed Pages of the zone.
 * @returns Pages: one less than a power of two, 0 in very small zones.
 * @throws {RangeError} `managed` is no whole number of pages.
 *
 * @example
 * ```ts
 * import { kernel, zoneBatchsize } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(zoneBatchsize(kernel("6.1"), 1_048_576), 63);
 * ```
 */
export function zoneBatchsize(kernel: Kernel, managed: number): number {
  whole("managed", managed, 0, MOST_PAGES);
  const batch = Math.max(
    Math.min(Math.floor(managed / 1024), kernel.page.pcpBatchCap) >> 2,
    1,
  );
  return (1 << (31 - Math.clz32(batch + (batch >> 1)))) - 1;
}

/**
 * Batch and high mark of the per-CPU lists (`pageset_set_batch`, since 5.14 `zone_highsize`).
 *
 * @param kernel The release.
 * @param managed Pages of the zone.
 * @param low The zone's low mark, pages.
 * @param cpus CPUs that share it.
 * @throws {RangeError} An argument is no whole number or out of range.
 *
 * @example
 * ```ts
 * import { kernel, pcpSizes } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(pcpSizes(kernel("6.18"), 1_048_576, 3096, 8), { batch: 63, highMin: 387, highMax: 16384 });
 * ```
 */
export function pcpSizes(
  kernel: Kernel,
  managed: number,
  low: number,
  cpus: number,
): PcpSizes {
  whole("cpus", cpus, 1, 65_536);
  whole("low", low, 0, MOST_PAGES);
  const size = zoneBatchsize(kernel, managed), batch = Math.max(1, size);
  // Where the computed batch is 0 the old mark is 0 too: nothing stays on the list.
  if (kernel.page.pcpHigh === "6-batch") {
    return { batch, highMin: 6 * size, highMax: 6 * size };
  }
  const highMin = Math.max(Math.floor(low / cpus), 4 * batch);
  if (kernel.page.pcpRefill === "batch") {
    return { batch, highMin, highMax: highMin };
  }
  const share = Math.floor(
    Math.floor(managed / MIN_PERCPU_PAGELIST_HIGH_FRACTION) / cpus,
  );
  return { batch, highMin, highMax: Math.max(share, highMin) };
}

/**
 * `struct per_cpu_pages`: the lists of one CPU, one an order.
 *
 * @example
 * ```ts
 * import { kernel, PageCounters, PerCpuPages, Zone } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const counters = new PageCounters(11);
 * const zone = new Zone(4096, 10, 1, counters);
 * const sizes = { batch: 8, highMin: 48, highMax: 48 };
 * const pcp = new PerCpuPages(zone, kernel("3.12"), sizes, 11, false);
 * const pfn = pcp.alloc(0, false);
 * pcp.free(pfn, 0);
 * assertEquals(pcp.batch, 8);
 * ```
 */
export class PerCpuPages {
  /** Pages on all lists. */
  count = 0;
  /** High mark: at this count the lists give pages back. Moves between the bounds from 6.7 on. */
  high: number;
  /** Pages moved at once. */
  readonly batch: number;
  /** Lower bound of {@linkcode PerCpuPages.high}. */
  readonly highMin: number;
  /** Upper bound of {@linkcode PerCpuPages.high}. */
  readonly highMax: number;
  /** Highest order that has a list here. */
  readonly maxOrder: number;
  /** Doublings of the next order-0 refill (6.7+). */
  allocFactor = 0;
  /** Doublings of the next give-back (5.14 to 6.6). */
  freeFactor = 0;
  /** Pages freed lately, halved at each allocation (6.7+). */
  freeCount = 0;
  /** Whether the last block freed had an order above 0 (`PCPF_PREV_FREE_HIGH_ORDER`, 6.7+). */
  prevFreeHighOrder = false;

  readonly #zone: Zone;
  readonly #lists: number;
  readonly #mode: number;
  readonly #freeHighBatch: boolean;
  readonly #freeHighFrom: number;

  /**
   * Empty lists.
   *
   * @param zone The zone behind.
   * @param kernel The release.
   * @param sizes Batch and high marks.
   * @param lists Number of this CPU's order-0 list head in the zone's links.
   * @param freeHighBatch `PCPF_FREE_HIGH_BATCH`: whether the CPU's share of the last-level cache exceeds three batches.
   */
  constructor(
    zone: Zone,
    kernel: Kernel,
    sizes: PcpSizes,
    lists: number,
    freeHighBatch: boolean,
  ) {
    this.#zone = zone;
    this.#lists = lists;
    this.#freeHighBatch = freeHighBatch;
    this.#mode = kernel.page.pcpRefill === "scaled"
      ? AUTO
      : kernel.page.pcpHigh === "low-mark"
      ? FREE_FACTOR
      : FIXED;
    this.batch = sizes.batch;
    const later = kernel.page.pcpFreeHigh === "batch + high/2";
    this.#freeHighFrom = sizes.batch + (later ? sizes.highMin >> 1 : 0);
    this.highMin = sizes.highMin;
    this.highMax = sizes.highMax;
    this.high = sizes.highMin;
    this.maxOrder = kernel.page.pcpMaxOrder;
  }

  /**
   * Takes a block, refilling an empty list first (`rmqueue_pcplist`).
   *
   * @param order Order, at most {@linkcode PerCpuPages.maxOrder}.
   * @param cold Take from the tail: `__GFP_COLD`.
   * @returns The head's pfn, or -1 where the zone has none.
   */
  alloc(order: number, cold: boolean): number {
    this.freeFactor >>= 1;
    this.freeCount >>= 1;
    const zone = this.#zone, list = this.#lists + order;
    let pfn = zone.next[list]!;
    if (pfn === list) {
      if (this.#refill(order, cold) === 0) return -1;
      pfn = zone.next[list]!;
    } else {
      zone.counters.pcpHits++;
    }
    if (cold) pfn = zone.prev[list]!;
    zone.unlink(pfn);
    this.count -= 1 << order;
    return pfn;
  }

  /** Puts a block on top and gives some back where that makes too many (`free_unref_page_commit`). */
  free(pfn: number, order: number): void {
    const zone = this.#zone;
    zone.kind[pfn] = PAGE_PCP | order;
    zone.linkAfter(this.#lists + order, pfn);
    zone.counters.pcpFrees++;
    this.count += 1 << order;
    if (this.#mode === AUTO) return this.#commitAuto(order);
    // From the second give-back in a row on, blocks above order 0 do not stay.
    const freeHigh = this.#mode === FREE_FACTOR && order > 0 &&
      this.freeFactor > 0;
    const high = zone.reclaimActive && this.#mode === FREE_FACTOR
      ? Math.min(this.batch << 2, this.high)
      : this.high;
    if (!freeHigh && this.count < high) return;
    this.#giveBack(freeHigh ? this.count : this.#nrFree(high), order);
  }

  /** Gives everything back (`drain_pages_zone`). */
  drain(): void {
    if (this.count > 0) this.#giveBack(this.count, 0);
  }

  /** Pages that a give-back moves, up to 6.6 (`nr_pcp_free`). */
  #nrFree(high: number): number {
    if (this.#mode === FIXED) return this.batch;
    if (high < this.batch) return 1;
    const most = high - this.batch;
    const count = this.batch << this.freeFactor;
    if (count < most && this.freeFactor < PCP_BATCH_SCALE_MAX) {
      this.freeFactor++;
    }
    return Math.min(Math.max(count, this.batch), most);
  }

  /** The rest of a free from 6.7 on: moves the high mark, then gives back as many pages as were freed in a row. */
  #commitAuto(order: number): void {
    const zone = this.#zone, batch = this.batch;
    this.allocFactor >>= 1;
    let freeHigh = false;
    if (order > 0) {
      freeHigh = this.freeCount >= this.#freeHighFrom &&
        this.prevFreeHighOrder &&
        (!this.#freeHighBatch || this.count >= batch);
    }
    this.prevFreeHighOrder = order > 0;
    if (this.freeCount < batch << PCP_BATCH_SCALE_MAX) {
      this.freeCount += 1 << order;
    }
    const high = this.#nextHigh(freeHigh);
    if (this.count < high) return;
    let count: number;
    if (freeHigh) count = Math.min(this.count, batch << PCP_BATCH_SCALE_MAX);
    else if (high < batch) count = 1;
    else count = Math.min(Math.max(this.freeCount, batch), high - batch);
    this.#giveBack(count, order);
    if (zone.belowHigh && zone.freePages > zone.highMark) {
      zone.belowHigh = false;
    }
  }

  /** The count at which this free gives back, and the mark for the next ones (`nr_pcp_high`, 6.7+). */
  #nextHigh(freeHigh: boolean): number {
    const { batch, highMin, highMax } = this;
    let high = this.high;
    if (freeHigh) {
      this.high = Math.max(high - (batch << PCP_BATCH_SCALE_MAX), highMin);
      return 0;
    }
    const zone = this.#zone;
    if (zone.reclaimActive) {
      this.high = Math.max(high - Math.max(this.freeCount, batch), highMin);
      return Math.min(batch << 2, this.high);
    }
    if (highMin >= highMax) return high;
    if (zone.belowHigh) {
      this.high = Math.max(high - Math.max(this.freeCount, batch), highMin);
      high = Math.max(this.count, highMin);
    } else if (this.count >= high) {
      const need = this.freeCount + batch;
      if (this.high < need) {
        this.high = Math.min(Math.max(need, highMin), highMax);
      }
    }
    return high;
  }

  /** Blocks that a refill asks for (`nr_pcp_alloc`). */
  #nrAlloc(order: number): number {
    const { batch: base, highMin, highMax } = this;
    let batch = base;
    if (this.#mode === AUTO) {
      let high = this.high;
      if (order === 0) batch = base << this.allocFactor;
      if (highMin < highMax && !this.#zone.belowHigh) {
        high = this.high = Math.min(high + batch, highMax);
      }
      if (order === 0) {
        const most = Math.max(high - this.count - base, base);
        if (batch <= most && this.allocFactor < PCP_BATCH_SCALE_MAX) {
          this.allocFactor++;
        }
        batch = Math.min(batch, most);
      }
    }
    return batch > 1 && this.maxOrder > 0 ? Math.max(batch >> order, 2) : batch;
  }

  /** Moves blocks from the zone under one hold of its lock (`rmqueue_bulk`); returns how many. */
  #refill(order: number, cold: boolean): number {
    const zone = this.#zone,
      list = this.#lists + order,
      counters = zone.counters;
    const want = this.#nrAlloc(order);
    counters.zoneLock++;
    counters.pcpRefills++;
    let got = 0;
    for (; got < want; got++) {
      const pfn = zone.rmqueue(order);
      if (pfn < 0) break;
      zone.kind[pfn] = PAGE_PCP | order;
      zone.linkAfter(cold ? list : zone.prev[list]!, pfn);
    }
    counters.pcpRefilled += got;
    this.count += got << order;
    return got;
  }

  /** Gives at least `count` pages back, coldest first, this order's list before the others (`free_pcppages_bulk`). */
  #giveBack(count: number, firstOrder: number): void {
    const zone = this.#zone, counters = zone.counters;
    let left = Math.min(this.count, count), order = firstOrder;
    counters.zoneLock++;
    counters.pcpDrains++;
    while (left > 0) {
      const list = this.#lists + order;
      while (left > 0) {
        const pfn = zone.prev[list]!;
        if (pfn === list) break;
        zone.unlink(pfn);
        left -= 1 << order;
        this.count -= 1 << order;
        counters.pcpDrained++;
        zone.freeOnePage(pfn, order);
      }
      order = order === this.maxOrder ? 0 : order + 1;
    }
  }
}
