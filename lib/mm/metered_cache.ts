/**
 * A slab cache that counts its calls, and what the calls and the allocator's own counters say of the work done.
 *
 * @module
 */

import { counted } from "../sim/counters.ts";
import type { Operation, Work } from "../sim/cpu.ts";
import type { KmemCache } from "./kmem_cache_type.ts";

/** What happened at a point in time, or between two. */
interface Tally {
  allocs: number;
  frees: number;
  bulkAllocs: number;
  bulkAllocObjects: number;
  bulkFrees: number;
  bulkFreeObjects: number;
  detached: number;
  counters: Readonly<Record<string, number>>;
}

/** SLUB and user-written caches may tell how many freelists they detached. */
interface Events {
  readonly detachedFreelists: number;
}

/**
 * A cache in front of a cache: counts calls and passes them on, so that work can be priced whatever the allocator.
 *
 * @example What a round of 64 costs, freed in bulk
 * ```ts
 * import { cpu, kernel, kmemCache, MeteredCache, price } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const cache = new MeteredCache(kmemCache({ kernel: kernel("net-next-2015-10"), objectSize: 256 }));
 * const objects = new Int32Array(64);
 * const round = () => {
 *   cache.allocBulk(64, objects);
 *   cache.freeBulk(64, objects);
 * };
 * round();
 * cache.start();
 * round();
 * const { ns } = price(cache.work(), cpu("i7-4790K"), 64);
 * assert(ns > 5 && ns < 5.3);
 * ```
 */
export class MeteredCache implements KmemCache {
  /** The cache that does the work. */
  readonly cache: KmemCache;
  /** Calls of {@linkcode MeteredCache.alloc}. */
  allocs = 0;
  /** Calls of {@linkcode MeteredCache.free}. */
  frees = 0;
  /** Calls of {@linkcode MeteredCache.allocBulk}. */
  bulkAllocs = 0;
  /** Objects that they returned. */
  bulkAllocObjects = 0;
  /** Calls of {@linkcode MeteredCache.freeBulk}. */
  bulkFrees = 0;
  /** Objects that they took. */
  bulkFreeObjects = 0;
  #from: Tally;

  /**
   * Counting starts now.
   *
   * @param cache The cache that does the work.
   */
  constructor(cache: KmemCache) {
    this.cache = cache;
    this.#from = this.#tally();
  }

  /** Name of the allocator. */
  get allocator(): string {
    return this.cache.allocator;
  }
  /** Bytes that an object may use. */
  get objectSize(): number {
    return this.cache.objectSize;
  }
  /** Bytes from one object to the next. */
  get slabSize(): number {
    return this.cache.slabSize;
  }
  /** CPUs with lists of their own. */
  get cpus(): number {
    return this.cache.cpus;
  }
  /** The allocator's counters. */
  get counters(): Readonly<Record<string, number>> {
    return this.cache.counters;
  }
  /** Slabs in existence. */
  get slabs(): number {
    return this.cache.slabs;
  }
  /** Objects that callers hold. */
  get inUse(): number {
    return this.cache.inUse;
  }

  /** Takes an object. */
  alloc(cpu?: number): number {
    this.allocs++;
    return this.cache.alloc(cpu);
  }

  /** Gives an object back. */
  free(object: number, cpu?: number): void {
    this.frees++;
    this.cache.free(object, cpu);
  }

  /** Takes objects, all or none. */
  allocBulk(count: number, out: Int32Array, cpu?: number): number {
    const got = this.cache.allocBulk(count, out, cpu);
    this.bulkAllocs++;
    this.bulkAllocObjects += got;
    return got;
  }

  /** Gives objects back. */
  freeBulk(count: number, objects: Int32Array, cpu?: number): void {
    this.bulkFrees++;
    this.bulkFreeObjects += count;
    this.cache.freeBulk(count, objects, cpu);
  }

  /** Gives back all memory that holds no object in use. */
  shrink(): void {
    this.cache.shrink();
  }

  /** Verifies the cache's invariants. */
  check(): void {
    this.cache.check();
  }

  #tally(): Tally {
    const { events } = this.cache as unknown as { events?: Events };
    return {
      allocs: this.allocs,
      frees: this.frees,
      bulkAllocs: this.bulkAllocs,
      bulkAllocObjects: this.bulkAllocObjects,
      bulkFrees: this.bulkFrees,
      bulkFreeObjects: this.bulkFreeObjects,
      detached: events?.detachedFreelists ?? 0,
      counters: { ...this.cache.counters },
    };
  }

  /** Counting for {@linkcode MeteredCache.work} and {@linkcode MeteredCache.counted} starts anew. */
  start(): void {
    this.#from = this.#tally();
  }

  /** What the allocator's counters moved by since the start. */
  counted(): Record<string, number> {
    return counted(this.cache.counters, this.#from.counters);
  }

  /**
   * The work since the start, to be priced.
   *
   * @returns Operations with their counts, without those that did not happen. Where SLUB's slow frees came both from
   *   single and from bulk frees, they are divided by the number of lists each freed.
   */
  work(): Work[] {
    const now = this.#tally();
    const from = this.#from;
    const tally: Tally = {
      allocs: now.allocs - from.allocs,
      frees: now.frees - from.frees,
      bulkAllocs: now.bulkAllocs - from.bulkAllocs,
      bulkAllocObjects: now.bulkAllocObjects - from.bulkAllocObjects,
      bulkFrees: now.bulkFrees - from.bulkFrees,
      bulkFreeObjects: now.bulkFreeObjects - from.bulkFreeObjects,
      detached: now.detached - from.detached,
      counters: this.counted(),
    };
    const work = this.allocator === "slab"
      ? slabWork(tally)
      : this.allocator === "qmempool"
      ? qmempoolWork(tally)
      : slubWork(tally);
    return work.filter(({ count }) => count > 0);
  }
}

const item = (operation: Operation, count: number): Work => ({
  operation,
  count,
});

const calls = (operation: Operation, count: number, objects: number): Work => ({
  operation,
  count,
  size: count === 0 ? 1 : objects / count,
});

/** Counts of a counter by name; 0 where the allocator has none of that name. */
const of = (tally: Tally, name: string): number => tally.counters[name] ?? 0;

function slubWork(tally: Tally): Work[] {
  const { allocs, frees, bulkAllocObjects, bulkFreeObjects } = tally;
  // Up to 6.7 a slab from the CPU's partial list counts ALLOC_REFILL as well.
  const refills = Math.max(
    of(tally, "ALLOC_REFILL"),
    of(tally, "CPU_PARTIAL_ALLOC"),
  );
  const slowAllocs = refills + of(tally, "ALLOC_FROM_PARTIAL") +
    of(tally, "ALLOC_SLAB");
  const taken = allocs + bulkAllocObjects;
  const allocSlow = taken === 0 ? 0 : slowAllocs * allocs / taken;
  const slowFrees = of(tally, "FREE_SLOWPATH");
  const lists = bulkFreeObjects === 0
    ? 0
    : tally.detached > 0
    ? tally.detached
    : bulkFreeObjects;
  const freed = frees + lists;
  // 4.3 frees every foreign object of a bulk by itself: as slow as a single free.
  const freeSlow = freed === 0
    ? 0
    : tally.detached === 0
    ? slowFrees
    : slowFrees * frees / freed;
  const freeFast = Math.max(0, frees - freeSlow);
  return [
    item("slubAllocFast", allocs - allocSlow),
    item("slubAllocSlow", allocSlow),
    calls("slubBulkAlloc", tally.bulkAllocs, bulkAllocObjects),
    item("slubBulkAllocSlow", slowAllocs - allocSlow),
    item("slubFreeFast", freeFast),
    item("slubFreeSlow", freeSlow),
    calls("slubBulkFree", tally.bulkFrees, bulkFreeObjects),
    item("slubBulkFreeSlow", slowFrees - freeSlow),
    item("slubPutCpuPartial", of(tally, "CPU_PARTIAL_FREE")),
    item("slubDrain", of(tally, "CPU_PARTIAL_DRAIN")),
    item("slubNewSlab", of(tally, "ALLOC_SLAB")),
  ];
}

function slabWork(tally: Tally): Work[] {
  return [
    item("slabAlloc", tally.allocs),
    calls("slabBulkAlloc", tally.bulkAllocs, tally.bulkAllocObjects),
    item("slabRefill", of(tally, "ALLOCMISS")),
    item("slabFree", tally.frees),
    calls("slabBulkFree", tally.bulkFrees, tally.bulkFreeObjects),
    item("slabFlush", of(tally, "FREEMISS")),
  ];
}

function qmempoolWork(tally: Tally): Work[] {
  return [
    item("qmempoolAlloc", tally.allocs),
    item("qmempoolRefill", of(tally, "allocShared")),
    item("qmempoolFree", tally.frees),
    item("qmempoolDrain", of(tally, "freeShared")),
  ];
}
