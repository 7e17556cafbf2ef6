/**
 * Long-lived buffers among short-lived ones: how far the memory that is held runs away from the bytes that are in use.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { whole } from "../sim/check.ts";
import {
  type BufferSource,
  bufferSource,
  type BufferSourceKind,
} from "./buffer_source.ts";

/** What {@linkcode mixedLifetimes} runs. An option given as `undefined` is absent. */
export interface MixedLifetimesOptions {
  /** The kernel. */
  readonly kernel: Kernel;
  /** Where short-lived buffers come from: packets that are read at once. */
  readonly short: BufferSourceKind;
  /** Where long-lived ones come from: those of a ring that waits for traffic, or of sockets that nobody reads. */
  readonly long: BufferSourceKind;
  /** Whether both come from one allocator's blocks; only for equal kinds. True for these when absent. */
  readonly shared?: boolean | undefined;
  /** Bytes of a short-lived buffer, 1 to a page; 2,048 when absent. */
  readonly shortSize?: number | undefined;
  /** Bytes of a long-lived one; 1,920 when absent. */
  readonly longSize?: number | undefined;
  /** Short-lived buffers in use at a time, 1 to 65,536; 64 when absent. */
  readonly shortLive?: number | undefined;
  /** Long-lived ones in use at a time, 1 to 65,536; 1,024 when absent. */
  readonly longLive?: number | undefined;
  /** One buffer in so many is a long-lived one, 2 to 10,000; 16 when absent. */
  readonly every?: number | undefined;
  /** Long-lived buffers handed out in all, 1 to 2^20; four times `longLive` when absent. */
  readonly rounds?: number | undefined;
  /** Pages of the machine, 1,024 to 2^22; 65,536 when absent. */
  readonly pages?: number | undefined;
}

/** What {@linkcode mixedLifetimes} counted. Columns have an entry for each long-lived buffer handed out. */
export interface MixedLifetimes {
  /** Bytes of pages that are taken, those that an allocator keeps for later included. */
  readonly held: Float64Array;
  /** Bytes that were asked for and are in use. */
  readonly live: Float64Array;
  /** Most bytes held. */
  readonly heldMax: number;
  /** Bytes held a byte in use, at the end. */
  readonly ratio: number;
  /** Bytes held once the short-lived buffers are gone and allocators are drained: what the survivors pin. */
  readonly pinned: number;
  /** Bytes of those survivors. */
  readonly pinnedLive: number;
  /** Requests that found no memory. */
  readonly failed: number;
  /** Pages that are missing once everything is freed: 0 unless something leaks. */
  readonly pagesLeft: number;
}

/**
 * Runs a stream of buffers, each short-lived one freed after `shortLive` others, each long-lived one after `longLive` of
 * its own kind. In an allocator that cuts blocks of 32 KiB each survivor keeps a whole block.
 *
 * @param options Kernel, allocators, sizes and lifetimes.
 * @returns Bytes held and in use over time.
 * @throws {RangeError} An option is out of range, or the kernel does not have an allocator.
 *
 * @example Sixteen times the memory, for want of a cache of one's own
 * ```ts
 * import { kernel, mixedLifetimes } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const run = (shared: boolean) =>
 *   mixedLifetimes({ kernel: kernel("6.8"), short: "page_frag_cache", long: "page_frag_cache", shared }).ratio;
 * assert(run(true) > 14 && run(false) < 1.3);
 * ```
 */
export function mixedLifetimes(options: MixedLifetimesOptions): MixedLifetimes {
  const { kernel, short, long } = options;
  const shared = options.shared ?? short === long;
  if (shared && short !== long) {
    throw new RangeError(
      `shared true: "${short}" and "${long}" have no blocks in common`,
    );
  }
  const { pageSize } = kernel.build;
  const shortSize = whole("shortSize", options.shortSize ?? 2048, 1, pageSize);
  const longSize = whole("longSize", options.longSize ?? 1920, 1, pageSize);
  const shortLive = whole("shortLive", options.shortLive ?? 64, 1, 65_536);
  const longLive = whole("longLive", options.longLive ?? 1024, 1, 65_536);
  const every = whole("every", options.every ?? 16, 2, 10_000);
  const rounds = whole("rounds", options.rounds ?? 4 * longLive, 1, 2 ** 20);
  const pages = new PageAllocator(kernel, {
    pages: whole("pages", options.pages ?? 65_536, 1024, 2 ** 22),
    cpus: 1,
  });
  const forShort = bufferSource(short, pages);
  const forLong = shared ? forShort : bufferSource(long, pages);
  const shorts = new Lifetimes(forShort, shortSize, shortLive);
  const longs = new Lifetimes(forLong, longSize, longLive);
  const held = new Float64Array(rounds);
  const live = new Float64Array(rounds);
  const heldNow = (): number =>
    (pages.counters.pgalloc - pages.counters.pgfree) * pageSize;
  let heldMax = 0;
  for (let round = 0; round < rounds; round++) {
    for (let i = 1; i < every; i++) shorts.next();
    longs.next();
    const now = heldNow();
    if (now > heldMax) heldMax = now;
    held[round] = now;
    live[round] = shorts.bytes + longs.bytes;
  }
  shorts.freeAll();
  forShort.drain();
  if (!shared) forLong.drain();
  const pinned = heldNow();
  const pinnedLive = longs.bytes;
  longs.freeAll();
  // What slabs the last objects left behind.
  forShort.drain();
  forLong.drain();
  return {
    held,
    live,
    heldMax,
    ratio: held[rounds - 1]! / live[rounds - 1]!,
    pinned,
    pinnedLive,
    failed: shorts.failed + longs.failed,
    pagesLeft: pages.counters.pgalloc - pages.counters.pgfree,
  };
}

/** Buffers in use, oldest first: each new one over the limit frees the oldest. */
class Lifetimes {
  bytes = 0;
  failed = 0;
  readonly #source: BufferSource;
  readonly #size: number;
  readonly #ring: Float64Array;
  #head = 0;
  #count = 0;

  constructor(source: BufferSource, size: number, limit: number) {
    this.#source = source;
    this.#size = size;
    this.#ring = new Float64Array(limit);
  }

  next(): void {
    if (this.#count === this.#ring.length) this.#freeOldest();
    const address = this.#source.alloc(this.#size);
    if (address < 0) {
      this.failed++;
      return;
    }
    this.#ring[(this.#head + this.#count++) % this.#ring.length] = address;
    this.bytes += this.#size;
  }

  freeAll(): void {
    while (this.#count > 0) this.#freeOldest();
  }

  #freeOldest(): void {
    this.#source.free(this.#ring[this.#head]!);
    this.#head = (this.#head + 1) % this.#ring.length;
    this.#count--;
    this.bytes -= this.#size;
  }
}
