/**
 * Detached freelists: how a bulk free sorts objects by slab with a short look ahead.
 *
 * @module
 */

import type { SlubSlabs } from "./slub_slabs.ts";

/** Objects of other slabs that a scan meets until it stops. */
const LOOKAHEAD = 3;

/** A chain of objects of one slab that no list knows yet. */
export class DetachedFreelist {
  /** Their slab, -1 for an empty chain. */
  slab: number = -1;
  /** First object. */
  head: number = -1;
  /** Last object. */
  tail: number = -1;
  /** How many. */
  count = 0;
  /** Slots of the array that all builds looked at. */
  scans = 0;

  /**
   * Builds a chain from the array's end, as of 4.4: what is taken becomes null, what is skipped stays for the next
   * chain (`build_detached_freelist`).
   *
   * @param table The cache's slabs.
   * @param size Entries of the array that are left.
   * @param objects The array; -1 is null.
   * @returns Entries that are left for the next chain.
   */
  build(table: SlubSlabs, size: number, objects: Int32Array): number {
    const { next, shift } = table;
    let object = -1;
    this.slab = -1;
    this.count = 0;
    while (object < 0 && size > 0) {
      object = objects[--size]!;
      this.scans++;
    }
    if (object < 0) return 0;
    const slab = this.#start(object, next, shift);
    objects[size] = -1;
    let lookahead = LOOKAHEAD;
    let firstSkipped = 0;
    while (size > 0) {
      object = objects[--size]!;
      this.scans++;
      if (object < 0) continue;
      if (object >> shift === slab) {
        this.#link(object, next);
        objects[size] = -1;
        continue;
      }
      if (--lookahead === 0) break;
      if (firstSkipped === 0) firstSkipped = size + 1;
    }
    // Without a skipped entry all is taken; a third foreign object is preceded by two skipped ones.
    return firstSkipped;
  }

  /**
   * Builds a chain as of 5.17: what is taken is swapped to the array's end.
   *
   * @param table The cache's slabs.
   * @param size Entries of the array that are left.
   * @param objects The array, without nulls.
   * @returns Entries that are left for the next chain.
   */
  buildSwapping(table: SlubSlabs, size: number, objects: Int32Array): number {
    const { next, shift } = table;
    let object = objects[--size]!;
    this.scans++;
    this.count = 0;
    const slab = this.#start(object, next, shift);
    let lookahead = LOOKAHEAD;
    let same = size;
    while (size > 0) {
      object = objects[--size]!;
      this.scans++;
      if (object >> shift === slab) {
        this.#link(object, next);
        same--;
        if (size !== same) {
          objects[size] = objects[same]!;
          objects[same] = object;
        }
        continue;
      }
      if (--lookahead === 0) break;
    }
    return same;
  }

  #start(object: number, next: Int32Array, shift: number): number {
    next[object] = -1;
    this.slab = object >> shift;
    this.head = object;
    this.tail = object;
    this.count = 1;
    return this.slab;
  }

  #link(object: number, next: Int32Array): void {
    next[object] = this.head;
    this.head = object;
    this.count++;
  }
}
