/**
 * How a sender's writes are cut into page fragments: what the minimum size of a refill is for.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { PageFrag } from "../mm/page_frag.ts";
import { skPageFragRefill } from "../mm/sk_page_frag.ts";
import { whole } from "../sim/check.ts";

/** What {@linkcode sendFragments} takes. */
export interface SendFragmentsOptions {
  /** The kernel, with or without patches. */
  readonly kernel: Kernel;
  /** Bytes of each write, at least 1. */
  readonly write: number;
  /** Number of writes, at least 1; 1,000 by default. */
  readonly writes?: number | undefined;
}

/** How the writes were cut. */
export interface SentFragments {
  /** Pieces that the writes were copied in; each needs a page reference and a frag slot of its own. */
  readonly fragments: number;
  /** Bytes of the shortest piece. */
  readonly shortest: number;
  /** Pieces of fewer than 32 bytes. */
  readonly tiny: number;
  /** Blocks of pages taken. */
  readonly blocks: number;
  /** Bytes left unused at the end of blocks. */
  readonly wasted: number;
}

/**
 * Copies equal writes into a socket's page fragments as `tcp_sendmsg` and `ip_append_data` do, all of them held.
 *
 * Models the copy loop over `sk_page_frag_refill` (net/core/sock.c): each round asks for the release's minimum and
 * copies what the block still holds.
 *
 * @param options Kernel and writes.
 * @returns Counts of pieces, blocks and bytes.
 * @throws {RangeError} `write` or `writes` is no positive integer.
 *
 * @example A block with one byte left is good enough for 3.12
 * ```ts
 * import { kernel, sendFragments } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(sendFragments({ kernel: kernel("3.12"), write: 32767, writes: 2 }).shortest, 1);
 * assertEquals(sendFragments({ kernel: kernel("6.18"), write: 32767, writes: 2 }).shortest, 32767);
 * ```
 */
export function sendFragments(options: SendFragmentsOptions): SentFragments {
  const { kernel, write, writes = 1000 } = options;
  whole("write", write, 1, 2 ** 24, "sendFragments");
  whole("writes", writes, 1, 2 ** 24, "sendFragments");
  const memory = Math.ceil(write * writes / kernel.build.pageSize);
  const pages = new PageAllocator(kernel, {
    pages: Math.max(65536, 2 * memory),
  });
  const frag = new PageFrag(pages);
  const sock = {
    skAllocation: Gfp.GFP_KERNEL,
    skSndbuf: 0x7fffffff,
    skWmemQueued: 0,
    sndbufLock: true,
  };
  let fragments = 0;
  let tiny = 0;
  let shortest = Infinity;
  for (let i = 0; i < writes; i++) {
    for (let left = write; left > 0;) {
      if (!skPageFragRefill(sock, frag)) {
        throw new Error("sendFragments(): the model ran out of pages");
      }
      const copy = Math.min(left, frag.size - frag.offset);
      frag.take(copy);
      left -= copy;
      fragments++;
      shortest = Math.min(shortest, copy);
      // A short last piece of a write is the writer's, not the allocator's.
      if (copy < 32 && left > 0) tiny++;
    }
  }
  return {
    fragments,
    shortest,
    tiny,
    blocks: frag.counters.refills,
    wasted: frag.counters.wastedBytes,
  };
}
