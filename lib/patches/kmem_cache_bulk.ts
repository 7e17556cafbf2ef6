/**
 * The four patches of "net: mitigating kmem_cache slowpath for network stack in NAPI context" (Jesper Dangaard Brouer,
 * October 2015), and the one that mended the first of them a year later. The first three were merged for 4.6.
 *
 * @module
 */

import type { Kernel, Patch } from "../kernel.ts";
import { type NapiRules, napiRules } from "../net/napi_rules.ts";
import { definePatch } from "./define_patch.ts";

const THREAD = "kmem-cache-bulk";

function fits(
  name: string,
  merged: (rules: NapiRules) => boolean,
  needsCache: boolean,
): (kernel: Kernel) => string | undefined {
  return (kernel) => {
    if (kernel.patches.includes(name)) return "it is applied already";
    const rules = napiRules(kernel);
    if (merged(rules)) return "already merged, or replaced by what came later";
    if (needsCache && rules.skbCacheSize === 0) {
      return "it uses what bulkFreeInfrastructure adds: apply that first";
    }
    return undefined;
  };
}

/** Whether `dev_consume_skb_irq` and `napi_alloc_skb` exist (3.19+): what the series is written against. */
const tooOld = (kernel: Kernel): boolean =>
  kernel.pageFragCache.direction === "up" &&
  kernel.pageFragCache.tooLarge === "loops";

/**
 * Patch 1: `napi_consume_skb`, and a stack of 64 heads for each CPU that `kmem_cache_free_bulk` empties when it is full
 * and when `net_rx_action` ends by leaving its loop.
 *
 * @example It fits the thread's base, not what has it already
 * ```ts
 * import { bulkFreeInfrastructure, kernel } from "@truesize/lab";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(kernel("net-next-2015-10").am(bulkFreeInfrastructure).patches, ["bulkFreeInfrastructure"]);
 * assertThrows(() => kernel("6.12").am(bulkFreeInfrastructure), Error, "already merged");
 * ```
 */
export const bulkFreeInfrastructure: Patch = definePatch({
  name: "bulkFreeInfrastructure",
  subject:
    "[PATCH 1/4] net: bulk free infrastructure for NAPI context, use napi_consume_skb",
  date: "2015-10-23",
  thread: THREAD,
  fits: (kernel) =>
    tooOld(kernel)
      ? "there is no napi_alloc_skb yet"
      : fits("bulkFreeInfrastructure", (r) => r.skbCacheSize > 0, false)(
        kernel,
      ),
  changes: {},
});

/** Patch 2: `net_tx_action` defers the heads that were freed with interrupts off, and flushes. */
export const bulkFreeCompletionQueue: Patch = definePatch({
  name: "bulkFreeCompletionQueue",
  subject:
    "[PATCH 2/4] net: bulk free SKBs that were delay free'ed due to IRQ context",
  date: "2015-10-23",
  thread: THREAD,
  fits: fits("bulkFreeCompletionQueue", (r) => r.netTxDefers, true),
  changes: {},
});

/** Patch 3: ixgbe calls `napi_consume_skb` for what it has transmitted. */
export const ixgbeBulkFree: Patch = definePatch({
  name: "ixgbeBulkFree",
  subject:
    "[PATCH 3/4] ixgbe: bulk free SKBs during TX completion cleanup cycle",
  date: "2015-10-23",
  thread: THREAD,
  fits: fits(
    "ixgbeBulkFree",
    (r) => r.ixgbeFrees === "napi_consume_skb",
    true,
  ),
  changes: {},
});

/** Patch 4: `napi_alloc_skb` takes heads from the stack, and eight at once from the slab cache when it is empty. */
export const bulkAllocReuse: Patch = definePatch({
  name: "bulkAllocReuse",
  subject: "[PATCH 4/4] net: bulk alloc and reuse of SKBs in NAPI context",
  date: "2015-10-23",
  thread: THREAD,
  fits: fits("bulkAllocReuse", (r) => r.bulkAlloc > 0, true),
  changes: {},
});

/**
 * f52dffe049ee: the stack is flushed on every way out of `net_rx_action`, the early return too. First in 4.10; the day
 * is UNVERIFIED.
 */
export const flushOnEveryExit: Patch = definePatch({
  name: "flushOnEveryExit",
  subject: "net: properly flush delay-freed skbs",
  date: "2016-11",
  thread: THREAD,
  fits: fits("flushOnEveryExit", (r) => r.keptWhenFull > 0, true),
  changes: {},
});
