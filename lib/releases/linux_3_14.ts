/** Linux 3.14: virtio sizes its buffers by a moving average, atomic callers may have large fragments. @module */

import { linux_3_13 } from "./linux_3_13.ts";
import { fact, laterRelease, type Release } from "./release.ts";

const TREE = "v3.14.1 tree, by the specification";

/** Linux 3.14: TCP's buffers as in 3.13. */
export const linux_3_14: Release = laterRelease(linux_3_13, "3.14", {
  napi: {
    ixgbeFrees: fact(
      "dev_consume_skb_any",
      "drivers/net/ethernet/intel/ixgbe/ixgbe_main.c: ixgbe_clean_tx_irq",
      "what the bulk thread's patch 3 replaces; since 3.14",
    ),
  },
  skbPageFrag: {
    orders: fact("descend", "net/core/sock.c: skb_page_frag_refill", TREE),
  },
  virtio: {
    mergeable: fact(
      "ewma",
      "drivers/net/virtio_net.c: get_mergeable_buf_len",
      TREE,
    ),
    bufferMin: fact(1518, "drivers/net/virtio_net.c: GOOD_PACKET_LEN", TREE),
    bufferAlign: fact(
      256,
      "drivers/net/virtio_net.c: MERGEABLE_BUFFER_ALIGN",
      TREE,
    ),
    overlong: fact(
      "charged",
      "drivers/net/virtio_net.c: receive_mergeable",
      TREE,
    ),
  },
});
