/** net-next of October 2013 at 4fbef95af, the base of the rcvbuf and skb_page_frag_refill threads. @module */

import { laterRelease, type Release } from "./release.ts";
import { linux_3_12 } from "./linux_3_12.ts";

/** net-next of October 2013: what the memory core sees is 3.12. */
export const net_next_2013_10: Release = laterRelease(
  linux_3_12,
  "net-next-2013-10",
  {},
);
