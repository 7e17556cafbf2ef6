/**
 * What drivers with page-fragment caches of their own leave behind: the subject of "net: introduce page_frag_cache_drain()".
 *
 * @module
 */

import { NvmeTcpHost, NvmeTcpTarget } from "../drivers/nvme_tcp.ts";
import {
  GveXdpRedirect,
  MtkWedWo,
  type PageFragClient,
  type PageFragTeardown,
} from "../drivers/page_frag_client.ts";
import type { Kernel } from "../kernel.ts";
import { PageAllocator } from "../mm/page_alloc.ts";

/** The drivers that patch 3 changes. */
export type PageFragUser =
  | "gve"
  | "mtk_wed_wo"
  | "nvme host"
  | "nvme target";

/**
 * Their names, in the order of the patch.
 *
 * @example
 * ```ts
 * import { PAGE_FRAG_USERS } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(PAGE_FRAG_USERS.length, 4);
 * ```
 */
export const PAGE_FRAG_USERS: readonly PageFragUser[] = Object.freeze([
  "gve",
  "mtk_wed_wo",
  "nvme host",
  "nvme target",
]);

/** What {@linkcode pageFragTeardown} runs. An option given as `undefined` is absent. */
export interface PageFragTeardownOptions {
  /** The kernel. */
  readonly kernel: Kernel;
  /** The driver. */
  readonly user: PageFragUser;
  /** How it gives blocks up; as the kernel has it when absent. */
  readonly teardown?: PageFragTeardown | undefined;
}

/** What a driver asked for and left behind. */
export interface PageFragTeardownResult {
  /** Fragments that it asked for. */
  readonly requests: number;
  /** Caches that it has. */
  readonly caches: number;
  /** Most pages that it held. */
  readonly pagesHeld: number;
  /** Pages that are missing after its end. */
  readonly pagesLeft: number;
  /** References to them that nobody will ever give back. */
  readonly referencesLeft: number;
}

/**
 * Starts a driver, lets it handle 1,000 packets or commands and stops it.
 *
 * @param options Kernel, driver and teardown.
 * @returns What it asked for and left behind.
 * @throws {RangeError} An option is out of range, or the kernel has no `page_frag_cache_drain`.
 *
 * @example One block a queue is lost without it
 * ```ts
 * import { kernel, pageFragTeardown } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const left = (teardown: "none" | "by hand") =>
 *   pageFragTeardown({ kernel: kernel("6.8"), user: "mtk_wed_wo", teardown }).pagesLeft;
 * assertEquals([left("none"), left("by hand")], [16, 0]);
 * ```
 */
export function pageFragTeardown(
  options: PageFragTeardownOptions,
): PageFragTeardownResult {
  const { user, teardown } = options;
  const pages = new PageAllocator(options.kernel);
  const client = make(pages, user, teardown);
  const { counters } = pages;
  client.start();
  let pagesHeld = counters.pgalloc - counters.pgfree;
  for (let i = 0; i < 1000; i++) {
    client.run(1);
    pagesHeld = Math.max(pagesHeld, counters.pgalloc - counters.pgfree);
  }
  client.stop();
  return {
    requests: client.counters.requests,
    caches: client.caches.length,
    pagesHeld,
    pagesLeft: counters.pgalloc - counters.pgfree,
    referencesLeft: pages.refcount.reduce((sum, count) => sum + count, 0),
  };
}

function make(
  pages: PageAllocator,
  user: PageFragUser,
  teardown: PageFragTeardown | undefined,
): PageFragClient {
  switch (user) {
    case "gve":
      return new GveXdpRedirect(pages, { teardown });
    case "mtk_wed_wo":
      return new MtkWedWo(pages, { teardown });
    case "nvme host":
      return new NvmeTcpHost(pages, { teardown });
    case "nvme target":
      return new NvmeTcpTarget(pages, { teardown });
    default:
      throw new RangeError(
        `user "${user}": ${
          PAGE_FRAG_USERS.map((name) => `"${name}"`).join(", ")
        } are allowed`,
      );
  }
}
