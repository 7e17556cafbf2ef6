/**
 * The four patches of "net: mitigating kmem_cache slowpath for network stack in NAPI context" (Jesper Dangaard Brouer,
 * October 2015), and the one that mended the first of them a year later. The first three were merged for 4.6.
 *
 * @module
 */

import type { Fact, Kernel, NapiFacts, Patch } from "../kernel.ts";
import { definePatch } from "./define_patch.ts";

const THREAD = "kmem-cache-bulk";

const SKBUFF = "net/core/skbuff.c";
const DEV = "net/core/dev.c";

function fact<T>(value: T, file: string, symbol: string): Fact<T> {
  return {
    value,
    file,
    symbol,
    origin: "the patch as posted, by the specification",
  };
}

function fits(
  merged: (napi: NapiFacts) => boolean,
  needsCache: boolean,
): (kernel: Kernel) => string | undefined {
  return (kernel) => {
    if (merged(kernel.napi)) {
      return "already merged, or replaced by what came later";
    }
    if (needsCache && kernel.napi.skbCacheSize === 0) {
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
      : fits((r) => r.skbCacheSize > 0, false)(
        kernel,
      ),
  changes: {
    napi: {
      skbCacheSize: fact(64, SKBUFF, "NAPI_SKB_CACHE_SIZE"),
      flush: fact("not on early return", DEV, "net_rx_action"),
    },
  },
});

/**
 * Patch 2: `net_tx_action` defers the heads that were freed with interrupts off, and flushes.
 *
 * @example
 * ```ts
 * import { bulkFreeCompletionQueue, bulkFreeInfrastructure, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("net-next-2015-10");
 * assertEquals(base.am(bulkFreeInfrastructure, bulkFreeCompletionQueue).patches.length, 2);
 * ```
 */
export const bulkFreeCompletionQueue: Patch = definePatch({
  name: "bulkFreeCompletionQueue",
  subject:
    "[PATCH 2/4] net: bulk free SKBs that were delay free'ed due to IRQ context",
  date: "2015-10-23",
  thread: THREAD,
  fits: fits((r) => r.netTxDefers, true),
  changes: {
    napi: { netTxDefers: fact(true, DEV, "net_tx_action") },
  },
});

/**
 * Patch 3: ixgbe calls `napi_consume_skb` for what it has transmitted.
 *
 * @example
 * ```ts
 * import { bulkFreeInfrastructure, ixgbeBulkFree, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("net-next-2015-10").am(bulkFreeInfrastructure);
 * assertEquals(base.am(ixgbeBulkFree).napi.ixgbeFrees, "napi_consume_skb");
 * ```
 */
export const ixgbeBulkFree: Patch = definePatch({
  name: "ixgbeBulkFree",
  subject:
    "[PATCH 3/4] ixgbe: bulk free SKBs during TX completion cleanup cycle",
  date: "2015-10-23",
  thread: THREAD,
  fits: fits(
    (r) => r.ixgbeFrees === "napi_consume_skb",
    true,
  ),
  changes: {
    napi: {
      ixgbeFrees: fact(
        "napi_consume_skb",
        "drivers/net/ethernet/intel/ixgbe/ixgbe_main.c",
        "ixgbe_clean_tx_irq",
      ),
    },
  },
});

/**
 * Patch 4: `napi_alloc_skb` takes heads from the stack, and eight at once from the slab cache when it is empty.
 *
 * @example
 * ```ts
 * import { bulkAllocReuse, bulkFreeInfrastructure, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("net-next-2015-10").am(bulkFreeInfrastructure);
 * assertEquals(base.napi.bulkAlloc, 0);
 * assertEquals(base.am(bulkAllocReuse).napi.bulkAlloc, 8);
 * ```
 */
export const bulkAllocReuse: Patch = definePatch({
  name: "bulkAllocReuse",
  subject: "[PATCH 4/4] net: bulk alloc and reuse of SKBs in NAPI context",
  date: "2015-10-23",
  thread: THREAD,
  fits: fits((r) => r.bulkAlloc > 0, true),
  changes: {
    napi: { bulkAlloc: fact(8, SKBUFF, "napi_alloc_skb") },
  },
});

/**
 * f52dffe049ee: the stack is flushed on every way out of `net_rx_action`, the early return too. First in 4.10; the day
 * is UNVERIFIED.
 *
 * @example
 * ```ts
 * import { flushOnEveryExit, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([kernel("4.6").napi.flush, kernel("4.6").am(flushOnEveryExit).napi.flush], ["not on early return", "every exit"]);
 * ```
 */
export const flushOnEveryExit: Patch = definePatch({
  name: "flushOnEveryExit",
  subject: "net: properly flush delay-freed skbs",
  date: "2016-11",
  thread: THREAD,
  fits: fits((r) => r.keptWhenFull > 0, true),
  changes: {
    napi: {
      flush: {
        value: "every exit",
        file: DEV,
        symbol: "net_rx_action",
        origin: "the specification: f52dffe049ee",
      },
    },
  },
});
