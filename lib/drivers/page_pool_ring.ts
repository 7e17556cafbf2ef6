/**
 * A receive ring over page_pool: fragments of pages that come back to the driver.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { allocSkb, napiAllocSkb } from "../net/skbuff.ts";
import { flag, whole } from "../sim/check.ts";
import { checkFrame, ETH_HLEN } from "./frame.ts";
import { HeldPackets } from "./held_packets.ts";
import { PagePool, type PagePoolOptions } from "./page_pool.ts";
import {
  type ReceiveRing,
  type RingBuffer,
  type RingMemory,
  ringMemory,
} from "./receive_ring.ts";

/** How a {@linkcode PagePoolRing} is made. An option given as `undefined` is absent. */
export interface PagePoolRingOptions extends PagePoolOptions {
  /** Slots, 1 to 32,768; default 256. */
  readonly size?: number | undefined;
  /** Bytes that the driver asks the pool for, 448 to a page; default 2,048. */
  readonly fragment?: number | undefined;
  /** Whether the skb is built around the first fragment; default false: a small head with fragments behind it. */
  readonly build?: boolean | undefined;
  /** Without `build`: head that is asked for, bytes; shorter frames are copied into it. Default 256. */
  readonly headSize?: number | undefined;
}

/**
 * What a {@linkcode PagePoolRing} counts; all start at 0.
 *
 * @example
 * ```ts
 * import { kernel, PageAllocator, PagePoolRing, PagePoolRingCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new PagePoolRing(new PageAllocator(kernel("6.8")));
 * ring.receive(60);
 * ring.receive(1514);
 * const counters: PagePoolRingCounters = ring.counters;
 * assertEquals([counters.packets, counters.drops], [2, 0]);
 * ```
 */
export class PagePoolRingCounters {
  /** Packets handed to the stack. */
  packets = 0;
  /** Packets that the driver dropped for their length. */
  drops = 0;
  /** Packets that the device dropped, because the buffers posted did not hold them. */
  missed = 0;
  /** Buffers that received packets used. */
  buffers = 0;
  /** Packets copied whole into a small head. */
  copied = 0;
  /** Refills that ran out of memory. */
  oom = 0;
}

/**
 * The receive queue of a driver over page_pool, as drivers of 6.8 have it: every buffer is a fragment, replaced as soon as
 * it is used, and a page goes back to the pool with the last of its fragments. A frame that does not fit a buffer goes on
 * in the next ones. Small heads are charged, but not taken from the page allocator.
 *
 * @example Two buffers a page; half a page of truesize is charged for each
 * ```ts
 * import { kernel, PageAllocator, PagePoolRing } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new PagePoolRing(new PageAllocator(kernel("6.8")));
 * assertEquals(ring.memory().blockBytes, 128 * 4096);
 * assertEquals([ring.receive(60), ring.receive(1514)], [1280, 3328]);
 * ```
 */
export class PagePoolRing implements ReceiveRing {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** The pool. */
  readonly pool: PagePool;
  /** Slots. */
  readonly size: number;
  /** What is counted. */
  readonly counters: PagePoolRingCounters = new PagePoolRingCounters();
  /** Packets that the stack holds. */
  readonly held: HeldPackets;
  readonly #fragment: number;
  readonly #build: boolean;
  readonly #headSize: number;
  readonly #headTruesize: number;
  readonly #linear: number;
  readonly #maxFrags: number;
  readonly #skBuff: number;
  // By slot: page of the buffer, where it starts there, and what the pool gave, bytes.
  readonly #pfn: Int32Array;
  readonly #offset: Int32Array;
  readonly #room: Int32Array;
  #next = 0;
  #posted = 0;
  #closed = false;

  /**
   * A full ring.
   *
   * @param pages The page allocator.
   * @param options Slots, fragments and the pool.
   * @throws {RangeError} An option is out of range, or a fragment has no room behind headroom and shared info.
   * @throws {TypeError} `build` is no boolean.
   */
  constructor(pages: PageAllocator, options: PagePoolRingOptions = {}) {
    const { kernel } = pages;
    const { skb, build } = kernel;
    this.pages = pages;
    this.kernel = kernel;
    this.size = whole("options.size", options.size ?? 256, 1, 32768);
    this.#build = flag("options.build", options.build ?? false);
    this.#fragment = whole(
      "options.fragment",
      options.fragment ?? 2048,
      448,
      build.pageSize,
    );
    this.#headSize = whole(
      "options.headSize",
      options.headSize ?? 256,
      ETH_HLEN,
      build.pageSize,
    );
    this.pool = new PagePool(pages, options);
    this.#headTruesize = this.#build
      ? skb.skBuffAligned
      : napiAllocSkb(kernel, this.#headSize).truesize;
    this.#linear = skb.netSkbPad + skb.netIpAlign + skb.sharedInfo;
    this.#maxFrags = build.maxSkbFrags;
    this.#skBuff = allocSkb(kernel, 0).truesize;
    this.#pfn = new Int32Array(this.size);
    this.#offset = new Int32Array(this.size);
    this.#room = new Int32Array(this.size);
    const { pool } = this;
    const { pageSize } = pages;
    this.held = new HeldPackets({
      // The stack's softirq is the pool's own, so that pages may go back to the lockless cache.
      putPage: (pfn) => (pool.put(pfn * pageSize), false),
    }, 0);
    this.#fill(Gfp.GFP_KERNEL);
  }

  /** Buffers posted. */
  get posted(): number {
    return this.#posted;
  }

  /**
   * The device writes one frame into the next buffers, and the driver makes an skb of it.
   *
   * @param frame Bytes of the Ethernet frame.
   * @param endsPoll Whether the ring is filled again behind it. Default true.
   * @returns Its truesize, bytes; 0 where it was dropped.
   * @throws {RangeError} `frame` is out of range.
   * @throws {Error} The ring is closed.
   */
  receive(frame: number, endsPoll = true): number {
    checkFrame(frame);
    if (this.#closed) throw new Error("receive: the ring is closed");
    const truesize = this.#receive(frame);
    if (endsPoll) this.#fill(Gfp.GFP_ATOMIC);
    return truesize;
  }

  /**
   * The stack frees the oldest packets that it holds.
   *
   * @param packets How many at most; default 1.
   * @returns Bytes of truesize that were freed.
   * @throws {RangeError} It is no whole number from 0 up.
   */
  consume(packets = 1): number {
    return this.held.consume(whole("packets", packets, 0, 2 ** 32 - 1));
  }

  /** Memory behind the buffers that are posted now; pages that the pool keeps are not among them. */
  memory(): RingMemory {
    return ringMemory(this.pages, this.buffers());
  }

  /** The buffers that are posted now, next one first. */
  buffers(): RingBuffer[] {
    return Array.from({ length: this.#posted }, (_, i) => {
      const at = (this.#next + i) % this.size;
      return {
        pfn: this.#pfn[at]!,
        offset: this.#offset[at]!,
        length: this.#room[at]!,
      };
    });
  }

  /** Frees what the ring, the stack and the pool hold. Further packets are an error. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.held.consume(this.held.packets);
    while (this.#posted > 0) this.pool.put(this.#take() * this.pages.pageSize);
    this.pool.destroy();
  }

  #receive(frame: number): number {
    const { counters, held, size } = this;
    let buffers = 0;
    for (let room = 0; room < frame; buffers++) {
      if (buffers === this.#posted) {
        counters.missed++;
        return 0;
      }
      room += this.#roomOf((this.#next + buffers) % size, buffers === 0);
    }
    counters.buffers += buffers;
    if (frame < ETH_HLEN) {
      for (let i = 0; i < buffers; i++) {
        this.pool.put(this.#take() * this.pages.pageSize);
      }
      counters.drops++;
      return 0;
    }
    counters.packets++;
    let truesize = this.#headTruesize;
    if (!this.#build && frame <= this.#headSize) {
      counters.copied++;
      this.pool.put(this.#take() * this.pages.pageSize);
    } else {
      let frags = this.#build ? -1 : 0;
      for (let i = 0; i < buffers; i++) {
        if (frags === this.#maxFrags) {
          truesize += this.#skBuff;
          frags = 0;
        }
        frags++;
        truesize += this.#room[this.#next]!;
        held.addRef(this.#take());
      }
    }
    held.push(truesize);
    return truesize;
  }

  // Bytes that the device may write: a buffer that the skb is built around has room for both its ends.
  #roomOf(slot: number, first: boolean): number {
    const room = this.#room[slot]!;
    return this.#build && first ? room - this.#linear : room;
  }

  #take(): number {
    const pfn = this.#pfn[this.#next]!;
    this.#next = (this.#next + 1) % this.size;
    this.#posted--;
    return pfn;
  }

  #fill(gfp: number): void {
    const { pool, pages, size } = this;
    while (this.#posted < size) {
      const address = pool.alloc(this.#fragment, gfp);
      if (address < 0) {
        this.counters.oom++;
        return;
      }
      const slot = (this.#next + this.#posted) % size;
      this.#pfn[slot] = Math.floor(address / pool.pageBytes) *
        (pool.pageBytes / pages.pageSize);
      this.#offset[slot] = address % pool.pageBytes;
      this.#room[slot] = pool.size;
      this.#posted++;
    }
  }
}
