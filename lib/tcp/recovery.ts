/**
 * What a sender does about losses: recovery by PRR, congestion window reduction, timeouts, undo.
 *
 * @module
 */

import type { CongestionControl } from "./cubic.ts";
import type { SegmentSink } from "./output.ts";
import { markLost, splitSent } from "./scoreboard.ts";
import { EVER_RETRANS, LOST, RETRANS, SACKED } from "./send_pool.ts";
import {
  CWR,
  DISORDER,
  INFINITE_SSTHRESH,
  LOSS,
  OPEN,
  RECOVERY,
  RTO_MAX,
  type SenderSock,
} from "./sender_sock.ts";
import { MS } from "./receiver_sock.ts";
import { NONE } from "./skb_list.ts";

// tcp_init_cwnd_reduction
function beginReduction(sk: SenderSock, cc: CongestionControl): void {
  sk.highSeq = sk.sndNxt;
  sk.cwndCnt = 0;
  sk.priorCwnd = sk.cwnd;
  sk.prrDelivered = 0;
  sk.prrOut = 0;
  sk.tlpHighSeq = -1;
  sk.ssthresh = cc.onLoss();
}

/**
 * The local queue refused a segment: the window shrinks, nothing is lost.
 *
 * Models `tcp_enter_cwr` (net/ipv4/tcp_input.c).
 */
export function enterCwr(sk: SenderSock, cc: CongestionControl): void {
  sk.priorSsthresh = 0;
  if (sk.caState >= CWR) return;
  sk.undoMarker = false;
  beginReduction(sk, cc);
  sk.caState = CWR;
}

/**
 * A loss was repaired by its probe: the window is reduced at once, nothing is sent again.
 *
 * Models the end of `tcp_process_tlp_ack` (net/ipv4/tcp_input.c).
 */
export function reduceAtOnce(sk: SenderSock, cc: CongestionControl): void {
  if (sk.caState >= CWR) return;
  beginReduction(sk, cc);
  endReduction(sk);
}

/**
 * Proportional rate reduction.
 *
 * Models `tcp_cwnd_reduction` (net/ipv4/tcp_input.c, RFC 6937).
 *
 * @param sk The socket.
 * @param delivered Segments that this ACK reports for the first time.
 * @param fastRexmit Whether at least one segment must leave.
 * @param progress Whether `snd_una` moved and nothing more was found lost.
 */
function reduce(
  sk: SenderSock,
  delivered: number,
  fastRexmit: boolean,
  progress: boolean,
): void {
  if (delivered <= 0 && !fastRexmit) return;
  const { inFlight } = sk;
  sk.prrDelivered += delivered;
  let send: number;
  if (inFlight > sk.ssthresh) {
    send = Math.floor(
      (sk.ssthresh * sk.prrDelivered + sk.priorCwnd - 1) / sk.priorCwnd,
    ) - sk.prrOut;
  } else {
    const more = progress || sk.kernel.tcp.prr === "slow start" ? 1 : 0;
    send = Math.min(
      sk.ssthresh - inFlight,
      Math.max(sk.prrDelivered - sk.prrOut, delivered) + more,
    );
  }
  sk.cwnd = Math.max(1, inFlight + Math.max(send, fastRexmit ? 1 : 0));
}

// tcp_end_cwnd_reduction
function endReduction(sk: SenderSock): void {
  if (sk.ssthresh < INFINITE_SSTHRESH) sk.cwnd = sk.ssthresh;
}

// tcp_undo_cwnd_reduction: the loss was none.
function undo(sk: SenderSock): void {
  const { pool, rtxQueue } = sk;
  for (let skb = rtxQueue.head; skb !== NONE; skb = pool.links.next[skb]!) {
    pool.flags[skb]! &= ~LOST;
  }
  sk.lostOut = 0;
  sk.retransHint = NONE;
  if (sk.priorSsthresh > 0) {
    sk.cwnd = Math.max(sk.cwnd, sk.priorCwnd);
    sk.ssthresh = Math.max(sk.ssthresh, sk.priorSsthresh);
  }
  sk.undoMarker = false;
}

/**
 * After an ACK in any state but the open one.
 *
 * Models `tcp_fastretrans_alert` (net/ipv4/tcp_input.c).
 *
 * @param sk The socket.
 * @param cc Congestion control.
 * @param now The time, ns.
 * @param delivered Segments newly reported as received.
 * @param advanced Whether `snd_una` moved.
 * @param echo The ACK's echoed timestamp, ms; -1 for none.
 */
export function fastretransAlert(
  sk: SenderSock,
  cc: CongestionControl,
  now: number,
  delivered: number,
  advanced: boolean,
  echo: number,
): void {
  let fastRexmit = false;
  const lostBefore = sk.lostOut;
  const spurious = sk.undoMarker && advanced && sk.firstRetransAt > 0 &&
    echo >= 0 && echo < Math.floor(sk.firstRetransAt / 1e6);
  if (spurious && sk.caState >= RECOVERY) {
    undo(sk);
    sk.caState = OPEN;
  }
  if (sk.sndUna >= sk.highSeq) {
    switch (sk.caState) {
      case LOSS:
        sk.caState = OPEN;
        sk.undoMarker = false;
        break;
      case CWR:
      case RECOVERY:
        endReduction(sk);
        sk.caState = OPEN;
        sk.undoMarker = false;
    }
  }
  if (sk.caState === LOSS) {
    markLost(sk, now);
    return;
  }
  if (sk.caState <= DISORDER || sk.caState === CWR) {
    markLost(sk, now);
    if (sk.lostOut > 0) {
      enterRecovery(sk, cc);
      fastRexmit = true;
    } else {
      if (sk.caState === CWR) reduce(sk, delivered, false, advanced);
      else sk.caState = sk.sackedOut > 0 ? DISORDER : OPEN;
      return;
    }
  } else markLost(sk, now);
  reduce(sk, delivered, fastRexmit, advanced && sk.lostOut <= lostBefore);
}

function enterRecovery(sk: SenderSock, cc: CongestionControl): void {
  sk.counters.TCPSackRecovery++;
  sk.priorSsthresh = 0;
  sk.firstRetransAt = 0;
  sk.undoMarker = true;
  if (sk.caState < CWR) {
    sk.priorSsthresh = Math.max(
      sk.ssthresh,
      (sk.cwnd >> 1) + (sk.cwnd >> 2),
    );
    beginReduction(sk, cc);
  } else sk.highSeq = sk.sndNxt;
  sk.caState = RECOVERY;
  sk.tlpAt = Infinity;
  sk.retransHint = sk.rtxQueue.head;
}

/**
 * Sends lost segments again, as the window allows.
 *
 * Models `tcp_xmit_retransmit_queue` (net/ipv4/tcp_output.c).
 */
export function retransmitQueue(
  sk: SenderSock,
  now: number,
  sink: SegmentSink,
): void {
  const { pool, rtxQueue } = sk;
  if (sk.lostOut <= sk.retransOut && sk.caState !== LOSS) return;
  const mss = sk.mssNow;
  let skb = sk.retransHint === NONE ? rtxQueue.head : sk.retransHint;
  for (; skb !== NONE; skb = pool.links.next[skb]!) {
    sk.retransHint = skb;
    const room = sk.cwnd - sk.inFlight;
    if (room <= 0) return;
    const flags = pool.flags[skb]!;
    if (!(flags & LOST)) {
      if (pool.seq[skb]! >= sk.highestSack && sk.caState !== LOSS) return;
      continue;
    }
    if (flags & (SACKED | RETRANS)) continue;
    if (pool.end[skb]! - pool.seq[skb]! > room * mss) {
      splitSent(sk, skb, room * mss, mss);
    }
    if (!retransmit(sk, now, sink, skb)) return;
    if (sk.caState === LOSS) sk.counters.TCPSlowStartRetrans++;
    else sk.counters.TCPFastRetrans++;
    sk.prrOut += pool.segs[skb]!;
    if (skb === rtxQueue.head) sk.rtoAt = now + sk.rto;
  }
}

/** Sends an skb again (`tcp_retransmit_skb`). */
function retransmit(
  sk: SenderSock,
  now: number,
  sink: SegmentSink,
  skb: number,
): boolean {
  const { pool } = sk;
  pool.sentAt[skb] = now;
  if (!sink.xmit(now, sk, skb)) {
    sk.counters.TCPLocalDrop++;
    sk.localDrop = true;
    return false;
  }
  const segs = pool.segs[skb]!;
  pool.flags[skb]! |= RETRANS | EVER_RETRANS;
  sk.retransOut += segs;
  sk.counters.RetransSegs += segs;
  sk.counters.OutSegs += segs;
  if (sk.firstRetransAt === 0) sk.firstRetransAt = now;
  return true;
}

/**
 * An ACK stops in front of a segment that was SACKed: if that stays so for half a round trip, it is sent again.
 *
 * Models `tcp_check_sack_reneging` (net/ipv4/tcp_input.c, 3.17+; before, at once).
 */
export function checkReneging(sk: SenderSock, now: number): void {
  const { head } = sk.rtxQueue;
  if (head === NONE || !(sk.pool.flags[head]! & SACKED)) return;
  sk.tlpAt = Infinity;
  sk.rtoAt = now + Math.max(sk.srtt / 16 * sk.tick, 10 * MS);
}

/**
 * The retransmission timer fires.
 *
 * Models `tcp_retransmit_timer` (net/ipv4/tcp_timer.c) and `tcp_enter_loss` (net/ipv4/tcp_input.c).
 */
export function retransmitTimer(
  sk: SenderSock,
  cc: CongestionControl,
  now: number,
  sink: SegmentSink,
): void {
  sk.rtoAt = Infinity;
  if (sk.packetsOut === 0) return;
  sk.counters.TCPTimeouts++;
  sk.tlpAt = Infinity;
  sk.tlpHighSeq = -1;
  if (sk.caState !== LOSS || sk.sndUna >= sk.highSeq) {
    sk.priorSsthresh = Math.max(sk.ssthresh, (sk.cwnd >> 1) + (sk.cwnd >> 2));
    sk.priorCwnd = sk.cwnd;
    sk.ssthresh = cc.onLoss();
    sk.undoMarker = true;
    sk.firstRetransAt = 0;
  }
  const { pool, rtxQueue } = sk;
  sk.cwnd = 1;
  sk.cwndCnt = 0;
  sk.retransOut = 0;
  sk.lostOut = 0;
  // A first segment that was SACKed and is not acknowledged: the receiver has thrown away what it had promised.
  const reneges = (pool.flags[rtxQueue.head]! & SACKED) !== 0;
  if (reneges) {
    sk.counters.TCPSACKReneging++;
    sk.sackedOut = 0;
    sk.sackHint = NONE;
    sk.lostHint = NONE;
    sk.highestSack = sk.sndUna;
  }
  for (let skb = rtxQueue.head; skb !== NONE; skb = pool.links.next[skb]!) {
    pool.flags[skb]! &= reneges ? ~(RETRANS | SACKED) : ~RETRANS;
    if (pool.flags[skb]! & SACKED) continue;
    pool.flags[skb]! |= LOST;
    sk.lostOut += pool.segs[skb]!;
  }
  sk.caState = LOSS;
  sk.highSeq = sk.sndNxt;
  sk.retransHint = rtxQueue.head;
  retransmitQueue(sk, now, sink);
  sk.backoff++;
  sk.rto = Math.min(2 * sk.rto, RTO_MAX);
  sk.rtoAt = now + sk.rto;
}
