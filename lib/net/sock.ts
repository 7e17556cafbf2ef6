/**
 * A socket's receive accounting: what a queue is charged, when a packet is refused, when charge is given back.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { kernelArgument, optionsObject, whole } from "../sim/check.ts";
import { grownRing } from "../sim/grown.ts";
import { skbCondense } from "./skb_coalesce.ts";
import type { SkBuff } from "./skbuff.ts";

/** Counters of a receive queue, by the names `nstat` and `ss` print. */
export interface SocketCounters {
  /** Packets queued. */
  queued: number;
  /** Packets refused for want of receive buffer (`UdpRcvbufErrors`, `sk_drops`). */
  RcvbufErrors: number;
  /** Packets refused for want of protocol memory (`UdpMemErrors`). */
  MemErrors: number;
  /** Packets whose fragments were copied into the head under pressure (`skb_condense`). */
  condensed: number;
  /** Times that freed charge was given back. */
  giveBacks: number;
}

/** Which socket holds the queue: the rules differ. */
export type SocketKind = "udp" | "raw" | "packet";

/** Options of a {@linkcode ReceiveQueue}. */
export interface ReceiveQueueOptions {
  /** `sk_rcvbuf`, bytes; the release's `net.core.rmem_default` if absent. */
  readonly rcvbuf?: number | undefined;
  /** Kind of socket; UDP if absent. */
  readonly socket?: SocketKind | undefined;
  /** `net.ipv4.udp_mem[2]`, pages: what all sockets together may hold; no limit if absent. */
  readonly memPages?: number | undefined;
}

/**
 * `sk_rcvbuf` after `setsockopt(SO_RCVBUF, value)`: the double, bounded by `rmem_max` and a minimum.
 *
 * Models `__sock_set_rcvbuf` and `sock_setsockopt` (net/core/sock.c).
 *
 * @param kernel The kernel.
 * @param value Bytes asked for.
 * @param rmemMax `net.core.rmem_max`, bytes; unbounded (SO_RCVBUFFORCE) if absent.
 *
 * @example
 * ```ts
 * import { kernel, soRcvbuf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(soRcvbuf(kernel("6.18"), 100_000), 200000);
 * assertEquals(soRcvbuf(kernel("6.18"), 10_000_000, 212_992), 425984);
 * ```
 */
export function soRcvbuf(
  kernel: Kernel,
  value: number,
  rmemMax?: number,
): number {
  whole("value", value, 0, 0x7fffffff, "soRcvbuf");
  const bounded = rmemMax === undefined ? value : Math.min(value, rmemMax);
  // The kernel bounds the value so that its double stays an int.
  return Math.max(2 * Math.min(bounded, 0x3fffffff), kernel.udp.minRcvbuf);
}

/**
 * The receive queue of a UDP, raw or packet socket.
 *
 * Models `sock_queue_rcv_skb` (net/core/sock.c) up to 4.9 and for raw and packet sockets,
 * `__udp_enqueue_schedule_skb` and `udp_rmem_release` (net/ipv4/udp.c) from 4.10 on. Packets are kept as their charge
 * in a ring, so that a queue of any length costs no allocation.
 *
 * @example Three full-size datagrams fit 8 KiB on 6.18
 * ```ts
 * import { allocSkb, kernel, ReceiveQueue } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = new ReceiveQueue(kernel("6.18"), { rcvbuf: 8192 });
 * while (queue.enqueue(allocSkb(kernel("6.18"), 1531)));
 * assertEquals([queue.length, queue.rmemAlloc], [3, 6912]);
 * ```
 */
export class ReceiveQueue {
  /** `sk_rcvbuf`, bytes. */
  readonly rcvbuf: number;
  /** `sk_rmem_alloc`: bytes charged. */
  rmemAlloc = 0;
  /** `sk_forward_alloc`: bytes taken from protocol memory and not charged yet. */
  forwardAlloc = 0;
  /** `sk_memory_allocated`: pages of protocol memory that this socket holds. */
  memoryPages = 0;
  /** Event counts. */
  readonly counters: SocketCounters = {
    queued: 0,
    RcvbufErrors: 0,
    MemErrors: 0,
    condensed: 0,
    giveBacks: 0,
  };
  readonly #kernel: Kernel;
  readonly #batched: boolean;
  readonly #rule: Kernel["udp"]["full"];
  readonly #condenses: boolean;
  readonly #memPages: number;
  readonly #accounts: "size" | "shortfall" | "none";
  // Bytes that a give-back leaves out of its rounding, so that a last page may stay.
  readonly #keeps: number;
  #ring = new Int32Array(64);
  #head = 0;
  #length = 0;
  #readerQueue = 0;
  #deficit = 0;

  /**
   * An empty queue.
   *
   * @param kernel The kernel.
   * @param options Buffer size and kind of socket.
   * @throws {RangeError} `rcvbuf` or `memPages` is no non-negative integer, or the kind is unknown.
   * @throws {TypeError} `kernel` is no kernel, or `options` no object.
   */
  constructor(kernel: Kernel, options: ReceiveQueueOptions = {}) {
    kernelArgument(kernel, "ReceiveQueue");
    optionsObject(options, "ReceiveQueue");
    const {
      rcvbuf = kernel.udp.rmemDefault,
      socket = "udp",
      memPages = Infinity,
    } = options;
    whole("rcvbuf", rcvbuf, 0, 0x7fffffff);
    if (memPages !== Infinity) whole("memPages", memPages, 0, 0x7fffffff);
    if (socket !== "udp" && socket !== "raw" && socket !== "packet") {
      throw new RangeError(
        `socket must be "udp", "raw" or "packet", got "${socket}"`,
      );
    }
    this.#kernel = kernel;
    this.rcvbuf = rcvbuf;
    this.#memPages = memPages;
    const batched = kernel.udp.giveBack === "batched";
    this.#batched = batched && socket === "udp";
    this.#rule = this.#batched ? kernel.udp.full : "rmem >= rcvbuf";
    const { udpSchedule, sockSchedule, sockReclaim } = kernel.udp;
    this.#accounts = socket === "packet"
      ? "none"
      : socket === "udp"
      ? udpSchedule
      : sockSchedule;
    this.#keeps = this.#batched || sockReclaim === "leaves a page" ? 1 : 0;
    this.#condenses = this.#batched && kernel.skb.condense;
  }

  /** Packets waiting. */
  get length(): number {
    return this.#length;
  }

  /** Whether a packet of `truesize` bytes would be taken now. */
  accepts(truesize: number): boolean {
    const rmem = this.rmemAlloc;
    switch (this.#rule) {
      case "rmem >= rcvbuf":
        return rmem < this.rcvbuf;
      case "rmem > rcvbuf":
        return rmem <= this.rcvbuf;
      case "rmem + size > rcvbuf and rmem > 0":
        return rmem + truesize <= this.rcvbuf ||
          rmem === 0 && this.rcvbuf <= 0x3fffffff;
    }
  }

  /**
   * Queues a packet, or counts why not.
   *
   * @param skb The packet; under pressure its fragments are copied into its head.
   * @returns Whether it was taken.
   */
  enqueue(skb: SkBuff): boolean {
    if (!this.accepts(skb.truesize)) {
      this.counters.RcvbufErrors++;
      return false;
    }
    if (this.#condenses && this.rmemAlloc > this.rcvbuf >> 1) {
      const before = skb.truesize;
      skbCondense(this.#kernel, skb);
      if (skb.truesize !== before) this.counters.condensed++;
    }
    if (!this.#schedule(skb.truesize)) {
      this.counters.MemErrors++;
      return false;
    }
    if (this.#accounts !== "none") this.forwardAlloc -= skb.truesize;
    this.rmemAlloc += skb.truesize;
    this.#push(skb.truesize);
    this.counters.queued++;
    return true;
  }

  /**
   * Reads the oldest packet and, when it is time, gives charge back.
   *
   * @returns The packet's charge in bytes, or 0 if the queue was empty.
   */
  read(): number {
    if (this.#length === 0) return 0;
    const size = this.#ring[this.#head]!;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    // The reader works on a list of its own, which it fills from the queue when it is empty.
    if (this.#readerQueue === 0) this.#readerQueue = this.#length;
    this.#readerQueue--;
    this.#length--;
    if (!this.#batched) {
      this.#giveBack(size);
      return size;
    }
    this.#deficit += size;
    if (this.#deficit < this.rcvbuf >> 2 && this.#readerQueue > 0) return size;
    const deficit = this.#deficit;
    this.#deficit = 0;
    this.#giveBack(deficit);
    this.#readerQueue = this.#length;
    return size;
  }

  #schedule(size: number): boolean {
    const { pageSize } = this.#kernel.build;
    let lacks = size - this.forwardAlloc;
    if (this.#accounts === "size") {
      // A UDP socket asks once its reserve is no more than the packet, others once it is less.
      if (this.#batched ? lacks < 0 : lacks <= 0) return true;
      lacks = size;
    } else if (this.#accounts === "none" || lacks <= 0) return true;
    const pages = Math.ceil(lacks / pageSize);
    if (this.memoryPages + pages > this.#memPages) return false;
    this.memoryPages += pages;
    this.forwardAlloc += pages * pageSize;
    return true;
  }

  #giveBack(size: number): void {
    this.rmemAlloc -= size;
    this.counters.giveBacks++;
    if (this.#accounts === "none") return;
    const { pageSize } = this.#kernel.build;
    const free = size + this.forwardAlloc;
    const pages = Math.floor(Math.max(0, free - this.#keeps) / pageSize);
    this.forwardAlloc = free - pages * pageSize;
    this.memoryPages -= pages;
  }

  #push(size: number): void {
    if (this.#length === this.#ring.length) {
      this.#ring = grownRing(this.#ring, this.#head);
      this.#head = 0;
    }
    this.#ring[(this.#head + this.#length) & (this.#ring.length - 1)] = size;
    this.#length++;
  }
}
