/**
 * Data that arrives ahead of a hole.
 *
 * @module
 */

import { charge, dropSkb } from "./charge.ts";
import { growWindow, measureRcvMss, rcvbufGrow } from "./rcvbuf.ts";
import { newSkb, tryCoalesce, tryRmemSchedule } from "./receive_memory.ts";
import type { RxSegment } from "./receiver.ts";
import type { ReceiverSock } from "./receiver_sock.ts";
import { sackNewOfo } from "./sack_blocks.ts";
import { NONE } from "./skb_list.ts";

/**
 * Queues a segment out of order.
 *
 * Models `tcp_data_queue_ofo` (net/ipv4/tcp_input.c): what is there already is dropped, what the new skb covers goes,
 * partial overlaps stay until they are read.
 *
 * @param sk The socket.
 * @param segment The segment.
 */
export function queueOutOfOrder(sk: ReceiverSock, segment: RxSegment): void {
  const { pool, ofoQueue, counters } = sk;
  const { seq, end } = segment;
  const rx = segment.skb!;
  sk.fastPath = false;
  if (!tryRmemSchedule(sk, seq, end - seq, rx.truesize)) {
    counters.TCPOFODrop++;
    return;
  }
  const { tcp } = sk.kernel;
  if (tcp.ofoTunesBuffer) {
    measureRcvMss(sk, rx, end - seq, segment.gsoSize, segment.push);
  }
  counters.TCPOFOQueue++;
  // Most arrive in order among themselves: the search starts at the end.
  let before = ofoQueue.tail;
  while (before !== NONE && pool.seq[before]! > seq) {
    before = pool.prev[before]!;
  }
  if (before !== NONE) {
    if (end <= pool.end[before]!) {
      counters.TCPOFOMerge++;
      sk.dsackStart = seq;
      sk.dsackEnd = end;
      return;
    }
    const delta = pool.next[before] === NONE
      ? tryCoalesce(sk, before, rx, seq, end)
      : -1;
    if (delta >= 0) {
      charge(sk, delta);
      counters.TCPRcvCoalesce++;
      if (tcp.ofoGrowsWindow) growWindow(sk, rx, end - seq);
      finish(sk, segment);
      return;
    }
    if (pool.seq[before] === seq) {
      const covered = before;
      before = pool.prev[covered]!;
      dropSkb(sk, ofoQueue, covered);
      counters.TCPOFOMerge++;
    }
  }
  const skb = newSkb(sk, rx, seq, end, segment.gsoSize);
  ofoQueue.insertAfter(before, skb);
  for (
    let next = pool.next[skb]!;
    next !== NONE && pool.end[next]! <= end;
    next = pool.next[skb]!
  ) {
    dropSkb(sk, ofoQueue, next);
    counters.TCPOFOMerge++;
  }
  if (tcp.ofoGrowsWindow) growWindow(sk, rx, end - seq, false);
  charge(sk, rx.truesize);
  finish(sk, segment);
}

function finish(sk: ReceiverSock, { seq, end }: RxSegment): void {
  sackNewOfo(sk, seq, end);
  if (
    sk.kernel.tcp.ofoTunesBuffer && sk.moderateRcvbuf && !sk.rcvbufLocked
  ) rcvbufGrow(sk, sk.rcvqSpace);
}
