/**
 * What leaves a sender, and when: windows, Nagle, TSO deferral, TSQ, splitting.
 *
 * @module
 */

import { blocksTouched } from "./frag_blocks.ts";
import { MS } from "./receiver_sock.ts";
import { PUSH } from "./send_pool.ts";
import { timerAt } from "./timers.ts";
import { scheduleLossProbe } from "./tlp.ts";
import { Limit, OPEN, RECOVERY, type SenderSock } from "./sender_sock.ts";
import { pacingRate } from "./rto.ts";
import { NONE, type SkbQueue } from "./skb_list.ts";

/** Where segments go. */
export interface SegmentSink {
  /**
   * A segment, or a GSO skb, goes to IP.
   *
   * @param now The time, ns.
   * @param sk The socket.
   * @param skb Index in its pool.
   * @returns Whether the device's queue took it.
   */
  xmit(now: number, sk: SenderSock, skb: number): boolean;
  /** A zero-window probe goes out. */
  probe(now: number, sk: SenderSock): void;
}

/** Bytes that a writer puts in one skb (`tcp_xmit_size_goal`, net/ipv4/tcp.c). */
export function sizeGoal(sk: SenderSock): number {
  const mss = sk.mssNow;
  if (!sk.gso) return mss;
  let goal = sk.gsoMost;
  if (!sk.splitsWhenSent) {
    // Half a millisecond at twice the rate.
    goal = Math.min(goal, Math.max(Math.floor(pacingRate(sk) / 2000), 2 * mss));
  }
  goal = Math.min(goal, sk.halfWindow);
  return Math.max(1, Math.floor(goal / mss)) * mss;
}

/** The peer offers a larger window than ever: no skb holds more than half of it (`tcp_bound_to_half_wnd`). */
export function noteWindow(sk: SenderSock, window: number): void {
  sk.maxWindow = window;
  const cutoff = window > 536 ? Math.floor(window / 2) : window;
  sk.halfWindow = cutoff > 0 ? Math.max(cutoff, 68) : Infinity;
  sk.mssNow = Math.min(sk.mss, sk.halfWindow);
}

/** Most segments of one transmission (`tcp_tso_autosize`, 4.x on). */
function autosizeSegs(sk: SenderSock, mss: number): number {
  if (!sk.splitsWhenSent) return 65535;
  let bytes = Math.floor(pacingRate(sk) / 1024);
  if (sk.autosizeByRtt && sk.minRtt < Infinity) {
    const shift = Math.floor(sk.minRtt / 512);
    if (shift < 17) bytes += 65536 >> shift;
  }
  return Math.max(Math.floor(Math.min(bytes, sk.gsoMost) / mss), 2);
}

/** Bytes that the device may still hold before TSQ stops the socket. */
function tsqLimit(sk: SenderSock, truesize: number): number {
  const ms = Math.floor(pacingRate(sk) / 1024);
  switch (sk.tsq) {
    case "128 KiB or 1 ms":
      return Math.max(131072, ms);
    case "2 skbs or 1 ms, 256 KiB":
      return Math.min(Math.max(2 * truesize, ms), 262144);
    case "2 skbs or 1 ms":
      return Math.min(Math.max(2 * truesize, ms), 1048576);
  }
}

/**
 * Sends what may leave.
 *
 * Models `tcp_write_xmit` (net/ipv4/tcp_output.c).
 *
 * @param sk The socket.
 * @param now The time, ns.
 * @param sink Where segments go.
 * @param pushOne Whether one skb is to leave without deferral.
 * @param pushAll Whether a small last segment may leave too (`TCP_NAGLE_PUSH`).
 * @param probe Whether one skb is to leave although the congestion window is full (a tail loss probe).
 */
export function writeXmit(
  sk: SenderSock,
  now: number,
  sink: SegmentSink,
  pushOne = false,
  pushAll = false,
  probe = false,
): void {
  const { pool, writeQueue } = sk;
  if (writeQueue.head === NONE) return;
  const mss = sk.mssNow;
  const maxSegs = autosizeSegs(sk, mss);
  let cwndLimited = false;
  let sent = false;
  sk.limit = Limit.APP;
  for (let skb = writeQueue.head; skb !== NONE; skb = writeQueue.head) {
    const seq = pool.seq[skb]!;
    let len = pool.end[skb]! - seq;
    const segs = len <= mss ? 1 : Math.ceil(len / mss);
    let quota = sk.cwnd - sk.inFlight;
    if (quota <= 0) {
      if (!probe) {
        sk.limit = Limit.CWND;
        cwndLimited = true;
        break;
      }
      quota = 1;
    }
    if (sk.splitsWhenSent) {
      quota = Math.min(quota, Math.max(sk.cwnd >> 1, 1));
    }
    const windowEnd = sk.sndUna + sk.sndWnd;
    if (seq + Math.min(len, mss) > windowEnd) {
      sk.limit = Limit.RWND;
      break;
    }
    const last = skb === writeQueue.tail;
    if (segs === 1) {
      if (
        last && len < mss && !pushAll && !pushOne && nagleHolds(sk)
      ) break;
    } else {
      if (!pushOne && tsoShouldDefer(sk, now, skb, len, mss, maxSegs, last)) {
        const cwndRoom = quota * mss;
        cwndLimited ||= cwndRoom < windowEnd - seq && cwndRoom <= len;
        sk.limit = cwndRoom < windowEnd - seq ? Limit.CWND : Limit.RWND;
        break;
      }
      const limit = splitPoint(
        sk,
        Math.min(quota, maxSegs) * mss,
        windowEnd - seq,
        len,
        mss,
        last,
        pushAll,
      );
      if (len > limit) {
        splitSkb(sk, writeQueue, skb, limit, mss);
        len = limit;
      }
    }
    if (sk.wmemAlloc > 0 && sk.wmemAlloc > tsqLimit(sk, pool.truesize[skb]!)) {
      sk.limit = Limit.TSQ;
      break;
    }
    if (!transmit(sk, now, sink, skb, len, mss)) break;
    sent = true;
    if (pushOne) break;
  }
  if (sent && !probe) scheduleLossProbe(sk, now);
  if (sent || cwndLimited) {
    cwndValidate(sk, cwndLimited || sk.inFlight >= sk.cwnd);
  }
  armProbe(sk, now);
}

/**
 * Asks a window that is too small for the next segment: as much of it leaves as fits.
 *
 * Models `tcp_write_wakeup` (net/ipv4/tcp_output.c).
 *
 * @returns Whether something left; not where the window is closed.
 */
export function writeWakeup(
  sk: SenderSock,
  now: number,
  sink: SegmentSink,
): boolean {
  const { pool, writeQueue } = sk;
  const skb = writeQueue.head;
  const room = sk.windowEnd - pool.seq[skb]!;
  if (room <= 0) return false;
  const mss = sk.mssNow;
  const len = pool.end[skb]! - pool.seq[skb]!;
  const size = Math.min(room, mss);
  if (size < len) splitSkb(sk, writeQueue, skb, size, mss);
  pool.flags[skb]! |= PUSH;
  return transmit(sk, now, sink, skb, Math.min(size, len), mss);
}

// A small segment waits while another small one is out (Minshall's variant).
function nagleHolds(sk: SenderSock): boolean {
  return !sk.nodelay && sk.packetsOut > 0 && sk.sndSml > sk.sndUna;
}

function transmit(
  sk: SenderSock,
  now: number,
  sink: SegmentSink,
  skb: number,
  len: number,
  mss: number,
): boolean {
  const { pool } = sk;
  pool.segs[skb] = len <= mss ? 1 : Math.ceil(len / mss);
  pool.sentAt[skb] = now;
  if (!sink.xmit(now, sk, skb)) {
    sk.counters.TCPLocalDrop++;
    sk.localDrop = true;
    return false;
  }
  sk.counters.OutSegs += pool.segs[skb]!;
  sk.writeQueue.shift();
  sk.rtxQueue.push(skb);
  if (sk.packetsOut === 0) sk.rtoAt = now + sk.rto;
  sk.packetsOut += pool.segs[skb]!;
  sk.sndNxt = pool.end[skb]!;
  if (len < pool.segs[skb]! * mss) sk.sndSml = pool.end[skb]!;
  sk.lastSentAt = now;
  sk.prrOut += pool.segs[skb]!;
  sk.probeAt = Infinity;
  return true;
}

// tcp_cwnd_validate: what the window's growth is judged by from 3.15 on.
function cwndValidate(sk: SenderSock, limited: boolean): void {
  if (
    sk.sndUna >= sk.maxPacketsSeq || sk.packetsOut > sk.maxPacketsOut ||
    limited
  ) {
    sk.cwndIsLimited = limited;
    sk.maxPacketsOut = sk.packetsOut;
    sk.maxPacketsSeq = sk.sndNxt;
  }
}

// tcp_mss_split_point
function splitPoint(
  sk: SenderSock,
  most: number,
  window: number,
  len: number,
  mss: number,
  last: boolean,
  pushAll: boolean,
): number {
  if (most <= window && !last) return most;
  const needed = Math.min(len, window);
  if (most <= needed) return most;
  const partial = needed % mss;
  // A small rest that Nagle would hold stays behind; else the window is filled to its last byte.
  return partial > 0 && !pushAll && nagleHolds(sk) && needed > partial
    ? needed - partial
    : needed;
}

/**
 * Splits the first `len` bytes off an skb; the rest becomes an skb of its own behind it.
 *
 * Models `tso_fragment` and `tcp_fragment` (net/ipv4/tcp_output.c): the second half needs a head of its own.
 */
export function splitSkb(
  sk: SenderSock,
  queue: SkbQueue,
  skb: number,
  len: number,
  mss: number,
): number {
  const { pool } = sk;
  const rest = pool.alloc();
  const at = pool.seq[skb]! + len;
  const moved = pool.end[skb]! - at;
  pool.seq[rest] = at;
  pool.end[rest] = pool.end[skb]!;
  pool.end[skb] = at;
  pool.sentAt[rest] = pool.sentAt[skb]!;
  pool.flags[rest] = pool.flags[skb]!;
  pool.flags[skb]! &= ~PUSH;
  if (sk.kernel.tcp.linear === 0) {
    pool.frags[rest] = blocksTouched(at, at + moved, sk.fragStart);
    pool.frags[skb] = blocksTouched(pool.seq[skb]!, at, sk.fragStart);
  } else pool.frags[rest] = Math.max(1, pool.frags[skb]!);
  // Linear bytes cannot move: they are copied into a new head.
  const paged = Math.min(
    moved,
    Math.max(0, at + moved - pool.seq[skb]! - sk.linear),
  );
  pool.truesize[rest] = sk.splitTruesize + paged;
  pool.truesize[skb]! -= paged;
  sk.wmemQueued += sk.splitTruesize;
  sk.forwardAlloc -= sk.splitTruesize;
  const segs = pool.segs[skb]!;
  pool.segs[skb] = Math.ceil(len / mss);
  pool.segs[rest] = segs > 0 ? Math.max(0, segs - pool.segs[skb]!) : 0;
  queue.insertAfter(skb, rest);
  return rest;
}

// tcp_tso_should_defer: whether waiting for an ACK would let a larger skb leave.
function tsoShouldDefer(
  sk: SenderSock,
  now: number,
  skb: number,
  len: number,
  mss: number,
  maxSegs: number,
  last: boolean,
): boolean {
  const { pool } = sk;
  const old = sk.kernel.tcp.tsoDefer === "2 jiffies";
  const sendNow = (): boolean => {
    sk.deferredAt = -1;
    return false;
  };
  if (old ? sk.caState !== OPEN : sk.caState >= RECOVERY) return sendNow();
  if (old) {
    if (sk.deferredAt >= 0 && now - sk.deferredAt >= 2 * MS) return sendNow();
  } else if (now - sk.lastSentAt > MS) return false;
  const sendWindow = sk.sndUna + sk.sndWnd - pool.seq[skb]!;
  const congWindow = (sk.cwnd - sk.inFlight) * mss;
  const limit = Math.min(sendWindow, congWindow);
  if (limit >= (old ? sizeGoal(sk) : maxSegs * mss)) return sendNow();
  if (!last && limit >= len) return sendNow();
  if (limit >= Math.min(sk.sndWnd, sk.cwnd * mss) / 3) return sendNow();
  if (old) {
    if (sk.deferredAt < 0) sk.deferredAt = now;
    return true;
  }
  const head = sk.rtxQueue.head;
  // The next ACK would come too late: half an RTT away.
  if (
    head !== NONE && now - pool.sentAt[head]! < sk.srtt / 16 * sk.tick
  ) return false;
  return head !== NONE;
}

// tcp_check_probe_timer: nothing is out, something waits, and nobody will say so.
function armProbe(sk: SenderSock, now: number): void {
  if (sk.packetsOut > 0 || sk.writeQueue.head === NONE) {
    sk.probeAt = Infinity;
  } else if (sk.probeAt === Infinity) {
    const delay = sk.localDrop ? 500 * MS : sk.rto * 2 ** sk.backoff;
    sk.probeAt = timerAt(now, delay, sk.jiffy);
  }
}
