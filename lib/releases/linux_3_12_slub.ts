/** SLUB and SLAB in Linux 3.12. @module */

import type { Facts, SlubFacts } from "../kernel.ts";
import { fact } from "./release.ts";

const TREE = "v3.12.10 tree";
const NEAR = "a mainline tree between 3.14 and 4.0; UNVERIFIED for 3.12";
const V4_4 = "4.4 tree; UNVERIFIED for 3.12";
const NO_BULK = "no bulk functions before 4.2";

/** Facts of 3.12's slab allocators. */
export const slub_3_12: Facts<SlubFacts> = {
  maxOrder: fact(3, "mm/slub.c: slub_max_order", TREE),
  orderSearch: fact("fewer-objects", "mm/slub.c: calculate_order", TREE),
  cpuPartial: fact([2, 6, 13, 30], "mm/slub.c: kmem_cache_open", "4.4 tree"),
  minPartial: fact([5, 10], "mm/slub.c: MIN_PARTIAL, MAX_PARTIAL", TREE),
  cpuPartialInSlabs: fact(false, "mm/slub.c: put_cpu_partial", "4.4 tree"),
  freePointerOffset: fact(
    false,
    "include/linux/slab.h: kmem_cache_create",
    TREE,
  ),
  kmallocClasses: fact(
    (b) => {
      const classes = [8, 16, 32, 64, 96, 128, 192];
      for (let size = 256; size <= 2 * b.pageSize; size *= 2) {
        classes.push(size);
      }
      return classes.sort((x, y) => x - y);
    },
    "include/linux/slab.h: KMALLOC_SHIFT_HIGH",
    TREE,
  ),
  kmallocNames: fact(
    "bytes",
    "mm/slab_common.c: create_kmalloc_caches",
    TREE,
  ),
  partialsFrozen: fact(true, "mm/slub.c: __slab_free", NEAR),
  refillCounted: fact(true, "mm/slub.c: __slab_alloc", V4_4),
  slowpathCountedBy: fact("caller", "mm/slub.c: slab_alloc_node", NEAR),
  bulkPopsCounted: fact(false, "mm/slub.c: kmem_cache_alloc_bulk", NO_BULK),
  freeFastpathCounts: fact(
    "lists",
    "mm/slub.c: slab_free",
    `${NEAR}; a list is one object`,
  ),
  bulkAlloc: fact("single calls", "mm/slub.c: kmem_cache_alloc_bulk", NO_BULK),
  bulkAllocBumpsTid: fact(false, "mm/slub.c: kmem_cache_alloc_bulk", NO_BULK),
  bulkAllocUndo: fact(
    "single calls",
    "mm/slub.c: kmem_cache_alloc_bulk",
    NO_BULK,
  ),
  deactivationBumpsTid: fact(false, "mm/slub.c: __slab_alloc", V4_4),
  bulkFree: fact("single calls", "mm/slub.c: kmem_cache_free_bulk", NO_BULK),
  bulkFreeOfNone: fact("silent", "mm/slub.c: kmem_cache_free_bulk", NO_BULK),
  bulkFreeOfNull: fact("bug", "mm/slub.c: kmem_cache_free_bulk", NO_BULK),
  deactivate: fact("one by one", "mm/slub.c: deactivate_slab", V4_4),
  slab: fact(
    true,
    "mm/slab.c: kmem_cache_alloc",
    "mm/slab.c exists; removed in 6.8",
  ),
  slabBulk: fact("single calls", "mm/slab.c: kmem_cache_alloc_bulk", NO_BULK),
  slabFreeLimit: fact(
    "each",
    "mm/slab.c: free_block",
    "trees from 3.15 to 4.4 by the specification; UNVERIFIED for 3.12",
  ),
  slabIndex: fact(
    "off-slab",
    "mm/slab.c: __kmem_cache_create",
    "trees from 3.15 to 4.4 by the specification; 3.12's bound is UNVERIFIED",
  ),
};
