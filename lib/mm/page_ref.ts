/**
 * The pages of a zone as their users see them: references to blocks (include/linux/page_ref.h) and what is free.
 *
 * @module
 */

import { whole } from "../sim/check.ts";
import {
  PAGE_ORDER,
  PAGE_PFMEMALLOC,
  PAGE_STATE,
  PAGE_USED,
  type Zone,
} from "./zone.ts";

/** What a page can be that is not the first of a block handed out, by its state. */
const STATES = [
  "inside a block of which it is not the first page",
  "free",
  "free, on a per-CPU list",
  "handed out without a reference",
  "held by the simulation",
];

/**
 * `struct page` as its users see it: a refcount, an order and the pfmemalloc mark, of a block in its first page; and the
 * free blocks of the zone. The base of {@linkcode PageAllocator}.
 *
 * @example
 * ```ts
 * import { PageCounters, PageRefs, Zone } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const refs = new PageRefs(new Zone(1024, 10, 0, new PageCounters(11)));
 * assertEquals([refs.freePages(), refs.freeBlocks(10)], [1024, 1]);
 * ```
 */
export class PageRefs {
  /** References by pfn, of a block in its first page; 0 where nobody holds it. */
  readonly refcount: Int32Array;
  /** The zone: its free blocks. */
  readonly zone: Zone;

  /**
   * References for the pages of a zone, all 0.
   *
   * @param zone The zone.
   */
  constructor(zone: Zone) {
    this.zone = zone;
    this.refcount = new Int32Array(zone.lists);
  }

  /**
   * Takes one more reference (`get_page`).
   *
   * @param pfn First page of a block that is handed out.
   * @throws {Error} Nobody holds the block.
   */
  getPage(pfn: number): void {
    const count = this.refcount[pfn];
    if (count === undefined || count <= 0) this.badPage(pfn, "getPage");
    this.refcount[pfn] = count + 1;
  }

  /**
   * Adds references at once (`page_ref_add`).
   *
   * @param pfn First page of a block that is handed out; its refcount may be 0.
   * @param n References to add, 0 or more.
   * @throws {RangeError} `n` is no whole number or the refcount would pass 2^31 - 1.
   * @throws {Error} The block is not handed out.
   */
  refAdd(pfn: number, n: number): void {
    const kind = this.zone.kind[pfn];
    if (kind === undefined || (kind & PAGE_STATE) !== PAGE_USED) {
      this.badPage(pfn, "refAdd");
    }
    const count = this.refcount[pfn]! + n;
    if (!(n >= 0) || (count | 0) !== count) {
      throw new RangeError(
        `refAdd: n ${n}: a whole number from 0 that keeps the refcount below 2^31 is allowed`,
      );
    }
    this.refcount[pfn] = count;
  }

  /**
   * Drops references at once and frees nothing (`page_ref_sub_and_test`): at 0 the caller reuses the block or frees it.
   *
   * @param pfn First page of a block that is handed out.
   * @param n References to drop, 0 up to those there are.
   * @returns Whether none is left.
   * @throws {RangeError} `n` is no whole number or more than there are.
   * @throws {Error} The block is not handed out.
   */
  refSubAndTest(pfn: number, n: number): boolean {
    const kind = this.zone.kind[pfn];
    if (kind === undefined || (kind & PAGE_STATE) !== PAGE_USED) {
      this.badPage(pfn, "refSubAndTest");
    }
    const count = this.refcount[pfn]! - n;
    if (!(n >= 0) || count < 0 || (count | 0) !== count) {
      throw new RangeError(
        `refSubAndTest: n ${n}: a whole number from 0 to the refcount ${
          this.refcount[pfn]
        } is allowed`,
      );
    }
    this.refcount[pfn] = count;
    return count === 0;
  }

  /**
   * Order of a block that is handed out (`compound_order`).
   *
   * @throws {Error} The block is not handed out.
   */
  orderOf(pfn: number): number {
    const kind = this.zone.kind[pfn];
    if (kind === undefined || (kind & PAGE_STATE) !== PAGE_USED) {
      this.badPage(pfn, "orderOf");
    }
    return kind & PAGE_ORDER;
  }

  /**
   * Whether a block was handed out without regard to the watermarks (`page_is_pfmemalloc`).
   *
   * @throws {Error} The block is not handed out.
   */
  isPfmemalloc(pfn: number): boolean {
    const kind = this.zone.kind[pfn];
    if (kind === undefined || (kind & PAGE_STATE) !== PAGE_USED) {
      this.badPage(pfn, "isPfmemalloc");
    }
    return (kind & PAGE_PFMEMALLOC) !== 0;
  }

  /** `NR_FREE_PAGES`: free pages, those on per-CPU lists not counted. */
  freePages(): number {
    return this.zone.freePages;
  }

  /**
   * Free blocks of one order (`nr_free`).
   *
   * @throws {RangeError} There is no such order.
   */
  freeBlocks(order: number): number {
    return this.zone.nrFree[whole("order", order, 0, this.zone.maxOrder)]!;
  }

  /** Free blocks by order: a line of /proc/buddyinfo. */
  buddyInfo(): number[] {
    return Array.from(this.zone.nrFree);
  }

  /**
   * Says why a page cannot be what a caller takes it for.
   *
   * @param pfn The page.
   * @param what Name of the function that was called.
   * @throws {RangeError} The zone has no such page.
   * @throws {Error} The page is not handed out, or not the first of its block.
   */
  protected badPage(pfn: number, what: string): never {
    whole(`${what}: pfn`, pfn, 0, this.zone.managed - 1);
    const state = (this.zone.kind[pfn]! & PAGE_STATE) >> 4;
    throw new Error(`${what}: pfn ${pfn} is ${STATES[state]}`);
  }
}
