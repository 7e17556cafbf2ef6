/** Linux 3.12, the release that all others are described against. @module */

import type { Build } from "../kernel.ts";
import { alignUp } from "../sim/align.ts";
import { napi_3_12 } from "./linux_3_12_napi.ts";
import { slub_3_12 } from "./linux_3_12_slub.ts";
import { tcp_3_12 } from "./linux_3_12_tcp.ts";
import { fact, firstRelease, type Release } from "./release.ts";

const TREE = "v3.12.10 tree";

/** `skb_shared_info` with its fragment array, rounded up to a cache line, bytes. */
export function sharedInfoSize(build: Build): number {
  const { sharedInfoHeader, fragSize, maxSkbFrags, cacheLine } = build;
  return alignUp(sharedInfoHeader + fragSize * maxSkbFrags, cacheLine);
}

/** Linux 3.12. */
export const linux_3_12: Release = firstRelease("3.12", {
  maxTcpHeader: 256,
  cpus: 2,
  alignsMaxTcpHeader: false,
  // Before CONFIG_MAX_SKB_FRAGS a 64 KiB datagram must fit, and never fewer than 16 fragments.
  maxSkbFrags: (pageSize) => Math.max(16, 65536 / pageSize + 1),
}, {
  page: {
    maxOrder: fact(
      10,
      "include/linux/mmzone.h: MAX_ORDER - 1",
      `${TREE}; written there as 11, exclusive`,
    ),
    costlyOrder: fact(
      3,
      "include/linux/mmzone.h: PAGE_ALLOC_COSTLY_ORDER",
      TREE,
    ),
    pcpMaxOrder: fact(0, "mm/page_alloc.c: buffered_rmqueue", TREE),
    pcpBatchCap: fact(
      (b) => 512 * 1024 / b.pageSize,
      "mm/page_alloc.c: zone_batchsize",
      TREE,
    ),
    pcpRefill: fact("batch", "mm/page_alloc.c: buffered_rmqueue", TREE),
    pcpHigh: fact("6-batch", "mm/page_alloc.c: pageset_set_batch", TREE),
    watermark: fact("per-order", "mm/page_alloc.c: __zone_watermark_ok", TREE),
    watermarkGap: fact(
      "quarter",
      "mm/page_alloc.c: __setup_per_zone_wmarks",
      TREE,
    ),
    minFreeKbytesMax: fact(
      65536,
      "mm/page_alloc.c: init_per_zone_wmark_min",
      TREE,
    ),
    pcpFreeHigh: fact(
      "batch",
      "mm/page_alloc.c: free_hot_cold_page",
      "order 0 only",
    ),
    coldPages: fact(true, "mm/page_alloc.c: buffered_rmqueue", TREE),
    atomicByNoWait: fact(true, "mm/page_alloc.c: gfp_to_alloc_flags", TREE),
  },
  slub: slub_3_12,
  napi: napi_3_12,
  skb: {
    skBuff: fact(
      232,
      "include/linux/skbuff.h: struct sk_buff",
      "laid out field by field, distribution config",
    ),
    skBuffFclones: fact(
      468,
      "include/linux/skbuff.h: struct sk_buff",
      "two sk_buffs and a counter",
    ),
    sharedInfoHeader: fact(
      48,
      "include/linux/skbuff.h: struct skb_shared_info",
      "laid out field by field",
    ),
    fragSize: fact(16, "include/linux/skbuff.h: skb_frag_t", TREE),
    skBuffAligned: fact(
      (b) => alignUp(b.skBuff, b.cacheLine),
      "include/linux/skbuff.h: SKB_TRUESIZE",
      TREE,
    ),
    sharedInfo: fact(
      (b) => sharedInfoSize(b),
      "include/linux/skbuff.h: SKB_WITH_OVERHEAD",
      TREE,
    ),
    netSkbPad: fact(
      (b) => Math.max(32, b.cacheLine),
      "include/linux/skbuff.h: NET_SKB_PAD",
      TREE,
    ),
    netIpAlign: fact(0, "arch/x86/include/asm/processor.h: NET_IP_ALIGN", TREE),
    smallHead: fact(
      0,
      "net/core/skbuff.c: skb_init",
      "no such cache before 6.3",
    ),
    netdevKmallocMax: fact(0, "net/core/skbuff.c: __netdev_alloc_skb", TREE),
    napiKmallocMax: fact(
      0,
      "net/core/skbuff.c: __netdev_alloc_skb",
      `${TREE}; no napi_alloc_skb yet`,
    ),
    napiSmallFrag: fact(false, "net/core/skbuff.c: __netdev_alloc_skb", TREE),
    groHeadIsSmall: fact(false, "net/core/dev.c: napi_get_frags", TREE),
    pagedTruesize: fact("bytes", "net/core/sock.c: sock_alloc_send_pskb", TREE),
    pagedFragsMax: fact(
      (b) => b.maxSkbFrags,
      "net/core/sock.c: sock_alloc_send_pskb",
      TREE,
    ),
    condense: fact(false, "net/core/skbuff.c: skb_condense", "arrived in 4.10"),
  },
  pageFragCache: {
    direction: fact("up", "net/core/skbuff.c: __netdev_alloc_frag", TREE),
    maxSize: fact(
      (b) => Math.max(32768, b.pageSize),
      "net/core/skbuff.c: PAGE_SIZE << NETDEV_FRAG_PAGE_MAX_ORDER",
      TREE,
    ),
    orders: fact("descend", "net/core/skbuff.c: __netdev_alloc_frag", TREE),
    bias: fact("constant", "net/core/skbuff.c: NETDEV_PAGECNT_MAX_BIAS", TREE),
    biasValue: fact(
      (b) => Math.max(32768, b.pageSize),
      "net/core/skbuff.c: NETDEV_PAGECNT_MAX_BIAS",
      TREE,
    ),
    align: fact("none", "net/core/skbuff.c: __netdev_alloc_frag", TREE),
    dropsPfmemalloc: fact(
      false,
      "net/core/skbuff.c: __netdev_alloc_frag",
      TREE,
    ),
    tooLarge: fact("loops", "net/core/skbuff.c: __netdev_alloc_frag", TREE),
    masksDirectReclaim: fact(
      false,
      "net/core/skbuff.c: __netdev_alloc_frag",
      TREE,
    ),
    drain: fact(false, "net/core/skbuff.c: __netdev_alloc_frag", TREE),
    refcount: fact("set", "net/core/skbuff.c: __netdev_alloc_frag", TREE),
    roundsToCacheLine: fact(
      false,
      "net/core/skbuff.c: netdev_alloc_frag",
      TREE,
    ),
  },
  skbPageFrag: {
    name: fact("", "net/core/sock.c: sk_page_frag_refill", TREE),
    fits: fact("offset < size", "net/core/sock.c: sk_page_frag_refill", TREE),
    minimum: fact(1, "net/core/sock.c: sk_page_frag_refill", TREE),
    orders: fact(
      "descend-if-wait",
      "net/core/sock.c: sk_page_frag_refill",
      TREE,
    ),
    highOrderNoRetry: fact(
      false,
      "net/core/sock.c: sk_page_frag_refill",
      `${TREE}; 3.14 and stable trees add it`,
    ),
    highOrderReclaims: fact(true, "net/core/sock.c: sk_page_frag_refill", TREE),
    highOrderSysctl: fact(
      false,
      "net/core/sock.c: net_high_order_alloc_disable_key",
      "arrived in 5.3",
    ),
    holder: fact("may-wait", "include/net/sock.h: sk_page_frag", TREE),
    maxSize: fact(
      (b) => Math.max(32768, b.pageSize),
      "net/core/sock.c: PAGE_SIZE << SKB_FRAG_PAGE_ORDER",
      TREE,
    ),
  },
  vhost: {
    frag: fact(
      "none",
      "drivers/vhost/net.c: handle_tx",
      "one sendmsg a packet before 4.20",
    ),
    bias: fact(0, "drivers/vhost/net.c: handle_tx", "no fragments of its own"),
  },
  udp: {
    full: fact("rmem >= rcvbuf", "net/core/sock.c: sock_queue_rcv_skb", TREE),
    giveBack: fact("each", "net/core/sock.c: sock_rfree", TREE),
    udpSchedule: fact("size", "net/core/sock.c: __sk_mem_schedule", TREE),
    sockSchedule: fact("size", "net/core/sock.c: __sk_mem_schedule", TREE),
    sockReclaim: fact(
      "leaves a page",
      "include/net/sock.h: sk_mem_reclaim_partial",
      TREE,
    ),
    rmemDefault: fact(
      (b) => 256 * (256 + alignUp(b.skBuff, b.cacheLine) + sharedInfoSize(b)),
      "include/net/sock.h: SK_RMEM_MAX",
      TREE,
    ),
    minRcvbuf: fact(
      (b) => 2048 + alignUp(b.skBuff, b.cacheLine),
      "include/net/sock.h: SOCK_MIN_RCVBUF",
      TREE,
    ),
    minSndbuf: fact(
      (b) => 2 * (2048 + alignUp(b.skBuff, b.cacheLine)),
      "include/net/sock.h: SOCK_MIN_SNDBUF",
      TREE,
    ),
  },
  ip: {
    pagedLarge: fact(false, "net/ipv4/ip_output.c: __ip_append_data", TREE),
    udpFragmentOffload: fact(
      "loopback",
      "net/ipv4/ip_output.c: ip_ufo_append_data",
      TREE,
    ),
    reassemblyCoalesces: fact(
      "ipv4",
      "net/ipv4/ip_fragment.c: ip_frag_reasm",
      TREE,
    ),
  },
  tcp: {
    linear: fact(
      (b) => 2048 - b.maxTcpHeader - sharedInfoSize(b),
      "net/ipv4/tcp.c: select_size",
      TREE,
    ),
    ...tcp_3_12,
  },
  tun: {
    buildSkb: fact(false, "drivers/net/tun.c: tun_get_user", TREE),
    linear: fact("all", "drivers/net/tun.c: tun_alloc_skb", TREE),
    maxPageOrder: fact(0, "drivers/net/tun.c: tun_alloc_skb", TREE),
    napi: fact(
      false,
      "drivers/net/tun.c: tun_get_user",
      "IFF_NAPI arrived in 4.15",
    ),
  },
  virtio: {
    mergeable: fact(
      "page",
      "drivers/net/virtio_net.c: add_recvbuf_mergeable",
      TREE,
    ),
    bufferMin: fact(
      (b) => b.pageSize,
      "drivers/net/virtio_net.c: add_recvbuf_mergeable",
      TREE,
    ),
    bufferAlign: fact(
      (b) => b.pageSize,
      "drivers/net/virtio_net.c: add_recvbuf_mergeable",
      TREE,
    ),
    countsHole: fact(
      false,
      "drivers/net/virtio_net.c: add_recvbuf_mergeable",
      "no hole: whole pages",
    ),
    minByRing: fact(
      false,
      "drivers/net/virtio_net.c: mergeable_min_buf_len",
      "arrived in 4.12",
    ),
    overlong: fact(
      "clamps",
      "drivers/net/virtio_net.c: receive_mergeable",
      TREE,
    ),
    buildSkb: fact(false, "drivers/net/virtio_net.c: page_to_skb", TREE),
    pull: fact("128", "drivers/net/virtio_net.c: page_to_skb", TREE),
    goodCopyLen: fact(128, "drivers/net/virtio_net.c: GOOD_COPY_LEN", TREE),
    small: fact(
      "netdev_alloc_skb",
      "drivers/net/virtio_net.c: add_recvbuf_small",
      TREE,
    ),
    coalesces: fact(false, "drivers/net/virtio_net.c: receive_mergeable", TREE),
    gro: fact(false, "drivers/net/virtio_net.c: receive_buf", TREE),
    bigReceives: fact(
      false,
      "drivers/net/virtio_net.c: receive_big",
      `${TREE}: passes length 0 to page_to_skb`,
    ),
    dmaShortens: fact(
      false,
      "drivers/net/virtio_net.c: add_recvbuf_mergeable",
      "no record",
    ),
    refillAbove: fact(
      "ring/2",
      "drivers/net/virtio_net.c: virtnet_receive",
      "3.14 tree by the specification; 3.12 counts what is posted",
    ),
    dmaRecord: fact(
      0,
      "drivers/net/virtio_net.c: virtnet_rq_alloc",
      "arrived in 6.7",
    ),
  },
  pagePool: {
    fragments: fact(
      false,
      "net/core/page_pool.c: page_pool_alloc_frag",
      "pools arrived in 4.18, fragments in 5.15",
    ),
  },
  ixgbe: {
    rx: fact(
      "half-page-pull",
      "drivers/net/ethernet/intel/ixgbe/ixgbe_main.c: ixgbe_fetch_rx_buffer",
      TREE,
    ),
    headerSize: fact(
      256,
      "drivers/net/ethernet/intel/ixgbe/ixgbe.h: IXGBE_RX_HDR_SIZE",
      TREE,
    ),
  },
});
