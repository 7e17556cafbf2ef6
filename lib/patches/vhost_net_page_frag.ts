/**
 * The five patches of "remove page frag implementation in vhost_net" (Yunsheng Lin, version 4 of 30 January 2024; version 6
 * was merged for 6.9), and the rewrite of 6.13 that came after them.
 *
 * @module
 */

import type { Fact, FactChanges, Kernel, Patch } from "../kernel.ts";
import { definePatch } from "./define_patch.ts";

const THREAD = "vhost-net-page-frag";
const DATE = "2024-01-30";
const POSTED = "version 4 as posted; 6.12 tree";

type Fits = (kernel: Kernel) => string | undefined;

function seriesPatch(
  name: string,
  subject: string,
  fits: Fits,
  changes: FactChanges,
): Patch {
  return definePatch({
    name,
    subject: `[PATCH net-next v4 ${subject}`,
    date: DATE,
    thread: THREAD,
    fits,
    changes,
  });
}

function fact<T>(
  value: T,
  file: string,
  symbol: string,
  origin = POSTED,
): Fact<T> {
  return { value, file, symbol, origin };
}

/** The cache of 5.1 and later, whose refills these patches change. */
const isCache: Fits = ({ pageFragCache }) =>
  pageFragCache.bias === "constant" && pageFragCache.refcount === "add"
    ? undefined
    : "its page_frag_cache is older than what the series is written against";

/**
 * Patch 1: `page_frag_alloc_align` takes an alignment instead of a mask, and checks that it is a power of two. The mask goes
 * on as `__page_frag_alloc_align`. Fragments lie where they lay.
 *
 * @example
 * ```ts
 * import { kernel, pageFragAlignArgument } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("6.8").am(pageFragAlignArgument).pageFragCache.align, "align");
 * ```
 */
export const pageFragAlignArgument: Patch = seriesPatch(
  "pageFragAlignArgument",
  "1/5] mm/page_alloc: modify page_frag_alloc_align() to accept align as an argument",
  ({ pageFragCache: { align } }) =>
    align === "none"
      ? "there is no page_frag_alloc_align yet"
      : align === "align"
      ? "already merged"
      : undefined,
  {
    pageFragCache: {
      align: fact("align", "include/linux/gfp.h", "page_frag_alloc_align"),
    },
  },
);

/**
 * Patch 2: the order-3 attempt of `page_frag_cache` gives up direct reclaim, as the two other implementations did.
 *
 * Version 4 also gave theirs `__GFP_NOMEMALLOC`, which only the cache had: vhost_net's request never carries
 * `__GFP_MEMALLOC` and its refill goes with patch 4, and the change to net/core/sock.c was taken back in version 5 at Paolo
 * Abeni's request. Neither is a fact here.
 *
 * @example A sleeping caller no longer reclaims for a block that it can do without
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageFragCache, pageFragGfpBits } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("6.8");
 * const stalls = [base, base.am(pageFragGfpBits)].map((k) => {
 *   const pages = new PageAllocator(k);
 *   pages.fragment({ order: 3 });
 *   new PageFragCache(pages).alloc(768, Gfp.GFP_KERNEL);
 *   return pages.counters.allocstall;
 * });
 * assertEquals(stalls, [1, 0]);
 * ```
 */
export const pageFragGfpBits: Patch = seriesPatch(
  "pageFragGfpBits",
  "2/5] page_frag: unify gfp bits for order 3 page allocation",
  (kernel) =>
    kernel.pageFragCache.masksDirectReclaim
      ? "already merged"
      : isCache(kernel),
  {
    pageFragCache: {
      masksDirectReclaim: fact(
        true,
        "mm/page_alloc.c",
        "__page_frag_cache_refill",
      ),
    },
  },
);

/**
 * Patch 3: `page_frag_cache_drain`, for four drivers that gave up a cache's block by hand; see
 * {@linkcode PageFragClient}.
 *
 * @example
 * ```ts
 * import { kernel, pageFragAlignArgument, pageFragCacheDrain, pageFragGfpBits } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(kernel("6.8").am(pageFragAlignArgument, pageFragGfpBits, pageFragCacheDrain).pageFragCache.drain);
 * ```
 */
export const pageFragCacheDrain: Patch = seriesPatch(
  "pageFragCacheDrain",
  "3/5] net: introduce page_frag_cache_drain()",
  (kernel) => kernel.pageFragCache.drain ? "already merged" : isCache(kernel),
  {
    pageFragCache: {
      drain: fact(true, "mm/page_alloc.c", "page_frag_cache_drain"),
    },
  },
);

/**
 * Patch 4: vhost_net takes its buffers from a `page_frag_cache`, so that a block whose packets are all gone is started again
 * in place. It passes an alignment and drains the cache when the device is closed, so it needs patches 1 and 3.
 *
 * @example What the series is about, and what it needs
 * ```ts
 * import { kernel, pageFragAlignArgument, pageFragCacheDrain, runVhostNetTest, vhostPageFrag } from "@truesize/lab";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const base = kernel("6.8");
 * assertThrows(() => base.am(vhostPageFrag), Error, "pageFragAlignArgument");
 * const patched = base.am(pageFragAlignArgument, pageFragCacheDrain, vhostPageFrag);
 * assertEquals(runVhostNetTest({ kernel: patched, packets: 420 }).order3Allocations, 1);
 * ```
 */
export const vhostPageFrag: Patch = seriesPatch(
  "vhostPageFrag",
  "4/5] vhost/net: remove vhost_net_page_frag_refill()",
  ({ vhost, pageFragCache }) => {
    if (vhost.frag === "none") {
      return "there is no vhost_net_page_frag_refill yet";
    }
    if (vhost.frag === "page_frag_cache") return "already merged";
    if (pageFragCache.align !== "align") {
      return "it passes an alignment, not a mask: apply pageFragAlignArgument first";
    }
    if (!pageFragCache.drain) {
      return "it calls page_frag_cache_drain: apply pageFragCacheDrain first";
    }
    return undefined;
  },
  {
    vhost: {
      frag: fact(
        "page_frag_cache",
        "drivers/vhost/net.c",
        "vhost_net_build_xdp",
      ),
      bias: fact(0, "drivers/vhost/net.c", "vhost_net_build_xdp"),
    },
  },
);

/**
 * Patch 5: the tool that {@linkcode runVhostNetTest} models; nothing in the kernel changes. It runs on any kernel whose vhost_net
 * takes page fragments.
 *
 * @example
 * ```ts
 * import { kernel, vhostNetTest } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("6.8").am(vhostNetTest).patches, ["vhostNetTest"]);
 * ```
 */
export const vhostNetTest: Patch = seriesPatch(
  "vhostNetTest",
  "5/5] tools: virtio: introduce vhost_net_test",
  ({ vhost, patches }) =>
    vhost.frag === "none"
      ? "its vhost_net takes no page fragments, which the tool is about"
      : vhost.frag === "page_frag_cache" && !patches.includes("vhostPageFrag")
      ? "already merged"
      : undefined,
  {},
);

/**
 * The series in order.
 *
 * @example
 * ```ts
 * import { kernel, vhostNetPageFragSeries } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const series = vhostNetPageFragSeries;
 * assertEquals(kernel("6.8").am(...series).vhost.frag, "page_frag_cache");
 * ```
 */
export const vhostNetPageFragSeries: readonly Patch[] = Object.freeze([
  pageFragAlignArgument,
  pageFragGfpBits,
  pageFragCacheDrain,
  vhostPageFrag,
  vhostNetTest,
]);

/**
 * 8218f62c9c9b: fragments go up from offset 0 again (6.13), which versions 1 and 2 of the series had as their third patch;
 * with it a request over a page is refused as soon as the block is used up. The day is UNVERIFIED.
 *
 * @example
 * ```ts
 * import { kernel, pageFragZeroOffset } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("6.12").am(pageFragZeroOffset).pageFragCache.direction, "up");
 * ```
 */
export const pageFragZeroOffset: Patch = definePatch({
  name: "pageFragZeroOffset",
  subject: "mm: page_frag: use initial zero offset for page_frag_alloc_align()",
  date: "2024-10",
  thread: THREAD,
  fits: ({ pageFragCache }) =>
    pageFragCache.direction === "up"
      ? pageFragCache.drain
        ? "already merged"
        : "its page_frag_cache is older than what the patch is written against"
      : pageFragCache.drain
      ? undefined
      : "it builds on page_frag_cache_drain: apply pageFragCacheDrain first",
  changes: {
    pageFragCache: {
      direction: fact(
        "up",
        "mm/page_frag_cache.c",
        "__page_frag_alloc_align",
        "torvalds tree; since 6.13",
      ),
      tooLarge: fact(
        "null-over-page",
        "mm/page_frag_cache.c",
        "__page_frag_alloc_align",
        "torvalds tree; since 6.13",
      ),
    },
  },
});
