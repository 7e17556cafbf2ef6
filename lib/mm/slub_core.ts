/**
 * SLUB's slow paths: what happens where the CPU's freelist is empty, or an object belongs to another slab.
 *
 * @module
 */

import type { SlubRules } from "../kernel.ts";
import { Gfp } from "./gfp.ts";
import type { IrqFlags } from "./irq_flags.ts";
import type { KmemCacheOptions } from "./kmem_cache_type.ts";
import { hook, whole } from "../sim/check.ts";
import { irqFlags } from "./slab_args.ts";
import { type SlabLayout, slabLayout } from "./slab_layout.ts";
import { KmemCacheCpu, type SlubLimits, SlubLists } from "./slub_cpu.ts";
import { SlubNode } from "./slub_node.ts";
import { ALLOCATED, PLACE, SlubSlabs } from "./slub_slabs.ts";
import { SlabEvents, type SlubCounters, slubCounters } from "./slub_stats.ts";

const MAX_CPUS = 4096;
const MAX_SLABS = 1 << 20;

/**
 * State of a SLUB cache and its slow paths; {@linkcode Slub} is what a user holds.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, SlubCore } from "@truesize/lab";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("6.1"), objectSize: 256, cpus: 2 });
 * cache.alloc(1);
 * assert(cache instanceof SlubCore);
 * assertEquals([cache.perCpu[0]!.slab, cache.perCpu[1]!.slab], [-1, 0]);
 * ```
 */
export class SlubCore {
  /** The release's rules. */
  readonly rules: SlubRules;
  /** The cache's geometry. */
  readonly layout: SlabLayout;
  /** CPUs with lists of their own. */
  readonly cpus: number;
  /** Counters by their kernel names, summed over CPUs: live. */
  readonly counters: SlubCounters;
  /** What it did beside what the kernel counts: live. */
  readonly events: SlabEvents = new SlabEvents();
  /** The CPUs' interrupt flags. */
  readonly irq: IrqFlags;
  /** Limits of its lists. */
  readonly limits: SlubLimits;
  /** Its slabs and objects as arrays: for views and checks, not to be written. */
  readonly table: SlubSlabs;
  /** Its node's partial list: for views and checks, not to be written. */
  readonly node: SlubNode;
  /** What each CPU has of it: for views and checks, not to be written. */
  readonly perCpu: readonly KmemCacheCpu[];
  /** How its slabs move. */
  protected readonly lists: SlubLists;
  /** How much `tid` moves: 1, or the number of CPUs rounded up to a power of two (CONFIG_PREEMPT). */
  readonly tidStep: number;
  readonly #onNewSlab: ((cpu: number) => void) | undefined;
  readonly #interruptible: boolean;

  /**
   * A cache without a slab.
   *
   * @param options What it holds, and the kernel it lives in.
   * @throws {RangeError} An option is out of range.
   * @throws {TypeError} An option is of the wrong type.
   */
  constructor(options: KmemCacheOptions) {
    const { kernel, pages, objectSize, align, flags } = options;
    const cpus = whole("cpus", options.cpus ?? kernel.build.cpus, 1, MAX_CPUS);
    const layout = slabLayout({ kernel, objectSize, align, cpus, flags });
    // Only debugging takes the CPUs' partial lists away.
    if (layout.cpuPartial === 0) {
      throw new RangeError(
        "flags: a cache with SLAB_POISON or SLAB_RED_ZONE is not modelled",
      );
    }
    const irq = irqFlags(options.irq, cpus);
    const { pageSize } = kernel.build;
    const most = kernel.slub.cpuPartialInSlabs;
    const cpuPartial = whole(
      "cpuPartial",
      options.cpuPartial ?? layout.cpuPartial,
      0,
      1 << 20,
    );
    this.rules = { ...kernel.slub, ...options.rules };
    this.layout = layout;
    this.cpus = cpus;
    this.irq = irq;
    this.limits = {
      minPartial: whole(
        "minPartial",
        options.minPartial ?? layout.minPartial,
        0,
        1 << 20,
      ),
      cpuPartial,
      cpuPartialSlabs: most ? Math.ceil(2 * cpuPartial / layout.objects) : 0,
      inSlabs: most,
      cpuPartialLists: options.cpuPartialLists ?? true,
    };
    const gfp = options.gfp ?? Gfp.GFP_ATOMIC;
    const minOrder = Math.max(
      0,
      Math.ceil(Math.log2(layout.slabSize / pageSize)),
    );
    this.perCpu = Array.from(
      { length: cpus },
      (_, cpu) => new KmemCacheCpu(cpu),
    );
    this.counters = slubCounters(this.perCpu);
    this.table = new SlubSlabs(
      {
        objects: layout.objects,
        order: layout.order,
        minOrder,
        minObjects: Math.floor(pageSize * 2 ** minOrder / layout.slabSize),
        pages,
        gfp,
        maxSlabs: whole(
          "maxSlabs",
          options.maxSlabs ?? MAX_SLABS,
          0,
          MAX_SLABS,
        ),
      },
      this.events,
    );
    this.node = new SlubNode(this.table);
    this.lists = new SlubLists(
      this.table,
      this.node,
      this.events,
      this.rules,
      this.limits,
    );
    this.tidStep = options.preempt ? 1 << (32 - Math.clz32(cpus - 1)) : 1;
    this.#onNewSlab = hook("onNewSlab", options.onNewSlab);
    this.#interruptible = this.rules.bulkAlloc === "unlocked" ||
      (gfp & Gfp.__GFP_DIRECT_RECLAIM) !== 0;
  }

  /**
   * An allocation that found the CPU's freelist empty (`___slab_alloc`).
   *
   * @param c Which CPU.
   * @returns An object, or -1.
   */
  protected slabAlloc(c: KmemCacheCpu): number {
    const { lists, table, rules, irq, events } = this;
    // From 5.15 on the path locks where it must; before, its caller has interrupts off throughout.
    const locks = rules.bulkAlloc === "unlocked" ? 1 : 0;
    if (rules.slowpathCountedBy === "slow path") c.ALLOC_SLOWPATH++;
    let slab = c.slab;
    if (slab >= 0) {
      irq.saves += locks;
      // A fast path that was overtaken may have filled the freelist.
      const first = c.freelist;
      if (first >= 0) return this.#load(slab, first, c);
      events.cmpxchgDouble++;
      const head = table.freelist[slab]!;
      if (head >= 0) {
        table.freelist[slab] = -1;
        table.inuse[slab] = table.objects[slab]!;
        c.ALLOC_REFILL++;
        return this.#load(slab, head, c);
      }
      table.frozen[slab] = 0;
      table.place[slab] = PLACE.FULL;
      c.slab = -1;
      if (rules.deactivationBumpsTid) c.tid = (c.tid + this.tidStep) | 0;
      c.DEACTIVATE_BYPASS++;
    }
    slab = c.partial;
    if (slab >= 0) {
      irq.saves += locks;
      c.partial = table.link[slab]!;
      c.CPU_PARTIAL_ALLOC++;
      if (rules.refillCounted) {
        irq.saves += locks;
        c.ALLOC_REFILL++;
      }
      events.cmpxchgDouble++;
      return this.#load(slab, this.#take(slab), c);
    }
    slab = lists.takePartial(c);
    if (slab >= 0) {
      irq.saves += locks;
      events.cmpxchgDouble++;
      return this.#load(slab, this.#take(slab), c);
    }
    if (this.#interruptible && this.#onNewSlab !== undefined) {
      irq.allow(c.cpu, this.#onNewSlab);
    }
    slab = table.create(c.cpu, c);
    if (slab < 0) return -1;
    c.ALLOC_SLAB++;
    if (c.slab >= 0) {
      // Something that came in between has got a slab of its own.
      lists.deactivate(c);
      c.CPUSLAB_FLUSH++;
    }
    irq.saves += locks;
    return this.#load(slab, this.#take(slab), c);
  }

  /**
   * A free of a chain of objects of one slab (`do_slab_free`); single frees are chains of one.
   *
   * @param slab Their slab.
   * @param head First object.
   * @param tail Last object; its link is overwritten.
   * @param count How many.
   * @param c On which CPU.
   */
  protected slabFree(
    slab: number,
    head: number,
    tail: number,
    count: number,
    c: KmemCacheCpu,
  ): void {
    if (slab !== c.slab) {
      this.slabFreeSlow(slab, head, tail, count, c);
      return;
    }
    this.table.next[tail] = c.freelist;
    c.freelist = head;
    c.tid = (c.tid + this.tidStep) | 0;
    c.FREE_FASTPATH += this.rules.freeFastpathCounts === "objects" ? count : 1;
  }

  /**
   * The same to a slab that is not the CPU's (`__slab_free`).
   *
   * @param slab Their slab.
   * @param head First object.
   * @param tail Last object; its link is overwritten.
   * @param count How many.
   * @param c On which CPU.
   */
  protected slabFreeSlow(
    slab: number,
    head: number,
    tail: number,
    count: number,
    c: KmemCacheCpu,
  ): void {
    const { table, node, events } = this;
    const prior = table.freelist[slab]!;
    const inuse = table.inuse[slab]! - count;
    table.next[tail] = prior;
    table.freelist[slab] = head;
    table.inuse[slab] = inuse;
    events.cmpxchgDouble++;
    c.FREE_SLOWPATH++;
    if (table.frozen[slab] === 1) {
      c.FREE_FROZEN++;
      return;
    }
    const { cpuPartialLists, minPartial } = this.limits;
    if (cpuPartialLists && prior < 0) {
      table.frozen[slab] = this.rules.partialsFrozen ? 1 : 0;
      this.lists.putPartial(slab, true, c);
      c.CPU_PARTIAL_FREE++;
      return;
    }
    if (inuse !== 0 && prior >= 0) return;
    events.listLock++;
    // Empty, but on a CPU's list: only that CPU may take it off.
    if (prior >= 0 && table.place[slab] !== PLACE.NODE) return;
    if (inuse === 0 && node.nrPartial >= minPartial) {
      if (prior >= 0) {
        node.remove(slab);
        c.FREE_REMOVE_PARTIAL++;
      }
      c.FREE_SLAB++;
      table.discard(slab, c.cpu);
    } else if (prior < 0) {
      node.add(slab, true);
      c.FREE_ADD_PARTIAL++;
    }
  }

  /** A slab's whole freelist, the slab frozen. */
  #take(slab: number): number {
    const { table } = this;
    const head = table.freelist[slab]!;
    table.freelist[slab] = -1;
    table.inuse[slab] = table.objects[slab]!;
    table.frozen[slab] = 1;
    return head;
  }

  /** Makes a slab the CPU's; its first free object is the one asked for. */
  #load(slab: number, head: number, c: KmemCacheCpu): number {
    const { table } = this;
    table.place[slab] = PLACE.CPU;
    c.slab = slab;
    c.freelist = table.next[head]!;
    c.tid = (c.tid + this.tidStep) | 0;
    table.next[head] = ALLOCATED;
    return head;
  }
}
