/**
 * The slabs of a SLAB cache and the node's three lists of them (mm/slab.c: `struct kmem_cache_node`).
 *
 * @module
 */

import { grown } from "../sim/grown.ts";
import type { PageAllocator } from "./page_alloc.ts";
import { ABSENT } from "./slub_slabs.ts";

/** State of an object in its slab. */
export const IN_SLAB = 0;
/** State of an object in an array of a CPU or the node. */
export const IN_ARRAY = 1;

/** One of the node's lists. */
export const LIST: {
  /** Not in use. */
  readonly NONE: -1;
  /** No free object. */
  readonly FULL: 0;
  /** Some. */
  readonly PARTIAL: 1;
  /** All. */
  readonly FREE: 2;
} = Object.freeze({ NONE: -1, FULL: 0, PARTIAL: 1, FREE: 2 });

/**
 * Slabs with their index arrays, and the lists that they stand on. An object is `slab << shift | slot`.
 *
 * @example
 * ```ts
 * import { SlabNode } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const node = new SlabNode(16, 0, undefined, 0, 4);
 * const slab = node.grow(0);
 * assertEquals([slab, node.nr, node.freeObjects], [0, 1, 16]);
 * ```
 */
export class SlabNode {
  /** Bits of an object's slot. */
  readonly shift: number;
  /** Objects of each slab. */
  readonly objects: number;
  /** By object: {@linkcode IN_SLAB}, {@linkcode IN_ARRAY}, or `ALLOCATED`, `PENDING`, `ABSENT` as in SLUB. */
  state: Int32Array;
  /** By slab, `1 << shift` places each: slots in the order in which they are given out, those after `active` free. */
  index: Int32Array;
  /** By slab: objects given out. */
  active: Int32Array;
  /** By slab: the list it stands on, one of {@linkcode LIST}. */
  list: Int8Array;
  /** By slab: neighbours on its list, or the next unused one. */
  before: Int32Array;
  /** See {@linkcode before}. */
  after: Int32Array;
  /** By slab: first page, -1 where pages are not modelled. */
  pfn: Int32Array;
  /** By list: first slab, -1 when empty. */
  readonly head: Int32Array = new Int32Array(3).fill(-1);
  /** By list: last slab, -1 when empty. */
  readonly tail: Int32Array = new Int32Array(3).fill(-1);
  /** Free objects in slabs. */
  freeObjects = 0;
  /** Slabs in existence. */
  nr = 0;
  /** Indices ever used. */
  top = 0;
  readonly #order: number;
  readonly #pages: PageAllocator | undefined;
  readonly #gfp: number;
  readonly #maxSlabs: number;
  #unused = -1;
  #capacity = 16;

  /**
   * No slab.
   *
   * @param objects Objects of each slab.
   * @param order Order of each slab.
   * @param pages Where pages come from; absent: not modelled.
   * @param gfp What they are asked with.
   * @param maxSlabs Slabs that memory is there for.
   */
  constructor(
    objects: number,
    order: number,
    pages: PageAllocator | undefined,
    gfp: number,
    maxSlabs: number,
  ) {
    this.objects = objects;
    this.shift = 32 - Math.clz32(objects - 1);
    this.#order = order;
    this.#pages = pages;
    this.#gfp = gfp;
    this.#maxSlabs = maxSlabs;
    const capacity = this.#capacity;
    this.state = new Int32Array(capacity << this.shift).fill(ABSENT);
    this.index = new Int32Array(capacity << this.shift);
    this.active = new Int32Array(capacity);
    this.list = new Int8Array(capacity).fill(LIST.NONE);
    this.before = new Int32Array(capacity);
    this.after = new Int32Array(capacity);
    this.pfn = new Int32Array(capacity);
  }

  /**
   * A slab with all objects free, on no list yet (`cache_grow`).
   *
   * @param cpu On which CPU.
   * @returns Its index, or -1 where there is no memory.
   */
  grow(cpu: number): number {
    if (this.nr >= this.#maxSlabs) return -1;
    const pfn = this.#pages === undefined
      ? -1
      : this.#pages.alloc(this.#gfp, this.#order, cpu);
    if (this.#pages !== undefined && pfn < 0) return -1;
    let slab = this.#unused;
    if (slab >= 0) this.#unused = this.after[slab]!;
    else {
      if (this.top === this.#capacity) this.#expand();
      slab = this.top++;
    }
    const first = slab << this.shift;
    for (let slot = 0; slot < this.objects; slot++) {
      this.index[first + slot] = slot;
      this.state[first + slot] = IN_SLAB;
    }
    this.active[slab] = 0;
    this.pfn[slab] = pfn;
    this.freeObjects += this.objects;
    this.nr++;
    return slab;
  }

  /**
   * Gives a slab's pages back (`slab_destroy`).
   *
   * @param slab Without an object given out, on no list.
   * @param cpu On which CPU.
   */
  destroy(slab: number, cpu: number): void {
    const first = slab << this.shift;
    this.state.fill(ABSENT, first, first + this.objects);
    if (this.#pages !== undefined) this.#pages.free(this.pfn[slab]!, cpu);
    this.freeObjects -= this.objects;
    this.list[slab] = LIST.NONE;
    this.after[slab] = this.#unused;
    this.#unused = slab;
    this.nr--;
  }

  /**
   * Takes the next free object of a slab (`slab_get_obj`).
   *
   * @param slab With a free one.
   * @returns The object.
   */
  take(slab: number): number {
    const first = slab << this.shift;
    const object = first + this.index[first + this.active[slab]!]!;
    this.active[slab]!++;
    this.state[object] = IN_ARRAY;
    this.freeObjects--;
    return object;
  }

  /**
   * Returns an object to its slab (`slab_put_obj`), which leaves its list.
   *
   * @param object The object.
   * @returns Its slab, for the caller to put on a list.
   */
  put(object: number): number {
    const slab = object >> this.shift;
    const first = slab << this.shift;
    this.unlink(slab);
    this.active[slab]!--;
    this.index[first + this.active[slab]!] = object - first;
    this.state[object] = IN_SLAB;
    this.freeObjects++;
    return slab;
  }

  /**
   * Puts a slab on a list.
   *
   * @param slab On none.
   * @param list Which.
   * @param atTail Where.
   */
  add(slab: number, list: number, atTail: boolean): void {
    const { head, tail, before, after } = this;
    this.list[slab] = list;
    const first = head[list]!;
    const last = tail[list]!;
    before[slab] = atTail ? last : -1;
    after[slab] = atTail ? -1 : first;
    if (first < 0) {
      head[list] = slab;
      tail[list] = slab;
    } else if (atTail) {
      after[last] = slab;
      tail[list] = slab;
    } else {
      before[first] = slab;
      head[list] = slab;
    }
  }

  /**
   * Takes a slab off its list.
   *
   * @param slab On one.
   */
  unlink(slab: number): void {
    const { head, tail, before, after } = this;
    const list = this.list[slab]!;
    const previous = before[slab]!;
    const following = after[slab]!;
    if (previous < 0) head[list] = following;
    else after[previous] = following;
    if (following < 0) tail[list] = previous;
    else before[following] = previous;
    this.list[slab] = LIST.NONE;
  }

  #expand(): void {
    const capacity = this.#capacity * 2;
    const objects = capacity << this.shift;
    this.state = grown(new Int32Array(objects).fill(ABSENT), this.state);
    this.index = grown(new Int32Array(objects), this.index);
    this.active = grown(new Int32Array(capacity), this.active);
    this.list = grown(new Int8Array(capacity).fill(LIST.NONE), this.list);
    this.before = grown(new Int32Array(capacity), this.before);
    this.after = grown(new Int32Array(capacity), this.after);
    this.pfn = grown(new Int32Array(capacity), this.pfn);
    this.#capacity = capacity;
  }
}
