/** Linux 6.8, the base of the vhost_net page-frag thread. @module */

import type { Build } from "../kernel.ts";
import { alignUp } from "../sim/align.ts";
import { fact, laterRelease, type Release } from "./release.ts";
import { linux_6_1 } from "./linux_6_1.ts";
import { sharedInfoSize } from "./linux_3_12.ts";

const TREE = "v6.8.1 tree";
const LATER = "6.12.117 tree; since 6.8";

/**
 * Object size of `skbuff_small_head`, bytes: room for `room` and shared info, never a power of two, so that the
 * size alone tells a head of this cache from a kmalloc one.
 */
export function smallHeadSize(build: Build, room: number): number {
  const size = alignUp(room, build.cacheLine) + sharedInfoSize(build);
  return (size & (size - 1)) === 0 ? size + build.cacheLine : size;
}

/** Linux 6.8. */
export const linux_6_8: Release = laterRelease(linux_6_1, "6.8", {
  tcp: {
    space: fact(
      "scaling_ratio",
      "include/net/tcp.h: tcp_win_from_space",
      "6.8.1 tree, by the specification; dfa2f0483360, 6.6",
    ),
    scalingRatio: fact(
      (b) =>
        Math.trunc(
          (1200 * 256) /
            (4096 + alignUp(b.skBuff, b.cacheLine) + sharedInfoSize(b)),
        ),
      "include/net/tcp.h: TCP_DEFAULT_SCALING_RATIO",
      "6.8.1 tree, by the specification",
    ),
    advmssBeforeBuffers: fact(
      false,
      "net/ipv4/tcp_input.c: tcp_rcv_state_process",
      "6.8.1 tree, by the specification",
    ),
    rcvRtt: fact(
      "average",
      "net/ipv4/tcp_input.c: tcp_rcv_rtt_update",
      "6.8.1 tree, by the specification",
    ),
    noMemoryZeroWindow: fact(
      true,
      "net/ipv4/tcp_output.c: tcp_select_window",
      "6.8.1 tree, by the specification",
    ),
    ofoPrune: fact(
      "above the incoming",
      "net/ipv4/tcp_input.c: tcp_prune_ofo_queue",
      "6.8.1 tree, by the specification",
    ),
    backlogLimit: fact(
      "rcvbuf + sndbuf/2 + 64 KiB",
      "net/ipv4/tcp_ipv4.c: tcp_add_backlog",
      "6.8.1 tree, by the specification",
    ),
  },
  page: {
    maxOrder: fact(
      10,
      "include/linux/mmzone.h: MAX_PAGE_ORDER",
      "5e0a760b4441, merged for 6.8; inclusive since 6.4",
    ),
    pcpRefill: fact("scaled", "mm/page_alloc.c: nr_pcp_alloc", TREE),
  },
  slub: {
    orderSearch: fact(
      "more-waste",
      "mm/slub.c: calculate_order",
      "6.12 tree; since 6.7",
    ),
    partialsFrozen: fact(false, "mm/slub.c: __slab_free", LATER),
    refillCounted: fact(false, "mm/slub.c: ___slab_alloc", LATER),
    bulkPopsCounted: fact(
      true,
      "mm/slub.c: __kmem_cache_alloc_bulk",
      `${LATER}; UNVERIFIED for 6.8`,
    ),
    freeFastpathCounts: fact(
      "objects",
      "mm/slub.c: do_slab_free",
      `${LATER}; UNVERIFIED for 6.8`,
    ),
    slab: fact(
      false,
      "mm/slub.c: kmem_cache_alloc",
      "mm/slab.c was removed in 6.8",
    ),
  },
  napi: {
    restarts: fact(
      true,
      "net/core/dev.c: net_rx_action",
      "6.12.117 tree; since 6.4, UNVERIFIED",
    ),
  },
  skb: {
    skBuff: fact(
      232,
      "include/linux/skbuff.h: struct sk_buff",
      "between the BTFs of 6.1 and 6.18; UNVERIFIED",
    ),
    pagedFragsMax: fact(
      (b) => b.maxSkbFrags - 1,
      "net/core/skbuff.c: alloc_skb_with_frags",
      `${TREE}, by the specification`,
    ),
    smallHead: fact(
      (b) => smallHeadSize(b, b.maxTcpHeader),
      "net/core/skbuff.c: SKB_SMALL_HEAD_CACHE_SIZE",
      `${TREE}; since 6.3`,
    ),
  },
  skbPageFrag: {
    holder: fact("use-task-frag", "include/net/sock.h: sk_page_frag", TREE),
  },
  tun: {
    linear: fact(
      "one-page-head",
      "drivers/net/tun.c: tun_get_user",
      `${TREE}; since 6.6`,
    ),
    maxPageOrder: fact(3, "drivers/net/tun.c: tun_alloc_skb", TREE),
  },
  virtio: {
    dmaRecord: fact(
      16,
      "drivers/net/virtio_net.c: virtnet_rq_alloc",
      `${TREE}; only where the ring uses the DMA API`,
    ),
  },
}, { maxSkbFrags: () => 17 });
