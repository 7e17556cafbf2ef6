/**
 * What a mergeable receive ring is made with and what it counts.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { whole } from "../sim/check.ts";
import { mergeableMinBufLen } from "./virtio_buffer.ts";

/** How a {@linkcode MergeableRing} is made. An option given as `undefined` is absent. */
export interface MergeableRingOptions {
  /** Slots of the ring: a power of two from 2 to 32,768; default 256. */
  readonly size?: number | undefined;
  /** CPU whose per-CPU page lists serve it, default 0. */
  readonly cpu?: number | undefined;
  /** NAPI budget of a poll, packets; default 64. */
  readonly budget?: number | undefined;
  /**
   * Free slots that a poll may leave at its end: one more and all are refilled. Default: half of `size` up to 4.x
   * (`num_free > ring / 2`), half of the smaller of `budget` and `size` where the driver uses `build_skb` (6.1).
   */
  readonly refillAbove?: number | undefined;
  /** `mrg_avg_pkt_len` at the start, bytes; 0, no frame yet, by default. */
  readonly average?: number | undefined;
  /**
   * `min_buf_len`, bytes. Default: `kernel.virtio.bufferMin`, and from 4.12 on so much that a full ring holds the longest
   * packet (`mergeableMinBufLen`).
   */
  readonly minimum?: number | undefined;
  /** Slots that are not filled at the start; default 0. */
  readonly freeSlots?: number | undefined;
  /**
   * Where the next buffer starts in its block after the start, bytes: the block's first part is taken to be in use. Default:
   * right behind the buffers already filled.
   */
  readonly blockOffset?: number | undefined;
  /** Whether the driver maps its buffers itself (`do_dma`, releases from 6.7): each block starts with a record. */
  readonly dma?: boolean | undefined;
  /**
   * With `dma`: whether a buffer that does not fit a single page behind the record is made shorter (6.12 on). Default: as
   * the kernel does; without it the buffer ends 16 bytes behind its page, counted in `overruns`.
   */
  readonly dmaShortens?: boolean | undefined;
}

/** Options of a ring, checked and with their defaults. */
export interface MergeableRingSetup {
  /** Slots. */
  readonly size: number;
  /** CPU. */
  readonly cpu: number;
  /** Free slots that a poll may leave. */
  readonly refillAbove: number;
  /** Average at the start, bytes. */
  readonly average: number;
  /** Lower bound of the average, bytes. */
  readonly minimum: number;
  /** Slots that start empty. */
  readonly freeSlots: number;
  /** Offset of the next buffer, bytes; -1: where the first fill ended. */
  readonly blockOffset: number;
  /** Bytes of the record in front of each block; 0: none. */
  readonly dmaRecord: number;
  /** Whether the record's room is taken off a buffer that fills a page. */
  readonly dmaShortens: boolean;
}

/** The options with their defaults. */
export function mergeableRingSetup(
  kernel: Kernel,
  options: MergeableRingOptions,
): MergeableRingSetup {
  const size = whole("options.size", options.size ?? 256, 2, 32768);
  if ((size & (size - 1)) !== 0) {
    throw new RangeError(`options.size must be a power of two, got ${size}`);
  }
  const budget = whole("options.budget", options.budget ?? 64, 1, 65535);
  const { dma = false, dmaShortens = kernel.virtio.dmaShortens } = options;
  for (const [name, value] of Object.entries({ dma, dmaShortens })) {
    if (typeof value !== "boolean") {
      throw new TypeError(
        `options.${name} must be true or false, got ${String(value)}`,
      );
    }
  }
  if (dma && kernel.virtio.dmaRecord === 0) {
    throw new RangeError(
      `options.dma must be false: ${kernel.name}'s driver does not map its buffers itself`,
    );
  }
  const half = Math.floor(
    (kernel.virtio.refillAbove === "ring/2" ? size : Math.min(budget, size)) /
      2,
  );
  return {
    size,
    cpu: whole("options.cpu", options.cpu ?? 0, 0, 4095),
    refillAbove: whole(
      "options.refillAbove",
      options.refillAbove ?? half,
      0,
      size - 1,
    ),
    average: whole("options.average", options.average ?? 0, 0, 2 ** 20),
    minimum: whole(
      "options.minimum",
      options.minimum ?? minimumOf(kernel, size),
      0,
      65535,
    ),
    freeSlots: whole("options.freeSlots", options.freeSlots ?? 0, 0, size),
    blockOffset: options.blockOffset === undefined ? -1 : whole(
      "options.blockOffset",
      options.blockOffset,
      0,
      kernel.skbPageFrag.maxSize,
    ),
    dmaRecord: dma ? kernel.virtio.dmaRecord : 0,
    dmaShortens,
  };
}

function minimumOf({ virtio }: Kernel, size: number): number {
  return virtio.minByRing
    ? Math.max(virtio.bufferMin, mergeableMinBufLen(size))
    : virtio.bufferMin;
}

/**
 * What a {@linkcode MergeableRing} counts; all start at 0.
 *
 * @example
 * ```ts
 * import { kernel, MergeableRing, MergeableRingCounters, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new MergeableRing(new PageAllocator(kernel("6.1")));
 * for (let i = 0; i < 21; i++) ring.receive(1514);
 * const counters: MergeableRingCounters = ring.counters;
 * assertEquals([counters.packets, counters.buffers], [21, 21]);
 * ```
 */
export class MergeableRingCounters {
  /** `rx_packets`: packets handed to the stack. */
  packets = 0;
  /** `rx_bytes`: bytes of their frames. */
  bytes = 0;
  /** `rx_drops`: packets that the driver dropped. */
  drops = 0;
  /** `rx_length_errors`: those dropped for their length. */
  rxLengthErrors = 0;
  /** Packets that the device dropped, because the buffers posted did not hold them. */
  missed = 0;
  /** Buffers that received packets used. */
  buffers = 0;
  /** Packets copied whole into a small head. */
  copied = 0;
  /** Packets whose first buffer became the head (`build_skb`). */
  built = 0;
  /** Skbs chained in `frag_list`. */
  fragLists = 0;
  /** Buffers merged into the fragment before them (`skb_coalesce_rx_frag`). */
  coalesced = 0;
  /** Polls that refilled the ring (`try_fill_recv`). */
  refills = 0;
  /** Buffers posted. */
  posted = 0;
  /** Buffers that also got what was left of their block. */
  holes = 0;
  /** Refills that ran out of memory: `refill_work` is scheduled then. */
  oom = 0;
  /** Buffers that reach behind the end of their block: the device would overwrite what lies there. */
  overruns = 0;
  /** Bytes of such buffers that lie outside. */
  overrunBytes = 0;
  /** `dma_map`s of blocks that the driver made itself. */
  dmaMaps = 0;
  /** Blocks unmapped again. */
  dmaUnmaps = 0;
}
