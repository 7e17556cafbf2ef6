/** sk_buff heads in softirq context in Linux 3.12. @module */

import type { Facts, NapiFacts } from "../kernel.ts";
import { fact } from "./release.ts";

const NOT_YET = "napi_consume_skb and its cache arrived in 4.6";

/** Facts of 3.12's softirq context. */
export const napi_3_12: Facts<NapiFacts> = {
  skbCacheSize: fact(0, "net/core/skbuff.c: kfree_skb", NOT_YET),
  keptWhenFull: fact(0, "net/core/skbuff.c: kfree_skb", NOT_YET),
  bulkAlloc: fact(
    0,
    "net/core/skbuff.c: __netdev_alloc_skb",
    "__alloc_skb or build_skb, head by head",
  ),
  flush: fact("never", "net/core/dev.c: net_rx_action", NOT_YET),
  netTxDefers: fact(false, "net/core/dev.c: net_tx_action", NOT_YET),
  ixgbeFrees: fact(
    "dev_kfree_skb_any",
    "drivers/net/ethernet/intel/ixgbe/ixgbe_main.c: ixgbe_clean_tx_irq",
    "dev_consume_skb_any arrived in 3.14; UNVERIFIED",
  ),
  zeroBudget: fact(
    "dev_consume_skb_irq",
    "net/core/skbuff.c: napi_consume_skb",
    `as the thread posted it; ${NOT_YET}`,
  ),
  takesNull: fact(
    true,
    "net/core/skbuff.c: napi_consume_skb",
    `as the thread posted it; ${NOT_YET}`,
  ),
  warnsOutsideSoftirq: fact(
    false,
    "net/core/skbuff.c: napi_consume_skb",
    NOT_YET,
  ),
  groPuts: fact(
    false,
    "net/core/dev.c: napi_skb_finish",
    "kmem_cache_free before 5.12",
  ),
  netdevBudget: fact(
    300,
    "net/core/dev.c: netdev_budget",
    "the specification for 4.3, 6.1.192 tree; UNVERIFIED for 3.12",
  ),
  timeLimit: fact(
    "2 jiffies",
    "net/core/dev.c: net_rx_action",
    "the specification for 4.3; UNVERIFIED for 3.12",
  ),
  restarts: fact(
    false,
    "net/core/dev.c: net_rx_action",
    "not in the 6.1.192 tree",
  ),
  deferMax: fact(
    0,
    "net/core/dev.c: sysctl_skb_defer_max",
    "arrived in 5.19; UNVERIFIED",
  ),
};
