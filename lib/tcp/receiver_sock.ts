/**
 * The receiving half of a TCP socket: its state, in the kernel's names.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { skbTruesize } from "../net/skbuff.ts";
import { MsClock } from "../sim/ms_clock.ts";
import { TcpCounters } from "./counters.ts";
import {
  establishedRcvbuf,
  INIT_CWND,
  initialWin,
  type InitialWindow,
  selectInitialWindow,
  TIMESTAMPS,
} from "./initial.ts";
import type { TcpMemory } from "./memory.ts";
import { SkbPool, SkbQueue } from "./skb_list.ts";
import { winFromSpace, winFromSpaceByRatio } from "./space.ts";

/** Nanoseconds of a millisecond. */
export const MS = 1e6;

/** What a receiving socket is set up with. */
export interface ReceiverOptions {
  /** The kernel. */
  readonly kernel: Kernel;
  /** `tcp_rmem`, bytes. */
  readonly rmem: readonly [number, number, number];
  /** `net.core.rmem_max`, bytes. */
  readonly rmemMax: number;
  /** `sk_rcvbuf` that SO_RCVBUF set, bytes; 0 where autotuned. */
  readonly lockedRcvbuf: number;
  /** `tcp_adv_win_scale`. */
  readonly advWinScale: number;
  /** `tcp_moderate_rcvbuf`. */
  readonly moderateRcvbuf: boolean;
  /** MSS that the device's MTU gives, bytes. */
  readonly mss: number;
  /** The MSS option that the peer sent, bytes. */
  readonly peerMss: number;
  /** TCP timestamps. */
  readonly timestamps: boolean;
  /** Whether this end answered the SYN. */
  readonly passive: boolean;
  /** Protocol memory of the host. */
  readonly memory: TcpMemory;
}

/** Receive state of one socket (`struct tcp_sock`); sequence numbers are byte offsets that never wrap. */
export class ReceiverSock {
  readonly kernel: Kernel;
  readonly memory: TcpMemory;
  readonly counters: TcpCounters = new TcpCounters();
  /** `tcp_rmem`, bytes. */
  readonly rmem: readonly [number, number, number];
  readonly advWinScale: number;
  readonly moderateRcvbuf: boolean;
  /** SOCK_RCVBUF_LOCK. */
  readonly rcvbufLocked: boolean;
  readonly timestamps: boolean;
  /** Window scale, a shift, and its factor. */
  readonly wscale: number;
  readonly wscaleUnit: number;
  /** What TCP takes a received segment to cost, bytes: `SKB_TRUESIZE(advmss + MAX_TCP_HEADER)` and up (DRS before 6.6). */
  readonly rcvmem: number;
  /** Whether windows follow the socket's own ratio. */
  readonly byRatio: boolean;
  /** Nanoseconds of a clock tick of the RTT estimate. */
  readonly tick: number;
  /** Round-trip time of the handshake, ns. */
  handshakeRtt = 0;
  /** Nanoseconds of a timer tick (1/HZ); 0 for timers without ticks. */
  jiffy = 0;

  /** `advmss`, bytes. */
  advmss: number;
  /** `icsk_ack.rcv_mss`, bytes. */
  rcvMss: number;
  lastSegSize = 0;
  /** `sk_rcvbuf`, bytes. */
  rcvbuf: number;
  /** `sk_rmem_alloc`, bytes. */
  rmemAlloc = 0;
  /** `sk_forward_alloc`, bytes. */
  forwardAlloc = 0;
  /** `sk_backlog.len`, bytes of truesize. */
  backlogLen = 0;
  /** `scaling_ratio`, of 256. */
  scalingRatio: number;
  rcvNxt = 0;
  rcvWup = 0;
  /** Where the last ACK's window ended, and what was read of the stream. */
  rcvWnd: number;
  copiedSeq = 0;
  rcvSsthresh: number;
  windowClamp: number;
  /** Advertised with SYN or SYN-ACK. */
  readonly firstWindow: number;

  /** `rcvq_space`. */
  rcvqSpace: number;
  rcvqSeq = 0;
  /** When it was looked at last, ticks. */
  rcvqTime = 0;
  readonly clock: MsClock = new MsClock();
  /** `rcv_rtt_est`, ticks << 3. */
  rcvRtt = 0;
  rcvRttSeq = 0;
  rcvRttTime = 0;
  lastTsecr = -1;
  /** The newest segment's echo, ms; -1 for none. */
  rxTsecr = -1;

  /** `icsk_ack`. */
  quick = 0;
  ato = 0;
  lrcvtime = 0;
  ackScheduled = false;
  ackPushed = false;
  /** When the delayed ACK is due, ns; Infinity for never. */
  delackAt = Infinity;
  /** ACK wanted at once whatever the rules say (ICSK_ACK_NOW). */
  ackNow = false;
  noMemory = false;
  /** Whether header prediction is on (`pred_flags`). */
  fastPath = true;
  /** SACK blocks, newest first. */
  readonly sackStart: Float64Array = new Float64Array(4);
  readonly sackEnd: Float64Array = new Float64Array(4);
  sackCount = 0;
  /** Duplicate SACK to report with the next ACK. */
  dsackStart = 0;
  dsackEnd = 0;
  /** `ts_recent`, ms. */
  tsRecent = -1;

  readonly pool: SkbPool;
  readonly receiveQueue: SkbQueue;
  readonly ofoQueue: SkbQueue;
  readonly backlog: SkbQueue;
  /** The sending end's `snd_una` where its skbs arrive here (loopback, veth); what is above is shared. */
  sharedAbove = Infinity;

  // Rules of the release, resolved once: hot paths read no record of the kernel.
  readonly growFills: boolean;
  readonly growIgnoresHead: boolean;
  readonly spaceCountsBacklog: boolean;
  readonly zeroAtSixteenth: boolean;
  readonly drs: Kernel["tcp"]["drs"];
  readonly rcvRttRule: Kernel["tcp"]["rcvRtt"];
  readonly ingestsLen: boolean;
  readonly takesWhenEmpty: boolean;
  readonly dropsBeyondWindow: boolean;
  readonly maxSkbFrags: number;

  /**
   * A socket whose handshake is done.
   *
   * @param options What it is set up with.
   * @param pool Skbs of its host; a pool of its own if absent.
   */
  constructor(options: ReceiverOptions, pool: SkbPool = new SkbPool()) {
    this.pool = pool;
    this.receiveQueue = new SkbQueue(pool.links);
    this.ofoQueue = new SkbQueue(pool.links);
    this.backlog = new SkbQueue(pool.links);
    const { kernel, rmem, mss } = options;
    const { tcp } = kernel;
    this.kernel = kernel;
    this.memory = options.memory;
    this.rmem = rmem;
    this.advWinScale = options.advWinScale;
    this.moderateRcvbuf = options.moderateRcvbuf;
    this.rcvbufLocked = options.lockedRcvbuf > 0;
    this.timestamps = options.timestamps;
    this.byRatio = tcp.space === "scaling_ratio";
    this.scalingRatio = tcp.scalingRatio;
    this.tick = tcp.clock === "jiffies" ? MS : 1000;
    this.growFills = tcp.growRoom === "fill";
    this.growIgnoresHead = tcp.growIgnoresHead;
    this.spaceCountsBacklog = tcp.spaceCountsBacklog;
    this.drs = tcp.drs;
    this.rcvRttRule = tcp.rcvRtt;
    this.ingestsLen = tcp.ingest === "rmem + len";
    this.takesWhenEmpty = tcp.takesWhenEmpty;
    this.dropsBeyondWindow = tcp.dropsBeyondWindow;
    this.maxSkbFrags = kernel.build.maxSkbFrags;
    this.zeroAtSixteenth = tcp.zeroWindow === "sixteenth";
    this.rcvbuf = this.rcvbufLocked ? options.lockedRcvbuf : rmem[1];
    const options12 = options.timestamps ? TIMESTAMPS : 0;
    const mssCache = Math.min(mss, options.peerMss) - options12;

    const first = firstWindow(options);
    this.wscale = first.wscale;
    this.wscaleUnit = 2 ** first.wscale;
    this.rcvWnd = first.rcvWnd;
    this.firstWindow = first.rcvWnd;
    this.rcvSsthresh = first.rcvWnd;

    // tcp_init_buffer_space
    const early = tcp.advmssBeforeBuffers || !options.passive;
    this.advmss = early ? mss - options12 : mss;
    if (!this.rcvbufLocked) {
      this.rcvbuf = Math.max(
        this.rcvbuf,
        Math.min(
          establishedRcvbuf(
            kernel,
            this.advmss,
            mssCache,
            options.moderateRcvbuf,
          ),
          rmem[2],
        ),
      );
    }
    this.rcvqSpace = this.rcvWnd;
    const maxwin = this.win(this.rcvbuf);
    let clamp = first.clamp;
    if (clamp >= maxwin) {
      clamp = maxwin;
      if (maxwin > 4 * this.advmss) {
        // tcp_app_win 31 leaves nothing for the application.
        clamp = Math.max(
          maxwin - Math.floor(maxwin / 2 ** 31),
          4 * this.advmss,
        );
      }
    }
    if (clamp > 2 * this.advmss && clamp + this.advmss > maxwin) {
      clamp = Math.max(2 * this.advmss, maxwin - this.advmss);
    }
    this.windowClamp = clamp;
    this.rcvSsthresh = Math.min(this.rcvSsthresh, clamp);
    if (tcp.initialRcvbuf === "tcp_rmem[1]") {
      this.rcvqSpace = Math.min(
        this.rcvSsthresh,
        this.rcvWnd,
        INIT_CWND * this.advmss,
      );
    }
    if (!early) this.advmss -= options12;
    // tcp_initialize_rcv_mss
    this.rcvMss = Math.max(
      Math.min(this.advmss, mssCache, Math.floor(this.rcvWnd / 2), 536),
      88,
    );
    let rcvmem = skbTruesize(kernel, this.advmss + kernel.build.maxTcpHeader);
    while (winFromSpace(this.advWinScale, rcvmem) < this.advmss) rcvmem += 128;
    this.rcvmem = rcvmem;
  }

  /** Window that `space` bytes of memory are worth now (`tcp_win_from_space`). */
  win(space: number): number {
    return this.byRatio
      ? winFromSpaceByRatio(this.scalingRatio, space)
      : winFromSpace(this.advWinScale, space);
  }

  /** `tcp_space`: window that the free part of the buffer is worth, bytes; may be negative. */
  space(): number {
    return this.win(
      this.rcvbuf - this.rmemAlloc -
        (this.spaceCountsBacklog ? this.backlogLen : 0),
    );
  }

  /** `tcp_full_space`: window that the whole buffer is worth, bytes. */
  fullSpace(): number {
    return this.win(this.rcvbuf);
  }

  /** `tcp_receive_window`: what is left of the advertised window, bytes. */
  window(): number {
    return Math.max(0, this.rcvWup + this.rcvWnd - this.rcvNxt);
  }

  /** Memory pressure (`tcp_under_memory_pressure`). */
  get pressure(): boolean {
    return this.memory.pressure;
  }
}

/** The window of this end's SYN or SYN-ACK, and what it settles. */
export function firstWindow(options: ReceiverOptions): InitialWindow {
  const { kernel, rmem, mss } = options;
  const rcvbuf = options.lockedRcvbuf > 0 ? options.lockedRcvbuf : rmem[1];
  const space = initialWin(kernel, options.advWinScale, rcvbuf);
  // The active end does not know yet whether the peer agrees to timestamps.
  const known = options.passive && options.timestamps ? TIMESTAMPS : 0;
  return selectInitialWindow(
    kernel,
    space,
    mss - known,
    Math.max(rmem[2], options.rmemMax),
    options.lockedRcvbuf > 0 ? space : 0,
  );
}
