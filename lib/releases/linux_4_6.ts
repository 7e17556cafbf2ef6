/** Linux 4.6: the first release with the network side of the kmem_cache bulk thread. @module */

import { linux_4_3 } from "./linux_4_3.ts";
import { fact, laterRelease, type Release } from "./release.ts";

const V4_4 = "4.4 and 4.9 trees";
const V4_9 = "4.9 tree; since 4.6";
const MERGED = "merged for 4.6 (3134b9f019f2); 4.6 itself was not read";

/** Linux 4.6: other watermarks, bulk calls in both slab allocators, NAPI frees in bulk. */
export const linux_4_6: Release = laterRelease(linux_4_3, "4.6", {
  page: {
    watermark: fact(
      "order-0",
      "mm/page_alloc.c: __zone_watermark_ok",
      "4.4: only order-0 requests are held to the watermark; UNVERIFIED here",
    ),
    watermarkGap: fact(
      "scale-factor",
      "mm/page_alloc.c: __setup_per_zone_wmarks",
      "watermark_scale_factor arrived in 4.6; UNVERIFIED here",
    ),
    atomicByNoWait: fact(
      false,
      "include/linux/gfp.h: __GFP_DIRECT_RECLAIM",
      "4.4 split __GFP_WAIT; UNVERIFIED here",
    ),
  },
  slub: {
    bulkAlloc: fact("irq off", "mm/slub.c: kmem_cache_alloc_bulk", V4_4),
    bulkFree: fact("detached", "mm/slub.c: build_detached_freelist", V4_4),
    bulkFreeOfNone: fact("warns", "mm/slub.c: kmem_cache_free_bulk", V4_4),
    bulkFreeOfNull: fact("skipped", "mm/slub.c: build_detached_freelist", V4_4),
    slabBulk: fact("irq off", "mm/slab.c: kmem_cache_alloc_bulk", V4_9),
    slabIndex: fact("objfreelist", "mm/slab.c: __kmem_cache_create", V4_9),
  },
  napi: {
    skbCacheSize: fact(64, "net/core/skbuff.c: NAPI_SKB_CACHE_SIZE", MERGED),
    flush: fact("not on early return", "net/core/dev.c: net_rx_action", MERGED),
    netTxDefers: fact(true, "net/core/dev.c: net_tx_action", MERGED),
    ixgbeFrees: fact(
      "napi_consume_skb",
      "drivers/net/ethernet/intel/ixgbe/ixgbe_main.c: ixgbe_clean_tx_irq",
      MERGED,
    ),
    zeroBudget: fact(
      "dev_consume_skb_any",
      "net/core/skbuff.c: napi_consume_skb",
      "all later trees; changed in the 4.6 cycle",
    ),
  },
}, { cpus: 8 });
