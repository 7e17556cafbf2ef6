/**
 * What the shapes of `page_frag_cache` share: the cache's state, its rules for one kernel, its counters, and how a block
 * of pages is taken, given up and given back.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "./gfp.ts";
import type { PageAllocator } from "./page_alloc.ts";

/**
 * What a page-fragment cache counts. Each call of `alloc` counts in frags, failures, refusals or endlessLoops.
 *
 * @example
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageFragCache, PageFragCacheCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = new PageFragCache(new PageAllocator(kernel("6.18")));
 * for (let i = 0; i < 17; i++) cache.alloc(2048, Gfp.GFP_ATOMIC);
 * const counters: PageFragCacheCounters = cache.counters;
 * assertEquals([counters.frags, counters.refills], [17, 2]);
 * ```
 */
export class PageFragCacheCounters {
  /** Blocks taken from the page allocator. */
  refills = 0;
  /** Refills that got a block of order 3. */
  refillsOrder3 = 0;
  /** Refills that fell back to (or only ever ask for) a single page. */
  refillsOrder0 = 0;
  /** Blocks whose fragments had all come back and that were started again in place. */
  reuses = 0;
  /** Calls that returned NULL because the page allocator had nothing. */
  failures = 0;
  /** Calls that returned NULL because the request is larger than the block (6.0 on). */
  refusals = 0;
  /** Fragments that reach outside their block: memory the kernel would overwrite (4.2 to 5.19). */
  corruptions = 0;
  /** Calls that would never return in the kernel; the model returns -1. */
  endlessLoops = 0;
  /** Blocks that were freed under the cache because all of its own references were spent (up to 5.0). */
  useAfterFrees = 0;
  /** Blocks from the reserve that were given back instead of reused (5.10 on). */
  pfmemallocDrops = 0;
  /** Bytes that no fragment covers in the blocks given up or started again: the rest, and gaps left by alignment. */
  wastedBytes = 0;
  readonly #state: Pick<PageFragCacheState, "settled" | "total" | "bias">;

  /** Counters of a cache, all 0. */
  constructor(state: Pick<PageFragCacheState, "settled" | "total" | "bias">) {
    this.#state = state;
  }

  /** Fragments handed out, corrupt ones included: each took a reference from the bias, so nobody need count them. */
  get frags(): number {
    const { settled, total, bias } = this.#state;
    return settled + total - bias;
  }
}

/** The facts of one kernel in the form in which the allocation path reads them. */
export interface PageFragCacheRules {
  /** Order of the large block. */
  readonly order: number;
  /** Whether a refill tries every order down to 0. */
  readonly descends: boolean;
  /** Request bits that a high-order attempt keeps. */
  readonly highOrderMask: number;
  /** Request bits that a high-order attempt adds. */
  readonly highOrderGfp: number;
  /** References to a fresh block: a constant, or (0) its size plus `biasExtra`. */
  readonly biasValue: number;
  /** What is added to the size where the bias follows it: 0 or 1. */
  readonly biasExtra: number;
  /** Whether the refcount of a fresh block is set instead of added to. */
  readonly setsRefcount: boolean;
  /** Whether a block starts at its end. */
  readonly down: boolean;
  /** Whether a block from the reserve is never reused. */
  readonly dropsPfmemalloc: boolean;
  /** Whether a request that does not fit the block returns NULL. */
  readonly refusesTooLarge: boolean;
  /** Whether a request over a page is refused as soon as the current block is used up. */
  readonly refusesOverPage: boolean;
  /** What an offset is cut to when it is stored: 16 bits where a block has less than 64 KiB. */
  readonly offsetMask: number;
}

/** State of a cache, as the shapes change it. Addresses and offsets in bytes. */
export interface PageFragCacheState {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** CPU whose per-CPU page lists serve the cache. */
  readonly cpu: number;
  /** The kernel's rules. */
  readonly rules: PageFragCacheRules;
  /** What is counted. */
  readonly counters: PageFragCacheCounters;
  /** Called with each block between its allocation and the taking of its references. */
  readonly speculate: ((pfn: number) => void) | undefined;
  /** Head page of the current block, or -1. */
  pfn: number;
  /** Address of the current block; 0 without one. */
  base: number;
  /** `offset`: where the next fragment starts (up) or ends (down); 0 without a block. */
  offset: number;
  /** `size` of the current block; 0 without one. */
  size: number;
  /** `pagecnt_bias`: references that the cache still holds. */
  bias: number;
  /** References that it held when the block was started. */
  total: number;
  /** Fragments handed out from earlier blocks; those of the current one are `total - bias`. */
  settled: number;
  /** Whether the block came from the reserve. */
  pfmemalloc: boolean;
}

/** The rules that `kernel.pageFragCache` gives. */
export function pageFragCacheRules(kernel: Kernel): PageFragCacheRules {
  const facts = kernel.pageFragCache;
  const { pageSize } = kernel.build;
  const atOnce = facts.orders === "highest-then-0";
  return {
    order: Math.ceil(Math.log2(Math.max(1, facts.maxSize / pageSize))),
    descends: !atOnce,
    highOrderMask: facts.masksDirectReclaim ? ~Gfp.__GFP_DIRECT_RECLAIM : ~0,
    highOrderGfp: Gfp.__GFP_COMP | Gfp.__GFP_NOWARN |
      (atOnce ? Gfp.__GFP_NORETRY | Gfp.__GFP_NOMEMALLOC : 0),
    biasValue: facts.bias === "constant" ? facts.biasValue : 0,
    biasExtra: facts.bias === "size+1" ? 1 : 0,
    setsRefcount: facts.refcount === "set",
    down: facts.direction === "down",
    dropsPfmemalloc: facts.dropsPfmemalloc,
    refusesTooLarge: facts.tooLarge === "null" ||
      facts.tooLarge === "null-over-page",
    refusesOverPage: facts.tooLarge === "null-over-page",
    offsetMask: pageSize < facts.maxSize ? 0xffff : ~0,
  };
}

/**
 * Takes a fresh block and all of the cache's references to it; false when there is no memory, and then the cache is
 * without a block. Models the refill part of `__netdev_alloc_frag` (3.12) and `__page_frag_cache_refill` (4.2 on).
 */
export function refillBlock(nc: PageFragCacheState, gfp: number): boolean {
  const { pages, rules, counters, cpu } = nc;
  let order = rules.order;
  let pfn = -1;
  if (order > 0) {
    const high = (gfp & rules.highOrderMask) | rules.highOrderGfp;
    pfn = pages.alloc(high, order, cpu);
    while (pfn < 0 && rules.descends && order > 1) {
      pfn = pages.alloc(high, --order, cpu);
    }
  }
  if (pfn < 0) {
    // Only this attempt has the caller's own rights, and only it may warn.
    order = 0;
    pfn = pages.alloc(gfp, 0, cpu);
  }
  if (pfn < 0) {
    forgetBlock(nc);
    counters.failures++;
    return false;
  }
  if (nc.speculate !== undefined) nc.speculate(pfn);
  const size = pages.pageSize << order;
  const total = rules.biasValue > 0 ? rules.biasValue : size + rules.biasExtra;
  // A set loses references that others took meanwhile; an addition keeps them.
  if (rules.setsRefcount) pages.refcount[pfn] = total;
  else pages.refcount[pfn]! += total - 1;
  settle(nc);
  nc.pfn = pfn;
  nc.base = pfn * pages.pageSize;
  nc.size = size;
  nc.bias = total;
  nc.total = total;
  nc.offset = rules.down ? size : 0;
  nc.pfmemalloc = pages.isPfmemalloc(pfn);
  counters.refills++;
  if (order === 3) counters.refillsOrder3++;
  else if (order === 0) counters.refillsOrder0++;
  return true;
}

// Keeps what the block handed out before its bias is set anew.
function settle(nc: PageFragCacheState): void {
  nc.settled += nc.total - nc.bias;
}

/** Leaves the cache without a block. */
export function forgetBlock(nc: PageFragCacheState): void {
  settle(nc);
  nc.pfn = -1;
  nc.base = 0;
  nc.offset = 0;
  nc.size = 0;
  nc.bias = 0;
  nc.total = 0;
  nc.pfmemalloc = false;
}

/**
 * Gives up the cache's references to its block; true when no other is left, and then the block is the cache's to start
 * again or to free. Models the `page_ref_sub_and_test` of every shape.
 */
export function giveUpBias(nc: PageFragCacheState): boolean {
  const { refcount } = nc.pages;
  const before = refcount[nc.pfn]!;
  if (before === 0 && nc.bias === 0) {
    // The cache had no reference left and the last user freed the block. The kernel would go on with freed memory;
    // here the cache lets go of it, so that the page allocator's books stay right.
    nc.counters.useAfterFrees++;
    return false;
  }
  const rest = before - nc.bias;
  refcount[nc.pfn] = rest;
  return rest === 0;
}

/** Takes all of the cache's references to its block again, with none outstanding (`set_page_count`). */
export function takeBias(nc: PageFragCacheState): void {
  settle(nc);
  nc.pages.refcount[nc.pfn] = nc.total;
  nc.bias = nc.total;
}

/** Starts the block again. */
export function restartBlock(nc: PageFragCacheState): void {
  const start = nc.rules.down ? nc.size : 0;
  if (nc.offset !== start) nc.counters.reuses++;
  countRest(nc);
  takeBias(nc);
  nc.offset = start;
}

/** Counts what the block leaves unused. */
export function countRest(nc: PageFragCacheState): void {
  const { offset, size, rules } = nc;
  const rest = rules.down ? offset : size - offset;
  // A block that has not been started is not wasted, and a wild offset is no rest.
  if (rest > 0 && rest < size) nc.counters.wastedBytes += rest;
}
