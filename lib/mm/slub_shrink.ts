/**
 * What `kmem_cache_shrink` does to a node's list.
 *
 * @module
 */

import type { SlubNode } from "./slub_node.ts";
import type { SlubSlabs } from "./slub_slabs.ts";

/** `SHRINK_PROMOTE_MAX`: slabs with so few free objects are sorted to the front. */
const SHRINK_PROMOTE_MAX = 32;

/**
 * Gives the list's empty slabs back and puts the fullest first (`__kmem_cache_do_shrink`).
 *
 * @param table The cache's slabs.
 * @param node Its list.
 * @returns How many slabs went back.
 */
export function shrinkNode(table: SlubSlabs, node: SlubNode): number {
  const existing = table.nr;
  const promote: number[][] = Array.from(
    { length: SHRINK_PROMOTE_MAX },
    () => [],
  );
  for (let slab = node.head; slab >= 0;) {
    const following = table.after[slab]!;
    const free = table.objects[slab]! - table.inuse[slab]!;
    if (free === table.objects[slab]) {
      node.remove(slab);
      table.discard(slab, 0);
    } else if (free <= SHRINK_PROMOTE_MAX) {
      node.remove(slab);
      promote[free - 1]!.push(slab);
    }
    slab = following;
  }
  // Each class goes to the front in the order in which it was met, reversed as list_move leaves it.
  for (const slabs of promote.reverse()) {
    for (const slab of slabs) node.add(slab, false);
  }
  return existing - table.nr;
}
