/**
 * Repacking a queue of skbs that hold little for what they cost.
 *
 * @module
 */

import { allocSkb } from "../net/skbuff.ts";
import type { ReceiverSock } from "./receiver_sock.ts";
import { charge, dropSkb, skbPage } from "./charge.ts";
import { NONE, type SkbQueue } from "./skb_list.ts";

/**
 * Copies a run of skbs into fresh ones of up to a page, from the first that is worth it.
 *
 * Models `tcp_collapse` (net/ipv4/tcp_input.c): an skb whose memory is worth no more window than it carries stays, as
 * long as its successor is contiguous; from the first other one on, everything is copied.
 *
 * @param sk The socket.
 * @param queue The queue.
 * @param head First skb of the run.
 * @param stop The skb behind the run; {@linkcode NONE} for the whole rest.
 * @param start First byte that is still wanted.
 * @param end Behind the last one.
 */
export function collapse(
  sk: ReceiverSock,
  queue: SkbQueue,
  head: number,
  stop: number,
  start: number,
  end: number,
): void {
  const { pool } = sk;
  let skb = head;
  let from = start;
  for (;;) {
    if (skb === NONE || skb === stop) return;
    const next = pool.next[skb]!;
    if (pool.end[skb]! <= from) {
      // Read already, or covered: it goes without a copy.
      dropSkb(sk, queue, skb);
      sk.counters.TCPRcvCollapsed++;
      skb = next;
      continue;
    }
    const len = pool.end[skb]! - pool.seq[skb]!;
    if (sk.win(pool.truesize[skb]!) > len || pool.seq[skb]! < from) break;
    if (
      next !== NONE && next !== stop && pool.end[skb] !== pool.seq[next]
    ) break;
    from = pool.end[skb]!;
    skb = next;
  }
  copy(sk, queue, skb, stop, from, end);
}

// An old release keeps the first skb's headroom in each copy; later ones none.
function copy(
  sk: ReceiverSock,
  queue: SkbQueue,
  first: number,
  stop: number,
  start: number,
  end: number,
): void {
  const { pool, kernel } = sk;
  const most = skbPage(sk) -
    (kernel.tcp.collapseHeadroom ? kernel.skb.netSkbPad + 66 : 0);
  let skb = first;
  let from = Math.max(start, pool.seq[skb]!);
  while (from < end && skb !== NONE && skb !== stop) {
    const room = Math.min(most, end - from);
    const fresh = allocSkb(
      kernel,
      room + (kernel.tcp.collapseHeadroom ? kernel.skb.netSkbPad + 66 : 0),
    );
    const made = pool.alloc();
    pool.seq[made] = from;
    pool.frags[made] = 0;
    pool.flags[made] = 0;
    pool.sharedEnd[made] = -1;
    pool.truesize[made] = fresh.truesize;
    pool.headCharge[made] = fresh.end;
    pool.gsoSize[made] = 0;
    queue.insertAfter(pool.prev[skb]!, made);
    charge(sk, fresh.truesize);
    let left = room;
    while (left > 0 && skb !== NONE && skb !== stop) {
      const offset = Math.max(from, pool.seq[skb]!);
      if (offset > from) break;
      const bytes = Math.min(left, pool.end[skb]! - from);
      if (bytes > 0) {
        from += bytes;
        left -= bytes;
      }
      if (from >= pool.end[skb]!) {
        const next = pool.next[skb]!;
        dropSkb(sk, queue, skb);
        sk.counters.TCPRcvCollapsed++;
        skb = next;
      }
    }
    pool.end[made] = from;
    const len = from - pool.seq[made]!;
    pool.linear[made] = len;
    pool.moved[made] = fresh.truesize - kernel.skb.skBuffAligned;
    pool.tailroom[made] = fresh.end - (room - left) -
      (kernel.tcp.collapseHeadroom ? kernel.skb.netSkbPad + 66 : 0);
    if (skb !== NONE && skb !== stop && pool.seq[skb]! > from) return;
  }
}
