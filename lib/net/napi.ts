/**
 * `napi_alloc_cache`: each CPU's stack of sk_buff heads, filled by what softirq context frees and emptied by what it
 * allocates, in the shapes it has had since the thread of October 2015.
 *
 * @module
 */

import type { Kernel, NapiFacts } from "../kernel.ts";
import { IrqFlags } from "../mm/irq_flags.ts";
import { hook, whole } from "../sim/check.ts";
import { CompletionQueue, SKB_REASON_CONSUMED } from "./completion_queue.ts";
import { checkCpuNumber, SkbHeads, type SkbHeadsOptions } from "./skb_heads.ts";

/** What {@linkcode Napi} takes. An option given as `undefined` is absent. */
export interface NapiOptions extends SkbHeadsOptions {
  /** The kernel whose rules apply. */
  readonly kernel: Kernel;
  /** CPUs, 1 to 8,192; those of the cache when absent. */
  readonly cpus?: number | undefined;
  /** The CPUs' interrupt flags, to be shared with the slab cache; its own when absent. */
  readonly irq?: IrqFlags | undefined;
  /** Rules to replace, for a what-if: the depth of the stack, the heads of a bulk allocation. */
  readonly rules?: Partial<NapiFacts> | undefined;
  /**
   * Called with the CPU when `napi_consume_skb` is used outside of softirq context, between its reading of `skb_count`
   * and its storing of the head: where a softirq may come in.
   */
  readonly onUnprotected?: ((cpu: number) => void) | undefined;
}

/**
 * What happened to the stacks so far, all CPUs together.
 *
 * @example
 * ```ts
 * import { bulkFreeInfrastructure, kernel, kmemCache, Napi, NapiCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const k = kernel("net-next-2015-10").am(bulkFreeInfrastructure);
 * const napi = new Napi({ kernel: k, cache: kmemCache({ kernel: k, objectSize: 256 }) });
 * napi.inSoftirq[0] = 1;
 * napi.napiConsumeSkb(napi.heads.alloc(0), 64, 0);
 * const counters: NapiCounters = napi.counters;
 * assertEquals([counters.deferred, counters.flushes], [1, 0]);
 * ```
 */
export class NapiCounters {
  /** Heads put on a stack (`__kfree_skb_defer`, `napi_skb_cache_put`). */
  deferred = 0;
  /** Heads handed out that had been put there. */
  reused = 0;
  /** Bulk allocations. */
  bulkAllocs = 0;
  /** Heads that they brought. */
  bulkHeads = 0;
  /** Heads allocated singly by `napi_alloc_skb`. */
  singleHeads = 0;
  /** Times that a stack was full and bulk freed. */
  fullFrees = 0;
  /** Times that a flush found heads and bulk freed them (`__kfree_skb_flush`). */
  flushes = 0;
  /** Heads that went back to the slab cache by either. */
  bulkFreed = 0;
  /** Of these, heads that a bulk allocation had brought and nobody used. */
  unusedFreed = 0;
  /** Calls with a budget of 0 (netpoll). */
  zeroBudgets = 0;
  /** `DEBUG_NET_WARN_ON_ONCE(!in_softirq())`, counted each time. */
  warnings = 0;
}

/** Largest depth of a stack that a what-if may ask for. */
const MAX_DEPTH = 65536;

/**
 * Freeing and allocating sk_buff heads in softirq context (net/core/skbuff.c: `napi_consume_skb`, `__kfree_skb_defer`,
 * `__kfree_skb_flush`, `napi_skb_cache_put`, `napi_skb_cache_get`, `napi_alloc_skb`).
 *
 * @example 64 heads freed in NAPI context go back in one bulk free
 * ```ts
 * import { bulkFreeInfrastructure, kernel, kmemCache, Napi } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const k = kernel("net-next-2015-10").am(bulkFreeInfrastructure);
 * const cache = kmemCache({ kernel: k, objectSize: 256 });
 * const napi = new Napi({ kernel: k, cache });
 * const skbs = Array.from({ length: 64 }, () => napi.heads.alloc(0));
 * napi.inSoftirq[0] = 1;
 * for (const skb of skbs.slice(0, 63)) napi.napiConsumeSkb(skb, 64, 0);
 * assertEquals([napi.skbCount[0], cache.inUse], [63, 64]);
 * napi.napiConsumeSkb(skbs[63]!, 64, 0);
 * assertEquals([napi.skbCount[0], cache.inUse], [0, 0]);
 * ```
 */
export class Napi {
  /** The kernel. */
  readonly kernel: Kernel;
  /** The rules in force. */
  readonly rules: NapiFacts;
  /** The skbs. */
  readonly heads: SkbHeads;
  /** Interrupt flags of the CPUs. */
  readonly irq: IrqFlags;
  /** Where skbs wait that were freed with interrupts off. */
  readonly completion: CompletionQueue;
  /** What is counted. */
  readonly counters: NapiCounters = new NapiCounters();
  /** 1 by CPU while it is in softirq context. */
  readonly inSoftirq: Uint8Array;
  /** `skb_count` by CPU. */
  readonly skbCount: Int32Array;
  /** `skb_cache` by CPU: objects of the slab cache, the newest last. */
  readonly skbCache: readonly Int32Array[];
  /** Heads at the bottom of a stack that a bulk allocation brought and nobody has used. */
  readonly #fresh: Int32Array;
  /** The part of each stack that is freed when it is full. */
  readonly #upper: readonly Int32Array[];
  readonly #size: number;
  readonly #kept: number;
  readonly #bulk: number;
  readonly #onUnprotected: ((cpu: number) => void) | undefined;

  /**
   * Empty stacks.
   *
   * @param options The kernel, the caches and what-ifs.
   * @throws {RangeError} A number is out of range.
   * @throws {TypeError} There is no cache, or a hook is no function.
   */
  constructor(options: NapiOptions) {
    this.kernel = options.kernel;
    this.heads = new SkbHeads(options);
    const rules = { ...options.kernel.napi, ...options.rules };
    this.rules = Object.freeze(rules);
    this.#size = whole("rules.skbCacheSize", rules.skbCacheSize, 0, MAX_DEPTH);
    const limit = Math.max(this.#size - 1, 0);
    this.#kept = whole("rules.keptWhenFull", rules.keptWhenFull, 0, limit);
    this.#bulk = whole("rules.bulkAlloc", rules.bulkAlloc, 0, this.#size);
    this.#onUnprotected = hook("onUnprotected", options.onUnprotected);
    const cpus = whole("cpus", options.cpus ?? options.cache.cpus, 1, 8192);
    this.irq = options.irq ?? new IrqFlags(cpus);
    this.completion = new CompletionQueue(this.heads, this.irq);
    this.inSoftirq = new Uint8Array(cpus);
    this.skbCount = new Int32Array(cpus);
    this.#fresh = new Int32Array(cpus);
    this.skbCache = Array.from(
      { length: cpus },
      () => new Int32Array(this.#size),
    );
    this.#upper = this.skbCache.map((stack) => stack.subarray(this.#kept));
  }

  /**
   * Frees an skb that NAPI context is done with (`napi_consume_skb`). With a budget of 0, which netpoll passes, it takes
   * the way for unknown contexts; a shared skb loses a user; one of a pair is freed at once; any other loses its data at
   * once and its head goes on the CPU's stack.
   *
   * Where this kernel has no such function the caller's `dev_consume_skb_any` is modelled instead.
   *
   * @param skb An skb in use, or -1 (null).
   * @param budget The poll's budget, packets.
   * @param cpu The CPU.
   * @throws {Error} `skb` is not in use, or null where this kernel would crash on it.
   * @throws {RangeError} There is no such CPU.
   */
  napiConsumeSkb(skb: number, budget: number, cpu = 0): void {
    if (cpu !== 0) checkCpuNumber(cpu, this.skbCount.length);
    if (skb < 0) {
      if (budget === 0 || this.rules.takesNull) return;
      throw new Error(
        `napi_consume_skb(null): ${this.kernel.name} reads it without a test`,
      );
    }
    if (budget === 0 || this.#size === 0) {
      this.#zeroBudget(skb, budget, cpu);
      return;
    }
    const unprotected = this.inSoftirq[cpu] === 0;
    if (unprotected && this.rules.warnsOutsideSoftirq) this.counters.warnings++;
    const { heads } = this;
    if (!heads.unref(skb)) return;
    heads.counters.consumed++;
    if ((skb & 3) !== 0) heads.freeSkb(skb, cpu);
    else {
      heads.releaseAll(skb, cpu);
      this.#put(skb >> 2, cpu, unprotected);
    }
  }

  #zeroBudget(skb: number, budget: number, cpu: number): void {
    if (budget === 0) this.counters.zeroBudgets++;
    if (this.#size > 0 && this.rules.zeroBudget === "dev_consume_skb_irq") {
      this.completion.devKfreeSkbIrq(skb, cpu, SKB_REASON_CONSUMED);
    } else this.completion.devKfreeSkbAny(skb, cpu, SKB_REASON_CONSUMED);
  }

  /**
   * Releases an skb without users and puts its head on the stack (`__kfree_skb_defer`).
   *
   * @param skb An skb without users that is none of a pair.
   * @param cpu The CPU.
   */
  kfreeSkbDefer(skb: number, cpu = 0): void {
    this.heads.releaseAll(skb, cpu);
    this.#put(skb >> 2, cpu, this.inSoftirq[cpu] === 0);
  }

  /**
   * A head whose data GRO has taken over (`napi_skb_free_stolen_head`, before 5.12 `kmem_cache_free`).
   *
   * @param skb An skb in use, with a head of its own.
   * @param cpu The CPU.
   * @throws {Error} `skb` is not in use.
   */
  napiSkbFreeStolenHead(skb: number, cpu = 0): void {
    const { heads } = this;
    if (!heads.unref(skb)) return;
    if (!this.rules.groPuts || (skb & 3) !== 0) heads.freeSkb(skb, cpu);
    else this.kfreeSkbDefer(skb, cpu);
  }

  #put(head: number, cpu: number, unprotected: boolean): void {
    const count = this.skbCount[cpu]!;
    if (unprotected && this.#onUnprotected !== undefined) {
      this.#onUnprotected(cpu);
    }
    this.skbCache[cpu]![count] = head;
    this.skbCount[cpu] = count + 1;
    this.counters.deferred++;
    if (count + 1 === this.#size) this.#full(cpu);
  }

  #full(cpu: number): void {
    this.counters.fullFrees++;
    this.#freeBulk(this.#size - this.#kept, this.#upper[cpu]!, cpu);
    this.skbCount[cpu] = this.#kept;
    this.#unused(cpu, this.#kept);
  }

  #freeBulk(count: number, objects: Int32Array, cpu: number): void {
    this.counters.bulkFreed += count;
    this.heads.cache.freeBulk(count, objects, cpu);
  }

  /** Those of the unused heads at the bottom that are above `left` are gone. */
  #unused(cpu: number, left: number): void {
    const fresh = this.#fresh[cpu]!;
    if (fresh <= left) return;
    this.counters.unusedFreed += fresh - left;
    this.#fresh[cpu] = left;
  }

  /**
   * Frees all heads of the CPU's stack in bulk (`__kfree_skb_flush`, up to 5.11).
   *
   * @param cpu The CPU.
   */
  kfreeSkbFlush(cpu = 0): void {
    const count = this.skbCount[cpu]!;
    if (count === 0) return;
    this.counters.flushes++;
    this.#freeBulk(count, this.skbCache[cpu]!, cpu);
    this.skbCount[cpu] = 0;
    this.#unused(cpu, 0);
  }

  /**
   * An object for a head: from the stack where this kernel does so, else from the slab cache (`napi_skb_cache_get`).
   *
   * @param cpu The CPU.
   * @returns The object, or -1 without memory.
   */
  skbCacheGet(cpu: number): number {
    if (this.#bulk === 0) {
      this.counters.singleHeads++;
      return this.heads.cache.alloc(cpu);
    }
    const stack = this.skbCache[cpu]!;
    let count = this.skbCount[cpu]!;
    if (count === 0) {
      this.counters.bulkAllocs++;
      count = this.heads.cache.allocBulk(this.#bulk, stack, cpu);
      if (count === 0) return -1;
      this.counters.bulkHeads += count;
      this.#fresh[cpu] = count;
    }
    count--;
    this.skbCount[cpu] = count;
    if (count < this.#fresh[cpu]!) this.#fresh[cpu] = count;
    else this.counters.reused++;
    return stack[count]!;
  }

  /**
   * An skb for a packet that arrives (`napi_alloc_skb`): first its data, then its head.
   *
   * @param length Bytes asked for, headroom not counted; what the data take is up to the caches given.
   * @param cpu The CPU.
   * @returns The skb, or -1 where memory lacks for either, which is counted.
   * @throws {RangeError} `length` is out of range.
   */
  napiAllocSkb(length: number, cpu = 0): number {
    if ((length | 0) !== length || length < 0 || length > 65535) {
      throw new RangeError(
        `length ${length}: a whole number of bytes from 0 to 65535 is allowed`,
      );
    }
    const { heads } = this;
    const { skb } = this.kernel;
    const line = this.kernel.build.cacheLine;
    const room = length + skb.netSkbPad + skb.netIpAlign;
    const size = ((room + line - 1) & -line) + skb.sharedInfo;
    if (size > this.kernel.build.pageSize) return this.#allocLarge(cpu);
    const data = heads.allocData(size, cpu);
    if (data === -1) return -1;
    const object = this.skbCacheGet(cpu);
    if (object < 0) {
      heads.counters.noHead++;
      heads.freeData(data, cpu);
      return -1;
    }
    heads.build(object * 4, cpu, heads.simulatesData ? data : -1);
    return object * 4;
  }

  /** Too large for a fragment: `__alloc_skb` with kmalloc'ed data, which are not simulated. */
  #allocLarge(cpu: number): number {
    if (this.rules.keptWhenFull === 0) return this.heads.alloc(cpu);
    const object = this.skbCacheGet(cpu);
    if (object < 0) {
      this.heads.counters.noHead++;
      return -1;
    }
    this.heads.build(object * 4, cpu, -1);
    return object * 4;
  }

  /** Heads on the stacks of all CPUs. */
  get stacked(): number {
    let sum = 0;
    for (const count of this.skbCount) sum += count;
    return sum;
  }

  /**
   * Verifies that every object of the head cache is in use or on a stack, and none twice.
   *
   * @throws {Error} Naming what is out of balance.
   */
  check(): void {
    const seen = new Set<number>();
    this.skbCount.forEach((count, cpu) => {
      for (let i = 0; i < count; i++) {
        const object = this.skbCache[cpu]![i]!;
        if (seen.has(object)) {
          throw new Error(`head ${object} is stacked twice`);
        }
        seen.add(object);
        if (this.heads.users[object * 4]! >= 0) {
          throw new Error(`head ${object} is stacked and in use`);
        }
      }
    });
    let used = 0;
    const { users, cache } = this.heads;
    for (let skb = 0; skb < users.length; skb += 4) {
      if (users[skb]! >= 0) used++;
    }
    if (cache.inUse !== used + seen.size) {
      throw new Error(
        `${cache.inUse} heads taken from the slab cache, ${used} in use and ${seen.size} on stacks`,
      );
    }
  }
}
