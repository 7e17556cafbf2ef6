/**
 * vhost_net's worker: the thread that carries packets between a guest's rings and the tap.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { flag } from "../sim/check.ts";
import { VHOST_HEADER, vhostBufferLength } from "./vhost_net.ts";
import { VhostNetPageFrag } from "./vhost_net_page_frag.ts";
import { VhostNetTap, type VhostNetTapOptions } from "./vhost_net_tap.ts";
import { VhostRing, type VhostRingOptions } from "./vhost_ring.ts";

/**
 * `VHOST_NET_BATCH`: packets handed to the tap at once.
 *
 * @example
 * ```ts
 * import { VHOST_NET_BATCH } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(VHOST_NET_BATCH, 64);
 * ```
 */
export const VHOST_NET_BATCH = 64;
/**
 * `VHOST_NET_PKT_WEIGHT`: packets after which the other direction gets its turn.
 *
 * @example
 * ```ts
 * import { VHOST_NET_PKT_WEIGHT } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(VHOST_NET_PKT_WEIGHT, 256);
 * ```
 */
export const VHOST_NET_PKT_WEIGHT = 256;
/**
 * `VHOST_NET_WEIGHT`: bytes after which the other direction gets its turn.
 *
 * @example
 * ```ts
 * import { VHOST_NET_WEIGHT } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(VHOST_NET_WEIGHT, 524288);
 * ```
 */
export const VHOST_NET_WEIGHT = 0x80000;
/** `INT_MAX`: the send buffer of a tap whose owner set no limit. */
const INT_MAX = 0x7fffffff;

/** How a {@linkcode VhostNetWorker} is made. An option given as `undefined` is absent. */
export interface VhostNetWorkerOptions
  extends VhostRingOptions, VhostNetTapOptions {
  /** CPU of the worker, 0 when absent. */
  readonly cpu?: number | undefined;
  /** `sk_sndbuf` of the tap (`TUNSETSNDBUF`), bytes; unlimited when absent. Packets are batched only without a limit. */
  readonly sndbuf?: number | undefined;
  /** Whether `VIRTIO_NET_F_MRG_RXBUF` was negotiated, so that a packet may fill several buffers; false when absent. */
  readonly mergeable?: boolean | undefined;
}

/**
 * What a {@linkcode VhostNetWorker} counts.
 *
 * @example
 * ```ts
 * import { kernel, PageAllocator, VhostNetCounters, VhostNetWorker } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const worker = new VhostNetWorker(new PageAllocator(kernel("6.8")));
 * for (let i = 0; i < 100; i++) worker.tx.add(12 + 256);
 * worker.kickTx();
 * worker.run();
 * const counters: VhostNetCounters = worker.counters;
 * assertEquals([counters.kicks, counters.txPackets], [1, 100]);
 * ```
 */
export class VhostNetCounters {
  /** Times that the sleeping worker was woken: one context switch each. */
  wakeups = 0;
  /** Writes to a kick eventfd that reached the worker. */
  kicks = 0;
  /** Calls of `handle_tx`. */
  handleTx = 0;
  /** Calls of `handle_rx`. */
  handleRx = 0;
  /** Times that a weight was reached and the work queued again (`vhost_exceeds_weight`). */
  requeues = 0;
  /** Packets from the guest. */
  txPackets = 0;
  /** Their bytes, headers included. */
  txBytes = 0;
  /** Packets to the guest. */
  rxPackets = 0;
  /** Their bytes, headers included. */
  rxBytes = 0;
  /** Times that used chains were shown to the guest (`vhost_add_used_and_signal_n`). */
  signals = 0;
  /** Times that an empty ring made the worker ask for a kick (`vhost_enable_notify`). */
  enableNotify = 0;
  /** Packets too long for a buffer of one page (`-ENOSPC`): written one by one. */
  ENOSPC = 0;
  /** Packets put back for want of memory (`-ENOMEM`). */
  ENOMEM = 0;
  /** Packets put back because the guest's memory could not be read (`-EFAULT`). */
  EFAULT = 0;
  /** Packets to the guest that fit no buffer it offered and were thrown away. */
  rxDiscarded = 0;
}

/**
 * The worker of `/dev/vhost-net` with both rings and a tap (drivers/vhost/net.c: `handle_tx_copy`, `handle_rx`, 4.20 to
 * 6.12; `vhost_net_build_xdp` in the form that `kernel.vhost` gives). Zero copy, busy polling, live migration's log and
 * IOTLB misses are left out.
 *
 * The guest's side is driven from outside: chains go into {@linkcode VhostNetWorker.tx} and {@linkcode VhostNetWorker.rx},
 * {@linkcode VhostNetWorker.kickTx}, `kickRx` and `send` leave work, and {@linkcode VhostNetWorker.run} does it.
 *
 * @example 100 packets at once travel in two batches
 * ```ts
 * import { kernel, PageAllocator, VhostNetWorker } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const worker = new VhostNetWorker(new PageAllocator(kernel("6.8")));
 * for (let i = 0; i < 100; i++) worker.tx.add(12 + 256);
 * worker.kickTx();
 * worker.run();
 * assertEquals([worker.tap.counters.batches, worker.tap.queued], [2, 100]);
 * assertEquals(worker.frag.counters.refillsOrder3, 3);
 * ```
 */
export class VhostNetWorker {
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** `VHOST_NET_VQ_TX`: packets from the guest. */
  readonly tx: VhostRing;
  /** `VHOST_NET_VQ_RX`: buffers for packets to the guest. */
  readonly rx: VhostRing;
  /** Buffers of packets from the guest. */
  readonly frag: VhostNetPageFrag;
  /** The backend. */
  readonly tap: VhostNetTap;
  /** What is counted. */
  readonly counters: VhostNetCounters = new VhostNetCounters();
  /** `sock_can_batch`: whether the tap's send buffer is unlimited. */
  readonly canBatch: boolean;
  /** Whether a packet to the guest may fill several buffers. */
  readonly mergeable: boolean;
  // nvq->xdp: the batch.
  readonly #address = new Float64Array(VHOST_NET_BATCH);
  readonly #buflen = new Int32Array(VHOST_NET_BATCH);
  readonly #frame = new Int32Array(VHOST_NET_BATCH);
  #batched = 0;
  // Work that waits, and whether the tap's news reaches the worker (vhost_poll).
  #txWork = false;
  #rxWork = false;
  #rxPoll = true;
  #lastLength = 0;
  #lastBuflen = 0;

  /**
   * A worker with empty rings.
   *
   * @param pages The page allocator; its kernel decides the fragments.
   * @param options Rings, tap, CPU.
   * @throws {RangeError} An option is out of range, or the kernel's vhost_net takes no fragments (before 4.20).
   * @throws {TypeError} `mergeable` is no boolean.
   */
  constructor(pages: PageAllocator, options: VhostNetWorkerOptions = {}) {
    const { sndbuf = INT_MAX, mergeable = false } = options;
    if (!Number.isInteger(sndbuf) || sndbuf < 1 || sndbuf > INT_MAX) {
      throw new RangeError(
        `sndbuf ${sndbuf}: a whole number of bytes from 1 to ${INT_MAX} is allowed`,
      );
    }
    this.kernel = pages.kernel;
    this.tx = new VhostRing(options);
    this.rx = new VhostRing(options);
    this.frag = new VhostNetPageFrag(pages, { cpu: options.cpu });
    this.tap = new VhostNetTap(this.frag, options);
    this.canBatch = sndbuf === INT_MAX;
    this.mergeable = flag("mergeable", mergeable);
  }

  /** The guest tells of what it added to the TX ring, if the worker wants to know. */
  kickTx(): void {
    if (!this.tx.kick()) return;
    this.counters.kicks++;
    this.#txWork = true;
  }

  /** The guest tells of what it added to the RX ring, if the worker wants to know. */
  kickRx(): void {
    if (!this.rx.kick()) return;
    this.counters.kicks++;
    this.#rxWork = true;
  }

  /**
   * A packet for the guest arrives at the tap, which wakes the worker if that is polling it (`vhost_poll_wakeup`).
   *
   * @param frame Bytes of the Ethernet frame.
   * @returns Whether the tap had room.
   */
  send(frame: number): boolean {
    if (!this.tap.send(frame)) return false;
    if (this.#rxPoll) this.#rxWork = true;
    return true;
  }

  /**
   * The worker does all work that waits, then sleeps (`vhost_worker`). It gives up after a packet that it had to put back;
   * the next call tries again, as the tap's `EPOLLOUT` makes the kernel do.
   */
  run(): void {
    if (!this.#txWork && !this.#rxWork) return;
    this.counters.wakeups++;
    do {
      if (this.#rxWork) {
        this.#rxWork = false;
        this.#handleRx();
      }
      if (this.#txWork) {
        this.#txWork = false;
        if (!this.#handleTx()) {
          this.#txWork = true;
          return;
        }
      }
    } while (this.#txWork || this.#rxWork);
  }

  /** Closes the device (`vhost_net_release`): the fragments' block is given up. */
  release(): void {
    this.frag.drain();
  }

  /** `handle_tx_copy`; false after a packet that was put back. */
  #handleTx(): boolean {
    const { tx, counters, tap } = this;
    counters.handleTx++;
    tx.disableNotify();
    let total = 0;
    let sent = 0;
    do {
      if (tx.staged === VHOST_NET_BATCH) this.#txBatch();
      const length = tx.take();
      if (length === 0) {
        counters.enableNotify++;
        if (tx.enableNotify()) {
          tx.disableNotify();
          continue;
        }
        break;
      }
      const bytes = length < 0 ? -length : length;
      total += bytes;
      const buflen = this.canBatch ? this.#buildXdp(length) : 0;
      if (buflen < 0) {
        this.#txBatch();
        tx.discard(1);
        return false;
      }
      if (buflen === 0) {
        // Too long for a fragment, or not to be batched: what was batched goes first.
        if (this.canBatch) {
          counters.ENOSPC++;
          this.#txBatch();
        }
        tap.sendOne(Math.max(0, bytes - VHOST_HEADER), !this.canBatch);
      }
      counters.txPackets++;
      counters.txBytes += bytes;
      tx.stageUsed(0);
      if (++sent >= VHOST_NET_PKT_WEIGHT || total >= VHOST_NET_WEIGHT) {
        counters.requeues++;
        this.#txWork = true;
        break;
      }
    } while (true);
    this.#txBatch();
    return true;
  }

  /**
   * `vhost_net_build_xdp`.
   *
   * @returns Bytes of the buffer, 0 where the packet does not fit (`-ENOSPC`), -1 where it must be put back.
   */
  #buildXdp(length: number): number {
    const { counters, frag } = this;
    const bytes = length < 0 ? -length : length;
    if (bytes < VHOST_HEADER) {
      counters.EFAULT++;
      return -1;
    }
    if (bytes !== this.#lastLength) {
      this.#lastBuflen = vhostBufferLength(
        this.kernel,
        bytes - VHOST_HEADER,
        this.tap.xdp,
      );
      this.#lastLength = bytes;
    }
    const buflen = this.#lastBuflen;
    if (buflen > frag.pages.pageSize) return 0;
    const address = frag.alloc(buflen);
    if (address < 0) {
      counters.ENOMEM++;
      return -1;
    }
    if (length < 0) {
      frag.abort(address, buflen);
      counters.EFAULT++;
      return -1;
    }
    const i = this.#batched++;
    this.#address[i] = address;
    this.#buflen[i] = buflen;
    this.#frame[i] = bytes - VHOST_HEADER;
    return buflen;
  }

  /** `vhost_tx_batch`. */
  #txBatch(): void {
    const { tap } = this;
    const n = this.#batched;
    if (n > 0) {
      for (let i = 0; i < n; i++) {
        tap.xdpOne(this.#address[i]!, this.#buflen[i]!, this.#frame[i]!);
      }
      tap.endBatch();
      this.#batched = 0;
    }
    this.#signal(this.tx);
  }

  /** `vhost_net_signal_used`. */
  #signal(ring: VhostRing): void {
    if (ring.signalUsed() > 0) this.counters.signals++;
  }

  /** `handle_rx`. */
  #handleRx(): void {
    const { rx, tap, counters } = this;
    counters.handleRx++;
    rx.disableNotify();
    this.#rxPoll = false;
    let total = 0;
    let received = 0;
    do {
      const frame = tap.peek();
      if (frame === 0) {
        this.#rxPoll = true;
        break;
      }
      const length = frame + VHOST_HEADER;
      const heads = this.#getRxBufs(length);
      if (heads === 0) {
        counters.enableNotify++;
        if (rx.enableNotify()) {
          rx.disableNotify();
          continue;
        }
        break;
      }
      tap.consume();
      if (heads < 0) {
        counters.rxDiscarded++;
      } else {
        counters.rxPackets++;
        counters.rxBytes += length;
        total += length;
        if (rx.staged > VHOST_NET_BATCH) this.#signal(rx);
      }
      if (++received >= VHOST_NET_PKT_WEIGHT || total >= VHOST_NET_WEIGHT) {
        counters.requeues++;
        this.#rxWork = true;
        break;
      }
    } while (true);
    this.#signal(rx);
  }

  /**
   * `get_rx_bufs`: buffers for a packet, noted as used.
   *
   * @returns How many, 0 if the guest offers too few, -1 if one buffer is all that a packet may have and it is too small.
   */
  #getRxBufs(length: number): number {
    const { rx } = this;
    let rest = length;
    let heads = 0;
    while (rest > 0 && (this.mergeable || heads === 0)) {
      const room = Math.abs(rx.take());
      if (room === 0) break;
      heads++;
      rest -= room;
    }
    rx.discard(heads);
    if (rest > 0) return heads > 0 && !this.mergeable ? -1 : 0;
    for (let i = 0, left = length; i < heads; i++) {
      const used = Math.min(left, Math.abs(rx.take()));
      rx.stageUsed(used);
      left -= used;
    }
    return heads;
  }
}
