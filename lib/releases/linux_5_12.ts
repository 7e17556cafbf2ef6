/** Linux 5.12: heads that NAPI keeps for reuse. Read in later trees, dated by their commits. @module */

import { linux_4_6 } from "./linux_4_6.ts";
import { sharedInfoSize } from "./linux_3_12.ts";
import { fact, laterRelease, type Release } from "./release.ts";

const TREE = "6.1.192 tree";

/** Linux 5.12. */
export const linux_5_12: Release = laterRelease(linux_4_6, "5.12", {
  page: {
    coldPages: fact(
      false,
      "include/linux/gfp.h: __GFP_COLD",
      "removed in 4.15",
    ),
    pcpBatchCap: fact(
      (b) => 1024 * 1024 / b.pageSize,
      "mm/page_alloc.c: zone_batchsize",
      `${TREE}; since 4.19`,
    ),
    minFreeKbytesMax: fact(
      262144,
      "mm/page_alloc.c: calculate_min_free_kbytes",
      `${TREE}; UNVERIFIED for 5.12`,
    ),
  },
  slub: {
    kmallocNames: fact(
      "short",
      "mm/slab_common.c: kmalloc_info",
      `${TREE}; since 5.0`,
    ),
    bulkAllocBumpsTid: fact(
      true,
      "mm/slub.c: kmem_cache_alloc_bulk",
      `${TREE}; since 5.6 (fd4d9c7d0c71); UNVERIFIED for 5.12`,
    ),
    slabFreeLimit: fact(
      "after",
      "mm/slab.c: free_block",
      `${TREE}; UNVERIFIED for 5.12`,
    ),
  },
  napi: {
    keptWhenFull: fact(
      32,
      "net/core/skbuff.c: NAPI_SKB_CACHE_HALF",
      `${TREE}; since 5.12`,
    ),
    bulkAlloc: fact(
      16,
      "net/core/skbuff.c: NAPI_SKB_CACHE_BULK",
      `${TREE}; since 5.12`,
    ),
    flush: fact(
      "never",
      "net/core/dev.c: net_rx_action",
      `${TREE}; since 5.12`,
    ),
    takesNull: fact(
      false,
      "net/core/skbuff.c: napi_consume_skb",
      `${TREE}; a change of November 2020`,
    ),
    groPuts: fact(
      true,
      "net/core/skbuff.c: napi_skb_free_stolen_head",
      `${TREE}; since 5.12`,
    ),
    timeLimit: fact(
      "netdev_budget_usecs",
      "net/core/dev.c: net_rx_action",
      `${TREE}; since 4.12, UNVERIFIED`,
    ),
  },
  skb: {
    netdevKmallocMax: fact(
      (b) => 1024 - sharedInfoSize(b),
      "net/core/skbuff.c: __netdev_alloc_skb",
      `${TREE}; since 5.11`,
    ),
    condense: fact(
      true,
      "net/core/skbuff.c: skb_condense",
      `${TREE}; since 4.10`,
    ),
    napiKmallocMax: fact(
      (b) => 1024 - sharedInfoSize(b),
      "net/core/skbuff.c: __napi_alloc_skb",
      "since 5.11; 1 KiB fragments came in 6.1",
    ),
  },
  pageFragCache: {
    maxSize: fact(
      (b) => Math.max(32768, b.pageSize),
      "include/linux/mm_types.h: PAGE_FRAG_CACHE_MAX_SIZE",
      `${TREE}; since 4.2`,
    ),
    bias: fact(
      "constant",
      "mm/page_alloc.c: page_frag_alloc_align",
      `${TREE}; since 5.1`,
    ),
    biasValue: fact(
      (b) => Math.max(32768, b.pageSize) + 1,
      "include/linux/mm_types.h: PAGE_FRAG_CACHE_MAX_SIZE + 1",
      `${TREE}; since 5.1`,
    ),
    align: fact(
      "mask",
      "mm/page_alloc.c: page_frag_alloc_align",
      `${TREE}; since 5.12`,
    ),
    dropsPfmemalloc: fact(
      true,
      "mm/page_alloc.c: page_frag_alloc_align",
      `${TREE}; since 5.10`,
    ),
    roundsToCacheLine: fact(
      true,
      "net/core/skbuff.c: __netdev_alloc_frag_align",
      `${TREE}; UNVERIFIED for 5.12`,
    ),
  },
  skbPageFrag: {
    holder: fact(
      "not-in-reclaim",
      "include/net/sock.h: sk_page_frag",
      `${TREE}; since 5.4`,
    ),
    highOrderSysctl: fact(
      true,
      "net/core/sock.c: net_high_order_alloc_disable_key",
      `${TREE}; since 5.3`,
    ),
  },
  vhost: {
    frag: fact(
      "own-refill",
      "drivers/vhost/net.c: vhost_net_page_frag_refill",
      `${TREE}; since 4.20`,
    ),
    bias: fact(
      65535,
      "drivers/vhost/net.c: vhost_net_page_frag_refill",
      `${TREE}; since 5.2`,
    ),
  },
  udp: {
    full: fact(
      "rmem > rcvbuf",
      "net/ipv4/udp.c: __udp_enqueue_schedule_skb",
      `${TREE}; since 4.10`,
    ),
    giveBack: fact(
      "batched",
      "net/ipv4/udp.c: udp_rmem_release",
      `${TREE}; since 4.10`,
    ),
  },
  ip: {
    udpFragmentOffload: fact(
      "none",
      "net/ipv4/ip_output.c: __ip_append_data",
      "UFO was removed in 4.14",
    ),
    reassemblyCoalesces: fact(
      "both",
      "net/ipv4/inet_fragment.c: inet_frag_reasm_finish",
      `${TREE}; since 5.1`,
    ),
  },
  tcp: {
    ofoGrowsWindow: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_data_queue_ofo",
      TREE,
    ),
    rmem: fact(
      [4096, 131072, 6291456],
      "net/ipv4/tcp.c: tcp_init: sysctl_tcp_rmem",
      "a337531b942b, 4.20",
    ),
    initialRcvbuf: fact(
      "tcp_rmem[1]",
      "net/ipv4/tcp_input.c: tcp_init_buffer_space",
      "a337531b942b, 4.20",
    ),
    drs: fact("smooth", "net/ipv4/tcp_input.c: tcp_rcv_space_adjust", TREE),
    initialWindow: fact(
      "64 KiB",
      "net/ipv4/tcp_output.c: tcp_select_initial_window",
      "a337531b942b, 4.20",
    ),
    growRoom: fact(
      "fill",
      "net/ipv4/tcp_input.c: tcp_grow_window",
      `${TREE}; UNVERIFIED for 5.12`,
    ),
    spaceCountsBacklog: fact(true, "include/net/tcp.h: tcp_space", TREE),
    zeroWindowDrop: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_data_queue",
      `${TREE}; UNVERIFIED for 5.12`,
    ),
    pruneReturnsEarly: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_prune_queue",
      TREE,
    ),
    ofoPrune: fact(
      "eighths",
      "net/ipv4/tcp_input.c: tcp_prune_ofo_queue",
      `${TREE}; since 4.9`,
    ),
    collapseHeadroom: fact(false, "net/ipv4/tcp_input.c: tcp_collapse", TREE),
    backlogLimit: fact(
      "rcvbuf + sndbuf + 64 KiB",
      "net/ipv4/tcp_ipv4.c: tcp_add_backlog",
      `${TREE}; since 4.9`,
    ),
    backlogCoalesces: fact(
      true,
      "net/ipv4/tcp_ipv4.c: tcp_add_backlog",
      `${TREE}; since 4.20`,
    ),
    tsq: fact(
      "2 skbs or 1 ms",
      "net/ipv4/tcp_output.c: tcp_small_queue_check",
      TREE,
    ),
    gsoAlways: fact(
      true,
      "net/core/sock.c: sk_setup_caps",
      `${TREE}; since 4.17`,
    ),
    lossDetection: fact(
      "rack",
      "net/ipv4/tcp_recovery.c: tcp_rack_detect_loss",
      `${TREE}; the only one since 4.18`,
    ),
    lossProbe: fact(
      "2 rtt + 2 ms",
      "net/ipv4/tcp_output.c: tcp_schedule_loss_probe",
      "bb4d991a28cc, 4.12; in microseconds from 6.6 on",
    ),
    hystartDelayShift: fact(3, "net/ipv4/tcp_cubic.c: hystart_update", TREE),
    linear: fact(
      0,
      "net/ipv4/tcp.c: tcp_stream_alloc_skb",
      `${TREE}; since 4.16, UNVERIFIED`,
    ),
  },
  tun: {
    buildSkb: fact(
      true,
      "drivers/net/tun.c: tun_build_skb",
      `${TREE}; since 4.14`,
    ),
    napi: fact(
      true,
      "drivers/net/tun.c: tun_napi_alloc_frags",
      `${TREE}; since 4.15`,
    ),
  },
  virtio: {
    bufferAlign: fact(
      (b) => b.cacheLine,
      "drivers/net/virtio_net.c: get_mergeable_buf_len",
      `${TREE}; since 4.12`,
    ),
    countsHole: fact(
      true,
      "drivers/net/virtio_net.c: add_recvbuf_mergeable",
      `${TREE}; since 4.13`,
    ),
    minByRing: fact(
      true,
      "drivers/net/virtio_net.c: mergeable_min_buf_len",
      `${TREE}; since 4.12`,
    ),
    overlong: fact(
      "drops",
      "drivers/net/virtio_net.c: receive_mergeable",
      `${TREE}; since 4.12, UNVERIFIED`,
    ),
    small: fact(
      "build_skb",
      "drivers/net/virtio_net.c: receive_small",
      `${TREE}; since 4.13`,
    ),
    refillAbove: fact(
      "min(budget, ring)/2",
      "drivers/net/virtio_net.c: virtnet_receive",
      `${TREE}; UNVERIFIED for 5.12`,
    ),
  },
  ixgbe: {
    rx: fact(
      "build_skb",
      "drivers/net/ethernet/intel/ixgbe/ixgbe_main.c: ixgbe_build_skb",
      `${TREE}; since 4.12`,
    ),
  },
}, { cpus: 2, maxTcpHeader: 320, alignsMaxTcpHeader: true });
