/**
 * CUBIC and Reno in the kernel's integer form.
 *
 * @module
 */

import { pacingRate } from "./rto.ts";
import type { SenderSock } from "./sender_sock.ts";

/** beta = 717/1024. */
const BETA = 717;
const BETA_SCALE = 1024;
/** bic_scale * 10: C = 410/1024. */
const CUBE_RTT_SCALE = 410;
/** 2^40 / 410. */
const CUBE_FACTOR = Math.floor(2 ** 40 / CUBE_RTT_SCALE);
/** 8 * (1024 + 717) / 3 / (1024 - 717). */
const BETA_FRIENDLY = 15;
/** Smallest window in which HyStart looks. */
const HYSTART_LOW_WINDOW = 16;
const HYSTART_MIN_SAMPLES = 8;

/** What a congestion control does. */
export interface CongestionControl {
  /** The window may grow: `acked` segments were acknowledged. */
  avoid(now: number, acked: number): void;
  /** The new threshold after a loss or a local drop, segments. */
  onLoss(): number;
  /** RTT sample of the newest segment acknowledged, ns; -1 for none. */
  acked(now: number, rtt: number, segs: number): void;
  /** A timeout. */
  reset(): void;
}

/**
 * Opens the window in slow start.
 *
 * Models `tcp_slow_start` (net/ipv4/tcp_cong.c): a segment an ACK up to 3.12, the segments acknowledged after.
 *
 * @returns Segments that are left for congestion avoidance.
 */
function slowStart(sk: SenderSock, acked: number): number {
  if (!sk.ackedCounts) {
    sk.cwnd++;
    return 0;
  }
  const cwnd = Math.min(sk.cwnd + acked, sk.ssthresh);
  const left = acked - (cwnd - sk.cwnd);
  sk.cwnd = cwnd;
  return left;
}

/** Adds a segment for each `w` acknowledged (`tcp_cong_avoid_ai`). */
function congAvoidAi(sk: SenderSock, w: number, acked: number): void {
  if (!sk.ackedCounts) {
    // Up to 4.0: one count an ACK.
    if (sk.cwndCnt >= w) {
      sk.cwnd++;
      sk.cwndCnt = 0;
    } else sk.cwndCnt++;
    return;
  }
  if (sk.cwndCnt >= w) {
    sk.cwndCnt = 0;
    sk.cwnd++;
  }
  sk.cwndCnt += acked;
  if (sk.cwndCnt >= w) {
    const delta = Math.floor(sk.cwndCnt / w);
    sk.cwndCnt -= delta * w;
    sk.cwnd += delta;
  }
}

/** Whether the sender is in slow start (`tcp_in_slow_start`; up to 4.0 ssthresh itself counts). */
function inSlowStart(sk: SenderSock): boolean {
  return sk.ackedCounts ? sk.cwnd < sk.ssthresh : sk.cwnd <= sk.ssthresh;
}

/** Reno (net/ipv4/tcp_cong.c). */
export class Reno implements CongestionControl {
  readonly #sk: SenderSock;

  /** Reno for `sk`. */
  constructor(sk: SenderSock) {
    this.#sk = sk;
  }

  avoid(_now: number, acked: number): void {
    const sk = this.#sk;
    let left = acked;
    if (inSlowStart(sk)) {
      left = slowStart(sk, acked);
      if (left === 0) return;
    }
    congAvoidAi(sk, sk.cwnd, left);
  }

  onLoss(): number {
    return Math.max(this.#sk.cwnd >> 1, 2);
  }

  acked(): void {}

  reset(): void {}
}

// Integer cube root; the kernel's is a table and one Newton step, within 0.2 %.
function cubeRoot(a: number): number {
  return Math.floor(Math.cbrt(a));
}

/** CUBIC (net/ipv4/tcp_cubic.c) with fast convergence, TCP friendliness and HyStart. */
export class Cubic implements CongestionControl {
  readonly #sk: SenderSock;
  readonly #hystart: boolean;
  readonly #micro: boolean;
  #cnt = 0;
  #lastMaxCwnd = 0;
  #lastCwnd = 0;
  #lastTime = -Infinity;
  #originPoint = 0;
  #k = 0;
  /** Least RTT, ns. */
  #delayMin = 0;
  #epochStart = -1;
  #ackCnt = 0;
  #tcpCwnd = 0;
  // Average of segments an ACK << 4, up to 4.0.
  #delayedAck = 2 * 16;
  // HyStart.
  #found = false;
  #roundStart = 0;
  #lastAck = 0;
  #endSeq = 0;
  #currRtt = 0;
  #samples = 0;

  /** CUBIC for `sk`. */
  constructor(sk: SenderSock, hystart: boolean) {
    this.#sk = sk;
    this.#hystart = hystart;
    this.#micro = sk.tick === 1000;
  }

  avoid(now: number, acked: number): void {
    const sk = this.#sk;
    let left = acked;
    if (inSlowStart(sk)) {
      if (this.#hystart && sk.sndUna > this.#endSeq) this.#newRound(now);
      left = slowStart(sk, acked);
      if (left === 0) return;
    }
    this.#update(now, left);
    congAvoidAi(sk, this.#cnt, left);
  }

  // bictcp_update
  #update(now: number, acked: number): void {
    const sk = this.#sk;
    const { cwnd } = sk;
    this.#ackCnt += sk.ackedCounts ? acked : 1;
    if (this.#lastCwnd === cwnd && now - this.#lastTime <= 1e9 / 32) return;
    this.#lastCwnd = cwnd;
    this.#lastTime = now;
    if (this.#epochStart < 0) {
      this.#epochStart = now;
      this.#ackCnt = sk.ackedCounts ? acked : 1;
      this.#tcpCwnd = cwnd;
      if (this.#lastMaxCwnd <= cwnd) {
        this.#k = 0;
        this.#originPoint = cwnd;
      } else {
        this.#k = cubeRoot(CUBE_FACTOR * (this.#lastMaxCwnd - cwnd));
        this.#originPoint = this.#lastMaxCwnd;
      }
    }
    // In units of 1/1024 s.
    const t = Math.floor(
      (now - this.#epochStart + this.#delayMin) * 1024 / 1e9,
    );
    const offset = Math.abs(t - this.#k);
    const delta = Math.floor(
      CUBE_RTT_SCALE * offset * offset * offset / 2 ** 40,
    );
    const target = t < this.#k
      ? this.#originPoint - delta
      : this.#originPoint + delta;
    let cnt = target > cwnd ? Math.floor(cwnd / (target - cwnd)) : 100 * cwnd;
    // Before any loss, at least 5 % an RTT.
    if (this.#lastMaxCwnd === 0 && cnt > 20) cnt = 20;
    const perAck = (cwnd * BETA_FRIENDLY) >> 3;
    while (this.#ackCnt > perAck) {
      this.#ackCnt -= perAck;
      this.#tcpCwnd++;
    }
    if (this.#tcpCwnd > cwnd) {
      cnt = Math.min(cnt, Math.floor(cwnd / (this.#tcpCwnd - cwnd)));
    }
    if (sk.ackedCounts) cnt = Math.max(cnt, 2);
    else cnt = Math.max(1, Math.floor(cnt * 16 / this.#delayedAck));
    this.#cnt = cnt;
  }

  onLoss(): number {
    const { cwnd } = this.#sk;
    this.#epochStart = -1;
    this.#lastMaxCwnd = cwnd < this.#lastMaxCwnd
      ? Math.floor(cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE))
      : cwnd;
    return Math.max(Math.floor(cwnd * BETA / BETA_SCALE), 2);
  }

  reset(): void {
    this.#cnt = 0;
    this.#lastMaxCwnd = 0;
    this.#lastCwnd = 0;
    this.#lastTime = -Infinity;
    this.#originPoint = 0;
    this.#k = 0;
    this.#delayMin = 0;
    this.#epochStart = -1;
    this.#ackCnt = 0;
    this.#tcpCwnd = 0;
    this.#delayedAck = 2 * 16;
    this.#found = false;
  }

  // bictcp_acked
  acked(now: number, rtt: number, segs: number): void {
    const sk = this.#sk;
    if (!sk.ackedCounts && sk.caState === 0) {
      const sum = this.#delayedAck - (this.#delayedAck >> 4) + segs;
      this.#delayedAck = Math.min(sum, 512);
    }
    if (rtt < 0) return;
    // After a cut, the queue that caused it is still in the samples.
    if (this.#epochStart >= 0 && now - this.#epochStart < 1e9) return;
    const delay = Math.max(
      this.#micro ? Math.floor(rtt / 1000) * 1000 : Math.floor(rtt / 1e6) * 1e6,
      this.#micro ? 1000 : 125_000,
    );
    if (this.#delayMin === 0 || this.#delayMin > delay) this.#delayMin = delay;
    if (
      this.#hystart && !this.#found && inSlowStart(sk) &&
      sk.cwnd >= HYSTART_LOW_WINDOW
    ) this.#hystartUpdate(now, delay);
  }

  #newRound(now: number): void {
    this.#roundStart = now;
    this.#lastAck = now;
    this.#endSeq = this.#sk.sndNxt;
    this.#currRtt = 0;
    this.#samples = 0;
  }

  // hystart_update: a train of ACKs of half an RTT, or a rise of the delay.
  #hystartUpdate(now: number, delay: number): void {
    const sk = this.#sk;
    if (sk.sndUna > this.#endSeq) this.#newRound(now);
    const clock = this.#micro ? 1000 : 1e6;
    const t = Math.floor(now / clock) * clock;
    if (t - Math.floor(this.#lastAck / clock) * clock <= 2e6) {
      this.#lastAck = now;
      const start = Math.floor(this.#roundStart / clock) * clock;
      const threshold = this.#micro
        ? (this.#delayMin + this.#ackDelay()) / 2
        : this.#delayMin / 2;
      if (t - start > threshold) {
        this.#found = true;
        sk.counters.TCPHystartTrainDetect++;
        sk.counters.TCPHystartTrainCwnd += sk.cwnd;
      }
    }
    if (this.#currRtt === 0 || this.#currRtt > delay) {
      if (this.#micro || this.#samples < HYSTART_MIN_SAMPLES) {
        this.#currRtt = delay;
      }
    }
    if (this.#samples < HYSTART_MIN_SAMPLES) this.#samples++;
    else {
      const shift = sk.hystartDelayShift;
      const rise = Math.min(
        16e6,
        Math.max(4e6, this.#delayMin / (1 << shift)),
      );
      if (this.#currRtt > this.#delayMin + rise && !this.#found) {
        this.#found = true;
        sk.counters.TCPHystartDelayDetect++;
        sk.counters.TCPHystartDelayCwnd += sk.cwnd;
      }
    }
    if (this.#found) sk.ssthresh = sk.cwnd;
  }

  // hystart_ack_delay: what aggregation may add.
  #ackDelay(): number {
    return Math.min(1e6, 65536 * 4 * 1e9 / pacingRate(this.#sk));
  }
}
