/**
 * ixgbe's transmit ring: descriptors that the hardware completes in order, and the cleaning that frees what was sent.
 *
 * @module
 */

import type { Napi } from "../net/napi.ts";
import {
  SKB_REASON_CONSUMED,
  SKB_REASON_DROPPED,
} from "../net/completion_queue.ts";
import { whole } from "../sim/check.ts";

/**
 * `IXGBE_DEFAULT_TXD`: descriptors of a ring.
 *
 * @example
 * ```ts
 * import { IXGBE_DEFAULT_TXD } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(IXGBE_DEFAULT_TXD, 512);
 * ```
 */
export const IXGBE_DEFAULT_TXD = 512;
/**
 * `IXGBE_DEFAULT_TX_WORK`: packets that one cleaning frees.
 *
 * @example
 * ```ts
 * import { IXGBE_DEFAULT_TX_WORK, IXGBE_DEFAULT_TXD } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(IXGBE_DEFAULT_TX_WORK < IXGBE_DEFAULT_TXD);
 * ```
 */
export const IXGBE_DEFAULT_TX_WORK = 256;
/**
 * `IXGBE_MAX_DATA_PER_TXD`, bytes.
 *
 * @example
 * ```ts
 * import { IXGBE_MAX_DATA_PER_TXD } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(IXGBE_MAX_DATA_PER_TXD, 16384);
 * ```
 */
export const IXGBE_MAX_DATA_PER_TXD = 16384;

/** What {@linkcode IxgbeTxRing} takes. An option given as `undefined` is absent. */
export interface IxgbeTxOptions {
  /** Descriptors, 64 to 4,096; 512 when absent. */
  readonly count?: number | undefined;
  /** Packets of one cleaning, 1 to 65,535; 256 when absent. */
  readonly workLimit?: number | undefined;
}

/**
 * What happened to a ring so far.
 *
 * @example
 * ```ts
 * import { IxgbeTxCounters, IxgbeTxRing, kernel, kmemCache, Napi } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const k = kernel("net-next-2015-10");
 * const napi = new Napi({ kernel: k, cache: kmemCache({ kernel: k, objectSize: 256 }) });
 * const ring = new IxgbeTxRing(napi);
 * ring.xmitFrame(napi.heads.alloc(0), 64);
 * const counters: IxgbeTxCounters = ring.counters;
 * assertEquals([counters.queued, counters.packets], [1, 0]);
 * ```
 */
export class IxgbeTxCounters {
  /** Packets put on the ring. */
  queued = 0;
  /** Packets cleaned. */
  packets = 0;
  /** Bytes cleaned. */
  bytes = 0;
  /** `tx_busy`: packets refused for want of descriptors. */
  txBusy = 0;
  /** Times that the queue was stopped. */
  stops = 0;
  /** `restart_queue`: times that it was woken. */
  restartQueue = 0;
  /** Cleanings. */
  cleans = 0;
  /** Cleanings that used up the work limit. */
  limited = 0;
}

/**
 * A transmit ring (drivers/net/ethernet/intel/ixgbe/ixgbe_main.c: `ixgbe_xmit_frame_ring`, `ixgbe_clean_tx_irq`).
 *
 * @example What the hardware has sent is freed by the next cleaning
 * ```ts
 * import { IxgbeTxRing, kernel, kmemCache, Napi } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const k = kernel("net-next-2015-10");
 * const napi = new Napi({ kernel: k, cache: kmemCache({ kernel: k, objectSize: 256 }) });
 * const ring = new IxgbeTxRing(napi);
 * ring.xmitFrame(napi.heads.alloc(0), 64);
 * ring.cleanTxIrq(64);
 * assertEquals(napi.heads.inUse, 1);
 * ring.complete(1);
 * ring.cleanTxIrq(64);
 * assertEquals(napi.heads.inUse, 0);
 * ```
 */
export class IxgbeTxRing {
  /** Heads and stacks. */
  readonly napi: Napi;
  /** Descriptors. */
  readonly count: number;
  /** Packets of one cleaning. */
  readonly workLimit: number;
  /** What is counted. */
  readonly counters: IxgbeTxCounters = new IxgbeTxCounters();
  /** `next_to_use`: where the next packet goes. */
  nextToUse = 0;
  /** `next_to_clean`: the oldest packet that is not cleaned. */
  nextToClean = 0;
  /** Whether the queue is stopped. */
  stopped = false;
  /** `DESC_NEEDED`: descriptors that a packet may need. */
  readonly descNeeded: number;
  /** `tx_buffer->skb` by first descriptor of a packet. */
  readonly #skb: Int32Array;
  readonly #bytes: Int32Array;
  /** `next_to_watch` by first descriptor: the packet's last one, or -1. */
  readonly #nextToWatch: Int32Array;
  /** The hardware's place: what lies before it has its DD bit set. */
  #hardware = 0;
  #used = 0;
  #sent = 0;
  readonly #napiConsume: boolean;
  readonly #reason: number;

  /**
   * An empty ring.
   *
   * @param napi Heads and stacks; its kernel decides how sent packets are freed.
   * @param options Sizes.
   * @throws {RangeError} A size is out of range.
   */
  constructor(napi: Napi, options: IxgbeTxOptions = {}) {
    this.napi = napi;
    this.count = whole("count", options.count ?? IXGBE_DEFAULT_TXD, 64, 4096);
    this.workLimit = whole(
      "workLimit",
      options.workLimit ?? IXGBE_DEFAULT_TX_WORK,
      1,
      65535,
    );
    this.descNeeded = napi.kernel.build.maxSkbFrags + 4;
    this.#skb = new Int32Array(this.count).fill(-1);
    this.#bytes = new Int32Array(this.count);
    this.#nextToWatch = new Int32Array(this.count).fill(-1);
    const { ixgbeFrees } = napi.rules;
    this.#napiConsume = ixgbeFrees === "napi_consume_skb";
    this.#reason = ixgbeFrees === "dev_kfree_skb_any"
      ? SKB_REASON_DROPPED
      : SKB_REASON_CONSUMED;
  }

  /** `ixgbe_desc_unused`: descriptors free; one always stays so. */
  get descUnused(): number {
    return this.count - 1 - this.#used;
  }

  /** Packets on the ring that the hardware has not sent. */
  get inFlight(): number {
    return this.#sent;
  }

  /**
   * Puts a packet on the ring (`ixgbe_xmit_frame_ring`); the queue stops when there may be no room for another.
   *
   * @param skb An skb in use, which the ring holds from then on.
   * @param length Linear bytes, from 1.
   * @param frags Page fragments, each at most 16,384 bytes.
   * @returns Whether it went: false is `NETDEV_TX_BUSY`, counted, and the skb stays the caller's.
   * @throws {RangeError} `length` or `frags` is out of range.
   */
  xmitFrame(skb: number, length: number, frags = 0): boolean {
    if ((length | 0) !== length || length < 1) {
      throw new RangeError(
        `length ${length}: a whole number of bytes from 1 is allowed`,
      );
    }
    if (frags !== 0) whole("frags", frags, 0, this.descNeeded - 4);
    const needed = (length + IXGBE_MAX_DATA_PER_TXD - 1 >> 14) + frags;
    if (this.#mustStop(needed + 3)) {
      this.counters.txBusy++;
      return false;
    }
    const first = this.nextToUse;
    let end = first + needed;
    if (end >= this.count) end -= this.count;
    this.#skb[first] = skb;
    this.#bytes[first] = length;
    this.#nextToWatch[first] = end === 0 ? this.count - 1 : end - 1;
    this.nextToUse = end;
    this.#used += needed;
    this.#sent++;
    this.counters.queued++;
    this.#mustStop(this.descNeeded);
    return true;
  }

  /** `ixgbe_maybe_stop_tx`. */
  #mustStop(size: number): boolean {
    if (this.descUnused >= size) return false;
    if (!this.stopped) this.counters.stops++;
    this.stopped = true;
    return true;
  }

  /**
   * The hardware sends packets and sets the DD bit of their last descriptors.
   *
   * @param packets How many at most, oldest first.
   * @returns How many.
   */
  complete(packets: number): number {
    const done = Math.min(packets, this.#sent);
    for (let i = 0; i < done; i++) {
      const last = this.#nextToWatch[this.#hardware]!;
      this.#hardware = last + 1 === this.count ? 0 : last + 1;
    }
    this.#sent -= done;
    return done;
  }

  /**
   * Frees what was sent (`ixgbe_clean_tx_irq`): `napi_consume_skb` with the poll's budget, before patch 3 of the thread
   * `dev_consume_skb_any`.
   *
   * @param napiBudget The poll's budget, packets; 0 from netpoll.
   * @param cpu The CPU.
   * @returns Whether it stayed within its work limit.
   */
  cleanTxIrq(napiBudget: number, cpu = 0): boolean {
    const { napi, counters } = this;
    let budget = this.workLimit;
    let i = this.nextToClean;
    counters.cleans++;
    while (budget > 0) {
      const last = this.#nextToWatch[i]!;
      // The hardware is at the packet's first descriptor until it has sent all of it.
      if (last === -1 || i === this.#hardware) break;
      this.#nextToWatch[i] = -1;
      const skb = this.#skb[i]!;
      this.#skb[i] = -1;
      counters.packets++;
      counters.bytes += this.#bytes[i]!;
      if (this.#napiConsume) napi.napiConsumeSkb(skb, napiBudget, cpu);
      else napi.completion.devKfreeSkbAny(skb, cpu, this.#reason);
      this.#used -= last - i + 1 + (last < i ? this.count : 0);
      i = last + 1 === this.count ? 0 : last + 1;
      budget--;
    }
    this.nextToClean = i;
    if (budget === 0) counters.limited++;
    if (this.stopped && this.descUnused >= 2 * this.descNeeded) {
      this.stopped = false;
      counters.restartQueue++;
    }
    return budget > 0;
  }
}
