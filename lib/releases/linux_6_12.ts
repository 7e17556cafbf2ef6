/** Linux 6.12 (after the vhost_net page-frag thread, before the allocator moved to mm/page_frag_cache.c). @module */

import type { Build } from "../kernel.ts";
import { sharedInfoSize } from "./linux_3_12.ts";
import { linux_6_8, smallHeadSize } from "./linux_6_8.ts";
import { fact, laterRelease, type Release } from "./release.ts";

const TREE = "6.12.117 tree";

/**
 * `skbuff_small_head` where a GRO head (`MAX_HEADER` + 128, plus receive headroom) must fit as well. The rule takes
 * effect for a build that names its `maxHeader`; otherwise `maxTcpHeader` alone counts, as in 6.12.0.
 */
export function smallHeadOf(build: Build): number {
  const gro = build.maxHeader > 0
    ? build.maxHeader + 128 + Math.max(32, build.cacheLine)
    : 0;
  return smallHeadSize(build, Math.max(build.maxTcpHeader, gro));
}

/** Linux 6.12. */
export const linux_6_12: Release = laterRelease(linux_6_8, "6.12", {
  tcp: {
    initialWindow: fact(
      "all",
      "net/ipv4/tcp_output.c: tcp_select_initial_window",
      "378979e94e95, 6.11; the rows of tcp_initial.json (6.18)",
    ),
    drs: fact(
      "smooth, read only",
      "net/ipv4/tcp_input.c: tcp_rcv_space_adjust",
      "6.12.117 tree, by the specification",
    ),
    scalingRatio: fact(
      128,
      "include/net/tcp.h: TCP_DEFAULT_SCALING_RATIO",
      "6.12.117 tree, by the specification; 697a6c8cec03, 6.10",
    ),
    clampFollowsRatio: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_measure_rcv_mss",
      "6.12.117 tree, by the specification",
    ),
    advmssBeforeBuffers: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_rcv_state_process",
      "6.12.117; a change of 2025 that stable trees took",
    ),
    rcvRtt: fact(
      "minimum, average",
      "net/ipv4/tcp_input.c: tcp_rcv_rtt_update",
      "6.12.117; a change of 2025 that stable trees took",
    ),
    backlogLimit: fact(
      "2 rcvbuf + sndbuf/2 + 64 KiB",
      "net/ipv4/tcp_ipv4.c: tcp_add_backlog",
      "ec00ed472bdb, 6.10",
    ),
  },
  skb: {
    pagedFragsMax: fact(
      (b) => b.maxSkbFrags,
      "net/core/skbuff.c: alloc_skb_with_frags",
      TREE,
    ),
    smallHead: fact(
      smallHeadOf,
      "net/core/skbuff.c: SKB_SMALL_HEAD_SIZE",
      `${TREE}: the larger of MAX_TCP_HEADER and GRO_MAX_HEAD_PAD; 6.12.0 has MAX_TCP_HEADER alone`,
    ),
    netdevKmallocMax: fact(
      (b) => smallHeadOf(b) - sharedInfoSize(b),
      "net/core/skbuff.c: __netdev_alloc_skb",
      TREE,
    ),
    napiKmallocMax: fact(
      (b) => b.pageSize === 4096 ? 0 : smallHeadOf(b) - sharedInfoSize(b),
      "net/core/skbuff.c: napi_alloc_skb",
      TREE,
    ),
  },
  pageFragCache: {
    align: fact("align", "include/linux/gfp.h: page_frag_alloc_align", TREE),
    masksDirectReclaim: fact(
      true,
      "mm/page_alloc.c: __page_frag_cache_refill",
      TREE,
    ),
    drain: fact(true, "mm/page_alloc.c: page_frag_cache_drain", TREE),
  },
  slub: {
    freePointerOffset: fact(
      true,
      "include/linux/slab.h: struct kmem_cache_args",
      TREE,
    ),
  },
  udp: {
    udpSchedule: fact("shortfall", "net/ipv4/udp.c: udp_rmem_schedule", TREE),
  },
  vhost: {
    frag: fact(
      "page_frag_cache",
      "drivers/vhost/net.c: vhost_net_build_xdp",
      TREE,
    ),
    bias: fact(0, "drivers/vhost/net.c: vhost_net_build_xdp", TREE),
  },
  virtio: {
    dmaShortens: fact(
      true,
      "drivers/net/virtio_net.c: add_recvbuf_mergeable",
      TREE,
    ),
    dmaRecord: fact(
      16,
      "drivers/net/virtio_net.c: virtnet_rq_alloc",
      `${TREE}; only where the ring uses the DMA API`,
    ),
  },
});
