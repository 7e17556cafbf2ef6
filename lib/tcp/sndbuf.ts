/**
 * The send buffer: what a writer may put in, how the buffer grows, when a blocked writer wakes.
 *
 * @module
 */

import { FRAG_BLOCK } from "./frag_blocks.ts";
import { INIT_CWND } from "./initial.ts";
import { type SegmentSink, sizeGoal, writeXmit } from "./output.ts";
import { PUSH } from "./send_pool.ts";
import type { SenderSock } from "./sender_sock.ts";
import { NONE } from "./skb_list.ts";

/** Least rest of a block that is used (`skb_page_frag_refill` asks for 32 bytes). */
const FRAG_LEAST = 32;

/**
 * The application writes.
 *
 * Models `tcp_sendmsg` (net/ipv4/tcp.c): bytes go into the last unsent skb up to the size goal, then into a new one
 * while the buffer is not full; a full skb at the head of the queue leaves at once.
 *
 * @param sk The socket.
 * @param now The time, ns.
 * @param bytes Bytes to write.
 * @param sink Where segments go.
 * @returns Bytes taken; fewer than asked for where the writer must sleep.
 */
export function sendmsg(
  sk: SenderSock,
  now: number,
  bytes: number,
  sink: SegmentSink,
): number {
  const { pool, writeQueue } = sk;
  let goal = sizeGoal(sk);
  let left = bytes;
  while (left > 0) {
    let skb = writeQueue.tail;
    let room = skb === NONE ? 0 : goal - (pool.end[skb]! - pool.seq[skb]!);
    if (room <= 0) {
      if (
        sk.wmemQueued >= sk.sndbuf || !wmemSchedule(sk, sk.headTruesize)
      ) {
        sk.nospace = true;
        if (writeQueue.head !== NONE) {
          pool.flags[writeQueue.tail]! |= PUSH;
          sk.pushedSeq = sk.writeSeq;
          writeXmit(sk, now, sink, false, true);
        }
        return bytes - left;
      }
      skb = pool.alloc();
      pool.seq[skb] = sk.writeSeq;
      pool.end[skb] = sk.writeSeq;
      pool.truesize[skb] = sk.headTruesize;
      sk.wmemQueued += sk.headTruesize;
      sk.forwardAlloc -= sk.headTruesize;
      writeQueue.push(skb);
      room = goal;
    }
    const copied = append(sk, skb, Math.min(left, room));
    left -= copied;
    if (pool.end[skb]! - pool.seq[skb]! < goal) continue;
    if (sk.writeSeq > sk.pushedSeq + sk.maxWindow / 2) {
      pool.flags[skb]! |= PUSH;
      sk.pushedSeq = sk.writeSeq;
      writeXmit(sk, now, sink, false, true);
    } else if (skb === writeQueue.head) writeXmit(sk, now, sink, true);
    goal = sizeGoal(sk);
  }
  if (writeQueue.tail !== NONE) {
    pool.flags[writeQueue.tail]! |= PUSH;
    writeXmit(sk, now, sink);
  }
  return bytes;
}

// Bytes go to the head first, then to the task's page fragment.
function append(sk: SenderSock, skb: number, bytes: number): number {
  const { pool } = sk;
  const len = pool.end[skb]! - pool.seq[skb]!;
  const linear = Math.max(0, Math.min(bytes, sk.linear - len));
  const paged = bytes - linear;
  pool.end[skb]! += bytes;
  sk.writeSeq += bytes;
  if (paged > 0) {
    pool.truesize[skb]! += paged;
    sk.wmemQueued += paged;
    sk.forwardAlloc -= paged;
    if (sk.forwardAlloc < 0) wmemSchedule(sk, 0);
    let rest = paged;
    const { writeSeq } = sk;
    while (rest > 0) {
      const fresh = sk.fragOffset + FRAG_LEAST > FRAG_BLOCK;
      if (fresh) {
        sk.fragOffset = 0;
        sk.fragStart = (writeSeq - rest) % FRAG_BLOCK;
      }
      // A piece that continues the last one extends its fragment.
      const continues = !fresh && pool.frags[skb]! > 0 && sk.fragSkb === skb;
      const piece = Math.min(rest, FRAG_BLOCK - sk.fragOffset);
      if (!continues) pool.frags[skb] = Math.min(255, pool.frags[skb]! + 1);
      sk.fragOffset += piece;
      sk.fragSkb = skb;
      rest -= piece;
    }
  }
  return bytes;
}

// sk_wmem_schedule
function wmemSchedule(sk: SenderSock, size: number): boolean {
  const lacks = size - sk.forwardAlloc;
  if (lacks <= 0) return true;
  const { memory } = sk;
  const pages = memory.pagesFor(lacks);
  if (
    !memory.take(
      pages,
      sk.wmemQueued + sk.forwardAlloc,
      sk.wmemQueued < sk.wmem[0],
    )
  ) {
    // sk_stream_moderate_sndbuf
    if (!sk.sndbufLocked) {
      sk.sndbuf = Math.max(
        Math.min(sk.sndbuf, sk.wmemQueued >> 1),
        sk.kernel.udp.minSndbuf,
      );
    }
    if (sk.wmemQueued > 0 && size > 0) return false;
    memory.force(pages);
  }
  sk.forwardAlloc += pages * memory.pageSize;
  return true;
}

/** `sk_wmem_free_skb`: gives an acknowledged skb's charge back. */
export function wmemFree(sk: SenderSock, truesize: number): void {
  sk.wmemQueued -= truesize;
  sk.forwardAlloc = sk.memory.reclaim(sk.forwardAlloc + truesize);
}

/**
 * An ACK freed memory: the buffer may grow, and a blocked writer may wake.
 *
 * Models `tcp_new_space` (net/ipv4/tcp_input.c) and `sk_stream_write_space` (net/core/stream.c): the writer wakes when a
 * third of the buffer is free.
 *
 * @returns Whether the writer wakes.
 */
export function checkSpace(sk: SenderSock): boolean {
  if (!sk.nospace) return false;
  if (shouldExpand(sk)) expand(sk);
  if (sk.sndbuf - sk.wmemQueued < sk.wmemQueued >> 1) return false;
  sk.nospace = false;
  return true;
}

function shouldExpand(sk: SenderSock): boolean {
  if (sk.sndbufLocked || sk.memory.pressure) return false;
  if (sk.memory.allocated >= sk.memory.low) return false;
  const out = sk.expandsByPacketsOut ? sk.packetsOut : sk.inFlight;
  return out < sk.cwnd;
}

// tcp_sndbuf_expand; two windows of segments.
function expand(sk: SenderSock): void {
  let segs = Math.max(sk.cwnd, sk.reordering + 1);
  if (sk.kernel.tcp.sndbufInitCwnd) segs = Math.max(segs, INIT_CWND);
  const want = 2 * segs * sk.perMss;
  if (sk.sndbuf < want) sk.sndbuf = Math.min(want, sk.wmem[2]);
}
