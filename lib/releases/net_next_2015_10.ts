/** net-next of October 2015 at 26440c835 with the slab bulk patches, the base of the kmem_cache bulk thread. @module */

import { fact, laterRelease, type Release } from "./release.ts";
import { linux_4_3 } from "./linux_4_3.ts";

const POSTED =
  "the slab bulk patches as posted on 2015-09-28, by the specification";

/** net-next of October 2015; the thread's machine has 8 hardware threads. */
export const net_next_2015_10: Release = laterRelease(
  linux_4_3,
  "net-next-2015-10",
  {
    slub: {
      bulkFree: fact("detached", "mm/slub.c: build_detached_freelist", POSTED),
      bulkFreeOfNone: fact("bug", "mm/slub.c: kmem_cache_free_bulk", POSTED),
      bulkFreeOfNull: fact(
        "skipped",
        "mm/slub.c: build_detached_freelist",
        POSTED,
      ),
      slabBulk: fact(
        "irq off, leaks",
        "mm/slab.c: kmem_cache_alloc_bulk",
        POSTED,
      ),
    },
  },
  { cpus: 8 },
);
