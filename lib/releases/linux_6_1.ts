/** Linux 6.1 (6.1.192, the long-term tree that was measured). @module */

import { fact, laterRelease, type Release } from "./release.ts";
import { linux_4_3 } from "./linux_4_3.ts";
import { sharedInfoSize } from "./linux_3_12.ts";

const TREE = "6.1.192 tree";

/** Linux 6.1.192. */
export const linux_6_1: Release = laterRelease(linux_4_3, "6.1", {
  page: {
    coldPages: fact(
      false,
      "include/linux/gfp.h: __GFP_COLD",
      "removed in 4.15",
    ),
    pcpMaxOrder: fact(
      3,
      "mm/page_alloc.c: pcp_allowed_order",
      `${TREE}; since 5.14`,
    ),
    pcpBatchCap: fact(
      (b) => 1024 * 1024 / b.pageSize,
      "mm/page_alloc.c: zone_batchsize",
      TREE,
    ),
    pcpHigh: fact("low-mark", "mm/page_alloc.c: zone_highsize", TREE),
    watermark: fact(
      "order-0",
      "mm/page_alloc.c: __zone_watermark_ok",
      `${TREE}; since 4.4`,
    ),
    watermarkGap: fact(
      "scale-factor",
      "mm/page_alloc.c: __setup_per_zone_wmarks",
      `${TREE}; since 4.6`,
    ),
    minFreeKbytesMax: fact(
      262144,
      "mm/page_alloc.c: calculate_min_free_kbytes",
      TREE,
    ),
    atomicByNoWait: fact(
      false,
      "mm/page_alloc.c: gfp_to_alloc_flags",
      `${TREE}; since 4.4`,
    ),
  },
  slub: {
    cpuPartial: fact([6, 24, 52, 120], "mm/slub.c: set_cpu_partial", TREE),
    cpuPartialInSlabs: fact(
      true,
      "mm/slub.c: slub_set_cpu_partial",
      `${TREE}; since 5.16`,
    ),
    kmallocNames: fact("short", "mm/slab_common.c: kmalloc_info", TREE),
  },
  skb: {
    skBuff: fact(
      232,
      "include/linux/skbuff.h: struct sk_buff",
      "BTF of Debian 6.1 amd64",
    ),
    skBuffFclones: fact(
      472,
      "include/linux/skbuff.h: struct sk_buff_fclones",
      "BTF of Debian 6.1 amd64",
    ),
    sharedInfoHeader: fact(
      48,
      "include/linux/skbuff.h: struct skb_shared_info",
      "BTF of Debian 6.1 amd64",
    ),
    netdevKmallocMax: fact(
      (b) => 1024 - sharedInfoSize(b, 48, 16),
      "net/core/skbuff.c: __netdev_alloc_skb",
      `${TREE}; since 5.11`,
    ),
    napiKmallocMax: fact(
      (b) => b.pageSize === 4096 ? 0 : 1024 - sharedInfoSize(b, 48, 16),
      "net/core/skbuff.c: __napi_alloc_skb",
      TREE,
    ),
    napiSmallFrag: fact(
      (b) => b.pageSize === 4096,
      "net/core/skbuff.c: NAPI_HAS_SMALL_PAGE_FRAG",
      TREE,
    ),
    condense: fact(true, "net/core/skbuff.c: skb_condense", TREE),
  },
  pageFragCache: {
    bias: fact(
      "constant",
      "mm/page_alloc.c: page_frag_alloc_align",
      `${TREE}; since 5.1`,
    ),
    biasValue: fact(
      (b) => Math.max(32768, b.pageSize) + 1,
      "include/linux/mm_types.h: PAGE_FRAG_CACHE_MAX_SIZE",
      TREE,
    ),
    align: fact("mask", "mm/page_alloc.c: page_frag_alloc_align", TREE),
    dropsPfmemalloc: fact(
      true,
      "mm/page_alloc.c: page_frag_alloc_align",
      `${TREE}; since 5.10`,
    ),
    tooLarge: fact(
      "null",
      "mm/page_alloc.c: page_frag_alloc_align",
      `${TREE}; since 6.0`,
    ),
    roundsToCacheLine: fact(
      true,
      "net/core/skbuff.c: __netdev_alloc_frag_align",
      TREE,
    ),
  },
  skbPageFrag: {
    holder: fact("not-in-reclaim", "include/net/sock.h: sk_page_frag", TREE),
    highOrderSysctl: fact(
      true,
      "net/core/sock.c: net_high_order_alloc_disable_key",
      TREE,
    ),
  },
  vhost: {
    frag: fact(
      "own-refill",
      "drivers/vhost/net.c: vhost_net_page_frag_refill",
      TREE,
    ),
    bias: fact(65535, "drivers/vhost/net.c: vhost_net_page_frag_refill", TREE),
  },
  udp: {
    full: fact(
      "rmem > rcvbuf",
      "net/ipv4/udp.c: __udp_enqueue_schedule_skb",
      TREE,
    ),
    giveBack: fact("batched", "net/ipv4/udp.c: udp_rmem_release", TREE),
  },
  ip: {
    pagedLarge: fact(true, "net/ipv4/ip_output.c: __ip_append_data", TREE),
    udpFragmentOffload: fact(
      false,
      "net/ipv4/ip_output.c: __ip_append_data",
      "UFO was removed in 4.14",
    ),
    reassemblyCoalesces: fact(
      "both",
      "net/ipv4/inet_fragment.c: inet_frag_reasm_finish",
      TREE,
    ),
  },
  tcp: {
    linear: fact(0, "net/ipv4/tcp.c: tcp_stream_alloc_skb", TREE),
  },
  tun: {
    buildSkb: fact(true, "drivers/net/tun.c: tun_build_skb", TREE),
    napi: fact(true, "drivers/net/tun.c: tun_napi_alloc_frags", TREE),
  },
  virtio: {
    bufferAlign: fact(
      (b) => b.cacheLine,
      "drivers/net/virtio_net.c: get_mergeable_buf_len",
      TREE,
    ),
    refillAbove: fact(
      "min(budget, ring)/2",
      "drivers/net/virtio_net.c: virtnet_receive",
      TREE,
    ),
    countsHole: fact(
      true,
      "drivers/net/virtio_net.c: add_recvbuf_mergeable",
      TREE,
    ),
    buildSkb: fact(true, "drivers/net/virtio_net.c: page_to_skb", TREE),
    pull: fact(
      "ethernet-header",
      "drivers/net/virtio_net.c: page_to_skb",
      TREE,
    ),
    small: fact("build_skb", "drivers/net/virtio_net.c: receive_small", TREE),
  },
  pagePool: {
    fragments: fact(true, "net/core/page_pool.c: page_pool_alloc_frag", TREE),
  },
  ixgbe: {
    rx: fact(
      "build_skb",
      "drivers/net/ethernet/intel/ixgbe/ixgbe_main.c: ixgbe_build_skb",
      TREE,
    ),
  },
}, { maxTcpHeader: 320, alignsMaxTcpHeader: true });
