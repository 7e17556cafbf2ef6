/**
 * Segments that arrive while the application works on the socket.
 *
 * @module
 */

import { RxSkb } from "../net/rx_skb.ts";
import { RxSegment, type TcpReceiver } from "./receiver.ts";
import type { ReceiverSock } from "./receiver_sock.ts";
import {
  FRAG_LIST,
  HEAD_FRAG,
  newSkb,
  SHARED,
  tryCoalesce,
} from "./receive_memory.ts";
import { NONE } from "./skb_list.ts";

/** What queue and backlog may hold together, bytes. */
export function backlogLimit(sk: ReceiverSock, sndbuf: number): number {
  switch (sk.kernel.tcp.backlogLimit) {
    case "rcvbuf + sndbuf":
      return sk.rcvbuf + sndbuf;
    case "rcvbuf + sndbuf + 64 KiB":
      return sk.rcvbuf + sndbuf + 65536;
    case "rcvbuf + sndbuf/2 + 64 KiB":
      return sk.rcvbuf + (sndbuf >> 1) + 65536;
    case "2 rcvbuf + sndbuf/2 + 64 KiB":
      return Math.min(2 * sk.rcvbuf + (sndbuf >> 1) + 65536, 2 ** 32 - 1);
  }
}

/**
 * A segment waits for the socket's owner.
 *
 * Models `tcp_add_backlog` (net/ipv4/tcp_ipv4.c) and `sk_add_backlog` (include/net/sock.h): the limit is tested before
 * the segment is added; from 4.20 on it is merged into the last one where that can be done.
 *
 * @returns Whether there was room.
 */
export function addBacklog(
  sk: ReceiverSock,
  segment: RxSegment,
  sndbuf: number,
): boolean {
  const { pool, backlog, counters } = sk;
  const { seq, end } = segment;
  const skb = segment.skb!;
  if (sk.kernel.tcp.backlogCoalesces && backlog.tail !== NONE) {
    const delta = tryCoalesce(sk, backlog.tail, skb, seq, end);
    if (delta >= 0) {
      pool.gsoSize[backlog.tail] = Math.max(
        pool.gsoSize[backlog.tail]!,
        segment.gsoSize || end - seq,
      );
      pool.tsval[backlog.tail] = segment.tsval;
      sk.backlogLen += delta;
      counters.TCPBacklogCoalesce++;
      return true;
    }
  }
  if (sk.backlogLen + sk.rmemAlloc > backlogLimit(sk, sndbuf)) {
    counters.TCPBacklogDrop++;
    return false;
  }
  const queued = newSkb(sk, skb, seq, end, segment.gsoSize);
  pool.tsval[queued] = segment.tsval;
  backlog.push(queued);
  sk.backlogLen += skb.truesize;
  return true;
}

const shape = new RxSkb();
const replay = new RxSegment();

/** The owner lets go: what waited is received now (`__release_sock`, net/core/sock.c). */
export function releaseBacklog(tcp: TcpReceiver, now: number): void {
  const { sk } = tcp;
  const { pool, backlog } = sk;
  while (backlog.head !== NONE) {
    const skb = backlog.head;
    backlog.unlink(skb);
    const flags = pool.flags[skb]!;
    shape.truesize = pool.truesize[skb]!;
    shape.linear = pool.linear[skb]!;
    shape.frags = pool.frags[skb]!;
    shape.tailroom = pool.tailroom[skb]!;
    shape.end = pool.headCharge[skb]!;
    shape.moved = pool.moved[skb]!;
    shape.headFrag = (flags & HEAD_FRAG) !== 0;
    shape.fragList = (flags & FRAG_LIST) !== 0;
    shape.shared = (flags & SHARED) !== 0;
    shape.sharedEnd = pool.sharedEnd[skb]!;
    replay.seq = pool.seq[skb]!;
    replay.end = pool.end[skb]!;
    replay.gsoSize = pool.gsoSize[skb]!;
    replay.tsval = pool.tsval[skb]!;
    replay.tsecr = -1;
    replay.skb = shape;
    sk.backlogLen -= shape.truesize;
    pool.free(skb);
    tcp.segment(now, replay);
  }
  sk.backlogLen = 0;
}
