/** Linux 6.1 (6.1.192, the long-term tree that was measured). @module */

import { fact, laterRelease, type Release } from "./release.ts";
import { linux_5_12 } from "./linux_5_12.ts";
import { sharedInfoSize } from "./linux_3_12.ts";

const TREE = "6.1.192 tree";

/** Linux 6.1.192. */
export const linux_6_1: Release = laterRelease(linux_5_12, "6.1", {
  tcp: {
    advmssBeforeBuffers: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_rcv_state_process",
      "6.1.192; a change of 2025 that stable trees took",
    ),
    growIgnoresHead: fact(true, "net/ipv4/tcp_input.c: truesize_adjust", TREE),
    rcvRtt: fact(
      "minimum, average",
      "net/ipv4/tcp_input.c: tcp_rcv_rtt_update",
      "6.1.192; a change of 2025 that stable trees took",
    ),
    backlogLimit: fact(
      "2 rcvbuf + sndbuf/2 + 64 KiB",
      "net/ipv4/tcp_ipv4.c: tcp_add_backlog",
      "6.1.192; ec00ed472bdb, 6.10, taken by stable trees",
    ),
    autosizeByRtt: fact(
      true,
      "net/ipv4/tcp_output.c: tcp_tso_autosize",
      `${TREE}; since 5.18`,
    ),
  },
  page: {
    pcpMaxOrder: fact(
      3,
      "mm/page_alloc.c: pcp_allowed_order",
      `${TREE}; since 5.14`,
    ),
    pcpHigh: fact("low-mark", "mm/page_alloc.c: zone_highsize", TREE),
  },
  slub: {
    cpuPartial: fact([6, 24, 52, 120], "mm/slub.c: set_cpu_partial", TREE),
    cpuPartialInSlabs: fact(
      true,
      "mm/slub.c: slub_set_cpu_partial",
      `${TREE}; since 5.16`,
    ),
    slowpathCountedBy: fact("slow path", "mm/slub.c: ___slab_alloc", TREE),
    bulkAlloc: fact(
      "unlocked",
      "mm/slub.c: kmem_cache_alloc_bulk",
      `${TREE}; since 5.15`,
    ),
    bulkAllocUndo: fact("bulk", "mm/slub.c: kmem_cache_alloc_bulk", TREE),
    deactivationBumpsTid: fact(
      true,
      "mm/slub.c: ___slab_alloc",
      `${TREE}; since 6.0`,
    ),
    bulkFree: fact(
      "detached, swap",
      "mm/slub.c: build_detached_freelist",
      `${TREE}; since 5.17, UNVERIFIED`,
    ),
    bulkFreeOfNone: fact("silent", "mm/slub.c: kmem_cache_free_bulk", TREE),
    bulkFreeOfNull: fact("bug", "mm/slub.c: build_detached_freelist", TREE),
    deactivate: fact("spliced", "mm/slub.c: deactivate_slab", TREE),
  },
  napi: {
    warnsOutsideSoftirq: fact(
      true,
      "net/core/skbuff.c: napi_consume_skb",
      TREE,
    ),
    deferMax: fact(64, "net/core/dev.c: sysctl_skb_defer_max", TREE),
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
    napiKmallocMax: fact(
      (b) => b.pageSize === 4096 ? 0 : 1024 - sharedInfoSize(b),
      "net/core/skbuff.c: __napi_alloc_skb",
      TREE,
    ),
    napiSmallFrag: fact(
      (b) => b.pageSize === 4096,
      "net/core/skbuff.c: NAPI_HAS_SMALL_PAGE_FRAG",
      TREE,
    ),
  },
  pageFragCache: {
    tooLarge: fact(
      "null",
      "mm/page_alloc.c: page_frag_alloc_align",
      `${TREE}; since 6.0`,
    ),
  },
  udp: {
    sockSchedule: fact(
      "shortfall",
      "include/net/sock.h: __sk_rmem_schedule",
      TREE,
    ),
    sockReclaim: fact(
      "whole pages",
      "include/net/sock.h: sk_mem_reclaim",
      TREE,
    ),
  },
  ip: {
    pagedLarge: fact(true, "net/ipv4/ip_output.c: __ip_append_data", TREE),
  },
  virtio: {
    buildSkb: fact(true, "drivers/net/virtio_net.c: page_to_skb", TREE),
    pull: fact(
      "ethernet-header",
      "drivers/net/virtio_net.c: page_to_skb",
      TREE,
    ),
  },
  pagePool: {
    fragments: fact(true, "net/core/page_pool.c: page_pool_alloc_frag", TREE),
  },
});
