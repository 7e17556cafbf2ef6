/** net-next of October 2015 at 26440c835 with the slab bulk patches, the base of the kmem_cache bulk thread. @module */

import { laterRelease, type Release } from "./release.ts";
import { linux_4_3 } from "./linux_4_3.ts";

/** net-next of October 2015; the thread's machine has 8 hardware threads. */
export const net_next_2015_10: Release = laterRelease(
  linux_4_3,
  "net-next-2015-10",
  {},
  { cpus: 8 },
);
