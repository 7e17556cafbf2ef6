/**
 * SLUB, the unqueued slab allocator, as a state machine (mm/slub.c).
 *
 * @module
 */

import type { KmemCache, KmemCacheOptions } from "./kmem_cache_type.ts";
import { whole } from "../sim/check.ts";
import { badFree, bulkArray, claimObjects } from "./slab_args.ts";
import { checkSlub } from "./slub_check.ts";
import { SlubCore } from "./slub_core.ts";
import type { KmemCacheCpu } from "./slub_cpu.ts";
import { DetachedFreelist } from "./slub_detached.ts";
import { shrinkNode } from "./slub_shrink.ts";
import { ALLOCATED } from "./slub_slabs.ts";
import { type SlubCounters, slubCounters } from "./slub_stats.ts";

/**
 * A SLUB cache: a freelist and a partial list for each CPU, a partial list for the node.
 *
 * Left out: several nodes, debugging, memory cgroups, KFENCE, random freelist order, RCU-delayed slabs, sheaves (6.18+;
 * no network cache has them there), and races between CPUs, which take turns here. A fast path that is overtaken by
 * another on its own CPU can be had: {@linkcode InFlightFree}.
 *
 * @example Objects freed out of turn leave the fast path
 * ```ts
 * import { kernel, kmemCache } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("4.3"), objectSize: 256, cpus: 2 });
 * const objects = Array.from({ length: 34 }, () => cache.alloc());
 * for (const object of objects) cache.free(object);
 * const { FREE_FASTPATH, FREE_SLOWPATH, FREE_FROZEN, CPU_PARTIAL_FREE } = cache.counters;
 * assertEquals([FREE_FASTPATH, FREE_SLOWPATH, FREE_FROZEN, CPU_PARTIAL_FREE], [2, 32, 30, 2]);
 * ```
 */
export class Slub extends SlubCore implements KmemCache {
  /** `"slub"`. */
  readonly allocator = "slub";
  /** Bytes that an object may use. */
  readonly objectSize: number;
  readonly #list: DetachedFreelist = new DetachedFreelist();

  /**
   * A cache without a slab.
   *
   * @param options What it holds, and the kernel it lives in.
   * @throws {RangeError} An option is out of range.
   * @throws {TypeError} An option is of the wrong type.
   */
  constructor(options: KmemCacheOptions) {
    super(options);
    this.objectSize = options.objectSize;
  }

  /** Bytes from one object to the next. */
  get slabSize(): number {
    return this.layout.slabSize;
  }

  /** Slabs in existence. */
  get slabs(): number {
    return this.table.nr;
  }

  /** Slabs on the node's partial list. */
  get nrPartial(): number {
    return this.node.nrPartial;
  }

  /** Objects that callers hold: counted when asked. */
  get inUse(): number {
    let held = 0;
    for (const link of this.table.next) if (link === ALLOCATED) held++;
    return held;
  }

  /**
   * Slabs on a CPU's partial list.
   *
   * @param cpu Which CPU; 0 when absent.
   * @throws {RangeError} There is no such CPU.
   */
  cpuPartialSlabs(cpu: number = 0): number {
    const { link } = this.table;
    let slabs = 0;
    let slab = this.#cpu(cpu).partial;
    for (; slab >= 0; slab = link[slab]!) slabs++;
    return slabs;
  }

  /**
   * Counters of one CPU, as `/sys/kernel/slab/NAME/` prints them behind `C0=`: live.
   *
   * @param cpu Which CPU.
   * @throws {RangeError} There is no such CPU.
   */
  countersOf(cpu: number): SlubCounters {
    return slubCounters([this.#cpu(cpu)]);
  }

  /**
   * Takes an object (`kmem_cache_alloc`, `slab_alloc_node`).
   *
   * @param cpu On which CPU; 0 when absent.
   * @returns Its handle, or -1 where there is no memory: counted in `events.failures`.
   * @throws {RangeError} There is no such CPU.
   */
  alloc(cpu: number = 0): number {
    const c = this.perCpu[cpu];
    if (c === undefined) return this.#badCpu(cpu);
    const object = c.freelist;
    if (object < 0) return this.#allocSlow(c);
    const { next } = this.table;
    c.freelist = next[object]!;
    next[object] = ALLOCATED;
    c.tid = (c.tid + this.tidStep) | 0;
    c.ALLOC_FASTPATH++;
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
    const { table } = this;
    const { next } = table;
    const c = this.perCpu[cpu];
    if (c === undefined) return this.#badCpu(cpu);
    if (next[object] !== ALLOCATED) badFree(object, next[object], "free()");
    const slab = object >> table.shift;
    if (slab !== c.slab) {
      this.slabFreeSlow(slab, object, object, 1, c);
      return;
    }
    next[object] = c.freelist;
    c.freelist = object;
    c.tid = (c.tid + this.tidStep) | 0;
    c.FREE_FASTPATH++;
  }

  /**
   * Takes objects, all or none (`kmem_cache_alloc_bulk`).
   *
   * @param count How many, 0 to `out.length`.
   * @param out Receives their handles.
   * @param cpu On which CPU; 0 when absent.
   * @returns `count`, or 0 where there is no memory for all: counted in `events.failures`.
   * @throws {RangeError} `count` or `cpu` is out of range.
   * @throws {TypeError} `out` is no Int32Array.
   */
  allocBulk(count: number, out: Int32Array, cpu: number = 0): number {
    bulkArray("out", out, count);
    const c = this.#cpu(cpu);
    const { table, rules, events, irq } = this;
    events.bulkAllocs++;
    if (rules.bulkAlloc === "single calls") {
      for (let i = 0; i < count; i++) {
        const object = this.alloc(cpu);
        if (object < 0) return this.#undo(i, out, cpu);
        out[i] = object;
      }
      events.bulkAllocObjects += count;
      return count;
    }
    const keepsIrqOff = rules.bulkAlloc === "irq off";
    let { next } = table;
    let slow = 0;
    irq.disable(cpu);
    for (let i = 0; i < count; i++) {
      let object = c.freelist;
      if (object >= 0) {
        c.freelist = next[object]!;
        next[object] = ALLOCATED;
        out[i] = object;
        continue;
      }
      if (rules.bulkAllocBumpsTid) c.tid = (c.tid + this.tidStep) | 0;
      if (!keepsIrqOff) irq.enable(cpu);
      if (rules.bulkAlloc === "irq save") irq.saves++;
      object = this.slabAlloc(c);
      slow++;
      if (object < 0) {
        irq.enable(cpu);
        if (rules.bulkPopsCounted) c.ALLOC_FASTPATH += i - slow + 1;
        return this.#undo(i, out, cpu);
      }
      if (!keepsIrqOff) irq.disable(cpu);
      next = table.next;
      out[i] = object;
    }
    c.tid = (c.tid + this.tidStep) | 0;
    irq.enable(cpu);
    if (rules.bulkPopsCounted) c.ALLOC_FASTPATH += count - slow;
    events.bulkAllocObjects += count;
    return count;
  }

  /**
   * Gives objects back (`kmem_cache_free_bulk`). Its first `count` entries are overwritten with -1 from 4.4 on, and
   * reordered from 5.17 on.
   *
   * @param count How many, 0 to `objects.length`.
   * @param objects Their handles. Where the release skips nulls, -1 is one.
   * @param cpu On which CPU; 0 when absent.
   * @throws {Error} One is not handed out or stands there twice, then nothing was freed; or the kernel would stop with a
   *   BUG: a null, or no objects at all, where the release does not take them.
   * @throws {RangeError} `count` or `cpu` is out of range.
   * @throws {TypeError} `objects` is no Int32Array.
   */
  freeBulk(count: number, objects: Int32Array, cpu: number = 0): void {
    bulkArray("objects", objects, count);
    const c = this.#cpu(cpu);
    const { table, rules, events } = this;
    if (count === 0) {
      if (rules.bulkFreeOfNone === "bug") {
        throw new Error("kernel BUG in kmem_cache_free_bulk: no objects");
      }
      if (rules.bulkFreeOfNone === "warns") events.warnings++;
      return;
    }
    const held = claimObjects(
      table.next,
      count,
      objects,
      rules.bulkFreeOfNull === "skipped",
    );
    events.bulkFrees++;
    events.bulkFreeObjects += held;
    switch (rules.bulkFree) {
      case "single calls":
        for (let i = 0; i < count; i++) {
          const object = objects[i]!;
          this.slabFree(object >> table.shift, object, object, 1, c);
        }
        return;
      case "each":
        this.#freeEach(count, objects, c);
        return;
      case "detached":
      case "detached, swap": {
        const list = this.#list;
        const swaps = rules.bulkFree === "detached, swap";
        const scans = list.scans;
        let size = count;
        while (size > 0) {
          size = swaps
            ? list.buildSwapping(table, size, objects)
            : list.build(table, size, objects);
          if (list.count === 0) continue;
          events.detachedFreelists++;
          this.slabFree(list.slab, list.head, list.tail, list.count, c);
        }
        events.detachedScans += list.scans - scans;
      }
    }
  }

  /**
   * Takes everything from a CPU, as before it goes offline (`flush_cpu_slab`).
   *
   * @param cpu Which CPU; all when absent.
   * @throws {RangeError} There is no such CPU.
   */
  flush(cpu?: number): void {
    const { perCpu, lists } = this;
    for (const c of cpu === undefined ? perCpu : [this.#cpu(cpu)]) {
      if (c.slab >= 0) {
        lists.deactivate(c);
        c.tid = (c.tid + this.tidStep) | 0;
        c.CPUSLAB_FLUSH++;
      }
      lists.unfreezeAll(c);
    }
  }

  /**
   * Flushes all CPUs, gives empty slabs back and sorts the others, the fullest first (`kmem_cache_shrink`). What it gives
   * back counts in no statistic.
   */
  shrink(): void {
    this.flush();
    this.events.listLock++;
    this.events.slabsDestroyed += shrinkNode(this.table, this.node);
  }

  /**
   * Verifies every invariant: each slab and object in exactly one place, counts and counters in balance.
   *
   * @throws {Error} Naming the first that is broken.
   */
  check(): void {
    checkSlub(this);
  }

  #allocSlow(c: KmemCacheCpu): number {
    const { rules, irq } = this;
    const saves = rules.bulkAlloc !== "unlocked";
    const flags = saves ? irq.save(c.cpu) : 0;
    const object = this.slabAlloc(c);
    if (saves) irq.restore(c.cpu, flags);
    if (rules.slowpathCountedBy === "caller") c.ALLOC_SLOWPATH++;
    return object;
  }

  /** 4.3's bulk free: pushes on the CPU's freelist, and a slow free for each other object. */
  #freeEach(count: number, objects: Int32Array, c: KmemCacheCpu): void {
    const { table, irq } = this;
    const { next, shift } = table;
    irq.disable(c.cpu);
    for (let i = 0; i < count; i++) {
      const object = objects[i]!;
      const slab = object >> shift;
      if (slab === c.slab) {
        next[object] = c.freelist;
        c.freelist = object;
      } else {
        c.tid = (c.tid + this.tidStep) | 0;
        irq.enable(c.cpu);
        this.slabFreeSlow(slab, object, object, 1, c);
        irq.disable(c.cpu);
      }
    }
    c.tid = (c.tid + this.tidStep) | 0;
    irq.enable(c.cpu);
  }

  #undo(count: number, out: Int32Array, cpu: number): 0 {
    if (this.rules.bulkAllocUndo === "bulk") {
      if (count > 0) this.freeBulk(count, out, cpu);
    } else {
      for (let i = 0; i < count; i++) this.free(out[i]!, cpu);
    }
    return 0;
  }

  #cpu(cpu: number): KmemCacheCpu {
    return this.perCpu[cpu] ?? this.#badCpu(cpu);
  }

  #badCpu(cpu: number): never {
    whole("cpu", cpu, 0, this.cpus - 1);
    throw new RangeError(`cpu ${cpu}: there is none`);
  }
}
