/**
 * A node's list of partial slabs (mm/slub.c: `struct kmem_cache_node`).
 *
 * @module
 */

import { PLACE, type SlubSlabs } from "./slub_slabs.ts";

/**
 * Partial slabs that belong to no CPU: added at either end, taken from the head.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, SlubNode } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("6.1"), objectSize: 256 });
 * const node: SlubNode = cache.node;
 * assertEquals([node.nrPartial, node.head], [0, -1]);
 * ```
 */
export class SlubNode {
  /** Slabs on the list. */
  nrPartial = 0;
  /** First slab, -1 when empty. */
  head: number = -1;
  /** Last slab, -1 when empty. */
  tail: number = -1;
  readonly #slabs: SlubSlabs;

  /**
   * An empty list.
   *
   * @param slabs The slabs that may stand on it.
   */
  constructor(slabs: SlubSlabs) {
    this.#slabs = slabs;
  }

  /**
   * Puts a slab on the list (`add_partial`).
   *
   * @param slab On no list.
   * @param atTail Where.
   */
  add(slab: number, atTail: boolean): void {
    const { before, after, place } = this.#slabs;
    place[slab] = PLACE.NODE;
    this.nrPartial++;
    if (atTail) {
      before[slab] = this.tail;
      after[slab] = -1;
      if (this.tail < 0) this.head = slab;
      else after[this.tail] = slab;
      this.tail = slab;
    } else {
      before[slab] = -1;
      after[slab] = this.head;
      if (this.head < 0) this.tail = slab;
      else before[this.head] = slab;
      this.head = slab;
    }
  }

  /**
   * Takes a slab off the list (`remove_partial`).
   *
   * @param slab On this list.
   */
  remove(slab: number): void {
    const { before, after, place } = this.#slabs;
    const previous = before[slab]!;
    const following = after[slab]!;
    if (previous < 0) this.head = following;
    else after[previous] = following;
    if (following < 0) this.tail = previous;
    else before[following] = previous;
    place[slab] = PLACE.FULL;
    this.nrPartial--;
  }
}
