/**
 * A SLUB cache's slabs as values to draw or to list.
 *
 * @module
 */

import type { SlubCore } from "./slub_core.ts";
import { ALLOCATED, PLACE } from "./slub_slabs.ts";

/** One slab as it stands. */
export interface SlabView {
  /** Its index: the order in which slabs were made, reused after they are given back. */
  readonly slab: number;
  /** On which list it is. */
  readonly place: "cpu slab" | "cpu partial" | "node partial" | "full";
  /** The CPU that it belongs to, -1 for none. */
  readonly cpu: number;
  /** Whether it is frozen. */
  readonly frozen: boolean;
  /** `inuse`: objects not on its own freelist. */
  readonly inuse: number;
  /** Slots that callers hold, in the order of addresses. */
  readonly held: readonly boolean[];
  /** Slots on its own freelist, first to last. */
  readonly freelist: readonly number[];
  /** Slots on the CPU's freelist, first to last. */
  readonly cpuFreelist: readonly number[];
}

/**
 * All slabs of a cache: each CPU's own, then its partial list from the newest, then the node's list, then the full ones.
 *
 * @param cache The cache.
 * @returns Values that do not change with it.
 *
 * @example After 34 objects of 16 a slab were freed in turn
 * ```ts
 * import { kernel, kmemCache, slabViews } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("4.3"), objectSize: 256, cpus: 2 });
 * const objects = Array.from({ length: 34 }, () => cache.alloc());
 * for (const object of objects) cache.free(object);
 * assertEquals(slabViews(cache).map(({ slab, place }) => `${slab} ${place}`), [
 *   "2 cpu slab", "1 cpu partial", "0 cpu partial",
 * ]);
 * ```
 */
export function slabViews(cache: SlubCore): SlabView[] {
  const { table, node, perCpu } = cache;
  const views: SlabView[] = [];
  const slots = (head: number): number[] => {
    const list: number[] = [];
    for (let object = head; object >= 0; object = table.next[object]!) {
      list.push(object & ((1 << table.shift) - 1));
    }
    return list;
  };
  const view = (
    slab: number,
    place: SlabView["place"],
    cpu: number,
    cpuFreelist: number,
  ): void => {
    const first = slab << table.shift;
    const objects = table.next.subarray(first, first + table.objects[slab]!);
    views.push({
      slab,
      place,
      cpu,
      frozen: table.frozen[slab] === 1,
      inuse: table.inuse[slab]!,
      held: Array.from(objects, (link) => link === ALLOCATED),
      freelist: slots(table.freelist[slab]!),
      cpuFreelist: slots(cpuFreelist),
    });
  };
  for (const { cpu, slab, freelist, partial } of perCpu) {
    if (slab >= 0) view(slab, "cpu slab", cpu, freelist);
    for (let at = partial; at >= 0; at = table.link[at]!) {
      view(at, "cpu partial", cpu, -1);
    }
  }
  for (let at = node.head; at >= 0; at = table.after[at]!) {
    view(at, "node partial", -1, -1);
  }
  for (let at = 0; at < table.top; at++) {
    if (table.place[at] === PLACE.FULL) view(at, "full", -1, -1);
  }
  return views;
}
