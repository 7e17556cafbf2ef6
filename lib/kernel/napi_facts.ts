/**
 * What differs between releases in the freeing and reuse of sk_buff heads in softirq context, as types; the values stand
 * in `lib/releases/`.
 *
 * @module
 */

/** Rules of net/core/skbuff.c and net/core/dev.c that the state machines ask for. */
export interface NapiFacts {
  /** `NAPI_SKB_CACHE_SIZE`: heads that a CPU's `skb_cache` holds; 0 where it does not exist (up to 4.5). */
  readonly skbCacheSize: number;
  /**
   * Heads that stay when the cache is full: 0 where all are freed (`__kfree_skb_defer`, 4.6 to 5.11), else
   * `NAPI_SKB_CACHE_HALF` (`napi_skb_cache_put`, 5.12+).
   */
  readonly keptWhenFull: number;
  /** Heads that `napi_alloc_skb` takes from the slab cache at once; 0: none, each is allocated by itself. */
  readonly bulkAlloc: number;
  /** When `__kfree_skb_flush` runs: never, at the end of `net_rx_action` but not when that returns early, or always. */
  readonly flush: "never" | "not on early return" | "every exit";
  /** Whether `net_tx_action` defers the heads of its completion queue. */
  readonly netTxDefers: boolean;
  /** What ixgbe calls for each transmitted packet. */
  readonly ixgbeFrees:
    | "dev_kfree_skb_any"
    | "dev_consume_skb_any"
    | "napi_consume_skb";
  /** What `napi_consume_skb` calls for a budget of 0. */
  readonly zeroBudget: "dev_consume_skb_irq" | "dev_consume_skb_any";
  /** Whether `napi_consume_skb` takes a null with a budget other than 0 (up to 5.10). */
  readonly takesNull: boolean;
  /** Whether `napi_consume_skb` warns outside of softirq context (`DEBUG_NET_WARN_ON_ONCE`, 6.0+). */
  readonly warnsOutsideSoftirq: boolean;
  /** Whether heads that GRO merged away go to the cache (`napi_skb_free_stolen_head`, 5.12+). */
  readonly groPuts: boolean;
  /** `netdev_budget`, packets of one `net_rx_action`. */
  readonly netdevBudget: number;
  /** Time limit of one `net_rx_action`: 2 jiffies, or `netdev_budget_usecs` (4.12+), which is 2 jiffies unless set. */
  readonly timeLimit: "2 jiffies" | "netdev_budget_usecs";
  /** Whether `net_rx_action` starts over when devices were scheduled meanwhile (`in_net_rx_action`, 6.4+). */
  readonly restarts: boolean;
  /** `sysctl_skb_defer_max`: heads that other CPUs may leave to the one that allocated them; 0: none (up to 5.18). */
  readonly deferMax: number;
}
