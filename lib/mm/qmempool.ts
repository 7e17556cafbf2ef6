/**
 * qmempool: a queue for each CPU and a shared one in front of a slab cache (RFC of 10 December 2014; prototype-kernel:
 * kernel/include/linux/qmempool.h, kernel/mm/qmempool.c).
 *
 * @module
 */

import { AlfQueue } from "./alf_queue.ts";
import type { KmemCache } from "./kmem_cache_type.ts";
import { powerOfTwo, whole } from "../sim/check.ts";
import { grown } from "../sim/grown.ts";
import { bulkArray } from "./slab_args.ts";

/** `QMEMPOOL_BULK`: objects moved at once between a CPU's queue and the shared one. */
const QMEMPOOL_BULK = 16;
/** `QMEMPOOL_REFILL_MULTIPLIER`: such moves between the shared queue and the slab cache. */
const QMEMPOOL_REFILL_MULTIPLIER = 2;

/**
 * What a pool did; the prototype has no counters, these names are the model's.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, Qmempool, QmempoolCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pool = new Qmempool({ kmem: kmemCache({ kernel: kernel("3.12"), objectSize: 256 }), sharedq: 64 });
 * pool.alloc();
 * const counters: QmempoolCounters = pool.counters;
 * assertEquals([counters.kmemAllocs, counters.allocSlab], [33, 1]);
 * ```
 */
export class QmempoolCounters {
  /** Allocations from the CPU's queue. */
  allocLocal = 0;
  /** Allocations that moved objects from the shared queue to the CPU's. */
  allocShared = 0;
  /** Allocations that refilled the shared queue from the slab cache. */
  allocSlab = 0;
  /** Frees to the CPU's queue. */
  freeLocal = 0;
  /** Frees that moved objects from the CPU's queue to the shared one. */
  freeShared = 0;
  /** Frees that found the shared queue full and gave objects to the slab cache. */
  freeSlab = 0;
  /** `kmem_cache_alloc` calls. */
  kmemAllocs = 0;
  /** `kmem_cache_free` calls. */
  kmemFrees = 0;
  /** LOCKed exchanges on the shared queue. */
  cmpxchg = 0;
  /** Objects lost when the slab cache ran out during a refill. */
  leaked = 0;
  /** Allocations that failed. */
  failures = 0;
}

/** {@linkcode QmempoolCounters} as a reader sees them. */
export type QmempoolCounterValues = Readonly<
  Record<keyof QmempoolCounters, number>
>;

/** What {@linkcode Qmempool} takes. An option given as `undefined` is absent. */
export interface QmempoolOptions {
  /** The cache behind it, with as many CPUs as the pool shall have. Others may use it too. */
  readonly kmem: KmemCache;
  /** Objects in a CPU's queue, a power of two from 16; 32 when absent, as sk_buff heads had. */
  readonly localq?: number | undefined;
  /** Objects in the shared queue, a power of two from 32; 64 a CPU, at most 1,024, when absent. */
  readonly sharedq?: number | undefined;
  /** Objects put into the shared queue at once; 0 when absent. */
  readonly prealloc?: number | undefined;
  /** Whether a refill that runs out keeps the last object it got instead of losing it; false when absent, as posted. */
  readonly mended?: boolean | undefined;
}

/**
 * A pool of objects in front of a slab cache.
 *
 * Left out: bottom halves, which every entry without `_softirq` in its name switches off and on; two CPUs that refill at
 * the same time, where the prototype stops with a BUG.
 *
 * @example 256 objects, then never again the slab cache
 * ```ts
 * import { kernel, kmemCache, Qmempool } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const kmem = kmemCache({ kernel: kernel("3.12"), objectSize: 256, cpus: 8 });
 * const pool = new Qmempool({ kmem });
 * const objects = Array.from({ length: 256 }, () => pool.alloc());
 * for (const object of objects) pool.free(object);
 * const before = pool.counters.kmemAllocs;
 * for (let i = 0; i < 256; i++) objects[i] = pool.alloc();
 * assertEquals(pool.counters.kmemAllocs, before);
 * ```
 */
export class Qmempool implements KmemCache {
  /** `"qmempool"`. */
  readonly allocator = "qmempool";
  /** The cache behind it. */
  readonly kmem: KmemCache;
  /** CPUs with queues of their own. */
  readonly cpus: number;
  /** What happened so far: live. */
  readonly counters: QmempoolCounterValues;
  /** The shared queue. */
  readonly sharedq: AlfQueue;
  /** By CPU: its queue. */
  readonly localq: readonly AlfQueue[];
  readonly #stats: QmempoolCounters = new QmempoolCounters();
  readonly #mended: boolean;
  readonly #elems: Int32Array = new Int32Array(QMEMPOOL_BULK);
  /** By object: 1 while a caller of the pool holds it. */
  #held: Uint8Array = new Uint8Array(1024);

  /**
   * A pool without objects but those asked for.
   *
   * @param options The cache behind it and the queues' sizes.
   * @throws {RangeError} A size is out of range, or the slab cache has no memory for `prealloc`.
   * @throws {TypeError} `kmem` is no cache.
   */
  constructor(options: QmempoolOptions) {
    const { kmem } = options;
    if (typeof kmem?.alloc !== "function" || typeof kmem.free !== "function") {
      throw new TypeError("kmem: a KmemCache is allowed");
    }
    const cpus = whole("kmem.cpus", kmem.cpus, 1, 4096);
    let shared = 64;
    while (shared < cpus * 64 && shared < 1024) shared *= 2;
    const localSize = powerOfTwo(
      "localq",
      options.localq ?? 32,
      QMEMPOOL_BULK,
      1 << 20,
    );
    const sharedSize = powerOfTwo(
      "sharedq",
      options.sharedq ?? shared,
      QMEMPOOL_BULK * QMEMPOOL_REFILL_MULTIPLIER,
      1 << 20,
    );
    const prealloc = whole("prealloc", options.prealloc ?? 0, 0, sharedSize);
    this.kmem = kmem;
    this.cpus = cpus;
    this.counters = this.#stats as QmempoolCounterValues;
    this.#mended = options.mended ?? false;
    this.sharedq = new AlfQueue(sharedSize);
    this.localq = Array.from({ length: cpus }, () => new AlfQueue(localSize));
    for (let i = 0; i < prealloc; i++) {
      const object = this.#kmemAlloc(0);
      if (object < 0) {
        throw new RangeError(`prealloc ${prealloc}: memory ended at ${i}`);
      }
      this.sharedq.push(object);
    }
  }

  /** Bytes that an object may use. */
  get objectSize(): number {
    return this.kmem.objectSize;
  }

  /** Bytes from one object to the next. */
  get slabSize(): number {
    return this.kmem.slabSize;
  }

  /** Slabs in existence. */
  get slabs(): number {
    return this.kmem.slabs;
  }

  /** Objects that callers of the pool hold: counted when asked. */
  get inUse(): number {
    let held = 0;
    for (const one of this.#held) held += one;
    return held;
  }

  /**
   * Takes an object (`qmempool_alloc`).
   *
   * @param cpu On which CPU; 0 when absent.
   * @returns Its handle, or -1 where there is no memory, which is counted.
   * @throws {RangeError} There is no such CPU.
   */
  alloc(cpu: number = 0): number {
    const local = this.localq[cpu] ?? this.#badCpu(cpu);
    const stats = this.#stats;
    let object = local.shift();
    if (object >= 0) {
      stats.allocLocal++;
    } else {
      const elems = this.#elems;
      stats.cmpxchg++;
      const moved = this.sharedq.dequeue(elems, 0, QMEMPOOL_BULK);
      if (moved > 0) {
        stats.allocShared++;
        object = elems[0]!;
        for (let i = 1; i < moved; i++) local.push(elems[i]!);
      } else {
        object = this.#allocFromSlab(cpu);
        if (object < 0) return -1;
      }
    }
    if (object >= this.#held.length) this.#growHeld(object);
    this.#held[object] = 1;
    return object;
  }

  /**
   * Gives an object back (`qmempool_free`).
   *
   * @param object Its handle.
   * @param cpu On which CPU; 0 when absent.
   * @throws {Error} It is not handed out by this pool.
   * @throws {RangeError} There is no such CPU.
   */
  free(object: number, cpu: number = 0): void {
    const local = this.localq[cpu] ?? this.#badCpu(cpu);
    if (this.#held[object] !== 1) this.#badFree(object);
    this.#held[object] = 0;
    if (local.push(object)) {
      this.#stats.freeLocal++;
      return;
    }
    const elems = this.#elems;
    const stats = this.#stats;
    elems[0] = object;
    const moved = 1 + local.dequeue(elems, 1, QMEMPOOL_BULK - 1);
    if (this.sharedq.enqueue(elems, moved) > 0) {
      stats.cmpxchg++;
      stats.freeShared++;
      return;
    }
    stats.freeSlab++;
    for (let i = 0; i < moved; i++) this.#kmemFree(elems[i]!, cpu);
    for (let round = 0; round < QMEMPOOL_REFILL_MULTIPLIER; round++) {
      stats.cmpxchg++;
      const taken = this.sharedq.dequeue(elems, 0, QMEMPOOL_BULK);
      for (let i = 0; i < taken; i++) this.#kmemFree(elems[i]!, cpu);
    }
  }

  /**
   * Takes objects one by one, all or none; the pool has no bulk call.
   *
   * @param count How many, 0 to `out.length`.
   * @param out Receives their handles.
   * @param cpu On which CPU; 0 when absent.
   * @returns `count`, or 0 where there is no memory for all.
   * @throws {RangeError} `count` or `cpu` is out of range.
   * @throws {TypeError} `out` is no Int32Array.
   */
  allocBulk(count: number, out: Int32Array, cpu: number = 0): number {
    bulkArray("out", out, count);
    for (let i = 0; i < count; i++) {
      const object = this.alloc(cpu);
      if (object < 0) {
        for (let j = 0; j < i; j++) this.free(out[j]!, cpu);
        return 0;
      }
      out[i] = object;
    }
    return count;
  }

  /**
   * Gives objects back one by one; the pool has no bulk call.
   *
   * @param count How many, 0 to `objects.length`.
   * @param objects Their handles.
   * @param cpu On which CPU; 0 when absent.
   * @throws {Error} One is not handed out or stands there twice; then nothing was freed.
   * @throws {RangeError} `count` or `cpu` is out of range.
   * @throws {TypeError} `objects` is no Int32Array.
   */
  freeBulk(count: number, objects: Int32Array, cpu: number = 0): void {
    bulkArray("objects", objects, count);
    if (this.localq[cpu] === undefined) this.#badCpu(cpu);
    const held = this.#held;
    for (let i = 0; i < count; i++) {
      if (held[objects[i]!] === 1) held[objects[i]!] = 2;
      else {
        const twice = held[objects[i]!] === 2;
        for (let j = 0; j < i; j++) held[objects[j]!] = 1;
        this.#badFree(objects[i]!, twice);
      }
    }
    for (let i = 0; i < count; i++) {
      held[objects[i]!] = 1;
      this.free(objects[i]!, cpu);
    }
  }

  /** Gives all objects of the queues to the slab cache, as `qmempool_destroy` does, and shrinks that. */
  shrink(): void {
    for (const queue of [...this.localq, this.sharedq]) {
      for (let object = queue.shift(); object >= 0; object = queue.shift()) {
        this.#kmemFree(object, 0);
      }
    }
    this.kmem.shrink();
  }

  /**
   * Verifies that each object is in one queue or in use, and that counts balance; checks the cache behind it too.
   *
   * @throws {Error} Naming the first that is broken.
   */
  check(): void {
    const stats = this.#stats;
    const found = new Set<number>();
    let queued = 0;
    for (const queue of [...this.localq, this.sharedq]) {
      for (let i = 0; i < queue.length; i++) {
        const object = queue.at(i);
        if (this.#held[object] === 1) {
          throw new Error(`qmempool: object ${object} is held and queued`);
        }
        found.add(object);
        queued++;
      }
    }
    if (found.size !== queued) {
      throw new Error("qmempool: an object is in two queues");
    }
    const owned = stats.kmemAllocs - stats.kmemFrees;
    const known = this.inUse + queued + stats.leaked;
    if (owned !== known) {
      throw new Error(`qmempool: ${owned} objects of kmem, ${known} are known`);
    }
    this.kmem.check();
  }

  /** `__qmempool_alloc_from_slab`: one for the caller, and 32 for the shared queue. */
  #allocFromSlab(cpu: number): number {
    const stats = this.#stats;
    const elems = this.#elems;
    const first = this.#kmemAlloc(cpu);
    if (first < 0) {
      stats.failures++;
      return -1;
    }
    stats.allocSlab++;
    for (let round = 0; round < QMEMPOOL_REFILL_MULTIPLIER; round++) {
      let got = 0;
      while (got < QMEMPOOL_BULK) {
        const object = this.#kmemAlloc(cpu);
        if (object < 0) break;
        elems[got++] = object;
      }
      stats.cmpxchg++;
      if (got === QMEMPOOL_BULK || this.#mended) {
        this.sharedq.enqueue(elems, got);
      } else if (got > 0) {
        // The prototype counts one object too few.
        this.sharedq.enqueue(elems, got - 1);
        stats.leaked++;
      }
      if (got < QMEMPOOL_BULK) break;
    }
    return first;
  }

  #kmemAlloc(cpu: number): number {
    const object = this.kmem.alloc(cpu);
    if (object >= 0) this.#stats.kmemAllocs++;
    return object;
  }

  #kmemFree(object: number, cpu: number): void {
    this.#stats.kmemFrees++;
    this.kmem.free(object, cpu);
  }

  #growHeld(object: number): void {
    let { length } = this.#held;
    while (length <= object) length *= 2;
    this.#held = grown(new Uint8Array(length), this.#held);
  }

  #badCpu(cpu: number): never {
    whole("cpu", cpu, 0, this.cpus - 1);
    throw new RangeError(`cpu ${cpu}: there is none`);
  }

  #badFree(object: number, twice = false): never {
    throw new Error(
      `free(): object ${String(object)}: ${
        twice ? "given twice in one call" : "not handed out by this pool"
      }`,
    );
  }
}
