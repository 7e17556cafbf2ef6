/**
 * SLAB's arrays of free objects: one for each CPU, one shared by the node (mm/slab.c: `struct array_cache`).
 *
 * @module
 */

/**
 * All arrays of a cache; the newest object stands last.
 *
 * @example
 * ```ts
 * import { SlabArrays } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const arrays = new SlabArrays(2, 120, 60);
 * assertEquals([arrays.limit, arrays.sharedLimit], [120, 60]);
 * ```
 */
export class SlabArrays {
  /** Objects that a CPU's array takes. */
  readonly limit: number;
  /** Objects that the shared array takes. */
  readonly sharedLimit: number;
  /** By CPU, `limit` places each: objects. */
  readonly entries: Int32Array;
  /** By CPU: how many there are. */
  readonly avail: Int32Array;
  /** By CPU: whether its array was used. */
  readonly touched: Uint8Array;
  /** Objects of the shared array. */
  readonly sharedEntries: Int32Array;
  /** How many there are. */
  sharedAvail = 0;

  /**
   * Empty arrays.
   *
   * @param cpus CPUs.
   * @param limit Objects that a CPU's array takes.
   * @param sharedLimit Objects that the shared array takes; 0 for none.
   */
  constructor(cpus: number, limit: number, sharedLimit: number) {
    this.limit = limit;
    this.sharedLimit = sharedLimit;
    this.entries = new Int32Array(cpus * limit).fill(-1);
    this.avail = new Int32Array(cpus);
    this.touched = new Uint8Array(cpus);
    this.sharedEntries = new Int32Array(sharedLimit).fill(-1);
  }

  /**
   * Moves the newest objects of the shared array to a CPU's (`transfer_objects`).
   *
   * @param cpu Which; its array is empty.
   * @param most How many at most.
   */
  takeShared(cpu: number, most: number): void {
    const { entries, sharedEntries, limit } = this;
    const moved = Math.min(this.sharedAvail, most, limit);
    const from = this.sharedAvail - moved;
    const base = cpu * limit;
    for (let i = 0; i < moved; i++) {
      entries[base + i] = sharedEntries[from + i]!;
    }
    this.sharedAvail = from;
    this.avail[cpu] = moved;
  }

  /**
   * Copies the oldest objects of a CPU's array to the shared one.
   *
   * @param cpu Which.
   * @param most How many at most.
   * @returns How many; 0 where the shared array is full. The caller drops them from the CPU's array.
   */
  giveShared(cpu: number, most: number): number {
    const { entries, sharedEntries } = this;
    const moved = Math.min(most, this.sharedLimit - this.sharedAvail);
    const base = cpu * this.limit;
    for (let i = 0; i < moved; i++) {
      sharedEntries[this.sharedAvail + i] = entries[base + i]!;
    }
    this.sharedAvail += moved;
    return moved;
  }

  /**
   * Drops the oldest objects of a CPU's array.
   *
   * @param cpu Which.
   * @param count How many.
   */
  dropOldest(cpu: number, count: number): void {
    const base = cpu * this.limit;
    this.entries.copyWithin(base, base + count, base + this.avail[cpu]!);
    this.avail[cpu]! -= count;
  }
}
