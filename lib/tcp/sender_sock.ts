/**
 * The sending half of a TCP socket: its state, in the kernel's names.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { allocSkb } from "../net/skbuff.ts";
import { alignUp } from "../sim/align.ts";
import { TcpCounters } from "./counters.ts";
import {
  INIT_CWND,
  initialSndbuf,
  sndbufPerMss,
  TIMESTAMPS,
} from "./initial.ts";
import type { TcpMemory } from "./memory.ts";
import { MS } from "./receiver_sock.ts";
import { SendPool } from "./send_pool.ts";
import { SkbQueue } from "./skb_list.ts";

/** `TCP_INFINITE_SSTHRESH`. */
export const INFINITE_SSTHRESH = 0x7fffffff;

/** `TCP_RTO_MIN`, ns. */
export const RTO_MIN = 200 * MS;
/** `TCP_RTO_MAX`, ns. */
export const RTO_MAX = 120_000 * MS;
/** `TCP_TIMEOUT_INIT`, ns. */
const TIMEOUT_INIT = 1000 * MS;

/** Congestion states (`enum tcp_ca_state`). */
export const OPEN = 0;
export const DISORDER = 1;
export const CWR = 2;
export const RECOVERY = 3;
export const LOSS = 4;

/** Why the sender does not send. */
export const Limit = {
  /** Nothing to send, or all is sent and there is room to write. */
  APP: 0,
  /** The congestion window is full. */
  CWND: 1,
  /** The peer's window is full. */
  RWND: 2,
  /** The send buffer is full and all of it is sent. */
  SNDBUF: 3,
  /** The device still holds enough (TSQ). */
  TSQ: 4,
} as const;

/** One of {@linkcode Limit}. */
export type LimitKind = typeof Limit[keyof typeof Limit];

/** What a sending socket is set up with. */
export interface SenderOptions {
  /** The kernel. */
  readonly kernel: Kernel;
  /** `tcp_wmem`, bytes. */
  readonly wmem: readonly [number, number, number];
  /** `sk_sndbuf` that SO_SNDBUF set, bytes; 0 where autotuned. */
  readonly lockedSndbuf: number;
  /** The peer's MSS option, bytes. */
  readonly peerMss: number;
  /** TCP timestamps. */
  readonly timestamps: boolean;
  /** Window of the peer's SYN or SYN-ACK, bytes. */
  readonly peerWindow: number;
  /** Whether the device has TSO. */
  readonly tso: boolean;
  /** Whether the stack builds GSO skbs where the device has no TSO; up to 4.16 only with this, later always. */
  readonly gso: boolean;
  /** Whether the device has scatter-gather. */
  readonly sg: boolean;
  /** Congestion control. */
  readonly congestionControl: "cubic" | "reno";
  /** Whether HyStart is on. */
  readonly hystart: boolean;
  /** Least ssthresh carried over from an earlier connection, segments; 0 for none. */
  readonly ssthresh: number;
  /** Most segments of a GSO skb, and its most bytes. */
  readonly gsoMaxSize: number;
  /** Nagle's algorithm off (TCP_NODELAY). */
  readonly nodelay: boolean;
  /** Round-trip time of the handshake, ns. */
  readonly handshakeRtt: number;
  /** Protocol memory of the host. */
  readonly memory: TcpMemory;
}

/** Send state of one socket (`struct tcp_sock`); sequence numbers are byte offsets that never wrap. */
export class SenderSock {
  readonly kernel: Kernel;
  readonly memory: TcpMemory;
  readonly counters: TcpCounters = new TcpCounters();
  readonly wmem: readonly [number, number, number];
  /** SOCK_SNDBUF_LOCK. */
  readonly sndbufLocked: boolean;
  /** Whether skbs hold several segments (`sk_can_gso`). */
  readonly gso: boolean;
  readonly nodelay: boolean;
  /** Most bytes of a GSO skb's payload. */
  readonly gsoMost: number;
  /** The peer's MSS option. */
  readonly mssClamp: number;
  /** `mss_cache`, bytes. */
  mss: number;
  /** Payload bytes that a fresh skb's head holds. */
  readonly linear: number;
  /** Charge of a fresh skb without fragments, bytes. */
  readonly headTruesize: number;
  /** The same for the second half of a split. */
  readonly splitTruesize: number;
  /** What a segment is taken to cost when the buffer grows, bytes. */
  readonly perMss: number;
  /** Nanoseconds of a clock tick of the RTT estimate. */
  readonly tick: number;

  /** Nanoseconds of a timer tick (1/HZ); 0 for timers without ticks. */
  jiffy = 0;
  /** `sk_sndbuf`, bytes. */
  sndbuf: number;
  /** `sk_wmem_queued`, bytes. */
  wmemQueued = 0;
  /** `sk_wmem_alloc`: bytes that the device still holds. */
  wmemAlloc = 0;
  forwardAlloc = 0;
  /** SOCK_NOSPACE: the writer waits for room. */
  nospace = false;
  readonly timestamps: boolean;
  /** The receiver's last timestamp, which segments echo, ms; -1 for none. */
  lastTsecr = -1;
  writeSeq = 0;
  sndUna = 0;
  sndNxt = 0;
  pushedSeq = 0;
  sndWnd: number;
  maxWindow: number;
  /** Most payload that one skb may hold, for the peer's window: half of it. */
  halfWindow = Infinity;
  /** MSS for sending now: `mss`, or half of a small window. */
  mssNow: number;
  cwnd = INIT_CWND;
  cwndCnt = 0;
  ssthresh: number;
  packetsOut = 0;
  sackedOut = 0;
  lostOut = 0;
  retransOut = 0;
  maxPacketsOut = 0;
  maxPacketsSeq = 0;
  cwndIsLimited = false;
  reordering = 3;
  caState = OPEN;
  highSeq = 0;
  /** Above what the newest SACK covers. */
  highestSack = 0;
  undoMarker = false;
  priorSsthresh = 0;
  priorCwnd = 0;
  prrDelivered = 0;
  prrOut = 0;
  /** `srtt << 3`, `mdev << 2` and their kin, ticks. */
  srtt = 0;
  mdev = 0;
  mdevMax = 0;
  rttvar: number;
  rttSeq = 0;
  /** Where the scoreboard's walks begin: skbs of the retransmit queue, or none. */
  sackHint = -1;
  lostHint = -1;
  retransHint = -1;
  /** Segments delivered, in order or by SACK. */
  delivered = 0;
  reorderSeen = false;
  /** When the first retransmission of this recovery left, ns; 0 for none. */
  firstRetransAt = 0;
  /** Least RTT seen, ticks. */
  minRtt = Infinity;
  /** `icsk_rto`, ns. */
  rto = TIMEOUT_INIT;
  backoff = 0;
  /** Newest send time among what was delivered, ns (RACK). */
  rackSentAt = 0;
  rackEnd = 0;
  rackRtt = 0;
  /** When `tcp_tso_should_defer` began to wait, ns; -1 if it does not. */
  deferredAt = -1;
  lastSentAt = 0;
  /** End of the last small segment (Minshall's Nagle). */
  sndSml = 0;
  /** When the retransmission timer fires, ns. */
  rtoAt = Infinity;
  /** When the zero-window probe is due, ns. */
  probeAt = Infinity;
  /** When RACK looks again, ns. */
  reorderAt = Infinity;
  /** When a tail loss probe is due, ns; it comes before the retransmission. */
  tlpAt = Infinity;
  /** `tlp_high_seq`: what was out at the last probe; -1 for none. */
  tlpHighSeq = -1;
  /** Whether that probe was a retransmission. */
  tlpRetrans = false;
  /** Offset in the task's current page fragment, bytes. */
  fragOffset = 0;
  /** Where that fragment begins in the stream. */
  fragStart = 0;
  /** The skb that holds the newest piece of it. */
  fragSkb = -1;
  /** The device refused a segment since the last look. */
  localDrop = false;
  /** Why the last attempt to send stopped. */
  limit: LimitKind = Limit.APP;

  readonly pool: SendPool;
  /** Not sent yet. */
  readonly writeQueue: SkbQueue;
  /** Sent and not acknowledged. */
  readonly rtxQueue: SkbQueue;

  // Rules of the release, resolved once.
  readonly ackedCounts: boolean;
  readonly splitsWhenSent: boolean;
  readonly rack: boolean;
  readonly maxPacketsRule: boolean;
  readonly autosizeByRtt: boolean;
  readonly tsq: Kernel["tcp"]["tsq"];
  /** Per cent of cwnd / srtt that `sk_pacing_rate` is, in slow start and after. */
  readonly pacingStart: number;
  readonly pacingAfter: number;
  readonly hystartDelayShift: number;
  readonly expandsByPacketsOut: boolean;

  /**
   * A socket whose handshake is done.
   *
   * @param options What it is set up with.
   * @param pool Skbs of its host; a pool of its own if absent.
   */
  constructor(options: SenderOptions, pool: SendPool = new SendPool()) {
    this.pool = pool;
    this.writeQueue = new SkbQueue(pool.links);
    this.rtxQueue = new SkbQueue(pool.links);
    const { kernel, wmem, peerMss } = options;
    const { tcp } = kernel;
    const { maxTcpHeader } = kernel.build;
    this.kernel = kernel;
    this.memory = options.memory;
    this.wmem = wmem;
    this.sndbufLocked = options.lockedSndbuf > 0;
    this.nodelay = options.nodelay;
    this.timestamps = options.timestamps;
    this.gso = options.tso || options.gso || tcp.gsoAlways;
    this.mssClamp = peerMss;
    this.mss = peerMss - (options.timestamps ? TIMESTAMPS : 0);
    const header = 20 + 20 + (options.timestamps ? TIMESTAMPS : 0);
    this.gsoMost = tcp.sizeGoal === "pacing"
      ? options.gsoMaxSize - 1 - header
      : options.gsoMaxSize - 1 - maxTcpHeader;
    this.linear = linearSize(options, this.gso, this.mss);
    this.headTruesize = allocSkb(
      kernel,
      alignUp(this.linear, 4) + maxTcpHeader,
    ).truesize;
    this.splitTruesize = allocSkb(kernel, maxTcpHeader).truesize;
    this.perMss = sndbufPerMss(kernel, peerMss, this.mss);
    this.tick = tcp.clock === "jiffies" ? MS : 1000;
    this.rttvar = TIMEOUT_INIT / this.tick;
    this.sndbuf = this.sndbufLocked
      ? options.lockedSndbuf
      : initialSndbuf(kernel, peerMss, this.mss, wmem);
    this.sndWnd = options.peerWindow;
    this.maxWindow = options.peerWindow;
    this.mssNow = this.mss;
    this.ssthresh = options.ssthresh > 0 ? options.ssthresh : INFINITE_SSTHRESH;
    this.ackedCounts = tcp.slowStart === "acked";
    this.splitsWhenSent = tcp.sizeGoal === "split";
    this.rack = tcp.lossDetection === "rack";
    this.autosizeByRtt = tcp.autosizeByRtt;
    this.tsq = tcp.tsq;
    this.pacingStart = tcp.pacing[0];
    this.pacingAfter = tcp.pacing[1];
    this.hystartDelayShift = tcp.hystartDelayShift;
    this.expandsByPacketsOut = tcp.expandTest === "packets_out";
    this.maxPacketsRule = tcp.cwndLimited === "max packets out";
  }

  /** `tcp_packets_in_flight`. */
  get inFlight(): number {
    return this.packetsOut - this.sackedOut - this.lostOut + this.retransOut;
  }

  /** `tcp_wnd_end`. */
  get windowEnd(): number {
    return this.sndUna + this.sndWnd;
  }
}

// What a fresh skb's head holds (select_size, net/ipv4/tcp.c; nothing from 4.16 on).
function linearSize(
  { kernel, sg }: SenderOptions,
  gso: boolean,
  mss: number,
): number {
  // From 4.17 on the device copies what it cannot gather.
  if (kernel.tcp.linear === 0) return 0;
  if (!sg) return mss;
  if (gso) return kernel.tcp.linear;
  const { pageSize, maxTcpHeader, maxSkbFrags } = kernel.build;
  const page = pageSize - maxTcpHeader - kernel.skb.sharedInfo;
  return mss >= page && mss <= page + (maxSkbFrags - 1) * pageSize ? page : mss;
}
