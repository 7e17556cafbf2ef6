/**
 * What differs between releases in the freeing and reuse of sk_buff heads in softirq context, as data.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";

/** Rules of net/core/skbuff.c and net/core/dev.c that the state machines ask for. */
export interface NapiRules {
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

const BEFORE: NapiRules = {
  skbCacheSize: 0,
  keptWhenFull: 0,
  bulkAlloc: 0,
  flush: "never",
  netTxDefers: false,
  ixgbeFrees: "dev_kfree_skb_any",
  zeroBudget: "dev_consume_skb_irq",
  takesNull: true,
  warnsOutsideSoftirq: false,
  groPuts: false,
  netdevBudget: 300,
  timeLimit: "2 jiffies",
  restarts: false,
  deferMax: 0,
};

/** `dev_consume_skb_any` tells used packets from dropped ones (3.14+). */
const V3_14: NapiRules = { ...BEFORE, ixgbeFrees: "dev_consume_skb_any" };

/** Patches 1 to 3 of the thread, as merged. */
const V4_6: NapiRules = {
  ...BEFORE,
  skbCacheSize: 64,
  flush: "not on early return",
  netTxDefers: true,
  ixgbeFrees: "napi_consume_skb",
  zeroBudget: "dev_consume_skb_any",
};

const V5_12: NapiRules = {
  ...V4_6,
  keptWhenFull: 32,
  bulkAlloc: 16,
  flush: "never",
  takesNull: false,
  groPuts: true,
  timeLimit: "netdev_budget_usecs",
};

const V6_1: NapiRules = { ...V5_12, warnsOutsideSoftirq: true, deferMax: 64 };
const V6_8: NapiRules = { ...V6_1, restarts: true };

const BY_RELEASE: Record<string, NapiRules> = {
  "3.12": BEFORE,
  "3.13": BEFORE,
  "3.14": V3_14,
  "net-next-2013-10": BEFORE,
  "4.3": V3_14,
  "net-next-2015-10": V3_14,
  "4.6": V4_6,
  "5.12": V5_12,
  "6.1": V6_1,
  "6.8": V6_8,
  "6.12": V6_8,
  "6.18": V6_8,
};

/** What each patch of `lib/patches/kmem_cache_bulk.ts` changes. */
const BY_PATCH: Record<string, Partial<NapiRules>> = {
  bulkFreeInfrastructure: { skbCacheSize: 64, flush: "not on early return" },
  bulkFreeCompletionQueue: { netTxDefers: true },
  ixgbeBulkFree: { ixgbeFrees: "napi_consume_skb" },
  bulkAllocReuse: { bulkAlloc: 8 },
  flushOnEveryExit: { flush: "every exit" },
};

/** Rules of a release that is not listed: those of the newest listed one with the same facts. */
function nearest(kernel: Kernel): NapiRules {
  if (kernel.slub.orderSearch === "more-waste") return V6_8;
  return kernel.slub.cpuPartialInSlabs ? V6_1 : V5_12;
}

/**
 * The rules of a kernel: those of its release with its patches applied in order.
 *
 * @param kernel The kernel.
 * @returns The rules, a new record.
 *
 * @example Patch 4 of the thread lets receives take eight heads at once
 * ```ts
 * import { bulkAllocReuse, bulkFreeInfrastructure, kernel, napiRules } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("net-next-2015-10").am(bulkFreeInfrastructure);
 * assertEquals(napiRules(base).bulkAlloc, 0);
 * assertEquals(napiRules(base.am(bulkAllocReuse)).bulkAlloc, 8);
 * ```
 */
export function napiRules(kernel: Kernel): NapiRules {
  let rules = BY_RELEASE[kernel.name] ?? nearest(kernel);
  for (const patch of kernel.patches) {
    const change = BY_PATCH[patch];
    if (change !== undefined) rules = { ...rules, ...change };
  }
  return rules;
}
