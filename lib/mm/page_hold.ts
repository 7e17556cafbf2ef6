/**
 * Memory that the simulation itself holds: fragmentation and pressure, and how both are undone.
 *
 * @module
 */

import { randomLcg } from "../sim/random.ts";
import { PAGE_HELD, PAGE_ORDER, type Zone } from "./zone.ts";

/** How {@linkcode PageAllocator.fragment} breaks memory up. */
export interface FragmentOptions {
  /** Smallest order that is to fail, 1 to the highest; 3 when absent. */
  readonly order?: number | undefined;
  /** Share of the free blocks of that order to break up, above 0 to 1; 1 (all) when absent. */
  readonly fraction?: number | undefined;
  /** Seed for which blocks and which page in each; 1 when absent. */
  readonly seed?: number | undefined;
}

/**
 * Pages taken out of circulation until {@linkcode PageHold.release}.
 *
 * @example
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageHold } from "@truesize/lab";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const pages = new PageAllocator(kernel("6.18"), { pages: 4096 });
 * const hold: PageHold = pages.fragment({ order: 3 });
 * assertEquals(pages.alloc(Gfp.GFP_ATOMIC, 3), -1);
 * hold.release();
 * assert(pages.alloc(Gfp.GFP_ATOMIC, 3) >= 0);
 * ```
 */
export class PageHold {
  readonly #zone: Zone;
  #blocks: number[];
  #pages = 0;

  /** Made by {@linkcode PageAllocator.fragment} and {@linkcode PageAllocator.pressure}. */
  constructor(zone: Zone, blocks: number[]) {
    this.#zone = zone;
    this.#blocks = blocks;
    for (const pfn of blocks) {
      this.#pages += 1 << (zone.kind[pfn]! & PAGE_ORDER);
    }
  }

  /** Pages held; 0 after {@linkcode PageHold.release}. */
  get pages(): number {
    return this.#pages;
  }

  /** First pfns of the blocks held, ascending; empty after {@linkcode PageHold.release}. */
  get pfns(): readonly number[] {
    return this.#blocks;
  }

  /** Gives everything back. A second call does nothing. */
  release(): void {
    const zone = this.#zone;
    const merges = zone.counters.merges;
    for (const pfn of this.#blocks) {
      zone.freeOnePage(pfn, zone.kind[pfn]! & PAGE_ORDER);
    }
    zone.counters.merges = merges;
    this.#blocks = [];
    this.#pages = 0;
  }
}

/**
 * Breaks free blocks up by holding one page in each aligned run of `2^order` pages.
 *
 * @param zone The zone; its per-CPU lists must be drained.
 * @param order Smallest order to break.
 * @param fraction Share of the runs to break.
 * @param seed Seed.
 */
export function fragmentZone(
  zone: Zone,
  order: number,
  fraction: number,
  seed: number,
): PageHold {
  const random = randomLcg(seed);
  const { splits, merges } = zone.counters;
  const blocks: number[] = [];
  for (;;) {
    const pfn = zone.rmqueue(order);
    if (pfn < 0) break;
    blocks.push(pfn);
  }
  // By address, so that the result does not depend on the order of the lists.
  blocks.sort((a, b) => a - b);
  const held: number[] = [];
  const whole: number[] = [];
  for (const pfn of blocks) {
    if (fraction < 1 && random() >= fraction) {
      whole.push(pfn);
      continue;
    }
    let base = pfn;
    const page = pfn + Math.floor(random() * (1 << order));
    for (let o = order - 1; o >= 0; o--) {
      const high = base + (1 << o);
      zone.freeOnePage(page >= high ? base : high, o);
      if (page >= high) base = high;
    }
    zone.kind[page] = PAGE_HELD;
    held.push(page);
  }
  for (const pfn of whole) zone.freeOnePage(pfn, order);
  zone.counters.splits = splits;
  zone.counters.merges = merges;
  return new PageHold(zone, held);
}

/**
 * Takes pages, in blocks as large as possible, until `freePages` are left.
 *
 * @param zone The zone.
 * @param freePages Free pages to leave.
 */
export function pressZone(zone: Zone, freePages: number): PageHold {
  const { splits } = zone.counters;
  const held: number[] = [];
  let order = zone.maxOrder;
  while (zone.freePages > freePages) {
    while (1 << order > zone.freePages - freePages) order--;
    const pfn = zone.rmqueue(order);
    if (pfn < 0) {
      order--;
      continue;
    }
    zone.kind[pfn] = PAGE_HELD | order;
    held.push(pfn);
  }
  zone.counters.splits = splits;
  return new PageHold(zone, held.sort((a, b) => a - b));
}
