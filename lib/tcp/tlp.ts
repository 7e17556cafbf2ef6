/**
 * Tail loss probes: when no ACK comes, one more segment asks for it long before the retransmission timer does.
 *
 * @module
 */

import { type SegmentSink, writeXmit } from "./output.ts";
import { splitSent } from "./scoreboard.ts";
import { EVER_RETRANS } from "./send_pool.ts";
import { MS } from "./receiver_sock.ts";
import { CWR, OPEN, RTO_MIN, type SenderSock } from "./sender_sock.ts";
import { NONE } from "./skb_list.ts";
import { timerAt } from "./timers.ts";

/** `TCP_DELACK_MAX`, ns: what one segment alone may wait for its ACK (up to 4.11). */
const DELACK_MAX = 200 * MS;
/** Least probe timeout up to 4.11, ns. */
const LEAST = 10 * MS;
/** `TCP_TIMEOUT_MIN`, ns. */
const TIMEOUT_MIN = 2 * MS;

// How long to wait for an ACK before a probe, ns.
function probeTimeout(sk: SenderSock): number {
  const rtt = sk.srtt / 8 * sk.tick;
  if (sk.kernel.tcp.lossProbe === "2 rtt, 10 ms") {
    const alone = sk.packetsOut === 1 ? 1.5 * rtt + DELACK_MAX : 0;
    return Math.max(2 * rtt, alone, LEAST);
  }
  return 2 * rtt + (sk.packetsOut === 1 ? RTO_MIN : TIMEOUT_MIN);
}

/**
 * Arms the probe timer in the place of the retransmission timer, where the flight is in order.
 *
 * Models `tcp_schedule_loss_probe` (net/ipv4/tcp_output.c, 3.10+).
 *
 * @param sk The socket.
 * @param now The time, ns.
 */
export function scheduleLossProbe(sk: SenderSock, now: number): void {
  sk.tlpAt = Infinity;
  if (sk.packetsOut === 0 || sk.srtt === 0) return;
  if (sk.kernel.tcp.lossProbe === "2 rtt, 10 ms") {
    if (sk.caState !== OPEN) return;
    // More may be sent: the next segment will ask.
    if (sk.cwnd > sk.inFlight && sk.writeQueue.head !== NONE) return;
  } else if (sk.caState !== OPEN && sk.caState !== CWR) return;
  sk.tlpAt = Math.min(
    timerAt(now, probeTimeout(sk), sk.jiffy),
    Math.max(sk.rtoAt, now),
  );
}

/**
 * The probe timer fires: a new segment leaves although the congestion window is full, or the last one leaves again.
 *
 * Models `tcp_send_loss_probe` (net/ipv4/tcp_output.c).
 *
 * @param sk The socket.
 * @param now The time, ns.
 * @param sink Where segments go.
 */
export function sendLossProbe(
  sk: SenderSock,
  now: number,
  sink: SegmentSink,
): void {
  sk.tlpAt = Infinity;
  let sent = false;
  if (sk.packetsOut > 0 && sk.tlpHighSeq < 0) {
    const before = sk.sndNxt;
    writeXmit(sk, now, sink, true, true, true);
    if (sk.sndNxt > before) {
      sk.tlpHighSeq = sk.sndNxt;
      sk.tlpRetrans = false;
      sent = true;
      sk.counters.TCPLossProbes++;
    } else if (retransmitLast(sk, now, sink)) {
      sk.tlpHighSeq = sk.sndNxt;
      sk.tlpRetrans = true;
      sent = true;
      sk.counters.TCPLossProbes++;
    }
  }
  // tcp_rearm_rto: from now where a probe was sent, else from when the oldest segment was.
  const { head } = sk.rtxQueue;
  sk.rtoAt = head === NONE
    ? Infinity
    : sent
    ? now + sk.rto
    : Math.max(sk.pool.sentAt[head]! + sk.rto, now + MS);
}

function retransmitLast(
  sk: SenderSock,
  now: number,
  sink: SegmentSink,
): boolean {
  const { pool, rtxQueue } = sk;
  let skb = rtxQueue.tail;
  if (skb === NONE) return false;
  const mss = sk.mssNow;
  const segs = pool.segs[skb]!;
  const most = (segs - 1) * mss;
  if (segs > 1 && pool.end[skb]! - pool.seq[skb]! > most) {
    splitSent(sk, skb, most, mss);
    skb = rtxQueue.tail;
  }
  pool.sentAt[skb] = now;
  if (!sink.xmit(now, sk, skb)) return false;
  pool.flags[skb]! |= EVER_RETRANS;
  sk.counters.RetransSegs += pool.segs[skb]!;
  sk.counters.OutSegs += pool.segs[skb]!;
  return true;
}

/**
 * An ACK reaches what was out when the probe was sent: was something lost that only the probe repaired?
 *
 * Models `tcp_process_tlp_ack` (net/ipv4/tcp_input.c).
 *
 * @param sk The socket.
 * @param ack What is acknowledged.
 * @param advanced Whether that is new.
 * @param dsack Whether the receiver reports a duplicate.
 * @returns Whether the window is to be reduced.
 */
export function lossProbeAcked(
  sk: SenderSock,
  ack: number,
  advanced: boolean,
  dsack: boolean,
): boolean {
  if (sk.tlpHighSeq < 0 || ack < sk.tlpHighSeq) return false;
  if (!sk.tlpRetrans || dsack) {
    sk.tlpHighSeq = -1;
    return false;
  }
  if (ack > sk.tlpHighSeq) {
    sk.tlpHighSeq = -1;
    return true;
  }
  if (!advanced) sk.tlpHighSeq = -1;
  return false;
}
