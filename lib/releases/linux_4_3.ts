/** Linux 4.3. @module */

import { fact, laterRelease, type Release } from "./release.ts";
import { linux_3_14 } from "./linux_3_14.ts";

const TREE = "v4.3.0 tree";
const BULK = "the specification: the patches as posted on 2015-06-17";

/** Linux 4.3: page frags count down, one attempt at a high order without reclaim. */
export const linux_4_3: Release = laterRelease(linux_3_14, "4.3", {
  tcp: {
    prr: fact(
      "conservative",
      "net/ipv4/tcp_input.c: tcp_cwnd_reduction",
      "later trees; what counts as progress was an acknowledged retransmission at first: UNVERIFIED",
    ),
    zeroWindow: fact(
      "sixteenth",
      "net/ipv4/tcp_output.c: __tcp_select_window",
      "4.4.11 tree, by the specification",
    ),
    clock: fact(
      "microseconds",
      "net/ipv4/tcp_input.c: tcp_rtt_estimator",
      "since 3.15; the receiver's estimate stays in jiffies up to 4.12, UNVERIFIED",
    ),
    takesWhenEmpty: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_data_queue",
      "4.4.11 tree, by the specification",
    ),
    sizeGoal: fact(
      "split",
      "net/ipv4/tcp_output.c: tcp_tso_autosize",
      "4.4.11 tree, by the specification",
    ),
    pacing: fact(
      [200, 120],
      "net/ipv4/tcp_input.c: tcp_update_pacing_rate: sysctl_tcp_pacing_ss_ratio, sysctl_tcp_pacing_ca_ratio",
      "4.4.11 tree, by the specification",
    ),
    tsq: fact(
      "2 skbs or 1 ms, 256 KiB",
      "net/ipv4/tcp_output.c: tcp_write_xmit",
      "4.4.11 tree, by the specification",
    ),
    cwndLimited: fact(
      "max packets out",
      "include/net/tcp.h: tcp_is_cwnd_limited",
      "4.4.11 tree, by the specification",
    ),
    tsoDefer: fact(
      "1 ms",
      "net/ipv4/tcp_output.c: tcp_tso_should_defer",
      "4.4.11 tree, by the specification",
    ),
    expandTest: fact(
      "packets_in_flight",
      "net/ipv4/tcp_input.c: tcp_should_expand_sndbuf",
      "4.4.11 tree, by the specification",
    ),
  },
  slub: {
    bulkAlloc: fact("irq save", "mm/slub.c: kmem_cache_alloc_bulk", BULK),
    bulkFree: fact("each", "mm/slub.c: kmem_cache_free_bulk", BULK),
  },
  skb: {
    skBuff: fact(
      232,
      "include/linux/skbuff.h: struct sk_buff",
      "summed from the fields; UNVERIFIED by a build",
    ),
    skBuffFclones: fact(
      472,
      "include/linux/skbuff.h: struct sk_buff_fclones",
      "summed from the fields",
    ),
    pagedTruesize: fact(
      "pages",
      "net/core/skbuff.c: alloc_skb_with_frags",
      TREE,
    ),
  },
  pageFragCache: {
    direction: fact("down", "mm/page_alloc.c: __alloc_page_frag", TREE),
    orders: fact("highest-then-0", "mm/page_alloc.c: __page_frag_refill", TREE),
    bias: fact("size", "mm/page_alloc.c: __alloc_page_frag", TREE),
    biasValue: fact(0, "mm/page_alloc.c: __alloc_page_frag", TREE),
    tooLarge: fact("underflows", "mm/page_alloc.c: __alloc_page_frag", TREE),
    refcount: fact("add", "mm/page_alloc.c: __alloc_page_frag", TREE),
  },
  skbPageFrag: {
    orders: fact(
      "highest-then-0",
      "net/core/sock.c: skb_page_frag_refill",
      TREE,
    ),
    highOrderReclaims: fact(
      false,
      "net/core/sock.c: skb_page_frag_refill",
      TREE,
    ),
  },
  virtio: {
    gro: fact(true, "drivers/net/virtio_net.c: receive_buf", TREE),
  },
});
