/**
 * The ring of a receive strategy: its buffers in memory, over the page allocator.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { PageFragCache } from "../mm/page_frag_cache.ts";
import { Frag, Head, type SkBuff } from "../net/skbuff.ts";
import { whole } from "../sim/check.ts";
import { checkFrame, ETH_HLEN } from "./frame.ts";
import { HeldPackets } from "./held_packets.ts";
import {
  type ReceiveRing,
  type RingBuffer,
  type RingMemory,
  ringMemory,
} from "./receive_ring.ts";
import type { RxBufferSetup, RxStrategy } from "./rx_strategy.ts";

/** How an {@linkcode RxStrategyRing} is made. An option given as `undefined` is absent. */
export interface RxStrategyRingOptions {
  /** Slots, 2 to 4,096; 256 when absent. */
  readonly size?: number | undefined;
  /** CPU whose per-CPU page lists serve it; 0 when absent. */
  readonly cpu?: number | undefined;
}

/**
 * What an {@linkcode RxStrategyRing} counts.
 *
 * @example
 * ```ts
 * import { defineRxStrategy, kernel, napiAllocSkb, PageAllocator, RxStrategyRing, RxStrategyRingCounters, skbAddRxFrag } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pages = defineRxStrategy({
 *   name: "a page each",
 *   buffer: 4096,
 *   receive: (kernel, frame) => {
 *     const skb = napiAllocSkb(kernel, 128);
 *     skbAddRxFrag(skb, frame, 4096);
 *     return skb;
 *   },
 * });
 * const ring = new RxStrategyRing(new PageAllocator(kernel("6.18")), pages);
 * ring.receive(1514);
 * const counters: RxStrategyRingCounters = ring.counters;
 * assertEquals([counters.packets, counters.buffers], [1, 1]);
 * ```
 */
export class RxStrategyRingCounters {
  /** Packets handed to the stack. */
  packets = 0;
  /** Buffers that frames were written to. */
  buffers = 0;
  /** Of these, buffers whose data was copied, so that they wait again. */
  copies = 0;
  /** Frames that found too few buffers. */
  noBuffer = 0;
  /** Frames that the strategy dropped. */
  dropped = 0;
  /** Buffers that could not be replaced for want of pages. */
  allocFailed = 0;
}

/** Longest frame whose shape is kept, bytes. */
const MOST = 65550;
/** Not received yet, in the table of shapes. */
const UNKNOWN = -1;
const DROPPED = -2;

/**
 * A receive ring with the buffers of a strategy. A frame is written to as many buffers as it needs; those that the skb
 * keeps (its head or fragments of kind `RX_BUFFER`) belong to the packet until it is freed, copied ones wait again. The
 * strategy is asked once for each length of frame.
 *
 * Left out: pages that are used again in place, as ixgbe and page_pool do it.
 *
 * @example A full ring of pages
 * ```ts
 * import { defineRxStrategy, kernel, napiAllocSkb, PageAllocator, RxStrategyRing, skbAddRxFrag } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const strategy = defineRxStrategy({
 *   name: "a page each",
 *   buffer: 4096,
 *   receive: (kernel, frame) => {
 *     const skb = napiAllocSkb(kernel, 128);
 *     skbAddRxFrag(skb, frame, 4096);
 *     return skb;
 *   },
 * });
 * const ring = new RxStrategyRing(new PageAllocator(kernel("6.18")), strategy);
 * assertEquals(ring.memory(), { buffers: 256, bytes: 1048576, blocks: 256, blockBytes: 1048576 });
 * assertEquals(ring.receive(1514), 4928);
 * ```
 */
export class RxStrategyRing implements ReceiveRing {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** The strategy. */
  readonly strategy: RxStrategy;
  /** What it posts. */
  readonly buffer: RxBufferSetup;
  /** What is counted. */
  readonly counters: RxStrategyRingCounters = new RxStrategyRingCounters();
  /** Packets that the stack holds. */
  readonly held: HeldPackets;
  readonly #size: number;
  readonly #cpu: number;
  readonly #order: number;
  readonly #frags: PageFragCache | null;
  // First pages of the buffers' blocks and where the buffers start, oldest first from #head.
  readonly #pfns: Int32Array;
  readonly #offsets: Int32Array;
  #head = 0;
  #posted = 0;
  // By frame: truesize, and buffers that the skb keeps.
  readonly #truesize: Int32Array = new Int32Array(MOST).fill(UNKNOWN);
  readonly #kept: Uint16Array = new Uint16Array(MOST);

  /**
   * A ring that is full.
   *
   * @param pages The page allocator; its kernel is the strategy's.
   * @param strategy The strategy.
   * @param options Slots, CPU.
   * @throws {RangeError} An option or the strategy's buffer is out of range.
   */
  constructor(
    pages: PageAllocator,
    strategy: RxStrategy,
    options: RxStrategyRingOptions = {},
  ) {
    this.pages = pages;
    this.kernel = pages.kernel;
    this.strategy = strategy;
    this.buffer = strategy.buffer(pages.kernel);
    this.#size = whole("size", options.size ?? 256, 2, 4096);
    this.#cpu = whole("cpu", options.cpu ?? 0, 0, pages.cpus - 1);
    this.held = new HeldPackets(pages, this.#cpu);
    const { size, from } = this.buffer;
    let order = 0;
    while (pages.pageSize * 2 ** order < size) order++;
    this.#order = order;
    this.#frags = from === "pages"
      ? null
      : new PageFragCache(pages, { cpu: this.#cpu });
    if (this.#frags !== null && size > pages.pageSize) {
      throw new RangeError(
        `receive strategy "${strategy.name}": buffer.size ${size}: page_frag_cache serves at most a page of ${pages.pageSize}`,
      );
    }
    this.#pfns = new Int32Array(this.#size);
    this.#offsets = new Int32Array(this.#size);
    this.#refill();
  }

  /** Buffers posted. */
  get posted(): number {
    return this.#posted;
  }

  #refill(): void {
    const frags = this.#frags;
    while (this.#posted < this.#size) {
      let pfn: number;
      let offset = 0;
      if (frags === null) {
        pfn = this.pages.alloc(
          Gfp.GFP_ATOMIC | Gfp.__GFP_COMP | Gfp.__GFP_NOWARN,
          this.#order,
          this.#cpu,
        );
      } else {
        const address = frags.alloc(this.buffer.size, Gfp.GFP_ATOMIC);
        pfn = address < 0 ? -1 : frags.pfn;
        offset = address - frags.base;
      }
      if (pfn < 0) {
        this.counters.allocFailed++;
        return;
      }
      this.#post(pfn, offset);
    }
  }

  #post(pfn: number, offset: number): void {
    const after = this.#head + this.#posted;
    const at = after < this.#size ? after : after - this.#size;
    this.#pfns[at] = pfn;
    this.#offsets[at] = offset;
    this.#posted++;
  }

  #take(): number {
    const pfn = this.#pfns[this.#head]!;
    this.#head = this.#head + 1 === this.#size ? 0 : this.#head + 1;
    this.#posted--;
    return pfn;
  }

  /**
   * The device writes one frame, and the strategy makes an skb of it.
   *
   * @param frame Bytes of the Ethernet frame, 14 to 65,549.
   * @param endsPoll Whether the poll ends with it, which fills the ring again; true if absent.
   * @returns Its truesize, bytes; 0 where it was dropped.
   * @throws {RangeError} `frame` is out of range, or the strategy breaks its contract.
   */
  receive(frame: number, endsPoll = true): number {
    const { counters, held } = this;
    if (this.#truesize[frame] === undefined || frame < ETH_HLEN) {
      checkFrame(frame, MOST - 1);
      throw new RangeError(
        `frame must be at least ${ETH_HLEN} bytes, got ${frame}`,
      );
    }
    if (this.#truesize[frame] === UNKNOWN) this.#learn(frame);
    const truesize = this.#truesize[frame]!;
    const needed = Math.ceil(frame / this.buffer.data);
    if (needed > this.#posted) {
      counters.noBuffer++;
      if (endsPoll) this.#refill();
      return 0;
    }
    counters.buffers += needed;
    const kept = this.#kept[frame]!;
    for (let i = 0; i < needed; i++) {
      const offset = this.#offsets[this.#head]!;
      const pfn = this.#take();
      if (i < kept) held.addRef(pfn);
      else this.#post(pfn, offset);
    }
    counters.copies += needed - kept;
    if (truesize === DROPPED) {
      counters.dropped++;
    } else {
      held.push(truesize);
      counters.packets++;
    }
    if (endsPoll) this.#refill();
    return truesize === DROPPED ? 0 : truesize;
  }

  #learn(frame: number): void {
    const skb = this.strategy.receive(this.kernel, frame);
    if (skb === null) {
      this.#truesize[frame] = DROPPED;
      return;
    }
    const kept = buffersOf(skb);
    const needed = Math.ceil(frame / this.buffer.data);
    if (kept > needed) {
      throw new RangeError(
        `receive strategy "${this.strategy.name}": a frame of ${frame} bytes lies in ${needed} buffers of ${this.buffer.data}, the skb keeps ${kept}`,
      );
    }
    this.#truesize[frame] = skb.truesize;
    this.#kept[frame] = kept;
  }

  /**
   * The stack frees the oldest packets.
   *
   * @param packets How many at most; 1 if absent.
   * @returns Bytes of truesize that were freed.
   * @throws {RangeError} `packets` is no whole number from 0.
   */
  consume(packets = 1): number {
    return this.held.consume(whole("packets", packets, 0, 0x7fffffff));
  }

  /** Memory behind the buffers that are posted now. */
  memory(): RingMemory {
    return ringMemory(this.pages, this.buffers());
  }

  /** The buffers that are posted now, next one first. */
  buffers(): RingBuffer[] {
    return Array.from({ length: this.#posted }, (_, i) => {
      const at = (this.#head + i) % this.#size;
      return {
        pfn: this.#pfns[at]!,
        offset: this.#offsets[at]!,
        length: this.buffer.data,
      };
    });
  }

  /** Frees buffers and packets; nothing can be received afterwards. */
  close(): void {
    this.held.consume(this.held.packets);
    while (this.#posted > 0) this.pages.putPage(this.#take(), this.#cpu);
    this.#frags?.drain();
  }
}

/** Receive buffers that an skb keeps. */
function buffersOf(skb: SkBuff): number {
  const own = skb.frags.filter(({ kind }) => kind === Frag.RX_BUFFER).length +
    (skb.headKind === Head.RX_BUFFER ? 1 : 0);
  return skb.fragList.reduce((sum, other) => sum + buffersOf(other), own);
}
