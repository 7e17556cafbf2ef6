/**
 * A zone's free blocks: the buddy allocator proper (mm/page_alloc.c, include/linux/mmzone.h).
 *
 * @module
 */

import type { PageCounters } from "./page_counters.ts";

/** A block's head in a free list of the zone; the order stands in the low four bits. */
export const PAGE_FREE = 0x10;
/** On a per-CPU list. */
export const PAGE_PCP = 0x20;
/** Handed out. */
export const PAGE_USED = 0x30;
/** Held by the simulation itself: fragmentation or pressure. */
export const PAGE_HELD = 0x40;
/** Mask of the four states above; 0 is a page behind the head of its block. */
export const PAGE_STATE = 0x70;
/** Mask of a block's order. */
export const PAGE_ORDER = 0x0f;
/** Handed out without regard to the watermarks. */
export const PAGE_PFMEMALLOC = 0x80;

/**
 * `struct zone` with one migrate type: free blocks of order 0 to `maxOrder` in doubly linked lists that
 * run through two arrays by pfn. Behind the pages stand the list heads, so that neither end of a list is special.
 *
 * @example
 * ```ts
 * import { PageCounters, Zone } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const zone = new Zone(1024, 10, 0, new PageCounters(11));
 * assertEquals(zone.freePages, 1024);
 * const pfn = zone.rmqueue(3);
 * assertEquals([zone.freePages, zone.counters.splits], [1016, 7]);
 * zone.freeOnePage(pfn, 3);
 * assertEquals(zone.counters.merges, 7);
 * ```
 */
export class Zone {
  /** Pages that the zone manages; pfns run from 0. */
  readonly managed: number;
  /** Highest order of a free block. */
  readonly maxOrder: number;
  /** What each page is: state, order and pfmemalloc, of a block in its head only. */
  readonly kind: Uint8Array;
  /** Next of each page in its list; a list's head stands at {@linkcode Zone.lists} plus its number. */
  readonly next: Int32Array;
  /** Previous of each page in its list. */
  readonly prev: Int32Array;
  /** Where list heads begin: free lists by order, then those of the per-CPU lists. */
  readonly lists: number;
  /** `nr_free`: free blocks by order. */
  readonly nrFree: Int32Array;
  /** `NR_FREE_PAGES`: pages in free blocks; per-CPU lists not counted. */
  freePages = 0;
  /** `ZONE_RECLAIM_ACTIVE`: kswapd is at work and per-CPU lists are kept short. */
  reclaimActive = false;
  /** `ZONE_BELOW_HIGH` (6.7+): free pages were seen below the high mark. */
  belowHigh = false;
  /** High mark in pages, at which {@linkcode Zone.belowHigh} is cleared. */
  highMark = 0;
  /** Counters, shared with the allocator. */
  readonly counters: PageCounters;

  /**
   * A zone with all pages free, in the largest blocks that fit, lowest pfn first in each list.
   *
   * @param managed Pages, 1 or more.
   * @param maxOrder Highest order, 0 to 15.
   * @param extraLists Further list heads for per-CPU lists.
   * @param counters Where splits and merges are counted.
   */
  constructor(
    managed: number,
    maxOrder: number,
    extraLists: number,
    counters: PageCounters,
  ) {
    this.managed = managed;
    this.maxOrder = maxOrder;
    this.counters = counters;
    // Whole largest blocks, so that the buddy of a page at the end is always inside the array.
    this.lists = Math.ceil(managed / (1 << maxOrder)) << maxOrder;
    const links = this.lists + maxOrder + 1 + extraLists;
    this.kind = new Uint8Array(this.lists);
    this.next = new Int32Array(links);
    this.prev = new Int32Array(links);
    this.nrFree = new Int32Array(maxOrder + 1);
    for (let list = this.lists; list < links; list++) {
      this.next[list] = this.prev[list] = list;
    }
    for (let pfn = 0; pfn < managed;) {
      let order = maxOrder;
      while (pfn + (1 << order) > managed) order--;
      this.#add(pfn, order, true);
      this.freePages += 1 << order;
      pfn += 1 << order;
    }
  }

  /**
   * Takes a block of `order`: the first of the smallest non-empty list, halved with the low half kept
   * (`__rmqueue_smallest`, `expand`). Its state is left for the caller to set.
   *
   * @returns The head's pfn, or -1.
   */
  rmqueue(order: number): number {
    const { nrFree, maxOrder, lists, next } = this;
    let from = order;
    while (from <= maxOrder && nrFree[from] === 0) from++;
    if (from > maxOrder) return -1;
    const pfn = next[lists + from]!;
    this.removeFree(pfn, from);
    this.freePages -= 1 << order;
    this.counters.splits += from - order;
    while (from > order) {
      from--;
      this.#add(pfn + (1 << from), from, false);
    }
    return pfn;
  }

  /**
   * Gives a block back and joins it with its buddy as far as that goes (`__free_one_page`). A block whose next larger
   * buddy is free goes to the tail: it is likely to be joined soon.
   */
  freeOnePage(pfn: number, order: number): void {
    const { kind, maxOrder } = this;
    this.freePages += 1 << order;
    kind[pfn] = 0;
    let head = pfn, o = order;
    while (o < maxOrder) {
      const buddy = head ^ (1 << o);
      if (kind[buddy] !== (PAGE_FREE | o)) break;
      this.removeFree(buddy, o);
      head &= ~(1 << o);
      o++;
    }
    this.counters.merges += o - order;
    let tail = false;
    if (o < maxOrder - 1) {
      const parent = head & ~(1 << o);
      tail = kind[parent ^ (2 << o)] === (PAGE_FREE | (o + 1));
    }
    this.#add(head, o, tail);
  }

  /** Unlinks a free block of which order and place are known; free pages stay as they are. */
  removeFree(pfn: number, order: number): void {
    this.unlink(pfn);
    this.kind[pfn] = 0;
    this.nrFree[order] = this.nrFree[order]! - 1;
  }

  /** Puts a page behind list entry `at`: its head to push to the front. */
  linkAfter(at: number, pfn: number): void {
    const { next, prev } = this;
    const behind = next[at]!;
    next[at] = pfn;
    prev[pfn] = at;
    next[pfn] = behind;
    prev[behind] = pfn;
  }

  /** Takes a page out of its list. */
  unlink(pfn: number): void {
    const { next, prev } = this;
    const before = prev[pfn]!, behind = next[pfn]!;
    next[before] = behind;
    prev[behind] = before;
  }

  #add(pfn: number, order: number, tail: boolean): void {
    const list = this.lists + order;
    this.linkAfter(tail ? this.prev[list]! : list, pfn);
    this.kind[pfn] = PAGE_FREE | order;
    this.nrFree[order] = this.nrFree[order]! + 1;
  }
}
