/**
 * All slabs of a SLUB cache as arrays, and the objects in them.
 *
 * @module
 */

import { grown } from "../sim/grown.ts";
import { Gfp } from "./gfp.ts";
import type { PageAllocator } from "./page_alloc.ts";
import type { SlabEvents, SlubStats } from "./slub_stats.ts";

/** An object's link while a caller holds it. */
export const ALLOCATED: number = -2;
/** An object's link while a bulk free looks at it. */
export const PENDING: number = -3;
/** An object's link while its slab does not exist, and of slots that are no object. */
export const ABSENT: number = -4;

/** Where a slab is. */
export const PLACE: {
  /** Nowhere: the index is not in use. */
  readonly NONE: 0;
  /** On no list: every object is handed out. */
  readonly FULL: 1;
  /** A CPU's slab. */
  readonly CPU: 2;
  /** On a CPU's partial list. */
  readonly CPU_PARTIAL: 3;
  /** On the node's partial list. */
  readonly NODE: 4;
} = Object.freeze({ NONE: 0, FULL: 1, CPU: 2, CPU_PARTIAL: 3, NODE: 4 });

/** What slabs are made of. */
export interface SlabSource {
  /** Objects of a slab of the usual order. */
  readonly objects: number;
  /** That order. */
  readonly order: number;
  /** Objects of a slab of the smallest order. */
  readonly minObjects: number;
  /** The smallest order that holds one. */
  readonly minOrder: number;
  /** Where pages come from. */
  readonly pages: PageAllocator | undefined;
  /** What they are asked with. */
  readonly gfp: number;
  /** Slabs that memory is there for. */
  readonly maxSlabs: number;
}

/**
 * The slabs of one cache. A slab is an index; an object is `slab << shift | slot`, so that its slab is one shift away.
 * Free objects are chained through {@linkcode next}, as SLUB chains them through themselves.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, SlubSlabs } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("6.1"), objectSize: 256 });
 * const object = cache.alloc();
 * const slabs: SlubSlabs = cache.table;
 * assertEquals(slabs.objects[object >> slabs.shift], 16);
 * ```
 */
export class SlubSlabs {
  /** Bits of an object's slot. */
  readonly shift: number;
  /** By object: the next free one, -1 at the end, or one of {@linkcode ALLOCATED}, {@linkcode ABSENT}. */
  next: Int32Array;
  /** By slab: head of its own freelist, -1 when empty. */
  freelist: Int32Array;
  /** By slab: objects not on its own freelist, those on a CPU's freelist included. */
  inuse: Int32Array;
  /** By slab: how many objects it has. */
  objects: Int32Array;
  /** By slab: 1 while it belongs to a CPU. */
  frozen: Uint8Array;
  /** By slab: one of {@linkcode PLACE}. */
  place: Uint8Array;
  /** By slab: the next one on its CPU's partial list, or the next unused index. */
  link: Int32Array;
  /** By slab: neighbours on the node's partial list. */
  before: Int32Array;
  /** See {@linkcode before}. */
  after: Int32Array;
  /** By slab on a CPU's partial list: slabs from it to the end. */
  slabsFrom: Int32Array;
  /** By slab on a CPU's partial list: free objects from it to the end, as counted when each was put there. */
  pobjects: Int32Array;
  /** By slab: first page, -1 where pages are not modelled. */
  pfn: Int32Array;
  /** Slabs in existence. */
  nr = 0;
  /** Indices ever used. */
  top = 0;

  readonly #source: SlabSource;
  readonly #events: SlabEvents;
  #unused = -1;
  #capacity = 16;

  /**
   * No slab.
   *
   * @param source What slabs are made of.
   * @param events For failures.
   */
  constructor(source: SlabSource, events: SlabEvents) {
    this.#source = source;
    this.#events = events;
    this.shift = 32 - Math.clz32(source.objects - 1);
    const slabs = (): Int32Array => new Int32Array(this.#capacity);
    this.next = new Int32Array(this.#capacity << this.shift).fill(ABSENT);
    this.freelist = slabs();
    this.inuse = slabs();
    this.objects = slabs();
    this.frozen = new Uint8Array(this.#capacity);
    this.place = new Uint8Array(this.#capacity);
    this.link = slabs();
    this.before = slabs();
    this.after = slabs();
    this.slabsFrom = slabs();
    this.pobjects = slabs();
    this.pfn = slabs();
  }

  /**
   * A slab with all objects on its own freelist in the order of addresses (`allocate_slab`).
   *
   * @param cpu On which CPU.
   * @param stat That CPU's counters, for `ORDER_FALLBACK`.
   * @returns Its index, or -1 where there is no memory.
   */
  create(cpu: number, stat: SlubStats): number {
    const { pages, gfp, order, minOrder, maxSlabs } = this.#source;
    if (this.nr >= maxSlabs) return this.#fail();
    let { objects } = this.#source;
    let pfn = -1;
    if (pages !== undefined) {
      const attempt = gfp | Gfp.__GFP_NOWARN | Gfp.__GFP_NORETRY;
      pfn = pages.alloc(order > minOrder ? attempt : gfp, order, cpu);
      if (pfn < 0 && order > minOrder) {
        pfn = pages.alloc(gfp, minOrder, cpu);
        if (pfn >= 0) {
          objects = this.#source.minObjects;
          stat.ORDER_FALLBACK++;
        }
      }
      if (pfn < 0) return this.#fail();
    }
    let slab = this.#unused;
    if (slab >= 0) {
      this.#unused = this.link[slab]!;
    } else {
      if (this.top === this.#capacity) this.#grow();
      slab = this.top++;
    }
    const { next } = this;
    const first = slab << this.shift;
    const last = first + objects - 1;
    for (let object = first; object < last; object++) next[object] = object + 1;
    next[last] = -1;
    this.freelist[slab] = first;
    this.inuse[slab] = 0;
    this.objects[slab] = objects;
    this.frozen[slab] = 0;
    this.place[slab] = PLACE.FULL;
    this.link[slab] = -1;
    this.pfn[slab] = pfn;
    this.nr++;
    return slab;
  }

  /**
   * Gives a slab's pages back (`discard_slab`).
   *
   * @param slab Its index; no object of it may be held.
   * @param cpu On which CPU.
   */
  discard(slab: number, cpu: number): void {
    const { pages } = this.#source;
    const first = slab << this.shift;
    this.next.fill(ABSENT, first, first + this.objects[slab]!);
    if (pages !== undefined) pages.free(this.pfn[slab]!, cpu);
    this.place[slab] = PLACE.NONE;
    this.frozen[slab] = 0;
    this.link[slab] = this.#unused;
    this.#unused = slab;
    this.nr--;
  }

  #fail(): -1 {
    this.#events.failures++;
    return -1;
  }

  #grow(): void {
    const capacity = this.#capacity * 2;
    const objects = new Int32Array(capacity << this.shift);
    this.next = grown(objects.fill(ABSENT), this.next);
    for (
      const name of [
        "freelist",
        "inuse",
        "objects",
        "link",
        "before",
        "after",
        "slabsFrom",
        "pobjects",
        "pfn",
      ] as const
    ) this[name] = grown(new Int32Array(capacity), this[name]);
    this.frozen = grown(new Uint8Array(capacity), this.frozen);
    this.place = grown(new Uint8Array(capacity), this.place);
    this.#capacity = capacity;
  }
}
