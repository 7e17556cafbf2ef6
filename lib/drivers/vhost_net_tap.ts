/**
 * The tap behind vhost_net: a packet socket on its one side, vhost's worker on the other.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { headPage, pageShift } from "../mm/page_frag_put.ts";
import { ReceiveQueue } from "../net/sock.ts";
import { allocSkb, buildSkb, Head, type SkBuff } from "../net/skbuff.ts";
import { whole } from "../sim/check.ts";
import { grownRing } from "../sim/grown.ts";
import { ETH_HEADER, tunGetUser } from "./tun.ts";
import type { VhostNetPageFrag } from "./vhost_net_page_frag.ts";

/**
 * `TUN_READQ_SIZE`: packets that wait in the tap for vhost's worker, `tx_queue_len`.
 *
 * @example
 * ```ts
 * import { TUN_READQ_SIZE } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(TUN_READQ_SIZE, 500);
 * ```
 */
export const TUN_READQ_SIZE = 500;
/**
 * `LL_RESERVED_SPACE` of a tap: its Ethernet header in units of 16 bytes.
 *
 * @example
 * ```ts
 * import { TAP_RESERVED } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(TAP_RESERVED, 16);
 * ```
 */
export const TAP_RESERVED = 16;
/**
 * Longest frame that a packet socket may send through the tap: MTU 1,500, Ethernet header and `VLAN_HLEN`, bytes.
 *
 * @example
 * ```ts
 * import { TAP_MAX_FRAME } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(TAP_MAX_FRAME, 1518);
 * ```
 */
export const TAP_MAX_FRAME = 1518;

/** How a {@linkcode VhostNetTap} is made. An option given as `undefined` is absent. */
export interface VhostNetTapOptions {
  /** `sk_rcvbuf` of the packet socket, bytes; `net.core.rmem_default` when absent. */
  readonly rcvbuf?: number | undefined;
  /** `tx_queue_len`: packets that wait for the worker, 1 to 65,536; 500 when absent. */
  readonly txQueueLen?: number | undefined;
  /** An XDP program on the tap and its verdict; none when absent. */
  readonly xdp?: "pass" | "drop" | undefined;
}

/**
 * What a {@linkcode VhostNetTap} counts.
 *
 * @example
 * ```ts
 * import { kernel, PageAllocator, VhostNetPageFrag, VhostNetTap, VhostNetTapCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const tap = new VhostNetTap(new VhostNetPageFrag(new PageAllocator(kernel("6.8"))));
 * tap.sendOne(1514, false);
 * const counters: VhostNetTapCounters = tap.counters;
 * assertEquals([counters.singles, counters.batches], [1, 0]);
 * ```
 */
export class VhostNetTapCounters {
  /** `tun_sendmsg` with an array of buffers (`TUN_MSG_PTR`). */
  batches = 0;
  /** Packets written one by one (`tun_get_user`). */
  singles = 0;
  /** Skbs built around page fragments (`tun_xdp_one`). */
  built = 0;
  /** Packets that the XDP program dropped. */
  xdpDropped = 0;
  /** References that dropped packets gave back together, one page at a time (`tun_put_page`). */
  pagePuts = 0;
  /** Frames shorter than an Ethernet header (`-EINVAL`). */
  shortFrames = 0;
  /** Truesize of all skbs that came from the guest, bytes. */
  receiveTruesize = 0;
  /** Truesize of all skbs that were sent to the guest, bytes. */
  transmitTruesize = 0;
  /** Skbs sent to the guest. */
  transmitted = 0;
  /** Frames for the guest that the packet socket refused as longer than the MTU allows. */
  EMSGSIZE = 0;
  /** `tx_dropped`: packets for the guest that found the tap's queue full. */
  txDropped = 0;
}

/**
 * A tap with a packet socket (`AF_PACKET`) bound to it, as tools/virtio/vhost_net_test.c sets it up. Models `tun_sendmsg`,
 * `tun_xdp_one` and `tun_net_xmit` (drivers/net/tun.c, 6.8), `packet_snd` and `packet_rcv` (net/packet/af_packet.c).
 *
 * @example
 * ```ts
 * import { kernel, PageAllocator, VhostNetPageFrag, VhostNetTap } from "@truesize/lab";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const frag = new VhostNetPageFrag(new PageAllocator(kernel("6.8")));
 * const tap = new VhostNetTap(frag);
 * assert(tap.sendOne(1514, false));
 * assertEquals([tap.counters.singles, tap.queued], [1, 1]);
 * ```
 */
export class VhostNetTap {
  /** The kernel. */
  readonly kernel: Kernel;
  /** vhost_net's fragments, which the skbs give back. */
  readonly frag: VhostNetPageFrag;
  /** The packet socket's queue. */
  readonly queue: ReceiveQueue;
  /** Whether buffers need `XDP_PACKET_HEADROOM`. */
  readonly xdp: boolean;
  /** What is counted. */
  readonly counters: VhostNetTapCounters = new VhostNetTapCounters();
  readonly #drops: boolean;
  readonly #aligned: number;
  readonly #shift: number;
  // Reused: a queue looks at nothing of a packet but its charge.
  readonly #skb: SkBuff;
  // Address of each queued packet's buffer, -1 where its head is no fragment.
  #address = new Float64Array(64);
  #head = 0;
  #length = 0;
  // The tap's queue towards the worker.
  readonly #frames: Int32Array;
  #first = 0;
  #waiting = 0;
  #xmitFrame = 0;
  #xmitTruesize = 0;
  // tun_page: dropped packets of one page, given back together.
  #page = -1;
  #count = 0;

  /**
   * A tap without traffic.
   *
   * @param frag vhost_net's fragments.
   * @param options Queue sizes and the XDP program.
   * @throws {RangeError} An option is out of range.
   */
  constructor(frag: VhostNetPageFrag, options: VhostNetTapOptions = {}) {
    const { xdp } = options;
    if (xdp !== undefined && xdp !== "pass" && xdp !== "drop") {
      throw new RangeError(`xdp "${xdp}": "pass" or "drop" is allowed`);
    }
    const txQueueLen = whole(
      "txQueueLen",
      options.txQueueLen ?? TUN_READQ_SIZE,
      1,
      65536,
    );
    this.frag = frag;
    this.kernel = frag.kernel;
    this.queue = new ReceiveQueue(frag.kernel, {
      rcvbuf: options.rcvbuf,
      socket: "packet",
    });
    this.xdp = xdp !== undefined;
    this.#drops = xdp === "drop";
    this.#aligned = frag.kernel.skb.skBuffAligned;
    this.#shift = pageShift(frag.pages);
    this.#skb = buildSkb(
      frag.kernel,
      frag.kernel.build.pageSize,
      Head.TASK_FRAG,
    );
    this.#frames = new Int32Array(txQueueLen);
  }

  /** Packets for the guest that wait in the tap. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Packets that wait in the packet socket. */
  get queued(): number {
    return this.#length;
  }

  /**
   * One buffer of a batch from vhost (`tun_xdp_one`): an skb is built around it and goes to the packet socket.
   *
   * @param address Where the buffer lies.
   * @param buflen Its length, bytes.
   * @param frame Bytes of the Ethernet frame in it.
   */
  xdpOne(address: number, buflen: number, frame: number): void {
    const { counters } = this;
    if (frame < ETH_HEADER) {
      counters.shortFrames++;
      this.frag.free(address);
    } else if (this.#drops) {
      counters.xdpDropped++;
      this.#dropLater(address);
    } else {
      counters.built++;
      this.#receive(address, buflen + this.#aligned);
    }
  }

  /** The end of a batch (`tun_sendmsg`): what was dropped of its last page is given back. */
  endBatch(): void {
    this.counters.batches++;
    this.#putPage();
  }

  /**
   * A packet that vhost writes by itself, because it fits no page or because the socket's send buffer is limited.
   *
   * @param frame Bytes of the Ethernet frame.
   * @param limited Whether `sk_sndbuf` is limited: then the tap builds no skb around a fragment of its own either.
   * @returns Whether the tap took it.
   */
  sendOne(frame: number, limited: boolean): boolean {
    this.counters.singles++;
    const skb = tunGetUser(this.kernel, frame, {
      tap: true,
      nonblocking: !limited,
      napiFrags: null,
      xdp: this.xdp,
    });
    if (typeof skb === "string" || frame < ETH_HEADER) return false;
    this.#receive(-1, skb.truesize);
    return true;
  }

  /**
   * Reads a packet from the socket and frees it (`recvfrom`).
   *
   * @returns Its truesize in bytes, or 0 if there is none.
   */
  recv(): number {
    if (this.#length === 0) return 0;
    const at = this.#head;
    const address = this.#address[at]!;
    this.#head = (at + 1) & (this.#address.length - 1);
    this.#length--;
    const truesize = this.queue.read();
    if (address >= 0) this.frag.free(address);
    return truesize;
  }

  /**
   * Sends a frame to the guest (`sendto`, `packet_snd`, `tun_net_xmit`).
   *
   * @param frame Bytes of the Ethernet frame.
   * @returns Whether it was sent and the tap's queue had room.
   */
  send(frame: number): boolean {
    const { counters } = this;
    if (frame > TAP_MAX_FRAME) {
      counters.EMSGSIZE++;
      return false;
    }
    if (frame !== this.#xmitFrame) {
      this.#xmitTruesize = allocSkb(this.kernel, TAP_RESERVED + frame).truesize;
      this.#xmitFrame = frame;
    }
    counters.transmitTruesize += this.#xmitTruesize;
    const size = this.#frames.length;
    if (this.#waiting === size) {
      counters.txDropped++;
      return false;
    }
    const at = this.#first + this.#waiting;
    this.#frames[at < size ? at : at - size] = frame;
    this.#waiting++;
    counters.transmitted++;
    return true;
  }

  /**
   * The next frame for the guest, which stays in the tap (`vhost_net_buf_peek`).
   *
   * @returns Its bytes, or 0 if there is none.
   */
  peek(): number {
    return this.#waiting === 0 ? 0 : this.#frames[this.#first]!;
  }

  /** Takes that frame out and frees its skb (`tun_recvmsg`, `tun_do_read`). */
  consume(): void {
    if (this.#waiting === 0) return;
    this.#waiting--;
    this.#first = this.#first + 1 === this.#frames.length ? 0 : this.#first + 1;
  }

  #receive(address: number, truesize: number): void {
    this.counters.receiveTruesize += truesize;
    this.#skb.truesize = truesize;
    if (!this.queue.enqueue(this.#skb)) {
      if (address >= 0) this.frag.free(address);
      return;
    }
    if (this.#length === this.#address.length) {
      this.#address = grownRing(this.#address, this.#head);
      this.#head = 0;
    }
    const mask = this.#address.length - 1;
    this.#address[(this.#head + this.#length) & mask] = address;
    this.#length++;
  }

  #dropLater(address: number): void {
    const { pages } = this.frag;
    const page = headPage(pages.zone.kind, this.#shift, address);
    if (page !== this.#page) {
      this.#putPage();
      this.#page = page;
    }
    this.#count++;
  }

  #putPage(): void {
    if (this.#page < 0) return;
    const { pages, cpu } = this.frag;
    this.counters.pagePuts++;
    if (pages.refSubAndTest(this.#page, this.#count)) {
      pages.free(this.#page, cpu);
    }
    this.#page = -1;
    this.#count = 0;
  }
}
