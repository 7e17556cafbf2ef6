/**
 * What a sender knows of its flight: which segments were SACKed, which are lost.
 *
 * @module
 */

import { EVER_RETRANS, LOST, RETRANS, SACKED } from "./send_pool.ts";
import type { SenderSock } from "./sender_sock.ts";
import { NONE } from "./skb_list.ts";
import { splitSkb } from "./output.ts";

/** Most that `reordering` may grow to (`tcp_max_reordering`). */
const MAX_REORDERING = 300;

/** A block of SACKed bytes is reported: its skbs are marked. */
export function sackTag(
  sk: SenderSock,
  now: number,
  start: number,
  end: number,
): void {
  const { pool, rtxQueue } = sk;
  if (end <= sk.sndUna || start >= sk.sndNxt) return;
  const mss = sk.mssNow;
  // Blocks mostly grow at the far end.
  let skb = sk.sackHint;
  if (skb === NONE || pool.seq[skb]! > start) skb = rtxQueue.head;
  for (; skb !== NONE && pool.seq[skb]! < end; skb = pool.links.next[skb]!) {
    if (pool.end[skb]! <= start) continue;
    if (pool.seq[skb]! < start) {
      // Only whole segments are taken as received.
      const len = Math.ceil((start - pool.seq[skb]!) / mss) * mss;
      if (pool.seq[skb]! + len >= pool.end[skb]!) continue;
      splitSent(sk, skb, len, mss);
      continue;
    }
    if (pool.end[skb]! > end) {
      const len = Math.floor((end - pool.seq[skb]!) / mss) * mss;
      if (len <= 0) break;
      splitSent(sk, skb, len, mss);
    }
    tagOne(sk, now, skb);
    sk.sackHint = skb;
  }
}

/** Splits an skb that was sent already. */
export function splitSent(
  sk: SenderSock,
  skb: number,
  len: number,
  mss: number,
): void {
  const { pool } = sk;
  const before = pool.segs[skb]!;
  const rest = splitSkb(sk, sk.rtxQueue, skb, len, mss);
  // Segments may round up in both halves.
  const more = pool.segs[skb]! + pool.segs[rest]! - before;
  if (more !== 0) {
    sk.packetsOut += more;
    const flags = pool.flags[rest]!;
    if (flags & SACKED) sk.sackedOut += more;
    if (flags & LOST) sk.lostOut += more;
    if (flags & RETRANS) sk.retransOut += more;
  }
}

function tagOne(sk: SenderSock, now: number, skb: number): void {
  const { pool } = sk;
  const flags = pool.flags[skb]!;
  if (flags & SACKED) return;
  const segs = pool.segs[skb]!;
  if (flags & LOST) {
    sk.lostOut -= segs;
    if (flags & RETRANS) sk.retransOut -= segs;
  } else if (
    !(flags & EVER_RETRANS) && pool.end[skb]! <= sk.highestSack
  ) noteReordering(sk, pool.seq[skb]!);
  if (flags & RETRANS && !(flags & LOST)) sk.retransOut -= segs;
  pool.flags[skb] = (flags & ~(LOST | RETRANS)) | SACKED;
  sk.sackedOut += segs;
  sk.delivered += segs;
  if (pool.end[skb]! > sk.highestSack) {
    sk.highestSack = pool.end[skb]!;
  }
  rackAdvance(sk, now, skb);
}

/** RACK: the newest send time among what was delivered (`tcp_rack_advance`). */
export function rackAdvance(sk: SenderSock, now: number, skb: number): void {
  const { pool } = sk;
  const sentAt = pool.sentAt[skb]!;
  const rtt = now - sentAt;
  if (
    pool.flags[skb]! & EVER_RETRANS && rtt < sk.minRtt * sk.tick
  ) return;
  if (
    sentAt > sk.rackSentAt ||
    sentAt === sk.rackSentAt && pool.end[skb]! > sk.rackEnd
  ) {
    sk.rackSentAt = sentAt;
    sk.rackEnd = pool.end[skb]!;
    sk.rackRtt = rtt;
  }
}

/** A segment arrived behind later ones without having been sent again (`tcp_check_sack_reordering`). */
export function noteReordering(sk: SenderSock, seq: number): void {
  const distance = Math.ceil((sk.highestSack - seq) / sk.mss);
  sk.reorderSeen = true;
  if (distance <= sk.reordering) return;
  sk.reordering = Math.min(distance, MAX_REORDERING);
  sk.counters.TCPSACKReorder++;
}

/**
 * Marks what must be lost by now.
 *
 * Models `tcp_mark_head_lost` with FACK (net/ipv4/tcp_input.c, up to 4.14) and `tcp_rack_detect_loss`
 * (net/ipv4/tcp_recovery.c).
 */
export function markLost(sk: SenderSock, now: number): void {
  if (sk.rack) markLostByTime(sk, now);
  else markLostByCount(sk);
}

function markOne(sk: SenderSock, skb: number): void {
  const { pool } = sk;
  pool.flags[skb]! |= LOST;
  sk.lostOut += pool.segs[skb]!;
  if (sk.retransHint !== NONE && pool.seq[skb]! < pool.seq[sk.retransHint]!) {
    sk.retransHint = skb;
  }
}

function markLostByCount(sk: SenderSock): void {
  const { pool, rtxQueue } = sk;
  // All that lies `reordering` segments or more below the highest SACK.
  const bound = sk.highestSack - sk.reordering * sk.mss;
  let skb = sk.lostHint;
  if (skb === NONE || pool.seq[skb]! < sk.sndUna) skb = rtxQueue.head;
  for (; skb !== NONE; skb = pool.links.next[skb]!) {
    if (pool.end[skb]! > bound) break;
    if (!(pool.flags[skb]! & (SACKED | LOST))) markOne(sk, skb);
    sk.lostHint = skb;
  }
}

function markLostByTime(sk: SenderSock, now: number): void {
  const { pool, rtxQueue } = sk;
  sk.reorderAt = Infinity;
  if (sk.rackSentAt === 0) return;
  const window = reorderWindow(sk);
  const end = Math.max(sk.highestSack, sk.rackEnd);
  for (
    let skb = rtxQueue.head;
    skb !== NONE && pool.seq[skb]! < end;
    skb = pool.links.next[skb]!
  ) {
    const flags = pool.flags[skb]!;
    if (flags & SACKED) continue;
    if (flags & LOST && !(flags & RETRANS)) continue;
    const sentAt = pool.sentAt[skb]!;
    if (
      sentAt > sk.rackSentAt ||
      sentAt === sk.rackSentAt && pool.end[skb]! >= sk.rackEnd
    ) continue;
    const remaining = sentAt + sk.rackRtt + window - now;
    if (remaining > 0) {
      sk.reorderAt = Math.min(sk.reorderAt, now + remaining + 1);
      continue;
    }
    if (flags & RETRANS) {
      // The retransmission is lost too.
      pool.flags[skb]! &= ~RETRANS;
      sk.retransOut -= pool.segs[skb]!;
      if (
        sk.retransHint !== NONE && pool.seq[skb]! < pool.seq[sk.retransHint]!
      ) sk.retransHint = skb;
      sk.retransHint = sk.retransHint === NONE ? skb : sk.retransHint;
      if (flags & LOST) continue;
    }
    markOne(sk, skb);
  }
}

// tcp_rack_reo_wnd
function reorderWindow(sk: SenderSock): number {
  if (!sk.reorderSeen) {
    if (sk.caState >= 3) return 0;
    if (sk.sackedOut >= sk.reordering) return 0;
  }
  const quarter = sk.minRtt === Infinity ? 0 : sk.minRtt / 4 * sk.tick;
  return Math.min(quarter, sk.srtt / 8 * sk.tick);
}
