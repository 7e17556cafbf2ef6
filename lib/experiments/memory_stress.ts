/**
 * A receive ring while memory is short: what each allocator falls back to, what fails, and how it comes back.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import type { PageHold } from "../mm/page_hold.ts";
import { whole } from "../sim/check.ts";
import {
  bufferSource,
  type BufferSourceKind,
  type BufferSourceOptions,
} from "./buffer_source.ts";

/** What {@linkcode memoryStress} runs. An option given as `undefined` is absent. */
export interface MemoryStressOptions extends BufferSourceOptions {
  /** The kernel. */
  readonly kernel: Kernel;
  /** The allocator. */
  readonly source: BufferSourceKind;
  /** How memory is short: single pages only, or next to none; `"none"` when absent. */
  readonly shortage?: "none" | "fragmented" | "reserve" | undefined;
  /** With `"fragmented"`: smallest order of which no block is free, 1 to 3; 3 when absent. */
  readonly brokenOrder?: number | undefined;
  /** Bytes of each buffer, 1 to a page; 1,536 when absent. */
  readonly size?: number | undefined;
  /** Buffers of a full ring, 1 to 4,096; 256 when absent. */
  readonly ring?: number | undefined;
  /** Buffers that a poll uses up and replaces, 1 to `ring`; 64 when absent. */
  readonly burst?: number | undefined;
  /** Polls; the shortage begins after the first quarter and is lifted from the second on. 4 to 10,000; 160 when absent. */
  readonly polls?: number | undefined;
  /** Polls in which reclaim or compaction gives everything back, 1 to `polls / 2`; 20 when absent. */
  readonly recovery?: number | undefined;
  /** Pages of the machine, 1,024 to 2^20; 16,384 when absent. */
  readonly pages?: number | undefined;
}

/** What {@linkcode memoryStress} counted. Columns have an entry a poll. */
export interface MemoryStress {
  /** First poll of the shortage, and the first in which something is given back. */
  readonly shortage: readonly [from: number, to: number];
  /** Buffers in the ring after each poll. */
  readonly filled: Int32Array;
  /** Bytes of pages that are taken. */
  readonly held: Float64Array;
  /** Bytes of buffers in the ring. */
  readonly live: Float64Array;
  /** Blocks taken in each poll, by order: 0 and 3. */
  readonly order0: Int32Array;
  /** See {@linkcode MemoryStress.order0}. */
  readonly order3: Int32Array;
  /** Buffers that could not be had: a poll stops at the first. */
  readonly failed: number;
  /** Blocks taken during the shortage, by order from 0 to 3. */
  readonly blocks: readonly [number, number, number, number];
  /** Attempts at orders 1 to 3 that failed. */
  readonly highOrderFailures: number;
  /** "page allocation failure" messages. */
  readonly warnings: number;
  /** Passes of direct reclaim, in which the caller waits. */
  readonly allocstall: number;
  /** Times that kswapd was woken. */
  readonly kswapdWakeups: number;
  /** Acquisitions of `zone->lock`. */
  readonly zoneLock: number;
  /** Most bytes held a byte of a buffer, during the shortage and after. */
  readonly worstHeld: number;
  /** Polls from the end of the shortage until the ring is full again; -1: never. */
  readonly pollsToFull: number;
  /** Polls from then until a large block is had again; -1: never, or none is asked for. */
  readonly pollsToOrder3: number;
  /** Pages that are missing at the end, the allocator drained: 0 unless something leaks. */
  readonly pagesLeft: number;
}

/**
 * Runs a ring of equal buffers, oldest used first, through a shortage. In a fragmented machine every free block of that
 * order is broken up before each poll, as if others were faster; without reserve all but a quarter of the min mark is taken. Then
 * an equal part of it is given back in each poll.
 *
 * @param options Kernel, allocator, shortage, ring.
 * @returns Counters and the course.
 * @throws {RangeError} An option is out of range, or the kernel does not have the allocator.
 *
 * @example Single pages hold two buffers each, and both releases go on
 * ```ts
 * import { kernel, memoryStress } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const run = memoryStress({ kernel: kernel("6.8"), source: "page_frag_cache", shortage: "fragmented" });
 * assertEquals([run.failed, run.blocks[3]], [0, 0]);
 * assertEquals(run.blocks[0] > 1000, true);
 * ```
 */
export function memoryStress(options: MemoryStressOptions): MemoryStress {
  const { kernel, shortage = "none" } = options;
  if (!["none", "fragmented", "reserve"].includes(shortage)) {
    throw new RangeError(
      `shortage "${shortage}": "none", "fragmented" or "reserve" is allowed`,
    );
  }
  const size = whole("size", options.size ?? 1536, 1, kernel.build.pageSize);
  const slots = whole("ring", options.ring ?? 256, 1, 4096);
  const burst = whole("burst", options.burst ?? Math.min(64, slots), 1, slots);
  const polls = whole("polls", options.polls ?? 160, 4, 10_000);
  const half = polls >> 1;
  const recovery = whole(
    "recovery",
    options.recovery ?? Math.min(20, half),
    1,
    half,
  );
  const pages = new PageAllocator(kernel, {
    pages: whole("pages", options.pages ?? 16384, 1024, 2 ** 20),
    cpus: 1,
    // Reclaim of a fragmented zone makes progress, but no block.
    onDirectReclaim: () => shortage === "fragmented" ? 1 : 0,
  });
  const source = bufferSource(options.source, pages, options);
  const { counters } = pages;
  const from = polls >> 2;
  const filled = new Int32Array(polls);
  const held = new Float64Array(polls);
  const live = new Float64Array(polls);
  const order0 = new Int32Array(polls);
  const order3 = new Int32Array(polls);
  const ring = new Float64Array(slots);
  const brokenOrder = whole("brokenOrder", options.brokenOrder ?? 3, 1, 3);
  const squeeze = new Squeeze(pages, shortage, recovery, brokenOrder);
  let head = 0, count = 0, failed = 0, worstHeld = 0;
  let start = [0, 0, 0, 0];
  let blocks: readonly [number, number, number, number] = [0, 0, 0, 0];
  const taken = () => Array.from(counters.allocations.subarray(0, 4));
  for (let poll = 0; poll < polls; poll++) {
    for (let i = 0; i < burst && count > 0; i++) {
      source.free(ring[head]!);
      head = (head + 1) % slots;
      count--;
    }
    if (poll === from) start = taken();
    if (poll === half) {
      const end = taken();
      blocks = [0, 1, 2, 3].map((o) => end[o]! - start[o]!) as [
        number,
        number,
        number,
        number,
      ];
    }
    if (poll >= half) squeeze.ease();
    else if (poll >= from) squeeze.tighten();
    const before = [counters.allocations[0]!, counters.allocations[3]!];
    while (count < slots) {
      const address = source.alloc(size);
      if (address < 0) {
        failed++;
        break;
      }
      ring[(head + count++) % slots] = address;
    }
    filled[poll] = count;
    held[poll] = (counters.pgalloc - counters.pgfree) * pages.pageSize;
    live[poll] = count * size;
    order0[poll] = counters.allocations[0]! - before[0]!;
    order3[poll] = counters.allocations[3]! - before[1]!;
    if (poll >= from && count > 0) {
      worstHeld = Math.max(worstHeld, held[poll]! / live[poll]!);
    }
  }
  const since = (column: Int32Array, reached: (value: number) => boolean) =>
    column.subarray(half).findIndex(reached);
  const { warnAlloc, allocstall, kswapdWakeups, zoneLock, failures } = counters;
  for (; count > 0; count--, head = (head + 1) % slots) {
    source.free(ring[head]!);
  }
  source.drain();
  squeeze.end();
  return {
    shortage: [from, half],
    filled,
    held,
    live,
    order0,
    order3,
    failed,
    blocks,
    highOrderFailures: failures[1]! + failures[2]! + failures[3]!,
    warnings: warnAlloc,
    allocstall,
    kswapdWakeups,
    zoneLock,
    worstHeld,
    pollsToFull: since(filled, (value) => value === slots),
    pollsToOrder3: since(order3, (value) => value > 0),
    pagesLeft: counters.pgalloc - counters.pgfree,
  };
}

/** Takes memory away poll by poll, and gives it back in equal parts. */
class Squeeze {
  readonly #pages: PageAllocator;
  readonly #shortage: "none" | "fragmented" | "reserve";
  readonly #parts: number;
  readonly #order: number;
  #holds: PageHold[] = [];
  #perPoll = 0;

  constructor(
    pages: PageAllocator,
    shortage: "none" | "fragmented" | "reserve",
    parts: number,
    order: number,
  ) {
    this.#pages = pages;
    this.#shortage = shortage;
    this.#parts = parts;
    this.#order = order;
  }

  tighten(): void {
    const pages = this.#pages;
    const first = this.#holds.length === 0;
    if (this.#shortage === "fragmented") {
      // The first time in parts, so that they can be given back one by one.
      for (let left = first ? this.#parts : 1; left > 0; left--) {
        this.#holds.push(
          pages.fragment({
            order: this.#order,
            fraction: 1 / left,
            seed: left,
          }),
        );
      }
    } else if (this.#shortage === "reserve") {
      const least = pages.watermarks.min >> 2;
      const free = pages.freePages();
      for (let left = first ? this.#parts : 1; left > 0; left--) {
        const aim = least +
          Math.floor((free - least) * (left - 1) / this.#parts);
        this.#holds.push(pages.pressure(first ? aim : least));
      }
    }
  }

  ease(): void {
    if (this.#perPoll === 0) {
      this.#perPoll = Math.ceil(this.#holds.length / this.#parts);
    }
    for (let i = 0; i < this.#perPoll; i++) this.#holds.pop()?.release();
  }

  end(): void {
    for (const hold of this.#holds.splice(0)) hold.release();
  }
}
