/** Linux 4.6: the first release with the network side of the kmem_cache bulk thread. @module */

import { linux_4_3 } from "./linux_4_3.ts";
import { fact, laterRelease, type Release } from "./release.ts";

/** Linux 4.6; what the memory core sees differs from 4.3 in the watermarks. */
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
}, { cpus: 8 });
