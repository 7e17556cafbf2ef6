/**
 * virtio_net's receive ring in big mode: a chain of pages waits for each packet, and what it did not need goes back to the
 * driver's list.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { napiAllocSkb } from "../net/skbuff.ts";
import { flag, whole } from "../sim/check.ts";
import { grown } from "../sim/grown.ts";
import { checkFrame, ETH_HLEN } from "./frame.ts";
import { HeldPackets } from "./held_packets.ts";
import {
  type ReceiveRing,
  type RingBuffer,
  type RingMemory,
  ringMemory,
} from "./receive_ring.ts";
import { PADDED_VNET_HDR } from "./virtio_buffer.ts";

/** How a {@linkcode BigRing} is made. An option given as `undefined` is absent. */
export interface BigRingOptions {
  /** Descriptors of the ring, 32 to 32,768; default 256. */
  readonly size?: number | undefined;
  /** `VIRTIO_RING_F_INDIRECT_DESC`: a chain takes one descriptor of the ring in place of 19. Default true. */
  readonly indirect?: boolean | undefined;
  /** Whether pages that a packet did not need wait on the driver's list (`rq->pages`, since fb6813f48080). Default true. */
  readonly recycles?: boolean | undefined;
}

/**
 * What a {@linkcode BigRing} counts; all start at 0.
 *
 * @example
 * ```ts
 * import { BigRing, BigRingCounters, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new BigRing(new PageAllocator(kernel("4.3")));
 * ring.receive(1514);
 * const counters: BigRingCounters = ring.counters;
 * assertEquals([counters.packets, counters.buffers], [1, 1]);
 * ```
 */
export class BigRingCounters {
  /** Packets handed to the stack. */
  packets = 0;
  /** Packets that the driver dropped. */
  drops = 0;
  /** Packets for which no chain was posted. */
  missed = 0;
  /** Chains that received packets used. */
  buffers = 0;
  /** Pages that came from the driver's list. */
  recycled = 0;
  /** Refills that ran out of memory. */
  oom = 0;
}

/**
 * The receive queue of virtio_net without mergeable buffers, of a device that sends GSO packets: `add_recvbuf_big`,
 * `receive_big`, `get_a_page` and `give_pages` (drivers/net/virtio_net.c). A chain has `MAX_SKB_FRAGS` + 1 pages. The small
 * heads are charged, but not taken from the page allocator.
 *
 * @example 18 MiB wait in a full ring; a full-size frame keeps one page of 18, and the others wait again
 * ```ts
 * import { BigRing, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new BigRing(new PageAllocator(kernel("4.3")));
 * assertEquals(ring.memory().blockBytes, 256 * 18 * 4096);
 * assertEquals([ring.receive(60), ring.receive(1514)], [768, 4864]);
 * ```
 */
export class BigRing implements ReceiveRing {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** Chains that fit the ring. */
  readonly size: number;
  /** Pages of a chain. */
  readonly chainPages: number;
  /** What is counted. */
  readonly counters: BigRingCounters = new BigRingCounters();
  /** Packets that the stack holds. */
  readonly held: HeldPackets;
  readonly #recycles: boolean;
  readonly #refillAbove: number;
  readonly #headTruesize: number;
  readonly #copyMax: number;
  readonly #builds: boolean;
  // By slot: the chain's pages, one after the other.
  readonly #chains: Int32Array;
  // rq->pages.
  #list = new Int32Array(64);
  #listed = 0;
  #next = 0;
  #posted = 0;
  #closed = false;

  /**
   * A full ring.
   *
   * @param pages The page allocator; its kernel decides the rules.
   * @param options Descriptors and recycling.
   * @throws {RangeError} `size` is out of range.
   * @throws {TypeError} An option is of the wrong type.
   */
  constructor(pages: PageAllocator, options: BigRingOptions = {}) {
    const { kernel } = pages;
    const { virtio, skb, build } = kernel;
    const size = whole("options.size", options.size ?? 256, 32, 32768);
    const indirect = flag("options.indirect", options.indirect ?? true);
    const head = napiAllocSkb(kernel, virtio.goodCopyLen);
    this.pages = pages;
    this.kernel = kernel;
    this.chainPages = build.maxSkbFrags + 1;
    // One more descriptor for the header in front of the first page.
    this.size = indirect ? size : Math.floor(size / (this.chainPages + 1));
    this.held = new HeldPackets(pages, 0);
    this.#recycles = flag("options.recycles", options.recycles ?? true);
    this.#refillAbove = Math.floor(
      (virtio.refillAbove === "ring/2" ? this.size : Math.min(64, this.size)) /
        2,
    );
    this.#headTruesize = head.truesize;
    this.#copyMax = head.tailroom;
    this.#builds = virtio.buildSkb && skb.netIpAlign === 0;
    this.#chains = new Int32Array(this.size * this.chainPages);
    this.#fill(Gfp.GFP_KERNEL);
  }

  /** Chains posted. */
  get posted(): number {
    return this.#posted;
  }

  /** Pages on the driver's list. */
  get listed(): number {
    return this.#listed;
  }

  /**
   * The device writes one frame into the next chain, and the driver makes an skb of it.
   *
   * @param frame Bytes of the Ethernet frame.
   * @param endsPoll Whether the poll ends with it, so that the ring may be refilled. Default true.
   * @returns Its truesize, bytes; 0 where it was dropped.
   * @throws {RangeError} `frame` is out of range.
   * @throws {Error} The ring is closed.
   */
  receive(frame: number, endsPoll = true): number {
    checkFrame(frame);
    if (this.#closed) throw new Error("receive: the ring is closed");
    const truesize = this.#receive(frame);
    if (endsPoll && this.size - this.#posted > this.#refillAbove) {
      this.#fill(Gfp.GFP_ATOMIC);
    }
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

  /** Memory behind the chains that are posted now; pages on the driver's list are not among them. */
  memory(): RingMemory {
    return ringMemory(this.pages, this.buffers());
  }

  /** The pages of the chains that are posted now, next one first. */
  buffers(): RingBuffer[] {
    const { pageSize } = this.pages;
    return Array.from({ length: this.#posted * this.chainPages }, (_, i) => {
      const slot = (this.#next + Math.floor(i / this.chainPages)) % this.size;
      const pfn = this.#chains[slot * this.chainPages + i % this.chainPages]!;
      return { pfn, offset: 0, length: pageSize };
    });
  }

  /** Frees what the ring and the stack hold. Further packets are an error. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.held.consume(this.held.packets);
    while (this.#posted > 0) {
      const first = this.#take();
      for (let i = 0; i < this.chainPages; i++) {
        this.pages.putPage(this.#chains[first + i]!);
      }
    }
    while (this.#listed > 0) this.pages.putPage(this.#list[--this.#listed]!);
  }

  #receive(frame: number): number {
    const { counters, held, chainPages, kernel } = this;
    const { pageSize, maxSkbFrags } = kernel.build;
    if (this.#posted === 0) {
      counters.missed++;
      return 0;
    }
    // What does not fit a chain the device drops.
    if (frame > chainPages * pageSize - PADDED_VNET_HDR) {
      counters.missed++;
      return 0;
    }
    counters.buffers++;
    const first = this.#take();
    let used = Math.ceil((PADDED_VNET_HDR + frame) / pageSize);
    let truesize = this.#headTruesize + used * pageSize;
    if (
      frame < ETH_HLEN || !kernel.virtio.bigReceives || used > maxSkbFrags
    ) {
      counters.drops++;
      this.#give(first, 0);
      return 0;
    }
    if (
      this.#builds && frame > kernel.virtio.goodCopyLen &&
      pageSize - PADDED_VNET_HDR - frame >= kernel.skb.sharedInfo
    ) {
      truesize = pageSize + kernel.skb.skBuffAligned;
    } else if (frame <= this.#copyMax) {
      truesize = this.#headTruesize;
      used = 0;
    }
    for (let i = 0; i < used; i++) held.addRef(this.#chains[first + i]!);
    this.#give(first, used);
    held.push(truesize);
    counters.packets++;
    return truesize;
  }

  // Where the oldest chain's pages stand.
  #take(): number {
    const first = this.#next * this.chainPages;
    this.#next = (this.#next + 1) % this.size;
    this.#posted--;
    return first;
  }

  // give_pages: a chain's pages from one on.
  #give(first: number, from: number, to = this.chainPages): void {
    for (let i = from; i < to; i++) {
      const pfn = this.#chains[first + i]!;
      if (!this.#recycles) {
        this.pages.putPage(pfn);
        continue;
      }
      if (this.#listed === this.#list.length) {
        this.#list = grown(new Int32Array(2 * this.#listed), this.#list);
      }
      this.#list[this.#listed++] = pfn;
    }
  }

  #fill(gfp: number): void {
    const { chainPages, counters } = this;
    while (this.#posted < this.size) {
      const slot = (this.#next + this.#posted) % this.size;
      const first = slot * chainPages;
      for (let i = 0; i < chainPages; i++) {
        let pfn: number;
        if (this.#listed > 0) {
          pfn = this.#list[--this.#listed]!;
          counters.recycled++;
        } else {
          pfn = this.pages.alloc(gfp, 0);
        }
        if (pfn < 0) {
          // The pages of the part that was found go back whence they came.
          this.#give(first, 0, i);
          counters.oom++;
          return;
        }
        this.#chains[first + i] = pfn;
      }
      this.#posted++;
    }
  }
}
