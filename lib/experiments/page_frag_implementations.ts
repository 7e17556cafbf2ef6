/**
 * The three page-fragment allocators that stood side by side until 6.8, under one load.
 *
 * @module
 */

import { VhostNetPageFrag } from "../drivers/vhost_net_page_frag.ts";
import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { PageFrag } from "../mm/page_frag.ts";
import { PageFragCache } from "../mm/page_frag_cache.ts";
import { whole } from "../sim/check.ts";

/** Who cuts fragments: receive buffers, senders, vhost_net. */
export type PageFragImplementation =
  | "page_frag_cache"
  | "skb_page_frag_refill"
  | "vhost_net";

/**
 * Their names.
 *
 * @example
 * ```ts
 * import { PAGE_FRAG_IMPLEMENTATIONS } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(PAGE_FRAG_IMPLEMENTATIONS.length, 3);
 * ```
 */
export const PAGE_FRAG_IMPLEMENTATIONS: readonly PageFragImplementation[] =
  Object.freeze(["page_frag_cache", "skb_page_frag_refill", "vhost_net"]);

/** What {@linkcode pageFragImplementation} runs. An option given as `undefined` is absent. */
export interface PageFragImplementationOptions {
  /** The kernel, with or without patches. */
  readonly kernel: Kernel;
  /** The allocator, as the kernel has it. */
  readonly implementation: PageFragImplementation;
  /** Bytes of each fragment, 1 to a page; 768 when absent. */
  readonly size?: number | undefined;
  /** Fragments taken in all, 1 to 2^24; 1,048,576 when absent. */
  readonly fragments?: number | undefined;
  /** Fragments in use at a time, 1 to 65,536, freed in the order in which they were taken; 1 when absent. */
  readonly inFlight?: number | undefined;
}

/** What an allocator did. All counts are exact. */
export interface PageFragImplementationResult {
  /** Fragments handed out. */
  readonly fragments: number;
  /** Blocks of order 3 taken from the page allocator. */
  readonly order3Allocations: number;
  /** Blocks started again in place. */
  readonly reuses: number;
  /** Atomic operations on refcounts: references taken, given up and put. */
  readonly refcountOperations: number;
  /** Bytes that no fragment covered in the blocks that were used up. */
  readonly wastedBytes: number;
  /** Most pages held at once. */
  readonly pagesHeldMax: number;
}

/**
 * Takes and frees fragments of one size with one of the three allocators.
 *
 * @param options Kernel, allocator and load.
 * @returns What was counted.
 * @throws {RangeError} An option is out of range, or the kernel does not have the allocator.
 *
 * @example Two atomic operations a fragment, or one
 * ```ts
 * import { kernel, PAGE_FRAG_IMPLEMENTATIONS, pageFragImplementation } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const operations = PAGE_FRAG_IMPLEMENTATIONS.map((implementation) =>
 *   pageFragImplementation({ kernel: kernel("6.8"), implementation, fragments: 42_000 }).refcountOperations
 * );
 * assertEquals(operations, [43_000, 84_000, 43_999]);
 * ```
 */
export function pageFragImplementation(
  options: PageFragImplementationOptions,
): PageFragImplementationResult {
  const { kernel, implementation } = options;
  const size = whole("size", options.size ?? 768, 1, kernel.build.pageSize);
  const fragments = whole(
    "fragments",
    options.fragments ?? 1_048_576,
    1,
    2 ** 24,
  );
  const inFlight = whole("inFlight", options.inFlight ?? 1, 1, 65_536);
  const pages = new PageAllocator(kernel);
  switch (implementation) {
    case "page_frag_cache":
    case "vhost_net": {
      const frag = implementation === "vhost_net"
        ? new VhostNetPageFrag(pages)
        : new PageFragCache(pages);
      const { counters } = frag;
      const pagesHeldMax = run(
        pages,
        () => frag.alloc(size, Gfp.GFP_ATOMIC),
        (address) => frag.free(address),
        fragments,
        inFlight,
      );
      const { refills, reuses, frags, wastedBytes } = counters;
      return {
        fragments: frags,
        order3Allocations: counters.refillsOrder3,
        reuses,
        // Taken once a block, given up once a block that is used up (started again or not), put once a fragment.
        refcountOperations: refills + (refills - 1 + reuses) + frags,
        wastedBytes,
        pagesHeldMax,
      };
    }
    case "skb_page_frag_refill": {
      const frag = new PageFrag(pages);
      const { counters } = frag;
      const pagesHeldMax = run(
        pages,
        () => frag.refill(size, Gfp.GFP_ATOMIC) ? frag.take(size) : -1,
        (address) => frag.free(address),
        fragments,
        inFlight,
      );
      const { refills, rewinds, frags, wastedBytes } = counters;
      return {
        fragments: frags,
        order3Allocations: counters.refillsOrder3,
        reuses: rewinds,
        // Taken and put once a fragment, and put once a block that is used up.
        refcountOperations: 2 * frags + refills - 1,
        wastedBytes,
        pagesHeldMax,
      };
    }
    default:
      throw new RangeError(
        `implementation "${implementation}": ${
          PAGE_FRAG_IMPLEMENTATIONS.map((name) => `"${name}"`).join(", ")
        } are allowed`,
      );
  }
}

function run(
  pages: PageAllocator,
  alloc: () => number,
  free: (address: number) => void,
  fragments: number,
  inFlight: number,
): number {
  const ring = new Float64Array(inFlight);
  const { counters } = pages;
  let held = 0;
  for (let i = 0; i < fragments; i++) {
    const slot = i % inFlight;
    if (i >= inFlight) free(ring[slot]!);
    ring[slot] = alloc();
    const now = counters.pgalloc - counters.pgfree;
    if (now > held) held = now;
  }
  for (let i = 0; i < Math.min(inFlight, fragments); i++) free(ring[i]!);
  return held;
}
