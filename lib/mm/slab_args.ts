/**
 * Checks of the arguments that slab allocators take.
 *
 * @module
 */

import { whole } from "../sim/check.ts";
import { IrqFlags } from "./irq_flags.ts";
import { ABSENT, ALLOCATED, PENDING } from "./slub_slabs.ts";

/**
 * What is wrong with a free.
 *
 * @param object What was to be freed.
 * @param link Its state, as in {@linkcode SlubSlabs.next}.
 * @param where Which function was called.
 * @throws {Error} Always.
 */
export function badFree(
  object: number,
  link: number | undefined,
  where: string,
): never {
  const why = link === undefined || link === ABSENT
    ? "no object of this cache"
    : link === PENDING
    ? "given twice in one call"
    : "not handed out, a double free";
  throw new Error(`${where}: object ${String(object)}: ${why}`);
}

/**
 * The interrupt flags of a cache's CPUs.
 *
 * @param irq Those to be shared; new ones when absent.
 * @param cpus CPUs of the cache.
 * @throws {RangeError} They are none, or of fewer CPUs.
 */
export function irqFlags(irq: IrqFlags | undefined, cpus: number): IrqFlags {
  const flags = irq ?? new IrqFlags(cpus);
  if (!(flags instanceof IrqFlags) || flags.off.length < cpus) {
    throw new RangeError(`irq: IrqFlags of ${cpus} CPUs or more is allowed`);
  }
  return flags;
}

/**
 * Checks the array of a bulk call.
 *
 * @param name Name of the argument.
 * @param array Handles.
 * @param count How many of them count.
 * @throws {RangeError} `count` is out of range.
 * @throws {TypeError} It is no Int32Array.
 */
export function bulkArray(
  name: string,
  array: Int32Array,
  count: number,
): void {
  if (!(array instanceof Int32Array)) {
    throw new TypeError(`${name}: an Int32Array is allowed`);
  }
  if (count >>> 0 !== count || count > array.length) {
    whole("count", count, 0, array.length);
  }
}

/**
 * Checks the objects of a bulk free before any of them is freed.
 *
 * @param next States of the cache's objects; those to be freed become {@linkcode PENDING}.
 * @param count How many handles.
 * @param objects The handles.
 * @param nulls Whether -1 is allowed.
 * @returns How many are no nulls.
 * @throws {Error} One may not be freed; then no state has changed.
 */
export function claimObjects(
  next: Int32Array,
  count: number,
  objects: Int32Array,
  nulls: boolean,
): number {
  let held = 0;
  for (let i = 0; i < count; i++) {
    const object = objects[i]!;
    if (next[object] === ALLOCATED) {
      next[object] = PENDING;
      held++;
      continue;
    }
    if (object === -1 && nulls) continue;
    const link = next[object];
    for (let j = 0; j < i; j++) {
      if (objects[j]! >= 0) next[objects[j]!] = ALLOCATED;
    }
    if (object === -1) {
      throw new Error(
        `kernel BUG in kmem_cache_free_bulk: objects[${i}] is null`,
      );
    }
    badFree(object, link, `freeBulk(): objects[${i}]`);
  }
  return held;
}
