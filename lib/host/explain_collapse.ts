/**
 * What collapsing copies in softirq while a receive buffer that cannot grow is full.
 *
 * @module
 */

import type { StreamSysctl } from "../experiments/netperf_options.ts";
import type { ReceiverSock } from "../tcp/receiver_sock.ts";
import { RxSegment } from "../tcp/receiver.ts";
import { NONE } from "../tcp/skb_list.ts";
import { type ExplainPacket, packetRxPath } from "./explain_packet.ts";
import { newReceiver } from "./explain_tcp.ts";

/** What `tcp_collapse` does to a socket that nobody reads, from empty until its window closes. */
export interface CollapseWork {
  /** Packets taken before the first pass. */
  readonly packets: number;
  /** Passes over the receive queue that copied something. */
  readonly passes: number;
  /** skbs freed, in all: `TCPRcvCollapsed`. */
  readonly skbs: number;
  /** Payload copied, in all, bytes. */
  readonly bytes: number;
  /** Payload copied by the longest pass, bytes. */
  readonly longest: number;
}

const MOST_PACKETS = 1_000_000;

/** First byte, end and charge of each queued skb. */
function shape({ pool, receiveQueue }: ReceiverSock): number[] {
  const numbers: number[] = [];
  for (
    let skb = receiveQueue.head;
    skb !== NONE;
    skb = pool.next[skb]!
  ) numbers.push(pool.seq[skb]!, pool.end[skb]!, pool.truesize[skb]!);
  return numbers;
}

/**
 * Fills a socket whose buffer SO_RCVBUF or tcp_rmem[2] fixed, with packets that nobody reads, and counts what collapsing
 * copies.
 *
 * Models `tcp_collapse` behind `tcp_prune_queue` (net/ipv4/tcp_input.c) by release.
 *
 * @param packet The packets.
 * @param rcvbuf `sk_rcvbuf`, bytes.
 * @param sysctl The host's sysctls.
 */
export function collapseWork(
  packet: ExplainPacket,
  rcvbuf: number,
  sysctl: StreamSysctl,
): CollapseWork {
  const rx = packetRxPath(packet);
  const receiver = newReceiver(packet, sysctl, rx, rcvbuf);
  const { sk } = receiver;
  const { size } = packet;
  const segment = new RxSegment();
  segment.skb = rx.skb;
  const work = { packets: 0, passes: 0, skbs: 0, bytes: 0, longest: 0 };
  let now = 1e9;
  for (let taken = 0; taken < MOST_PACKETS && sk.window() >= size; taken++) {
    rx.receive(size);
    const full = sk.rmemAlloc + rx.skb.truesize + size > sk.rcvbuf;
    const before = full ? shape(sk) : [];
    const { TCPRcvCollapsed } = sk.counters;
    const { rcvNxt } = sk;
    segment.seq = rcvNxt;
    segment.end = rcvNxt + size;
    receiver.segment(now, segment);
    if (sk.counters.TCPRcvCollapsed > TCPRcvCollapsed) {
      const after = shape(sk);
      let same = 0;
      while (same < before.length && before[same] === after[same]) same++;
      // What stands at the front as it was has not been copied.
      const copied = rcvNxt - (before[same - same % 3] ?? rcvNxt);
      work.passes++;
      work.bytes += copied;
      work.longest = Math.max(work.longest, copied);
    } else if (work.passes === 0) work.packets++;
    if (sk.rcvNxt < segment.end) break;
    receiver.ackNow(now);
    now += 1e6;
  }
  work.skbs = sk.counters.TCPRcvCollapsed;
  return work;
}
