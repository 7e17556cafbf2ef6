/** Linux 3.13: skb_page_frag_refill, mergeable virtio buffers for one MTU-sized frame, new buffer autotuning in TCP. @module */

import { linux_3_12 } from "./linux_3_12.ts";
import { fact, laterRelease, type Release } from "./release.ts";

const TREE = "v3.13.10 tree, by the specification";

/** Linux 3.13. */
export const linux_3_13: Release = laterRelease(linux_3_12, "3.13", {
  tcp: {
    initialRcvbuf: fact(
      "fixup, fourfold",
      "net/ipv4/tcp_input.c: tcp_fixup_rcvbuf",
      "v3.13.0 tree, by the specification",
    ),
    drs: fact(
      "doubling",
      "net/ipv4/tcp_input.c: tcp_rcv_space_adjust",
      "v3.13.0 tree, by the specification",
    ),
    sndbufPerMss: fact(
      "power of two",
      "net/ipv4/tcp_input.c: tcp_sndbuf_expand",
      "6ae705323, 3.13",
    ),
    sndbufInitCwnd: fact(
      true,
      "net/ipv4/tcp_input.c: tcp_sndbuf_expand",
      "6ae705323, 3.13",
    ),
    slowStart: fact(
      "acked",
      "net/ipv4/tcp_cong.c: tcp_slow_start",
      "9f9843a751d0, 3.13",
    ),
  },
  skbPageFrag: {
    name: fact(
      "skb_page_frag_refill",
      "net/core/sock.c: skb_page_frag_refill",
      TREE,
    ),
    fits: fact(
      "offset + sz <= size",
      "net/core/sock.c: skb_page_frag_refill",
      TREE,
    ),
    minimum: fact(32, "net/core/sock.c: sk_page_frag_refill", TREE),
    highOrderNoRetry: fact(
      true,
      "net/core/sock.c: skb_page_frag_refill",
      `${TREE}; a stable backport, not in 3.13.0`,
    ),
  },
  ip: {
    udpFragmentOffload: fact(
      "loopback, veth",
      "drivers/net/veth.c: VETH_FEATURES",
      "NETIF_F_UFO came with the tunnel features, 3.13; UNVERIFIED",
    ),
  },
  virtio: {
    mergeable: fact(
      "mtu",
      "drivers/net/virtio_net.c: MERGE_BUFFER_LEN",
      TREE,
    ),
    bufferMin: fact(
      (b) => Math.ceil((1518 + 12) / b.cacheLine) * b.cacheLine,
      "drivers/net/virtio_net.c: MERGE_BUFFER_LEN",
      TREE,
    ),
    coalesces: fact(true, "drivers/net/virtio_net.c: receive_mergeable", TREE),
    bigReceives: fact(true, "drivers/net/virtio_net.c: receive_big", TREE),
  },
});
