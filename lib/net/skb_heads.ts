/**
 * sk_buff heads as handles: who holds them, how they die, and the caches they lie in.
 *
 * @module
 */

import type { KmemCache } from "../mm/kmem_cache.ts";
import type { PageFragCache } from "../mm/page_frag_cache.ts";
import { whole } from "../sim/check.ts";
import { grown } from "../sim/grown.ts";
import { Gfp } from "../mm/gfp.ts";

/**
 * `skb->fclone`: a head of its own in `skbuff_head_cache`.
 *
 * @example
 * ```ts
 * import { SKB_FCLONE_ORIG, SKB_FCLONE_UNAVAILABLE } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(SKB_FCLONE_UNAVAILABLE < SKB_FCLONE_ORIG);
 * ```
 */
export const SKB_FCLONE_UNAVAILABLE = 0;
/**
 * `skb->fclone`: the first of a pair in `skbuff_fclone_cache`, as TCP sends them.
 *
 * @example
 * ```ts
 * import { SKB_FCLONE_CLONE, SKB_FCLONE_ORIG, SKB_FCLONE_UNAVAILABLE } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([SKB_FCLONE_UNAVAILABLE, SKB_FCLONE_ORIG, SKB_FCLONE_CLONE], [0, 1, 2]);
 * ```
 */
export const SKB_FCLONE_ORIG = 1;
/**
 * `skb->fclone`: the second of a pair, made by `skb_clone`.
 *
 * @example
 * ```ts
 * import { SKB_FCLONE_CLONE } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(SKB_FCLONE_CLONE, 2);
 * ```
 */
export const SKB_FCLONE_CLONE = 2;

/** What {@linkcode SkbHeads} takes. An option given as `undefined` is absent. */
export interface SkbHeadsOptions {
  /** `skbuff_head_cache`. */
  readonly cache: KmemCache;
  /** `skbuff_fclone_cache`; absent: {@linkcode SkbHeads.allocFclone} returns -1. */
  readonly fcloneCache?: KmemCache | undefined;
  /** Where packet data come from, as page fragments; absent: data are not simulated. */
  readonly frags?: PageFragCache | undefined;
  /** Where packet data come from, as kmalloc'ed objects; used where `frags` is absent. */
  readonly dataCache?: KmemCache | undefined;
}

/**
 * What happened to heads so far.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, SkbHeadCounters, SkbHeads } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const heads = new SkbHeads({ cache: kmemCache({ kernel: kernel("6.1"), objectSize: 256 }) });
 * heads.consumeSkb(heads.alloc(0), 0);
 * const counters: SkbHeadCounters = heads.counters;
 * assertEquals([counters.allocs, counters.consumed], [1, 1]);
 * ```
 */
export class SkbHeadCounters {
  /** Heads handed out to users. */
  allocs = 0;
  /** `trace_consume_skb`: heads freed after use. */
  consumed = 0;
  /** `trace_kfree_skb`: heads freed as dropped packets. */
  dropped = 0;
  /** Packets whose data and destructors were released. */
  released = 0;
  /** Heads given back to their slab cache one by one. */
  freedSingly = 0;
  /** Pairs given back to `skbuff_fclone_cache`. */
  fclonesFreed = 0;
  /** Allocations that failed for want of a head. */
  noHead = 0;
  /** Allocations that failed for want of data memory. */
  noData = 0;
}

/**
 * Heads by handle. An skb is four times the handle of its object plus its `fclone`, so that the array of a bulk free and
 * this table speak of the same objects; -1 is null.
 *
 * @example A shared skb dies with its last user
 * ```ts
 * import { kernel, kmemCache, SkbHeads } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("net-next-2015-10"), objectSize: 256 });
 * const heads = new SkbHeads({ cache });
 * const skb = heads.alloc(0);
 * heads.get(skb);
 * heads.consumeSkb(skb, 0);
 * assertEquals(cache.inUse, 1);
 * heads.consumeSkb(skb, 0);
 * assertEquals(cache.inUse, 0);
 * ```
 */
export class SkbHeads {
  /** `skbuff_head_cache`. */
  readonly cache: KmemCache;
  /** `skbuff_fclone_cache`, or null. */
  readonly fcloneCache: KmemCache | null;
  /** The page fragments that hold packet data, or null. */
  readonly frags: PageFragCache | null;
  /** The kmalloc cache that holds packet data, or null. */
  readonly dataCache: KmemCache | null;
  /** What is counted. */
  readonly counters: SkbHeadCounters = new SkbHeadCounters();
  /** `skb->users` by skb: 0 for one that waits to be freed, -1 for a head that nobody was given. */
  users: Int32Array = new Int32Array(0);
  /** `skb->next` by skb: the next one on a list, or -1. */
  next: Int32Array = new Int32Array(0);
  /** `get_kfree_skb_cb(skb)->reason` by skb. */
  reason: Uint8Array = new Uint8Array(0);
  /** `skb->alloc_cpu` by skb. */
  allocCpu: Int16Array = new Int16Array(0);
  /** Address or handle of the data by skb; -1 where released, or where data are not simulated. */
  data: Float64Array = new Float64Array(0);
  /** `fclone_ref` by object of `skbuff_fclone_cache`. */
  #fcloneRef = new Uint8Array(0);
  #inUse = 0;

  /**
   * No heads yet.
   *
   * @param options The caches.
   * @throws {TypeError} There is no cache.
   */
  constructor(options: SkbHeadsOptions) {
    if (typeof options?.cache?.alloc !== "function") {
      throw new TypeError(
        `cache ${String(options?.cache)}: a KmemCache is allowed`,
      );
    }
    this.cache = options.cache;
    this.fcloneCache = options.fcloneCache ?? null;
    this.frags = options.frags ?? null;
    this.dataCache = options.dataCache ?? null;
  }

  /** Whether packets have data here. */
  get simulatesData(): boolean {
    return this.frags !== null || this.dataCache !== null;
  }

  /** Skbs that somebody holds, those on completion queues included; heads in an `skb_cache` are not. */
  get inUse(): number {
    return this.#inUse;
  }

  #grow(skb: number): void {
    const size = Math.max(1024, 2 * this.users.length, skb + 4);
    this.users = grown(new Int32Array(size).fill(-1), this.users);
    this.next = grown(new Int32Array(size), this.next);
    this.reason = grown(new Uint8Array(size), this.reason);
    this.allocCpu = grown(new Int16Array(size), this.allocCpu);
    this.data = grown(new Float64Array(size).fill(-1), this.data);
  }

  /**
   * A fresh skb around an object (what `__build_skb` sets).
   *
   * @param skb The skb.
   * @param cpu The CPU.
   * @param data Its data, or -1.
   */
  build(skb: number, cpu: number, data: number): void {
    if (skb >= this.users.length) this.#grow(skb);
    if (this.users[skb]! >= 0) {
      throw new Error(`skb ${skb} was handed out twice`);
    }
    this.users[skb] = 1;
    this.allocCpu[skb] = cpu;
    this.data[skb] = data;
    this.counters.allocs++;
    this.#inUse++;
  }

  /**
   * Data for one packet, if data are simulated.
   *
   * @param size Bytes.
   * @param cpu The CPU.
   * @returns Address or handle; -1 where there is no memory, which is counted; 0 where data are not simulated.
   */
  allocData(size: number, cpu: number): number {
    let data = 0;
    if (this.frags !== null) data = this.frags.alloc(size, Gfp.GFP_ATOMIC);
    else if (this.dataCache !== null) data = this.dataCache.alloc(cpu);
    if (data === -1) this.counters.noData++;
    return data;
  }

  /**
   * Gives data back.
   *
   * @param data What {@linkcode allocData} returned.
   * @param cpu The CPU.
   */
  freeData(data: number, cpu: number): void {
    if (this.frags !== null) this.frags.free(data);
    else if (this.dataCache !== null) this.dataCache.free(data, cpu);
  }

  /**
   * An skb with a head of its own, without data (`build_skb`, `__alloc_skb`; net/core/skbuff.c).
   *
   * @param cpu The CPU.
   * @returns The skb, or -1 without memory.
   */
  alloc(cpu: number): number {
    const object = this.cache.alloc(cpu);
    if (object < 0) {
      this.counters.noHead++;
      return -1;
    }
    this.build(object * 4, cpu, -1);
    return object * 4;
  }

  /**
   * The first skb of a pair, as `sk_stream_alloc_skb` takes it for TCP (`alloc_skb_fclone`).
   *
   * @param cpu The CPU.
   * @returns The skb, or -1 without memory or without `skbuff_fclone_cache`.
   */
  allocFclone(cpu: number): number {
    const object = this.fcloneCache === null ? -1 : this.fcloneCache.alloc(cpu);
    if (object < 0) {
      this.counters.noHead++;
      return -1;
    }
    const skb = object * 4 + SKB_FCLONE_ORIG;
    this.build(skb, cpu, -1);
    if (object >= this.#fcloneRef.length) {
      const size = Math.max(256, 2 * object + 1);
      this.#fcloneRef = grown(new Uint8Array(size), this.#fcloneRef);
    }
    this.#fcloneRef[object] = 1;
    return skb;
  }

  /**
   * A clone (`skb_clone`): the second half of a pair where it is free, else a head of its own. Data are not duplicated,
   * so a clone carries none.
   *
   * @param skb An skb in use.
   * @param cpu The CPU.
   * @returns The clone, or -1 without memory.
   * @throws {Error} `skb` is not in use.
   */
  clone(skb: number, cpu: number): number {
    this.#held(skb);
    const object = skb >> 2;
    if ((skb & 3) !== SKB_FCLONE_ORIG || this.#fcloneRef[object] !== 1) {
      return this.alloc(cpu);
    }
    this.#fcloneRef[object] = 2;
    const clone = object * 4 + SKB_FCLONE_CLONE;
    this.build(clone, cpu, -1);
    return clone;
  }

  /**
   * One user more (`skb_get`).
   *
   * @param skb An skb in use.
   * @returns The skb.
   * @throws {Error} It is not in use.
   */
  get(skb: number): number {
    this.#held(skb);
    this.users[skb]!++;
    return skb;
  }

  #held(skb: number): void {
    if (!(this.users[skb]! > 0)) {
      throw new Error(`skb ${skb} is not in use: freed twice, or never taken`);
    }
  }

  /**
   * One user less (`skb_unref`).
   *
   * @param skb An skb in use.
   * @returns Whether it was the last.
   * @throws {Error} It is not in use.
   */
  unref(skb: number): boolean {
    const users = this.users[skb];
    if (users === 1) {
      this.users[skb] = 0;
      return true;
    }
    this.#held(skb);
    this.users[skb] = users! - 1;
    return false;
  }

  /**
   * Drops data and destructors (`skb_release_all`); the head is nobody's afterwards.
   *
   * @param skb An skb without users.
   * @param cpu The CPU.
   */
  releaseAll(skb: number, cpu: number): void {
    if (this.users[skb] !== 0) {
      throw new Error(`skb ${skb} is released while in use, or twice`);
    }
    this.users[skb] = -1;
    this.#inUse--;
    this.counters.released++;
    const data = this.data[skb]!;
    if (data >= 0) {
      this.data[skb] = -1;
      this.freeData(data, cpu);
    }
  }

  /**
   * Releases everything and gives the head to its slab cache (`__kfree_skb`).
   *
   * @param skb An skb without users.
   * @param cpu The CPU.
   */
  freeSkb(skb: number, cpu: number): void {
    this.releaseAll(skb, cpu);
    const object = skb >> 2;
    if ((skb & 3) === SKB_FCLONE_UNAVAILABLE) {
      this.counters.freedSingly++;
      this.cache.free(object, cpu);
    } else if (--this.#fcloneRef[object]! === 0) {
      this.counters.fclonesFreed++;
      this.fcloneCache!.free(object, cpu);
    }
  }

  /**
   * `consume_skb`: one user less, and the end of a packet that was used.
   *
   * @param skb An skb in use.
   * @param cpu The CPU.
   * @throws {Error} It is not in use.
   */
  consumeSkb(skb: number, cpu: number): void {
    if (!this.unref(skb)) return;
    this.counters.consumed++;
    this.freeSkb(skb, cpu);
  }

  /**
   * `kfree_skb`: one user less, and the end of a packet that was dropped.
   *
   * @param skb An skb in use.
   * @param cpu The CPU.
   * @throws {Error} It is not in use.
   */
  kfreeSkb(skb: number, cpu: number): void {
    if (!this.unref(skb)) return;
    this.counters.dropped++;
    this.freeSkb(skb, cpu);
  }
}

/** A CPU among `cpus`, or a RangeError. */
export function checkCpuNumber(cpu: number, cpus: number): number {
  return whole("cpu", cpu, 0, cpus - 1);
}
