/**
 * What receive rings have in common, whatever their buffers are cut from.
 *
 * @module
 */

import type { PageAllocator } from "../mm/page_alloc.ts";
import type { HeldPackets } from "./held_packets.ts";

/** Memory behind the buffers of a ring. */
export interface RingMemory {
  /** Buffers posted. */
  readonly buffers: number;
  /** Bytes that the device may write into them. */
  readonly bytes: number;
  /** Blocks of pages that they lie in. */
  readonly blocks: number;
  /** Bytes of these blocks. */
  readonly blockBytes: number;
}

/** A buffer that waits for a packet. */
export interface RingBuffer {
  /** First page of its block. */
  readonly pfn: number;
  /** Where it starts in the block, bytes. */
  readonly offset: number;
  /** Bytes that the device may write into it. */
  readonly length: number;
}

/** A receive ring: {@linkcode MergeableRing}, {@linkcode PagePoolRing} or {@linkcode RxStrategyRing}. */
export interface ReceiveRing {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** Packets that the stack holds. */
  readonly held: HeldPackets;
  /** Buffers posted. */
  readonly posted: number;
  /** What every ring counts. */
  readonly counters: {
    /** Packets handed to the stack. */
    readonly packets: number;
    /** Buffers that they used. */
    readonly buffers: number;
  };
  /**
   * The device writes one frame, and the driver makes an skb of it.
   *
   * @param frame Bytes of the Ethernet frame.
   * @param endsPoll Whether the poll ends with it. Default true.
   * @returns Its truesize, bytes; 0 where it was dropped.
   */
  receive(frame: number, endsPoll?: boolean): number;
  /**
   * The stack frees the oldest packets.
   *
   * @param packets How many at most; default 1.
   * @returns Bytes of truesize that were freed.
   */
  consume(packets?: number): number;
  /** Memory behind the buffers that are posted now. */
  memory(): RingMemory;
  /** The buffers that are posted now, next one first. */
  buffers(): RingBuffer[];
  /** Frees everything. */
  close(): void;
}

/**
 * Memory behind posted buffers.
 *
 * @param pages The page allocator.
 * @param buffers The buffers.
 */
export function ringMemory(
  pages: PageAllocator,
  buffers: readonly RingBuffer[],
): RingMemory {
  const blocks = new Set(buffers.map(({ pfn }) => pfn));
  let blockBytes = 0;
  for (const pfn of blocks) blockBytes += pages.pageSize << pages.orderOf(pfn);
  return {
    buffers: buffers.length,
    bytes: buffers.reduce((sum, { length }) => sum + length, 0),
    blocks: blocks.size,
    blockBytes,
  };
}
