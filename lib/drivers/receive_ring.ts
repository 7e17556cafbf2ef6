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

/** A receive ring: {@linkcode MergeableRing} or {@linkcode PagePoolRing}. */
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
  /** Frees everything. */
  close(): void;
}

/**
 * Memory behind posted buffers.
 *
 * @param pages The page allocator.
 * @param posted Buffers posted.
 * @param pfnOf First page of the block that a buffer lies in, by its place.
 * @param bytesOf Bytes that the device may write into it.
 */
export function ringMemory(
  pages: PageAllocator,
  posted: number,
  pfnOf: (i: number) => number,
  bytesOf: (i: number) => number,
): RingMemory {
  const seen = new Set<number>();
  let bytes = 0;
  let blockBytes = 0;
  for (let i = 0; i < posted; i++) {
    bytes += bytesOf(i);
    const pfn = pfnOf(i);
    if (seen.has(pfn)) continue;
    seen.add(pfn);
    blockBytes += pages.pageSize << pages.orderOf(pfn);
  }
  return { buffers: posted, bytes, blocks: seen.size, blockBytes };
}
