/**
 * SLAB, the allocator with array caches, as a state machine (mm/slab.c, up to 6.7).
 *
 * @module
 */

import type { SlubRules } from "../kernel.ts";
import { Gfp } from "./gfp.ts";
import type { IrqFlags } from "./irq_flags.ts";
import type { KmemCache, KmemCacheOptions } from "./kmem_cache_type.ts";
import { hook, whole } from "../sim/check.ts";
import { SlabArrays } from "./slab_arrays.ts";
import { badFree, bulkArray, claimObjects, irqFlags } from "./slab_args.ts";
import { checkSlab } from "./slab_check.ts";
import { SlabCounters, type SlabCounterValues } from "./slab_counters.ts";
import { IN_ARRAY, LIST, SlabNode } from "./slab_node.ts";
import { type SlabGeometry, slabGeometry } from "./slab_order.ts";
import { ALLOCATED } from "./slub_slabs.ts";
import { SlabEvents } from "./slub_stats.ts";

/** `BATCHREFILL_LIMIT`: what an array that was not used since the last reap gets at most. */
const BATCHREFILL_LIMIT = 16;

/**
 * A SLAB cache: an array of free objects for each CPU, a shared array and three lists of slabs for the node.
 *
 * Left out: several nodes with their alien caches, the periodic reap, colouring, debugging, the pages of off-slab index
 * arrays.
 *
 * @example Objects freed out of turn stay in the CPU's array
 * ```ts
 * import { kernel, kmemCache } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("4.3"), allocator: "slab", objectSize: 256, cpus: 8 });
 * const objects = Array.from({ length: 34 }, () => cache.alloc());
 * for (const object of objects) cache.free(object);
 * assertEquals([cache.counters.FREEHIT, cache.avail(), cache.slabs], [34, 48, 3]);
 * ```
 */
export class Slab implements KmemCache {
  /** `"slab"`. */
  readonly allocator = "slab";
  /** Bytes that an object may use. */
  readonly objectSize: number;
  /** CPUs with arrays of their own. */
  readonly cpus: number;
  /** The release's rules. */
  readonly rules: SlubRules;
  /** The cache's geometry. */
  readonly geometry: SlabGeometry;
  /** Counters by their kernel names: live. */
  readonly counters: SlabCounterValues;
  /** What it did beside what the kernel counts: live. */
  readonly events: SlabEvents = new SlabEvents();
  /** The CPUs' interrupt flags. */
  readonly irq: IrqFlags;
  /** Its slabs and their lists: for views and checks, not to be written. */
  readonly node: SlabNode;
  /** Its arrays: for views and checks, not to be written. */
  readonly arrays: SlabArrays;
  readonly #stats: SlabCounters = new SlabCounters();
  readonly #onNewSlab: ((cpu: number) => void) | undefined;
  readonly #interruptible: boolean;

  /**
   * A cache without a slab.
   *
   * @param options What it holds, and the kernel it lives in.
   * @throws {RangeError} An option is out of range, or the release has no SLAB.
   * @throws {TypeError} An option is of the wrong type.
   */
  constructor(options: KmemCacheOptions) {
    const { kernel, objectSize, align, flags, pages } = options;
    const cpus = whole("cpus", options.cpus ?? kernel.build.cpus, 1, 4096);
    const geometry = slabGeometry({ kernel, objectSize, align, flags, cpus });
    const irq = irqFlags(options.irq, cpus);
    const gfp = options.gfp ?? Gfp.GFP_ATOMIC;
    this.objectSize = objectSize;
    this.cpus = cpus;
    this.rules = { ...kernel.slub, ...options.rules };
    this.geometry = geometry;
    this.counters = this.#stats as SlabCounterValues;
    this.irq = irq;
    this.node = new SlabNode(
      geometry.objects,
      geometry.order,
      pages,
      gfp,
      whole("maxSlabs", options.maxSlabs ?? 1 << 20, 0, 1 << 20),
    );
    this.arrays = new SlabArrays(cpus, geometry.limit, geometry.shared);
    this.#onNewSlab = hook("onNewSlab", options.onNewSlab);
    this.#interruptible = (gfp & Gfp.__GFP_DIRECT_RECLAIM) !== 0;
  }

  /** Bytes from one object to the next. */
  get slabSize(): number {
    return this.geometry.slabSize;
  }

  /** Slabs in existence. */
  get slabs(): number {
    return this.node.nr;
  }

  /** Objects in the node's shared array. */
  get sharedAvail(): number {
    return this.arrays.sharedAvail;
  }

  /** Objects that callers hold: counted when asked. */
  get inUse(): number {
    let held = 0;
    for (const state of this.node.state) if (state === ALLOCATED) held++;
    return held;
  }

  /**
   * Objects in a CPU's array.
   *
   * @param cpu Which CPU; 0 when absent.
   * @throws {RangeError} There is no such CPU.
   */
  avail(cpu: number = 0): number {
    this.#checkCpu(cpu);
    return this.arrays.avail[cpu]!;
  }

  /**
   * Takes an object (`kmem_cache_alloc`).
   *
   * @param cpu On which CPU; 0 when absent.
   * @returns Its handle, or -1 where there is no memory: counted in `events.failures`.
   * @throws {RangeError} There is no such CPU.
   */
  alloc(cpu: number = 0): number {
    this.#checkCpu(cpu);
    const flags = this.irq.save(cpu);
    const object = this.#alloc(cpu);
    this.irq.restore(cpu, flags);
    return object;
  }

  /**
   * Gives an object back (`kmem_cache_free`).
   *
   * @param object Its handle.
   * @param cpu On which CPU; 0 when absent.
   * @throws {Error} It is not handed out: a double free, or no object of this cache.
   * @throws {RangeError} There is no such CPU.
   */
  free(object: number, cpu: number = 0): void {
    this.#checkCpu(cpu);
    const { state } = this.node;
    if (state[object] !== ALLOCATED) badFree(object, state[object], "free()");
    const flags = this.irq.save(cpu);
    this.#free(object, cpu);
    this.irq.restore(cpu, flags);
  }

  /**
   * Takes objects, all or none (`kmem_cache_alloc_bulk`).
   *
   * @param count How many, 0 to `out.length`.
   * @param out Receives their handles.
   * @param cpu On which CPU; 0 when absent.
   * @returns `count`, or 0 where there is no memory for all: counted in `events.failures`. The kernel of the kmem_cache
   *   bulk thread then leaves interrupts off, which {@linkcode irq} shows.
   * @throws {RangeError} `count` or `cpu` is out of range.
   * @throws {TypeError} `out` is no Int32Array.
   */
  allocBulk(count: number, out: Int32Array, cpu: number = 0): number {
    bulkArray("out", out, count);
    this.#checkCpu(cpu);
    const { rules, irq, events } = this;
    events.bulkAllocs++;
    const single = rules.slabBulk === "single calls";
    if (!single) irq.disable(cpu);
    for (let i = 0; i < count; i++) {
      const object = single ? this.alloc(cpu) : this.#alloc(cpu);
      if (object < 0) {
        if (rules.slabBulk === "irq off") irq.enable(cpu);
        for (let j = 0; j < i; j++) this.free(out[j]!, cpu);
        return 0;
      }
      out[i] = object;
    }
    if (!single) irq.enable(cpu);
    events.bulkAllocObjects += count;
    return count;
  }

  /**
   * Gives objects back (`kmem_cache_free_bulk`); the array stays as it is.
   *
   * @param count How many, 0 to `objects.length`.
   * @param objects Their handles.
   * @param cpu On which CPU; 0 when absent.
   * @throws {Error} One is null, not handed out, or stands there twice; then nothing was freed.
   * @throws {RangeError} `count` or `cpu` is out of range.
   * @throws {TypeError} `objects` is no Int32Array.
   */
  freeBulk(count: number, objects: Int32Array, cpu: number = 0): void {
    bulkArray("objects", objects, count);
    this.#checkCpu(cpu);
    const { irq } = this;
    claimObjects(this.node.state, count, objects, false);
    this.events.bulkFrees++;
    this.events.bulkFreeObjects += count;
    const single = this.rules.slabBulk === "single calls";
    if (!single) irq.disable(cpu);
    for (let i = 0; i < count; i++) {
      const flags = single ? irq.save(cpu) : 0;
      this.#free(objects[i]!, cpu);
      if (single) irq.restore(cpu, flags);
    }
    if (!single) irq.enable(cpu);
  }

  /** Empties all arrays into the slabs and destroys those without an object in use (`__kmem_cache_shrink`). */
  shrink(): void {
    const { node, arrays } = this;
    this.events.listLock++;
    for (let cpu = 0; cpu < this.cpus; cpu++) {
      const avail = arrays.avail[cpu]!;
      this.#freeBlock(arrays.entries, cpu * arrays.limit, avail, cpu);
      arrays.avail[cpu] = 0;
    }
    this.#freeBlock(arrays.sharedEntries, 0, arrays.sharedAvail, 0);
    arrays.sharedAvail = 0;
    while (node.head[LIST.FREE]! >= 0) this.#destroy(node.tail[LIST.FREE]!, 0);
  }

  /**
   * Verifies every invariant: each object in exactly one place, counts and counters in balance.
   *
   * @throws {Error} Naming the first that is broken.
   */
  check(): void {
    checkSlab(this);
  }

  /** `____cache_alloc`. */
  #alloc(cpu: number): number {
    const { avail, touched, entries, limit } = this.arrays;
    const left = avail[cpu]! - 1;
    let object: number;
    if (left >= 0) {
      touched[cpu] = 1;
      this.#stats.ALLOCHIT++;
      avail[cpu] = left;
      object = entries[cpu * limit + left]!;
    } else {
      this.#stats.ALLOCMISS++;
      object = this.#refill(cpu);
      if (object < 0) return -1;
    }
    this.node.state[object] = ALLOCATED;
    return object;
  }

  /** `cache_alloc_refill`: from the shared array, else from slabs, else from a new one. */
  #refill(cpu: number): number {
    const { node, arrays, events } = this;
    const { avail, touched } = arrays;
    const { batchcount } = this.geometry;
    const batch = touched[cpu] === 0
      ? Math.min(batchcount, BATCHREFILL_LIMIT)
      : batchcount;
    events.listLock++;
    if (arrays.sharedAvail > 0) {
      arrays.takeShared(cpu, batch);
    } else {
      let left = batch;
      while (left > 0) {
        let slab = node.head[LIST.PARTIAL]!;
        if (slab < 0) slab = node.head[LIST.FREE]!;
        if (slab < 0) break;
        node.unlink(slab);
        left = this.#fill(slab, left, cpu);
      }
    }
    if (avail[cpu] === 0) this.#grow(batch, cpu);
    if (avail[cpu] === 0) {
      events.failures++;
      return -1;
    }
    touched[cpu] = 1;
    const left = --avail[cpu]!;
    return arrays.entries[cpu * arrays.limit + left]!;
  }

  /** `cache_grow` and what follows it. */
  #grow(batch: number, cpu: number): void {
    if (this.#interruptible && this.#onNewSlab !== undefined) {
      this.irq.allow(cpu, this.#onNewSlab);
    }
    const slab = this.node.grow(cpu);
    if (slab < 0) return;
    this.#stats.GROWN++;
    this.events.listLock++;
    // Something that came in between may have filled the array.
    if (this.arrays.avail[cpu] === 0) this.#fill(slab, batch, cpu);
    else this.node.add(slab, LIST.FREE, true);
  }

  /** Moves objects of a slab to a CPU's array and puts the slab on its list; returns what is left to move. */
  #fill(slab: number, batch: number, cpu: number): number {
    const { node } = this;
    const { entries, avail, limit } = this.arrays;
    const { objects } = node;
    const stats = this.#stats;
    let end = cpu * limit + avail[cpu]!;
    while (batch > 0 && node.active[slab]! < objects) {
      entries[end++] = node.take(slab);
      stats.ALLOCED++;
      stats.ACTIVE++;
      batch--;
    }
    if (stats.ACTIVE > stats.HIGH) stats.HIGH = stats.ACTIVE;
    avail[cpu] = end - cpu * limit;
    const list = node.active[slab] === objects ? LIST.FULL : LIST.PARTIAL;
    node.add(slab, list, false);
    return batch;
  }

  /** `__cache_free`. */
  #free(object: number, cpu: number): void {
    const { avail, entries, limit } = this.arrays;
    if (avail[cpu]! < limit) {
      this.#stats.FREEHIT++;
    } else {
      this.#stats.FREEMISS++;
      this.#flush(cpu);
    }
    this.node.state[object] = IN_ARRAY;
    entries[cpu * limit + avail[cpu]!] = object;
    avail[cpu]!++;
  }

  /** `cache_flusharray`: the oldest objects go to the shared array, or to their slabs. */
  #flush(cpu: number): void {
    const { arrays } = this;
    const { batchcount } = this.geometry;
    this.events.listLock++;
    let moved = arrays.giveShared(cpu, batchcount);
    if (moved === 0) {
      moved = batchcount;
      this.#freeBlock(arrays.entries, cpu * arrays.limit, moved, cpu);
    }
    arrays.dropOldest(cpu, moved);
  }

  /** `free_block`: returns objects to their slabs. */
  #freeBlock(
    array: Int32Array,
    from: number,
    count: number,
    cpu: number,
  ): void {
    const { node } = this;
    const { freeLimit } = this.geometry;
    const each = this.rules.slabFreeLimit === "each";
    for (let i = from; i < from + count; i++) {
      const slab = node.put(array[i]!);
      this.#stats.ACTIVE--;
      if (node.active[slab]! > 0) {
        node.add(slab, LIST.PARTIAL, true);
      } else {
        node.add(slab, LIST.FREE, false);
        if (each && node.freeObjects > freeLimit) this.#destroy(slab, cpu);
      }
    }
    if (each) return;
    while (node.freeObjects > freeLimit && node.tail[LIST.FREE]! >= 0) {
      this.#destroy(node.tail[LIST.FREE]!, cpu);
    }
  }

  #destroy(slab: number, cpu: number): void {
    this.events.slabsDestroyed++;
    this.node.unlink(slab);
    this.node.destroy(slab, cpu);
  }

  #checkCpu(cpu: number): void {
    if (cpu >>> 0 !== cpu || cpu >= this.cpus) {
      whole("cpu", cpu, 0, this.cpus - 1);
    }
  }
}
