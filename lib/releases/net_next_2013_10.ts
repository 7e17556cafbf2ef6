/** net-next of October 2013 at 4fbef95af, the base of the rcvbuf and skb_page_frag_refill threads. @module */

import { fact, laterRelease, type Release } from "./release.ts";
import { linux_3_12 } from "./linux_3_12.ts";

/** net-next of October 2013: what the memory core sees is 3.12, TCP has the new DRS. */
export const net_next_2013_10: Release = laterRelease(
  linux_3_12,
  "net-next-2013-10",
  {
    tcp: {
      initialRcvbuf: fact(
        "fixup, fourfold",
        "net/ipv4/tcp_input.c: tcp_fixup_rcvbuf",
        "b0983d3c9b13; the context lines of the thread's patch",
      ),
      drs: fact(
        "doubling",
        "net/ipv4/tcp_input.c: tcp_rcv_space_adjust",
        "b0983d3c9b13; 3.13.0 tree, by the specification",
      ),
    },
  },
);
