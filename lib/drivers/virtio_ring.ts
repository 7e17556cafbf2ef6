/**
 * virtio_net's mergeable receive ring: packets as they arrive, and the buffers that wait for them.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import type { PageFrag } from "../mm/page_frag.ts";
import { whole } from "../sim/check.ts";
import { allocSkb, napiAllocSkb } from "../net/skbuff.ts";
import { checkFrame, ETH_HLEN, FRAME_MAX } from "./frame.ts";
import { HeldPackets } from "./held_packets.ts";
import {
  type ReceiveRing,
  type RingBuffer,
  type RingMemory,
  ringMemory,
} from "./receive_ring.ts";
import {
  ewmaAdd,
  mergeableBufferLength,
  VIRTIO_NET_HDR,
} from "./virtio_buffer.ts";
import { AVERAGED, MergeableBuffers, WHOLE_PAGES } from "./virtio_fill.ts";
import {
  MergeableRingCounters,
  type MergeableRingOptions,
  mergeableRingSetup,
} from "./virtio_ring_options.ts";

export type { RingBuffer, RingMemory } from "./receive_ring.ts";
export {
  MergeableRingCounters,
  type MergeableRingOptions,
} from "./virtio_ring_options.ts";

/**
 * The receive queue of virtio_net with `VIRTIO_NET_F_MRG_RXBUF`: `virtnet_receive`, `receive_mergeable` and
 * `try_fill_recv` (drivers/net/virtio_net.c) over the page allocator. Buffers are whole pages up to 3.12, pieces of fixed
 * length in 3.13, pieces sized by the average frame from 3.14 on.
 *
 * `receive` returns what the packet is charged. The packet is then held, and its pages with it, until `consume`.
 * The small heads that packets are copied to are charged, but not taken from the page allocator. Left out: XDP, AF_XDP,
 * several queues, the time that a device waits.
 *
 * @example Twenty buffers of 1,536 bytes, and one that gets the rest of its block
 * ```ts
 * import { kernel, MergeableRing, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new MergeableRing(new PageAllocator(kernel("6.1")));
 * const charged = Array.from({ length: 21 }, () => ring.receive(1514));
 * assertEquals(charged.slice(19), [2816, 2304]);
 * ```
 */
export class MergeableRing implements ReceiveRing {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** Slots of the ring. */
  readonly size: number;
  /** Free slots that a poll may leave at its end. */
  readonly refillAbove: number;
  /** What is counted. */
  readonly counters: MergeableRingCounters = new MergeableRingCounters();
  /** Packets that the stack holds. */
  readonly held: HeldPackets;
  readonly #buffers: MergeableBuffers;
  readonly #cpu: number;
  readonly #minimum: number;
  readonly #averaged: boolean;
  readonly #notesUsed: boolean;
  readonly #dropsOverlong: boolean;
  readonly #coalesces: boolean;
  readonly #builds: boolean;
  readonly #copyMax: number;
  readonly #goodCopyLen: number;
  readonly #headTruesize: number;
  readonly #chainedTruesize: number;
  readonly #sharedInfo: number;
  readonly #skBuff: number;
  readonly #maxSkbFrags: number;
  #average: number;
  #closed = false;

  /**
   * A ring that `virtnet_open` has filled.
   *
   * @param pages The page allocator; its kernel decides the rules.
   * @param options Size, start and DMA.
   * @throws {RangeError} An option is out of range, or the kernel does not have it.
   * @throws {TypeError} An option is of the wrong type.
   */
  constructor(pages: PageAllocator, options: MergeableRingOptions = {}) {
    const { kernel } = pages;
    const { virtio, skb } = kernel;
    const setup = mergeableRingSetup(kernel, options);
    const head = napiAllocSkb(kernel, virtio.goodCopyLen);
    this.pages = pages;
    this.kernel = kernel;
    this.size = setup.size;
    this.refillAbove = setup.refillAbove;
    this.held = new HeldPackets(pages, setup.cpu);
    this.#buffers = new MergeableBuffers(pages, setup, this.counters);
    this.#cpu = setup.cpu;
    this.#minimum = setup.minimum;
    this.#averaged = this.#buffers.mode === AVERAGED;
    const hidesHole = this.#averaged && !virtio.countsHole;
    this.#notesUsed = hidesHole && virtio.overlong === "charged";
    this.#dropsOverlong = hidesHole && virtio.overlong === "drops";
    this.#coalesces = virtio.coalesces;
    this.#builds = virtio.buildSkb && skb.netIpAlign === 0;
    this.#copyMax = head.tailroom;
    this.#goodCopyLen = virtio.goodCopyLen;
    this.#headTruesize = head.truesize;
    this.#chainedTruesize = allocSkb(kernel, 0).truesize;
    this.#sharedInfo = skb.sharedInfo;
    this.#skBuff = skb.skBuffAligned;
    this.#maxSkbFrags = kernel.build.maxSkbFrags;
    this.#average = setup.average;
    this.#buffers.fill(
      Gfp.GFP_KERNEL,
      setup.size - setup.freeSlots,
      this.#average,
    );
    if (setup.blockOffset >= 0) this.#buffers.startAt(setup.blockOffset);
  }

  /** `mrg_avg_pkt_len`: average frame length, bytes; 0 before the first frame. */
  get average(): number {
    return this.#average;
  }

  /** `mergeable_rx_buffer_size` in sysfs: length of the next buffer, bytes. */
  get bufferLength(): number {
    return mergeableBufferLength(this.kernel, this.#average, {
      minimum: this.#minimum,
    });
  }

  /** `alloc_frag`: where buffers are cut from. */
  get frag(): PageFrag {
    return this.#buffers.frag;
  }

  /** Buffers posted. */
  get posted(): number {
    return this.#buffers.posted;
  }

  /** `num_free`: slots without a buffer. */
  get freeSlots(): number {
    return this.size - this.#buffers.posted;
  }

  /**
   * The device writes one frame into the next buffers, and the driver makes an skb of it.
   *
   * @param frame Bytes of the Ethernet frame, without the virtio header.
   * @param endsPoll Whether the poll ends with this packet, so that the ring may be refilled. Default true.
   * @returns The packet's truesize, bytes; 0 where it was dropped, which the counters tell apart.
   * @throws {RangeError} `frame` is out of range.
   * @throws {Error} The ring is closed.
   */
  receive(frame: number, endsPoll = true): number {
    if (frame >>> 0 !== frame || frame > FRAME_MAX) checkFrame(frame);
    if (this.#closed) throw new Error("receive: the ring is closed");
    const truesize = this.#receiveMergeable(frame);
    if (endsPoll && this.size - this.#buffers.posted > this.refillAbove) {
      this.counters.refills++;
      this.#buffers.fill(Gfp.GFP_ATOMIC, this.size, this.#average);
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
    if (packets >>> 0 !== packets) whole("packets", packets, 0, 2 ** 32 - 1);
    return this.held.consume(packets);
  }

  /**
   * `refill_work`: fills the ring from a context that may sleep, as the driver schedules it when a refill found no memory.
   *
   * @throws {Error} The ring is closed.
   */
  refillWork(): void {
    if (this.#closed) throw new Error("refillWork: the ring is closed");
    this.#buffers.fill(Gfp.GFP_KERNEL, this.size, this.#average);
  }

  /** Memory behind the buffers that are posted now: what a full ring costs before any packet arrives. */
  memory(): RingMemory {
    return ringMemory(this.pages, this.buffers());
  }

  /** The buffers that are posted now, next one first. */
  buffers(): RingBuffer[] {
    return this.#buffers.list();
  }

  /** Frees what the ring and the stack hold (`virtnet_remove`). Further packets are an error. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.held.consume(this.held.packets);
    this.#buffers.close();
  }

  #receiveMergeable(frame: number): number {
    const { counters, held } = this;
    const slots = this.#buffers;
    const { mask, length, offset } = slots;
    let rest = frame + VIRTIO_NET_HDR;
    // The device looks for room first and writes nothing where there is too little.
    let buffers = 0;
    for (let room = 0; room < rest; buffers++) {
      if (buffers === slots.posted) {
        counters.missed++;
        return 0;
      }
      room += length[(slots.next + buffers) & mask]!;
    }
    counters.buffers += buffers;
    if (frame < ETH_HLEN) return this.#drop(buffers);

    let at = slots.next;
    let used = Math.min(length[at]!, rest);
    if (this.#dropsOverlong && used > slots.truesize[at]!) {
      return this.#drop(buffers);
    }
    let room = this.#noted(at, used);
    let end = offset[at]! + used;
    let block = slots.take();
    let frags = 0;
    let truesize: number;
    const data = used - VIRTIO_NET_HDR;
    if (
      this.#builds && data > this.#goodCopyLen &&
      room - used >= this.#sharedInfo
    ) {
      truesize = room + this.#skBuff;
      counters.built++;
      held.addRef(block);
    } else if (data <= this.#copyMax) {
      truesize = this.#headTruesize;
      counters.copied++;
      slots.giveBack(block);
    } else {
      // The head gets the first bytes; the fragment is charged whole.
      truesize = this.#headTruesize + room;
      frags = 1;
      held.addRef(block);
    }
    rest -= used;
    for (let i = 1; i < buffers; i++) {
      if (frags === this.#maxSkbFrags) {
        if (slots.mode === WHOLE_PAGES) return this.#drop(buffers - i);
        truesize += this.#chainedTruesize;
        counters.fragLists++;
        frags = 0;
      }
      at = slots.next;
      used = Math.min(length[at]!, rest);
      if (this.#dropsOverlong && used > slots.truesize[at]!) {
        return this.#drop(buffers - i);
      }
      room = this.#noted(at, used);
      const start = offset[at]!;
      const pfn = slots.take();
      truesize += room;
      if (this.#coalesces && frags > 0 && pfn === block && start === end) {
        this.pages.putPage(pfn, this.#cpu);
        counters.coalesced++;
      } else {
        held.addRef(pfn);
        frags++;
      }
      block = pfn;
      end = start + used;
      rest -= used;
    }
    counters.packets++;
    counters.bytes += frame;
    if (this.#averaged) this.#average = ewmaAdd(this.#average, frame);
    held.push(truesize);
    return truesize;
  }

  // The buffers that the packet still has in the ring go with it, and what was taken for it is freed.
  #drop(buffers: number): 0 {
    for (let i = 0; i < buffers; i++) {
      this.#buffers.giveBack(this.#buffers.take());
    }
    this.held.abort();
    this.counters.drops++;
    this.counters.rxLengthErrors++;
    return 0;
  }

  // What a slot's used bytes are charged: up to 4.11 the hole counts only where the device wrote into it.
  #noted(at: number, used: number): number {
    const noted = this.#buffers.truesize[at]!;
    return this.#notesUsed && used > noted ? used : noted;
  }
}
