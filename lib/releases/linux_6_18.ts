/** Linux 6.18, the kernel that most reference rows were measured on. @module */

import { sharedInfoSize } from "./linux_3_12.ts";
import { linux_6_12, smallHeadOf } from "./linux_6_12.ts";
import { alignUp } from "../sim/align.ts";
import { fact, laterRelease, type Release } from "./release.ts";

const ROWS = "measured: every row of udp_truesize.json";

/** Linux 6.18. */
export const linux_6_18: Release = laterRelease(linux_6_12, "6.18", {
  tcp: {
    ofoTunesBuffer: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_data_queue_ofo",
      "measured: packetdrill tcp_ooo_rcv_mss and tcp_ooo-before-and-after-accept",
    ),
    dropsBeyondWindow: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_sequence",
      "measured: packetdrill tcp_rcv_big_endseq",
    ),
    rmem: fact(
      [4096, 131072, 33554432],
      "net/ipv4/tcp.c: tcp_init: sysctl_tcp_rmem",
      "a 2025 change, 6.16; UNVERIFIED",
    ),
    drs: fact(
      "rcvbuf_grow",
      "net/ipv4/tcp_input.c: tcp_rcvbuf_grow",
      "6.18 tree, by the specification",
    ),
    rcvRtt: fact(
      "minimum, average of read",
      "net/ipv4/tcp_input.c: tcp_rcv_rtt_update",
      "6.18 tree, by the specification",
    ),
  },
  page: {
    pcpFreeHigh: fact(
      "batch + high/2",
      "mm/page_alloc.c: free_frozen_page_commit",
      "a 2025 change; since 6.16",
    ),
  },
  skb: {
    skBuff: fact(
      224,
      "include/linux/skbuff.h: struct sk_buff",
      "BTF of the measured build",
    ),
    skBuffFclones: fact(
      456,
      "include/linux/skbuff.h: struct sk_buff_fclones",
      "BTF of the measured build",
    ),
    sharedInfoHeader: fact(
      48,
      "include/linux/skbuff.h: struct skb_shared_info",
      "BTF of the measured build",
    ),
    skBuffAligned: fact(
      (b) => alignUp(b.skBuff, b.cacheLine),
      "include/linux/skbuff.h: SKB_TRUESIZE",
      ROWS,
    ),
    smallHead: fact(
      smallHeadOf,
      "net/core/skbuff.c: SKB_SMALL_HEAD_CACHE_SIZE",
      "measured: object size 576, class change at payload 197/198",
    ),
    napiKmallocMax: fact(
      (b) => smallHeadOf(b) - sharedInfoSize(b),
      "net/core/skbuff.c: napi_alloc_skb",
      "as netdev_alloc_skb; no 1 KiB fragments any more (rows of tap napi_frags)",
    ),
    napiSmallFrag: fact(
      false,
      "net/core/skbuff.c: napi_alloc_skb",
      "measured: a tap napi_frags head costs 832",
    ),
    groHeadIsSmall: fact(true, "net/core/skbuff.c: SKB_SMALL_HEAD_SIZE", ROWS),
  },
  pageFragCache: {
    direction: fact(
      "up",
      "mm/page_frag_cache.c: __page_frag_alloc_align",
      "torvalds tree; since 6.13",
    ),
    tooLarge: fact(
      "null-over-page",
      "mm/page_frag_cache.c: __page_frag_alloc_align",
      "torvalds tree; since 6.13",
    ),
  },
  udp: {
    rmemDefault: fact(
      (b) => 256 * (256 + alignUp(b.skBuff, b.cacheLine) + sharedInfoSize(b)),
      "include/net/sock.h: SK_RMEM_MAX",
      "measured: 212,992",
    ),
    minRcvbuf: fact(
      (b) => 2048 + alignUp(b.skBuff, b.cacheLine),
      "include/net/sock.h: SOCK_MIN_RCVBUF",
      "measured: 2,304",
    ),
    minSndbuf: fact(
      (b) => 2 * (2048 + alignUp(b.skBuff, b.cacheLine)),
      "include/net/sock.h: SOCK_MIN_SNDBUF",
      "6.12.117 tree",
    ),
    full: fact(
      "rmem + size > rcvbuf and rmem > 0",
      "net/ipv4/udp.c: __udp_enqueue_schedule_skb",
      "measured: every row of udp_drop.json",
    ),
  },
}, { maxTcpHeader: 256 });
