/**
 * What the receive queue is charged: admission, release, merging, and what happens when it is full.
 *
 * @module
 */

import { dropSkb, schedule, skbPage } from "./charge.ts";
import { collapse } from "./collapse.ts";
import { clampWindow } from "./rcvbuf.ts";
import type { ReceiverSock } from "./receiver_sock.ts";
import type { RxSkb } from "../net/rx_skb.ts";
import { NONE } from "./skb_list.ts";

/** Flags of a queued skb. */
export const HEAD_FRAG = 1;
export const FRAG_LIST = 2;
export const SHARED = 4;

/** Takes an arrived skb into the pool; it is in no queue and not charged yet. */
export function newSkb(
  sk: ReceiverSock,
  rx: RxSkb,
  seq: number,
  end: number,
  gsoSize: number,
): number {
  const { pool } = sk;
  const skb = pool.alloc();
  pool.seq[skb] = seq;
  pool.end[skb] = end;
  pool.truesize[skb] = rx.truesize;
  pool.frags[skb] = rx.frags;
  pool.tailroom[skb] = rx.tailroom;
  pool.linear[skb] = rx.linear;
  pool.moved[skb] = rx.moved;
  pool.headCharge[skb] = rx.end;
  pool.gsoSize[skb] = gsoSize;
  // What is merged later has heads of its own: the first piece's counts.
  pool.sharedEnd[skb] = rx.shared ? Math.min(end, rx.sharedEnd) : -1;
  pool.flags[skb] = (rx.headFrag ? HEAD_FRAG : 0) |
    (rx.fragList ? FRAG_LIST : 0) | (rx.shared ? SHARED : 0);
  return skb;
}

/** Whether the buffer takes `len` bytes more (`tcp_can_ingest`, 6.17; before, whether it is not over its limit). */
function canIngest(sk: ReceiverSock, len: number): boolean {
  return sk.rmemAlloc + (sk.ingestsLen ? len : 0) <= sk.rcvbuf;
}

/**
 * Room for an skb, by pruning if need be.
 *
 * Models `tcp_try_rmem_schedule` (net/ipv4/tcp_input.c).
 *
 * @param sk The socket.
 * @param seq The skb's first byte.
 * @param len Its payload, bytes.
 * @param truesize Its charge, bytes.
 * @returns Whether there is room.
 */
export function tryRmemSchedule(
  sk: ReceiverSock,
  seq: number,
  len: number,
  truesize: number,
): boolean {
  if (canIngest(sk, len) && schedule(sk, truesize)) return true;
  if (!pruneQueue(sk, seq, len)) return false;
  while (!schedule(sk, truesize)) {
    if (!pruneOfoQueue(sk, seq, len)) return false;
  }
  return true;
}

/**
 * The buffer is full: raise it, repack the queues, drop what is out of order.
 *
 * Models `tcp_prune_queue` (net/ipv4/tcp_input.c).
 *
 * @returns Whether the buffer is within its limit again.
 */
export function pruneQueue(
  sk: ReceiverSock,
  seq: number,
  len: number,
): boolean {
  const { tcp } = sk.kernel;
  sk.counters.PruneCalled++;
  const over = tcp.ingest === "rmem"
    ? sk.rmemAlloc >= sk.rcvbuf
    : !canIngest(sk, len);
  if (over) clampWindow(sk);
  else if (sk.memory.pressure) {
    sk.rcvSsthresh = Math.min(sk.rcvSsthresh, 4 * sk.advmss);
  }
  if (tcp.pruneReturnsEarly && canIngest(sk, len)) return true;
  collapseOfo(sk);
  if (sk.receiveQueue.length > 0) {
    collapse(
      sk,
      sk.receiveQueue,
      sk.receiveQueue.head,
      NONE,
      sk.copiedSeq,
      sk.rcvNxt,
    );
  }
  if (canIngest(sk, len)) return true;
  pruneOfoQueue(sk, seq, len);
  if (canIngest(sk, len)) return true;
  sk.counters.RcvPruned++;
  sk.fastPath = false;
  return false;
}

// tcp_collapse_ofo_queue: range by range, but for those that would gain nothing.
function collapseOfo(sk: ReceiverSock): void {
  const { pool, ofoQueue } = sk;
  const page = skbPage(sk);
  let tiny = 0;
  let head = ofoQueue.head;
  while (head !== NONE) {
    let sum = pool.truesize[head]!;
    let end = pool.end[head]!;
    let next = pool.next[head]!;
    while (next !== NONE && pool.seq[next]! <= end) {
      sum += pool.truesize[next]!;
      end = Math.max(end, pool.end[next]!);
      next = pool.next[next]!;
    }
    const start = pool.seq[head]!;
    if (sum !== pool.truesize[head] || end - start >= page) {
      collapse(sk, ofoQueue, head, next, start, end);
    } else {
      tiny += sum;
      if (tiny > sk.rcvbuf >> 3) return;
    }
    head = next;
  }
}

/**
 * Drops out-of-order data.
 *
 * Models `tcp_prune_ofo_queue` (net/ipv4/tcp_input.c): all of it up to 4.8; then from the far end in steps of an
 * eighth of the buffer; in 6.8 and later only what lies above the incoming segment.
 *
 * @returns Whether anything was dropped.
 */
export function pruneOfoQueue(
  sk: ReceiverSock,
  seq: number,
  len: number,
): boolean {
  const { pool, ofoQueue } = sk;
  if (ofoQueue.length === 0) return false;
  const rule = sk.kernel.tcp.ofoPrune;
  let goal = sk.rcvbuf >> 3;
  let pruned = false;
  while (ofoQueue.tail !== NONE) {
    const skb = ofoQueue.tail;
    if (rule === "above the incoming" && !(pool.seq[skb]! > seq)) break;
    pruned = true;
    goal -= pool.truesize[skb]!;
    dropSkb(sk, ofoQueue, skb);
    sk.counters.TCPOFODrop++;
    if (rule !== "all" && goal <= 0) {
      if (canIngest(sk, len) && !sk.memory.pressure) break;
      goal = sk.rcvbuf >> 3;
    }
  }
  if (pruned) {
    sk.counters.OfoPruned++;
    // What was promised by SACK is gone.
    sk.sackCount = 0;
  }
  return pruned;
}

/**
 * Merges an arriving skb into a queue's last one.
 *
 * Models `tcp_try_coalesce` (net/ipv4/tcp_input.c) and `skb_try_coalesce` (net/core/skbuff.c).
 *
 * @param sk The socket.
 * @param to The skb to extend.
 * @param rx The arriving one's shape.
 * @param seq Its first byte.
 * @param end Behind its last byte.
 * @returns Bytes that the charge grows by; -1 where they cannot be merged.
 */
export function tryCoalesce(
  sk: ReceiverSock,
  to: number,
  rx: RxSkb,
  seq: number,
  end: number,
): number {
  const { pool } = sk;
  if (pool.end[to] !== seq) return -1;
  const flags = pool.flags[to]!;
  if (pool.sharedEnd[to]! > sk.sharedAbove) return -1;
  const len = end - seq;
  let delta = 0;
  if (len <= pool.tailroom[to]!) {
    pool.tailroom[to]! -= len;
    pool.linear[to]! += len;
  } else {
    if ((flags & FRAG_LIST) !== 0 || rx.fragList) return -1;
    const frags = pool.frags[to]! + rx.frags;
    const { maxSkbFrags } = sk;
    if (rx.linear > 0) {
      if (frags >= maxSkbFrags || !rx.headFrag || rx.shared) return -1;
      pool.frags[to] = frags + 1;
    } else {
      if (frags > maxSkbFrags) return -1;
      pool.frags[to] = frags;
    }
    delta = rx.moved;
    pool.tailroom[to] = 0;
  }
  pool.end[to] = end;
  pool.truesize[to]! += delta;
  return delta;
}
