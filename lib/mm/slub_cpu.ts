/**
 * What each CPU has of a SLUB cache: its slab, its freelist, its partial list (mm/slub.c: `struct kmem_cache_cpu`).
 *
 * @module
 */

import type { SlubRules } from "../kernel.ts";
import type { SlubNode } from "./slub_node.ts";
import { PLACE, type SlubSlabs } from "./slub_slabs.ts";
import { type SlabEvents, SlubStats } from "./slub_stats.ts";

/** The limits of a cache's lists. */
export interface SlubLimits {
  /** Slabs that the node keeps although they are empty. */
  readonly minPartial: number;
  /** Free objects that a CPU's partial list may have. */
  readonly cpuPartial: number;
  /** Slabs that it may have, where the release counts slabs. */
  readonly cpuPartialSlabs: number;
  /** Which of the two counts. */
  readonly inSlabs: boolean;
  /** Whether CPUs have partial lists at all. */
  readonly cpuPartialLists: boolean;
}

/**
 * What one CPU has of a cache, and its counters: `struct kmem_cache_cpu`.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, KmemCacheCpu } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { perCpu } = kmemCache({ kernel: kernel("6.1"), objectSize: 256 });
 * const c: KmemCacheCpu = perCpu[0]!;
 * assertEquals([c.freelist, c.slab, c.partial], [-1, -1, -1]);
 * ```
 */
export class KmemCacheCpu extends SlubStats {
  /** Its number. */
  readonly cpu: number;
  /** Head of its freelist, -1 when empty. */
  freelist: number = -1;
  /** Its slab, -1 for none. */
  slab: number = -1;
  /** Newest slab of its partial list, -1 when empty. */
  partial: number = -1;
  /** Transaction number, here of 32 bits; with the freelist it makes a fast path's exchange safe. */
  tid: number;

  /**
   * Without a slab.
   *
   * @param cpu Its number.
   */
  constructor(cpu: number) {
    super();
    this.cpu = cpu;
    this.tid = cpu;
  }
}

/**
 * How slabs move between a CPU, its partial list, the node's list and the page allocator.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, SlubLists } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("6.1"), objectSize: 256 });
 * cache.alloc();
 * const lists = new SlubLists(cache.table, cache.node, cache.events, cache.rules, cache.limits);
 * lists.deactivate(cache.perCpu[0]!);
 * assertEquals([cache.perCpu[0]!.slab, cache.node.nrPartial], [-1, 1]);
 * ```
 */
export class SlubLists {
  readonly #slabs: SlubSlabs;
  readonly #node: SlubNode;
  readonly #events: SlabEvents;
  readonly #rules: SlubRules;
  readonly #limits: SlubLimits;

  /**
   * For one cache.
   *
   * @param slabs Its slabs.
   * @param node Its node.
   * @param events What it did.
   * @param rules The release's.
   * @param limits The cache's.
   */
  constructor(
    slabs: SlubSlabs,
    node: SlubNode,
    events: SlabEvents,
    rules: SlubRules,
    limits: SlubLimits,
  ) {
    this.#slabs = slabs;
    this.#node = node;
    this.#events = events;
    this.#rules = rules;
    this.#limits = limits;
  }

  /**
   * Puts a slab on a CPU's partial list; with `drain`, a full list goes to the node first (`put_cpu_partial`).
   *
   * @param slab On no list.
   * @param drain Whether the list may be drained: not while `list_lock` is held.
   * @param c Which CPU.
   */
  putPartial(slab: number, drain: boolean, c: KmemCacheCpu): void {
    const { slabsFrom, pobjects, objects, inuse, link, place } = this.#slabs;
    const limits = this.#limits;
    let old = c.partial;
    let drained = -1;
    if (
      old >= 0 && drain &&
      (limits.inSlabs
        ? slabsFrom[old]! >= limits.cpuPartialSlabs
        : pobjects[old]! > limits.cpuPartial)
    ) {
      drained = old;
      old = -1;
    }
    const free = objects[slab]! - inuse[slab]!;
    slabsFrom[slab] = old < 0 ? 1 : slabsFrom[old]! + 1;
    pobjects[slab] = old < 0 ? free : pobjects[old]! + free;
    link[slab] = old;
    place[slab] = PLACE.CPU_PARTIAL;
    c.partial = slab;
    if (drained >= 0) {
      this.#unfreeze(drained, c);
      c.CPU_PARTIAL_DRAIN++;
    }
    // With a limit of 0 objects nothing stays on the list.
    if (!limits.inSlabs && limits.cpuPartial === 0) this.unfreezeAll(c);
  }

  /**
   * Moves a CPU's partial list to the node (`unfreeze_partials`).
   *
   * @param c Which CPU.
   */
  unfreezeAll(c: KmemCacheCpu): void {
    const newest = c.partial;
    if (newest < 0) return;
    c.partial = -1;
    this.#unfreeze(newest, c);
  }

  /**
   * Takes slabs from the node: the first for use, some more for the CPU's partial list (`get_partial_node`).
   *
   * @param c Which CPU.
   * @returns The first one, its freelist untouched, or -1.
   */
  takePartial(c: KmemCacheCpu): number {
    const node = this.#node;
    if (node.nrPartial === 0) return -1;
    const { objects, inuse, frozen } = this.#slabs;
    const { inSlabs, cpuPartial, cpuPartialSlabs, cpuPartialLists } =
      this.#limits;
    const { partialsFrozen } = this.#rules;
    const most = (inSlabs ? cpuPartialSlabs : cpuPartial) >> 1;
    let first = -1;
    let available = 0;
    this.#events.listLock++;
    while (node.head >= 0) {
      const slab = node.head;
      node.remove(slab);
      if (!inSlabs) available += objects[slab]! - inuse[slab]!;
      if (first < 0) {
        first = slab;
        c.ALLOC_FROM_PARTIAL++;
      } else {
        if (partialsFrozen) {
          frozen[slab] = 1;
          this.#events.cmpxchgDouble++;
        }
        this.putPartial(slab, false, c);
        c.CPU_PARTIAL_NODE++;
        if (inSlabs) available++;
      }
      if (!cpuPartialLists || available > most) break;
      if (inSlabs && cpuPartialSlabs === 0 && !partialsFrozen) break;
    }
    return first;
  }

  /**
   * Takes a CPU's slab from it: what it has on the CPU's freelist returns to the slab, which goes to the node's list or
   * back to the page allocator (`deactivate_slab`).
   *
   * @param c Which CPU; it has a slab.
   */
  deactivate(c: KmemCacheCpu): void {
    const slabs = this.#slabs;
    const { next, freelist, inuse } = slabs;
    const slab = c.slab;
    const head = c.freelist;
    c.slab = -1;
    c.freelist = -1;
    const remote = freelist[slab]! >= 0;
    if (remote) c.DEACTIVATE_REMOTE_FREES++;
    if (this.#rules.deactivate === "spliced") {
      let last = -1;
      for (let object = head; object >= 0; object = next[object]!) {
        last = object;
        inuse[slab]!--;
      }
      if (last >= 0) {
        next[last] = freelist[slab]!;
        freelist[slab] = head;
      }
      this.#events.cmpxchgDouble++;
    } else {
      let object = head;
      let exchanges = 0;
      while (object >= 0) {
        const following = next[object]!;
        next[object] = freelist[slab]!;
        freelist[slab] = object;
        inuse[slab]!--;
        exchanges++;
        object = following;
      }
      // The last object returns in the exchange that unfreezes the slab.
      this.#events.cmpxchgDouble += Math.max(1, exchanges);
    }
    slabs.frozen[slab] = 0;
    slabs.place[slab] = PLACE.FULL;
    if (inuse[slab] === 0 && this.#node.nrPartial >= this.#limits.minPartial) {
      c.DEACTIVATE_EMPTY++;
      c.FREE_SLAB++;
      slabs.discard(slab, c.cpu);
    } else if (freelist[slab]! >= 0) {
      this.#events.listLock++;
      this.#node.add(slab, remote);
      if (remote) c.DEACTIVATE_TO_TAIL++;
      else c.DEACTIVATE_TO_HEAD++;
    } else {
      c.DEACTIVATE_FULL++;
    }
  }

  /** Moves a chain of partial slabs to the node, newest first (`__unfreeze_partials`, `__put_partials`). */
  #unfreeze(newest: number, c: KmemCacheCpu): void {
    const slabs = this.#slabs;
    const { link, inuse, frozen } = slabs;
    const { minPartial } = this.#limits;
    let discards = -1;
    this.#events.listLock++;
    for (let slab = newest; slab >= 0;) {
      const following = link[slab]!;
      if (frozen[slab] === 1) {
        frozen[slab] = 0;
        this.#events.cmpxchgDouble++;
      }
      if (inuse[slab] === 0 && this.#node.nrPartial >= minPartial) {
        link[slab] = discards;
        discards = slab;
      } else {
        this.#node.add(slab, true);
        c.FREE_ADD_PARTIAL++;
      }
      slab = following;
    }
    while (discards >= 0) {
      const following = link[discards]!;
      c.DEACTIVATE_EMPTY++;
      c.FREE_SLAB++;
      slabs.discard(discards, c.cpu);
      discards = following;
    }
  }
}
