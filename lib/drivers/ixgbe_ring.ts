/**
 * ixgbe's receive ring: pages whose halves take turns, so that a page is allocated only when the stack is slow.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { whole } from "../sim/check.ts";
import { napiAllocSkb } from "../net/skbuff.ts";
import { checkFrame, ETH_HLEN } from "./frame.ts";
import { HeldPackets } from "./held_packets.ts";
import {
  IXGBE_MAX_FRAME,
  type IxgbeBuffers,
  ixgbeBuffers,
  ixgbeBufferTruesize,
  RXBUFFER_3K,
  VLAN_HLEN,
} from "./ixgbe_buffers.ts";

/** `IXGBE_RX_BUFFER_WRITE`: descriptors that a refill waits for. */
const RX_BUFFER_WRITE = 16;
/** `USHRT_MAX`: references that the ring takes for a page at once. */
const BIAS = 65535;

/** How an {@linkcode IxgbeRxRing} is made. An option given as `undefined` is absent. */
export interface IxgbeRingOptions {
  /** Descriptors, a multiple of 8 from 64 to 4,096 (`ethtool -G`); default 512, or 128 with pages of 8 KiB and more. */
  readonly count?: number | undefined;
  /** MTU, bytes; default 1,500. */
  readonly mtu?: number | undefined;
  /** `legacy-rx`: no `build_skb`. Default false. */
  readonly legacyRx?: boolean | undefined;
  /** CPU whose per-CPU page lists serve it, default 0. */
  readonly cpu?: number | undefined;
}

/**
 * What an {@linkcode IxgbeRxRing} counts. Names of the driver's statistics where it has one.
 *
 * @example
 * ```ts
 * import { IxgbeRingCounters, IxgbeRxRing, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new IxgbeRxRing(new PageAllocator(kernel("6.8")));
 * ring.receive(1514);
 * const counters: IxgbeRingCounters = ring.counters;
 * assertEquals([counters.packets, counters.bytes], [1, 1514]);
 * ```
 */
export class IxgbeRingCounters {
  /** `rx_packets`: packets handed to the stack. */
  packets = 0;
  /** `rx_bytes`: bytes of their frames. */
  bytes = 0;
  /** `alloc_rx_page`: pages taken from the page allocator. */
  allocRxPage = 0;
  /** `alloc_rx_page_failed`: times that there was none. */
  allocRxPageFailed = 0;
  /** Buffers put back into the ring with their page. */
  reuses = 0;
  /** Of these, buffers whose data was copied, so that the same half waits again. */
  copies = 0;
  /** Pages given up, because the stack still had their other half or they came from the reserve. */
  givenUp = 0;
  /** Times that the ring took another 65,534 references for a page. */
  restocks = 0;
  /** Refills of the ring (`ixgbe_alloc_rx_buffers`). */
  refills = 0;
  /** `rx_no_buffer_count`: packets that found too few descriptors. */
  noBuffer = 0;
  /** `rx_length_errors`: frames longer than the MTU lets through, or shorter than an Ethernet header. */
  lengthErrors = 0;
}

/**
 * `struct ixgbe_ring` on the receive side: `ixgbe_alloc_rx_buffers`, `ixgbe_clean_rx_irq` and `ixgbe_reuse_rx_page`
 * (drivers/net/ethernet/intel/ixgbe/ixgbe_main.c) over the page allocator. Up to 4.3 a page is used again while the ring
 * is its only owner (`page_count` 1); later the ring holds 65,535 references and compares.
 *
 * A packet is held, and its pages with it, until `consume`. Left out: FCoE, LRO, remote NUMA nodes, XDP.
 *
 * @example A stack that frees each packet at once never costs a page
 * ```ts
 * import { IxgbeRxRing, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const ring = new IxgbeRxRing(new PageAllocator(kernel("6.8")));
 * const filled = ring.counters.allocRxPage;
 * for (let i = 0; i < 10_000; i++) {
 *   ring.receive(1514);
 *   ring.consume();
 * }
 * assertEquals(ring.counters.allocRxPage, filled);
 * ```
 */
export class IxgbeRxRing {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** Descriptors. */
  readonly count: number;
  /** What its buffers look like. */
  readonly buffers: IxgbeBuffers;
  /** What is counted. */
  readonly counters: IxgbeRingCounters = new IxgbeRingCounters();
  /** Packets that the stack holds. */
  readonly held: HeldPackets;
  // rx_buffer_info by slot: page (-1: none), page_offset, pagecnt_bias.
  readonly #pfn: Int32Array;
  readonly #offset: Int32Array;
  readonly #bias: Int32Array;
  readonly #cpu: number;
  readonly #biased: boolean;
  readonly #headTruesize: number;
  readonly #longest: number;
  readonly #lastOffset: number;
  #nextToUse = 0;
  #nextToClean = 0;
  #nextToAlloc = 0;
  #closed = false;

  /**
   * A ring that the driver has filled.
   *
   * @param pages The page allocator; its kernel decides the rules.
   * @param options Size and mode.
   * @throws {RangeError} An option is out of range.
   * @throws {TypeError} An option is of the wrong type.
   */
  constructor(pages: PageAllocator, options: IxgbeRingOptions = {}) {
    const { kernel } = pages;
    const { pageSize } = kernel.build;
    const count = whole(
      "options.count",
      options.count ?? (pageSize < 8192 ? 512 : 128),
      64,
      4096,
    );
    if (count % 8 !== 0) {
      throw new RangeError(
        `options.count must be a multiple of 8, got ${count}`,
      );
    }
    const mtu = options.mtu ?? 1500;
    this.pages = pages;
    this.kernel = kernel;
    this.count = count;
    this.buffers = ixgbeBuffers(kernel, mtu, options.legacyRx ?? false);
    this.#cpu = whole("options.cpu", options.cpu ?? 0, 0, 4095);
    this.held = new HeldPackets(pages, this.#cpu);
    this.#pfn = new Int32Array(count).fill(-1);
    this.#offset = new Int32Array(count);
    this.#bias = new Int32Array(count);
    this.#biased = kernel.ixgbe.rx === "build_skb";
    this.#headTruesize = napiAllocSkb(kernel, kernel.ixgbe.headerSize).truesize;
    this.#longest = Math.max(mtu, 1500) + ETH_HLEN + VLAN_HLEN;
    this.#lastOffset = this.#biased
      ? pageSize - kernel.skb.sharedInfo - RXBUFFER_3K
      : pageSize - this.buffers.bufsz;
    this.#allocRxBuffers(this.#unused());
  }

  /** Descriptors that wait for a packet. */
  get posted(): number {
    return this.count - 1 - this.#unused();
  }

  /**
   * The device writes one frame, and the driver makes an skb of it.
   *
   * @param frame Bytes of the Ethernet frame, without its check sequence.
   * @returns The packet's truesize, bytes; 0 where it was dropped, which the counters tell apart.
   * @throws {RangeError} `frame` is out of range.
   * @throws {Error} The ring is closed.
   */
  receive(frame: number): number {
    if (frame >>> 0 !== frame || frame > IXGBE_MAX_FRAME) {
      checkFrame(frame, IXGBE_MAX_FRAME);
    }
    if (this.#closed) throw new Error("receive: the ring is closed");
    const { counters, buffers, kernel } = this;
    const unused = this.#unused();
    if (unused >= RX_BUFFER_WRITE) this.#allocRxBuffers(unused);
    if (frame < ETH_HLEN || frame > this.#longest) {
      counters.lengthErrors++;
      return 0;
    }
    const descriptors = Math.ceil(frame / buffers.bufsz);
    if (descriptors > this.posted) {
      counters.noBuffer++;
      return 0;
    }
    const copied = !buffers.builds && frame <= kernel.ixgbe.headerSize;
    let truesize = buffers.builds
      ? kernel.skb.skBuffAligned
      : this.#headTruesize;
    let rest = frame;
    for (let i = 0; i < descriptors; i++) {
      const size = Math.min(rest, buffers.bufsz);
      rest -= size;
      if (copied) {
        this.#putCopied();
      } else {
        const room = ixgbeBufferTruesize(kernel, buffers, size, i === 0);
        truesize += room;
        this.#putUsed(room);
      }
    }
    counters.packets++;
    counters.bytes += frame;
    this.held.push(truesize);
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

  /** Frees what the ring and the stack hold (`ixgbe_clean_rx_ring`). Further packets are an error. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.held.consume(this.held.packets);
    for (let at = 0; at < this.count; at++) {
      if (this.#pfn[at]! >= 0) this.#drain(at);
    }
  }

  /** `ixgbe_desc_unused`: descriptors without a buffer, less the one that tells a full ring from an empty one. */
  #unused(): number {
    const clean = this.#nextToClean, use = this.#nextToUse;
    return (clean > use ? 0 : this.count) + clean - use - 1;
  }

  #allocRxBuffers(unused: number): void {
    const { pages, buffers, counters } = this;
    counters.refills++;
    let at = this.#nextToUse;
    for (let n = unused; n > 0; n--) {
      if (this.#pfn[at]! < 0) {
        const pfn = pages.alloc(
          Gfp.GFP_ATOMIC | Gfp.__GFP_COMP | Gfp.__GFP_NOWARN,
          buffers.order,
          this.#cpu,
        );
        if (pfn < 0) {
          counters.allocRxPageFailed++;
          break;
        }
        this.#pfn[at] = pfn;
        this.#offset[at] = 0;
        this.#bias[at] = 1;
        if (this.#biased) this.#restock(at);
        counters.allocRxPage++;
      }
      at = at + 1 === this.count ? 0 : at + 1;
    }
    if (at === this.#nextToUse) return;
    this.#nextToUse = at;
    this.#nextToAlloc = at;
  }

  #restock(at: number): void {
    this.pages.refAdd(this.#pfn[at]!, BIAS - 1);
    this.#bias[at] = BIAS;
  }

  /** The next buffer's data was copied: the same half waits again. */
  #putCopied(): void {
    const at = this.#advance();
    if (this.pages.isPfmemalloc(this.#pfn[at]!)) {
      this.counters.givenUp++;
      this.#drain(at);
      return;
    }
    this.counters.copies++;
    this.#reuse(at);
  }

  /** The next buffer goes to the stack; its page waits again if the ring is the only other owner. */
  #putUsed(room: number): void {
    const { pages, counters, buffers } = this;
    const at = this.#advance();
    const pfn = this.#pfn[at]!;
    const before = pages.refcount[pfn]!;
    this.held.addRef(pfn);
    const bias = this.#biased ? --this.#bias[at]! : 0;
    if (buffers.half > 0) this.#offset[at]! ^= room;
    else this.#offset[at]! += room;
    const alone = buffers.half > 0
      ? this.#biased ? before - bias <= 1 : before === 1
      : this.#offset[at]! <= this.#lastOffset;
    if (pages.isPfmemalloc(pfn) || !alone) {
      counters.givenUp++;
      // Without a bias the ring's only reference has become the packet's.
      if (this.#biased) this.#drain(at);
      this.#pfn[at] = -1;
      return;
    }
    if (!this.#biased) pages.refAdd(pfn, 1);
    else if (bias === 1) {
      this.#restock(at);
      counters.restocks++;
    }
    this.#reuse(at);
  }

  #advance(): number {
    const at = this.#nextToClean;
    this.#nextToClean = at + 1 === this.count ? 0 : at + 1;
    return at;
  }

  /** `ixgbe_reuse_rx_page`: moves a buffer to the next slot that a refill will reach. */
  #reuse(at: number): void {
    const to = this.#nextToAlloc;
    this.#nextToAlloc = to + 1 === this.count ? 0 : to + 1;
    const pfn = this.#pfn[at]!;
    this.#pfn[at] = -1;
    this.#pfn[to] = pfn;
    this.#offset[to] = this.#offset[at]!;
    this.#bias[to] = this.#bias[at]!;
    this.counters.reuses++;
  }

  /** `__page_frag_cache_drain`: drops the ring's references to a page. */
  #drain(at: number): void {
    const pfn = this.#pfn[at]!;
    const refs = this.#biased ? this.#bias[at]! : 1;
    this.#pfn[at] = -1;
    if (this.pages.refSubAndTest(pfn, refs)) this.pages.free(pfn, this.#cpu);
  }
}
