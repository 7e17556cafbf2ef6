/**
 * A bounded ring of objects, first in, first out (prototype-kernel: kernel/include/linux/alf_queue.h).
 *
 * @module
 */

import { powerOfTwo } from "../sim/check.ts";

/**
 * An array-based queue; every place of it can be used.
 *
 * @example
 * ```ts
 * import { AlfQueue } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = new AlfQueue(4);
 * assertEquals([queue.push(7), queue.push(8), queue.length], [true, true, 2]);
 * assertEquals(queue.shift(), 7);
 * ```
 */
export class AlfQueue {
  /** Objects that it takes: a power of two. */
  readonly size: number;
  readonly #ring: Int32Array;
  readonly #mask: number;
  #head = 0;
  #tail = 0;

  /**
   * An empty queue.
   *
   * @param size Objects that it takes: a power of two up to 2^20.
   * @throws {RangeError} `size` is none.
   */
  constructor(size: number) {
    this.size = powerOfTwo("size", size, 1, 1 << 20);
    this.#ring = new Int32Array(size);
    this.#mask = size - 1;
  }

  /** Objects in it. */
  get length(): number {
    return (this.#head - this.#tail) >>> 0;
  }

  /**
   * Puts one object in (`alf_sp_enqueue` of one).
   *
   * @param object The object.
   * @returns Whether there was room.
   */
  push(object: number): boolean {
    if (this.length === this.size) return false;
    this.#ring[this.#head & this.#mask] = object;
    this.#head = (this.#head + 1) | 0;
    return true;
  }

  /**
   * Takes the oldest object (`alf_sc_dequeue` of one).
   *
   * @returns The object, or -1.
   */
  shift(): number {
    if (this.#head === this.#tail) return -1;
    const object = this.#ring[this.#tail & this.#mask]!;
    this.#tail = (this.#tail + 1) | 0;
    return object;
  }

  /**
   * Puts objects in, all or none (`alf_mp_enqueue`).
   *
   * @param objects Where they are.
   * @param count How many.
   * @returns `count`, or 0 where they do not fit.
   */
  enqueue(objects: Int32Array, count: number): number {
    if (this.size - this.length < count) return 0;
    for (let i = 0; i < count; i++) this.push(objects[i]!);
    return count;
  }

  /**
   * Takes the oldest objects, as many as there are (`alf_mc_dequeue`).
   *
   * @param objects Receives them.
   * @param from Where the first one goes.
   * @param count How many at most.
   * @returns How many.
   */
  dequeue(objects: Int32Array, from: number, count: number): number {
    const taken = Math.min(count, this.length);
    for (let i = 0; i < taken; i++) objects[from + i] = this.shift();
    return taken;
  }

  /**
   * An object without taking it.
   *
   * @param place 0 for the oldest.
   * @returns The object, or -1.
   */
  at(place: number): number {
    return place < 0 || place >= this.length
      ? -1
      : this.#ring[(this.#tail + place) & this.#mask]!;
  }
}
