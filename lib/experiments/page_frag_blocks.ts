/**
 * How many buffers one block of page fragments holds: the question that the versions of the 2013 thread answer differently.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { PageFrag } from "../mm/page_frag.ts";
import { whole } from "../sim/check.ts";

/** What {@linkcode buffersPerBlock} is asked. */
export interface BuffersPerBlockOptions {
  /** The kernel, with or without patches. */
  readonly kernel: Kernel;
  /** Bytes of each buffer, 1 to a page. */
  readonly size: number;
  /** Order of the block, 0 to 5; the release's own (3 with 4 KiB pages) when absent. */
  readonly order?: number | undefined;
}

/** One buffer in a block, bytes. */
export interface CutBuffer {
  /** Offset in the block. */
  readonly offset: number;
  /** Size; less than asked for where the release grants whatever room is left. */
  readonly size: number;
}

/** One block, filled. */
export interface BlockOfBuffers {
  /** Bytes of the block. */
  readonly blockSize: number;
  /** Buffers of the full size. */
  readonly count: number;
  /** Every buffer, in order, a last short one included. */
  readonly buffers: readonly CutBuffer[];
  /** Bytes that no buffer covers. */
  readonly unused: number;
}

/**
 * Fills one block with buffers while all of them are held, by running `skb_page_frag_refill` as its users do: ask for
 * `size` bytes, cut what is there but no more, take a reference.
 *
 * @param options Kernel, buffer size and order.
 * @returns The buffers of the first block, in order.
 * @throws {RangeError} `size` or `order` is out of range.
 *
 * @example 1,536-byte receive buffers
 * ```ts
 * import { buffersPerBlock, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { count, unused, buffers } = buffersPerBlock({ kernel: kernel("4.3"), size: 1536 });
 * assertEquals([count, unused, buffers.at(-1)?.offset], [21, 512, 30720]);
 * ```
 */
export function buffersPerBlock(
  options: BuffersPerBlockOptions,
): BlockOfBuffers {
  const { size, order } = options;
  const { pageSize } = options.kernel.build;
  whole("size", size, 1, pageSize);
  if (order !== undefined) whole("order", order, 0, 5);
  const kernel = order === undefined
    ? options.kernel
    : ofOrder(options.kernel, order);
  const frag = new PageFrag(new PageAllocator(kernel));
  frag.refill(size, Gfp.GFP_KERNEL);
  const block = frag.pfn;
  const blockSize = frag.size;
  const buffers: CutBuffer[] = [];
  do {
    const { offset } = frag;
    const cut = Math.min(size, blockSize - offset);
    frag.take(cut);
    buffers.push({ offset, size: cut });
    frag.refill(size, Gfp.GFP_KERNEL);
  } while (frag.pfn === block);
  const used = buffers.reduce((sum, buffer) => sum + buffer.size, 0);
  return {
    blockSize,
    count: buffers.filter((buffer) => buffer.size === size).length,
    buffers,
    unused: blockSize - used,
  };
}

function ofOrder(kernel: Kernel, order: number): Kernel {
  return kernel.with(`blocksOfOrder${order}`, {
    skbPageFrag: {
      maxSize: {
        value: kernel.build.pageSize << order,
        file: "net/core/sock.c",
        symbol: "SKB_FRAG_PAGE_ORDER",
        origin: "the experiment's choice",
      },
    },
  });
}
