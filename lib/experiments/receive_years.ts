/**
 * One driver through the years: what its receive buffers cost a packet, a full ring and the page allocator.
 *
 * @module
 */

import {
  PagePoolRing,
  type PagePoolRingOptions,
} from "../drivers/page_pool_ring.ts";
import type { ReceiveRing, RingMemory } from "../drivers/receive_ring.ts";
import { RxStrategy } from "../drivers/rx_strategy.ts";
import { RxStrategyRing } from "../drivers/rx_strategy_ring.ts";
import { MergeableRing } from "../drivers/virtio_ring.ts";
import type { Kernel } from "../kernel.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { whole } from "../sim/check.ts";

/** A receive-buffer strategy: a kernel and the way packets come in; what {@linkcode PacketOptions} needs of it too. */
export interface ReceiveEra {
  /** Its name in tables and plots. */
  readonly label: string;
  /** The kernel. */
  readonly kernel: Kernel;
  /** virtio_net's mergeable buffers, a driver over page_pool, or a receive strategy of one's own. */
  readonly path: "virtio-mergeable" | "page-pool" | RxStrategy;
  /** With page_pool: how fragments are cut. */
  readonly pool?: PagePoolRingOptions | undefined;
}

/** What {@linkcode receiveYears} runs. An option given as `undefined` is absent. */
export interface ReceiveYearsOptions {
  /** The strategies. */
  readonly eras: readonly ReceiveEra[];
  /** Frames, bytes, each a run of its own; 66, 256, 700, 1,514, 9,014 and 65,226 when absent. */
  readonly frames?: readonly number[] | undefined;
  /** Slots of the ring, a power of two from 2 to 4,096; 256 when absent. */
  readonly ringSize?: number | undefined;
  /** Packets that are counted, after as many buffers as six rings hold, 1 to 2^20; 4,200 when absent. */
  readonly packets?: number | undefined;
}

/** One strategy under one kind of traffic. Everything is exact. */
export interface ReceiveYear {
  /** The strategy. */
  readonly label: string;
  /** Bytes of each frame. */
  readonly frame: number;
  /** Buffers that a packet takes, mean. */
  readonly buffers: number;
  /** Truesize of a packet, bytes, mean over the places that it may start at. */
  readonly truesize: number;
  /** The frame's share of it. */
  readonly ratio: number;
  /** Single pages that a packet takes from the page allocator. */
  readonly order0: number;
  /** Blocks of order 3. */
  readonly order3: number;
  /** Memory behind a full ring, once the traffic has shaped it; less than full where the ring cannot be filled. */
  readonly ring: RingMemory;
  /** Pages that are taken then, those that a pool or an allocator keeps included. */
  readonly pagesHeld: number;
}

const FRAMES = [66, 256, 700, 1514, 9014, 65226];

/**
 * A ring as a strategy has it.
 *
 * @param era The strategy.
 * @param size Slots; 256 when absent.
 * @param pages The page allocator; one of its own when absent.
 * @throws {RangeError} The path is none of those that a ring is known for.
 *
 * @example The ring of a release
 * ```ts
 * import { kernel, receiveRing } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = receiveRing({ label: "3.14", kernel: kernel("3.14"), path: "virtio-mergeable" });
 * assertEquals(ring.receive(1514), 2304);
 * ```
 */
export function receiveRing(
  era: ReceiveEra,
  size = 256,
  pages: PageAllocator = new PageAllocator(era.kernel, { cpus: 1 }),
): ReceiveRing {
  if (era.path instanceof RxStrategy) {
    return new RxStrategyRing(pages, era.path, { size });
  }
  switch (era.path) {
    case "virtio-mergeable":
      return new MergeableRing(pages, { size });
    case "page-pool":
      return new PagePoolRing(pages, { ...era.pool, size });
    default:
      throw new RangeError(
        `era.path "${era.path}": "virtio-mergeable", "page-pool" or a receive strategy is allowed`,
      );
  }
}

/**
 * Runs equal frames through each strategy's ring, read as fast as they come, until buffers have the length that this
 * traffic gives them, then counts.
 *
 * @param options Strategies, frames, ring.
 * @returns A row for each strategy and frame, in that order.
 * @throws {RangeError} An option is out of range.
 *
 * @example What one kind of buffer costs another kind of traffic
 * ```ts
 * import { kernel, receiveYears } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const eras = [{ label: "3.12", kernel: kernel("3.12"), path: "virtio-mergeable" as const }];
 * const rows = receiveYears({ eras, frames: [1514, 65226] });
 * assertEquals(rows.map(({ buffers, truesize }) => [buffers, truesize]), [[1, 4864], [16, 66304]]);
 * ```
 */
export function receiveYears(options: ReceiveYearsOptions): ReceiveYear[] {
  const { eras, frames = FRAMES } = options;
  const ringSize = whole("ringSize", options.ringSize ?? 256, 2, 4096);
  const packets = whole("packets", options.packets ?? 4200, 1, 2 ** 20);
  frames.forEach((frame, i) => whole(`frames[${i}]`, frame, 14, 65549));
  return eras.flatMap((era) =>
    frames.map((frame) => run(era, frame, ringSize, packets))
  );
}

function run(
  era: ReceiveEra,
  frame: number,
  ringSize: number,
  packets: number,
): ReceiveYear {
  const ring = receiveRing(era, ringSize);
  const { counters } = ring;
  const shaped = 6 * ringSize;
  // A ring that cannot hold the frame would never come to an end.
  for (let i = 0; counters.buffers < shaped && i < shaped; i++) {
    ring.receive(frame);
    ring.consume();
  }
  const { allocations } = ring.pages.counters;
  const before = [counters.buffers, allocations[0]!, allocations[3]!];
  let truesize = 0;
  let received = 0;
  for (let i = 0; i < packets; i++) {
    const charged = ring.receive(frame);
    if (charged > 0) received++;
    truesize += charged;
    ring.consume();
  }
  const totals = [counters.buffers, allocations[0]!, allocations[3]!];
  // On to the next refill, behind which the ring is full.
  for (let i = 0; ring.posted < ringSize && i < ringSize; i++) {
    ring.receive(frame);
    ring.consume();
  }
  const each = (i: number): number =>
    received === 0 ? 0 : (totals[i]! - before[i]!) / received;
  const mean = received === 0 ? 0 : truesize / received;
  const { pgalloc, pgfree } = ring.pages.counters;
  return {
    label: era.label,
    frame,
    buffers: each(0),
    truesize: mean,
    ratio: mean === 0 ? 0 : frame / mean,
    order0: each(1),
    order3: each(2),
    ring: ring.memory(),
    pagesHeld: pgalloc - pgfree,
  };
}
