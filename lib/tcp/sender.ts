/**
 * The sending end at work: the application writes, ACKs arrive, timers fire.
 *
 * @module
 */

import { type CongestionControl, Cubic, Reno } from "./cubic.ts";
import {
  noteWindow,
  type SegmentSink,
  writeWakeup,
  writeXmit,
} from "./output.ts";
import {
  checkReneging,
  enterCwr,
  fastretransAlert,
  reduceAtOnce,
  retransmitQueue,
  retransmitTimer,
} from "./recovery.ts";
import { rttEstimate } from "./rto.ts";
import { noteReordering, rackAdvance, sackTag } from "./scoreboard.ts";
import {
  EVER_RETRANS,
  LOST,
  RETRANS,
  SACKED,
  type SendPool,
} from "./send_pool.ts";
import {
  CWR,
  Limit,
  type LimitKind,
  OPEN,
  RECOVERY,
  type SenderOptions,
  SenderSock,
} from "./sender_sock.ts";
import { NONE } from "./skb_list.ts";
import { checkSpace, sendmsg, wmemFree } from "./sndbuf.ts";
import { lossProbeAcked, scheduleLossProbe, sendLossProbe } from "./tlp.ts";

/** An ACK as it comes up from IP. Reused. */
export class AckSegment {
  /** Acknowledged up to here. */
  ack = 0;
  /** Window, bytes. */
  window = 0;
  /** Echoed timestamp, ms; -1 for none. */
  tsecr = -1;
  /** The receiver's own timestamp, ms. */
  tsval = -1;
  /** SACK blocks. */
  readonly sackStart: Float64Array = new Float64Array(4);
  /** Their ends. */
  readonly sackEnd: Float64Array = new Float64Array(4);
  /** How many. */
  sackCount = 0;
  /** Whether the receiver reports a duplicate (DSACK). */
  dsack = false;
}

/**
 * The sending end of a connection.
 *
 * Models `tcp_ack` and what follows from it (net/ipv4/tcp_input.c), `tcp_sendmsg` (net/ipv4/tcp.c).
 */
export class TcpSender {
  /** Its state. */
  readonly sk: SenderSock;
  /** Congestion control. */
  readonly cc: CongestionControl;
  readonly #sink: SegmentSink;
  #limitedSince = 0;
  #limitedBy: LimitKind = Limit.APP;
  /** Time under each limit so far, ns, by {@linkcode Limit}. */
  readonly limited: Float64Array = new Float64Array(5);

  /**
   * An established connection's sending end.
   *
   * @param options What the socket is set up with.
   * @param sink Where its segments go.
   * @param pool Skbs of its host; a pool of its own if absent.
   */
  constructor(options: SenderOptions, sink: SegmentSink, pool?: SendPool) {
    this.sk = new SenderSock(options, pool);
    this.#sink = sink;
    this.cc = options.congestionControl === "reno"
      ? new Reno(this.sk)
      : new Cubic(this.sk, options.hystart);
    noteWindow(this.sk, options.peerWindow);
    if (options.handshakeRtt > 0) {
      rttEstimate(this.sk, options.handshakeRtt);
    }
  }

  /** When the next timer fires, ns. */
  get timerAt(): number {
    const { sk } = this;
    return Math.min(sk.rtoAt, sk.probeAt, sk.reorderAt, sk.tlpAt);
  }

  /**
   * The application writes.
   *
   * @returns Bytes taken; fewer than asked for where the writer sleeps until {@linkcode TcpSender.ack} wakes it.
   */
  write(now: number, bytes: number): number {
    const taken = sendmsg(this.sk, now, bytes, this.#sink);
    this.#afterSending(now);
    return taken;
  }

  /** The device gave `truesize` bytes back (`tcp_wfree`): TSQ may let more out. */
  sent(now: number, truesize: number): void {
    const { sk } = this;
    sk.wmemAlloc -= truesize;
    if (sk.limit === Limit.TSQ) {
      writeXmit(sk, now, this.#sink);
      this.#afterSending(now);
    }
  }

  /** A timer fires. */
  timer(now: number): void {
    const { sk } = this;
    if (sk.reorderAt <= now) {
      sk.reorderAt = Infinity;
      fastretransAlert(sk, this.cc, now, 0, false, -1);
      if (sk.caState >= RECOVERY) retransmitQueue(sk, now, this.#sink);
    }
    if (sk.tlpAt <= now) sendLossProbe(sk, now, this.#sink);
    else if (sk.rtoAt <= now) {
      retransmitTimer(sk, this.cc, now, this.#sink);
    }
    if (sk.probeAt <= now) this.#probe(now);
    this.#afterSending(now);
  }

  // tcp_probe_timer: a local drop is only tried again, a closed window is asked.
  #probe(now: number): void {
    const { sk } = this;
    sk.probeAt = Infinity;
    if (sk.writeQueue.head === NONE || sk.packetsOut > 0) return;
    if (
      sk.localDrop || sk.windowEnd > sk.pool.seq[sk.writeQueue.head]!
    ) {
      sk.localDrop = false;
      writeWakeup(sk, now, this.#sink);
      if (sk.packetsOut > 0) return;
    }
    sk.counters.TCPWinProbe++;
    sk.backoff = Math.min(sk.backoff + 1, 9);
    sk.probeAt = now + Math.min(sk.rto * 2 ** sk.backoff, 120e9);
    this.#sink.probe(now, sk);
  }

  /**
   * An ACK arrives.
   *
   * @param now The time, ns.
   * @param segment The ACK.
   * @returns Whether a sleeping writer wakes.
   */
  ack(now: number, segment: AckSegment): boolean {
    const { sk } = this;
    sk.counters.InSegs++;
    const { ack, window } = segment;
    if (ack < sk.sndUna || ack > sk.sndNxt) return false;
    const deliveredBefore = sk.delivered;
    const inFlightBefore = sk.inFlight;
    const advanced = ack > sk.sndUna;
    // tcp_may_update_window: of ACKs that overtook each other the larger window counts.
    if (
      advanced || window > sk.sndWnd ||
      window === 0 && sk.kernel.tcp.noMemoryZeroWindow
    ) sk.sndWnd = window;
    if (sk.timestamps) sk.lastTsecr = segment.tsval;
    if (window > sk.maxWindow) noteWindow(sk, window);
    if (sk.probeAt < Infinity && window > 0) {
      sk.probeAt = Infinity;
      sk.backoff = 0;
    }
    if (segment.sackCount > 0) {
      for (let i = segment.sackCount - 1; i >= 0; i--) {
        sackTag(sk, now, segment.sackStart[i]!, segment.sackEnd[i]!);
      }
    }
    const acked = advanced ? this.#cleanRtxQueue(now, ack) : 0;
    const delivered = sk.delivered - deliveredBefore;
    if (lossProbeAcked(sk, ack, advanced, segment.dsack)) {
      reduceAtOnce(sk, this.cc);
    }
    const quiet = sk.caState === OPEN && segment.sackCount === 0;
    if (!quiet || sk.sackedOut > 0) {
      fastretransAlert(
        sk,
        this.cc,
        now,
        delivered,
        advanced,
        segment.tsecr,
      );
    }
    if (acked > 0) {
      scheduleLossProbe(sk, now);
      checkReneging(sk, now);
    } else if (sk.caState >= RECOVERY) sk.tlpAt = Infinity;
    // From 4.6 on what counts is what this ACK reported for the first time.
    const grown = sk.rack ? delivered : acked;
    if (acked > 0 && grown > 0 && this.#mayRaise()) {
      if (this.#cwndLimited(inFlightBefore)) this.cc.avoid(now, grown);
    }
    if (sk.caState >= RECOVERY) retransmitQueue(sk, now, this.#sink);
    writeXmit(sk, now, this.#sink);
    const wakes = advanced && checkSpace(sk);
    this.#afterSending(now);
    return wakes;
  }

  // tcp_clean_rtx_queue
  #cleanRtxQueue(now: number, ack: number): number {
    const { sk } = this;
    const { pool, rtxQueue } = sk;
    let acked = 0;
    let freed = 0;
    let firstSentAt = -1;
    let lastSentAt = -1;
    for (let skb = rtxQueue.head; skb !== NONE; skb = rtxQueue.head) {
      const flags = pool.flags[skb]!;
      const segs = pool.segs[skb]!;
      const whole = pool.end[skb]! <= ack;
      const start = pool.seq[skb]!;
      let gone = segs;
      if (!whole) {
        if (pool.seq[skb]! >= ack) break;
        // tcp_trim_head
        const bytes = ack - pool.seq[skb]!;
        pool.seq[skb] = ack;
        gone = segs - Math.ceil((pool.end[skb]! - ack) / sk.mss);
        pool.segs[skb] = segs - gone;
        const trimmed = Math.min(
          bytes,
          Math.max(0, pool.truesize[skb]! - sk.splitTruesize),
        );
        pool.truesize[skb]! -= trimmed;
        freed += trimmed;
      }
      if (flags & SACKED) sk.sackedOut -= gone;
      else {
        sk.delivered += gone;
        if (sk.rack) rackAdvance(sk, now, skb);
        if (!(flags & EVER_RETRANS) && start < sk.highestSack) {
          noteReordering(sk, start);
        }
      }
      if (flags & LOST) sk.lostOut -= gone;
      if (flags & RETRANS) sk.retransOut -= gone;
      if (!(flags & (EVER_RETRANS | SACKED))) {
        if (firstSentAt < 0) firstSentAt = pool.sentAt[skb]!;
        lastSentAt = pool.sentAt[skb]!;
      }
      sk.packetsOut -= gone;
      acked += gone;
      if (!whole) break;
      if (skb === sk.sackHint) sk.sackHint = NONE;
      if (skb === sk.lostHint) sk.lostHint = NONE;
      if (skb === sk.retransHint) sk.retransHint = pool.links.next[skb]!;
      freed += pool.truesize[skb]!;
      rtxQueue.shift();
      pool.free(skb);
    }
    if (freed > 0) wmemFree(sk, freed);
    sk.sndUna = ack;
    if (sk.highestSack < ack) sk.highestSack = ack;
    if (firstSentAt >= 0) rttEstimate(sk, now - firstSentAt);
    else if (acked > 0) sk.backoff = 0;
    sk.rtoAt = sk.packetsOut > 0 ? now + sk.rto : Infinity;
    this.cc.acked(now, lastSentAt >= 0 ? now - lastSentAt : -1, acked);
    return acked;
  }

  // tcp_may_raise_cwnd
  #mayRaise(): boolean {
    return this.sk.caState !== CWR && this.sk.caState !== RECOVERY;
  }

  // tcp_is_cwnd_limited
  #cwndLimited(inFlight: number): boolean {
    const { sk } = this;
    if (sk.maxPacketsRule) {
      return sk.cwnd < sk.ssthresh
        ? sk.cwnd < 2 * sk.maxPacketsOut
        : sk.cwndIsLimited;
    }
    if (inFlight >= sk.cwnd) return true;
    const left = sk.cwnd - inFlight;
    if (
      sk.gso && 3 * left < sk.cwnd && left * sk.mss < 65536 && left < 65535
    ) return true;
    return left <= sk.reordering;
  }

  #afterSending(now: number): void {
    const { sk } = this;
    if (sk.localDrop) {
      sk.localDrop = sk.packetsOut === 0;
      enterCwr(sk, this.cc);
    }
    const limit = sk.writeQueue.head !== NONE
      ? sk.limit
      : sk.nospace
      ? Limit.SNDBUF
      : Limit.APP;
    this.limited[this.#limitedBy]! += now - this.#limitedSince;
    this.#limitedSince = now;
    this.#limitedBy = limit;
  }

  /** Settles {@linkcode TcpSender.limited} up to `now`. */
  settle(now: number): void {
    this.limited[this.#limitedBy]! += now - this.#limitedSince;
    this.#limitedSince = now;
  }
}
