/**
 * The receiving end at work: a segment arrives, the application reads, ACKs leave.
 *
 * @module
 */

import type { RxSkb } from "../net/rx_skb.ts";
import { Acks, type AckSink, MAX_QUICKACKS } from "./acks.ts";
import { charge, dropSkb, forceSchedule } from "./charge.ts";
import { queueOutOfOrder } from "./out_of_order.ts";
import {
  growWindow,
  measureRcvMss,
  rcvRttByTimestamp,
  rcvRttByWindow,
  rcvSpaceAdjust,
} from "./rcvbuf.ts";
import { newSkb, tryCoalesce, tryRmemSchedule } from "./receive_memory.ts";
import { type ReceiverOptions, ReceiverSock } from "./receiver_sock.ts";
import { sackRemove } from "./sack_blocks.ts";
import { NONE, type SkbPool } from "./skb_list.ts";

/** Payload below which a segment does not open the window, bytes. */
const GROW_FROM = 128;

/** A segment as it comes up from IP. Reused. */
export class RxSegment {
  /** First byte. */
  seq = 0;
  /** Behind the last byte. */
  end = 0;
  /** Segment size of an aggregate, bytes; 0 for a single segment. */
  gsoSize = 0;
  /** Segments in it. */
  segs = 1;
  /** PSH. */
  push = false;
  /** The sender's timestamp, ms. */
  tsval = 0;
  /** The echoed timestamp, ms; -1 for none. */
  tsecr = -1;
  /** How it is held in memory. */
  skb: RxSkb | null = null;
}

/**
 * The receiving end of a connection.
 *
 * Models `tcp_rcv_established`, `tcp_data_queue` and `tcp_event_data_recv` (net/ipv4/tcp_input.c), `tcp_recvmsg`
 * (net/ipv4/tcp.c).
 */
export class TcpReceiver {
  /** Its state. */
  readonly sk: ReceiverSock;
  readonly #acks: Acks;

  /**
   * An established connection's receiving end.
   *
   * @param options What the socket is set up with.
   * @param sink Where its ACKs go.
   * @param pool Skbs of its host; a pool of its own if absent.
   */
  constructor(options: ReceiverOptions, sink: AckSink, pool?: SkbPool) {
    this.sk = new ReceiverSock(options, pool);
    this.#acks = new Acks(this.sk, sink);
  }

  /** Bytes that wait for the application. */
  get unread(): number {
    return this.sk.rcvNxt - this.sk.copiedSeq;
  }

  /** When the delayed ACK is due, ns; Infinity for never. */
  get delackAt(): number {
    return this.sk.delackAt;
  }

  /** The delayed-ACK timer fires (`tcp_delack_timer_handler`). */
  delack(now: number): void {
    this.#acks.timer(now);
  }

  /** Answers a window probe, or anything else that wants an ACK at once. */
  ackNow(now: number): void {
    this.#acks.send(now);
  }

  /**
   * A segment arrives.
   *
   * @param now The time, ns.
   * @param segment The segment.
   */
  segment(now: number, segment: RxSegment): void {
    const { sk } = this;
    const skb = segment.skb!;
    const { seq, end } = segment;
    const len = end - seq;
    sk.counters.InSegs += segment.segs;
    if (seq <= sk.rcvWup) sk.tsRecent = segment.tsval;
    sk.rxTsecr = segment.tsecr;
    if (
      sk.fastPath && seq === sk.rcvNxt && skb.truesize <= sk.forwardAlloc &&
      len > 0 && end <= sk.rcvNxt + sk.window()
    ) {
      rcvRttByTimestamp(sk, now, len);
      this.#queue(segment, len);
      this.#dataReceived(now, segment, len);
      this.#acks.check(now);
      return;
    }
    this.#slowPath(now, segment, len);
  }

  #slowPath(now: number, segment: RxSegment, len: number): void {
    const { sk } = this;
    const { seq, end } = segment;
    const windowEnd = sk.rcvNxt + sk.window();
    const beyond = sk.dropsBeyondWindow && end > windowEnd &&
      sk.receiveQueue.length > 0;
    if (end < sk.rcvWup || seq > windowEnd || beyond) {
      if (beyond) sk.counters.BeyondWindow++;
      if (end < sk.rcvNxt) this.#duplicate(seq, end);
      this.#acks.send(now);
      return;
    }
    rcvRttByTimestamp(sk, now, len);
    this.#dataQueue(now, segment, len);
    this.#acks.checkScheduled(now);
  }

  #dataQueue(now: number, segment: RxSegment, len: number): void {
    const { sk } = this;
    const { seq } = segment;
    if (len === 0) return;
    if (seq !== sk.rcvNxt && !this.#reaches(segment)) return;
    if (sk.window() === 0) {
      if (sk.kernel.tcp.zeroWindowDrop) sk.counters.TCPZeroWindowDrop++;
      this.#outOfWindow();
      return;
    }
    const { truesize } = segment.skb!;
    if (sk.takesWhenEmpty && sk.receiveQueue.length === 0) {
      forceSchedule(sk, truesize);
    } else if (!tryRmemSchedule(sk, seq, len, truesize)) {
      this.#refuse();
      return;
    }
    this.#queue(segment, len);
    this.#dataReceived(now, segment, len);
    if (sk.ofoQueue.length > 0) this.#drainOutOfOrder();
    if (sk.sackCount > 0) sackRemove(sk);
    if (
      sk.ofoQueue.length === 0 && sk.rcvWnd > 0 && sk.rmemAlloc < sk.rcvbuf
    ) sk.fastPath = true;
  }

  // Whether a segment out of turn holds bytes that are due; what lies ahead is queued, what is known already reported.
  #reaches(segment: RxSegment): boolean {
    const { sk } = this;
    const { seq, end } = segment;
    if (seq > sk.rcvNxt) {
      queueOutOfOrder(sk, segment);
      sk.ackScheduled = true;
      return false;
    }
    if (end <= sk.rcvNxt) {
      sk.counters.DelayedACKLost++;
      this.#duplicate(seq, end);
      this.#unshare(seq, end);
      this.#outOfWindow();
      return false;
    }
    if (sk.window() > 0) this.#duplicate(seq, sk.rcvNxt);
    return true;
  }

  #refuse(): void {
    const { sk } = this;
    sk.counters.TCPRcvQDrop++;
    if (!sk.kernel.tcp.noMemoryZeroWindow) return;
    sk.noMemory = true;
    sk.ackNow = true;
    sk.ackScheduled = true;
  }

  // tcp_queue_rcv
  #queue(segment: RxSegment, len: number): void {
    const { sk } = this;
    const { seq, end } = segment;
    const rx = segment.skb!;
    const { tail } = sk.receiveQueue;
    sk.rcvNxt = end;
    if (tail !== NONE) {
      const delta = tryCoalesce(sk, tail, rx, seq, end);
      if (delta >= 0) {
        charge(sk, delta);
        sk.counters.TCPRcvCoalesce++;
        return;
      }
    }
    sk.receiveQueue.push(newSkb(sk, rx, end - len, end, segment.gsoSize));
    charge(sk, rx.truesize);
  }

  // tcp_event_data_recv
  #dataReceived(now: number, segment: RxSegment, len: number): void {
    const { sk } = this;
    sk.ackScheduled = true;
    measureRcvMss(sk, segment.skb!, len, segment.gsoSize, segment.push);
    rcvRttByWindow(sk, now);
    this.#acks.dataReceived(now);
    if (len >= GROW_FROM) growWindow(sk, segment.skb!, len);
  }

  // tcp_ofo_queue
  #drainOutOfOrder(): void {
    const { sk } = this;
    const { pool, ofoQueue, receiveQueue } = sk;
    while (ofoQueue.head !== NONE) {
      const skb = ofoQueue.head;
      if (pool.seq[skb]! > sk.rcvNxt) return;
      if (pool.end[skb]! <= sk.rcvNxt) {
        dropSkb(sk, ofoQueue, skb);
        continue;
      }
      ofoQueue.unlink(skb);
      sk.rcvNxt = pool.end[skb]!;
      receiveQueue.push(skb);
    }
    // The last hole was filled: the sender should hear of it at once.
    sk.ackNow = true;
  }

  // To send an skb again its sender makes itself a head of its own (skb_unclone): what we hold is ours now.
  #unshare(seq: number, end: number): void {
    const { pool, receiveQueue: { tail } } = this.sk;
    if (tail === NONE) return;
    const at = pool.sharedEnd[tail]!;
    if (at > seq && at <= end) pool.sharedEnd[tail] = -1;
  }

  #duplicate(seq: number, end: number): void {
    this.sk.dsackStart = seq;
    this.sk.dsackEnd = end;
  }

  #outOfWindow(): void {
    this.#acks.quickAck(MAX_QUICKACKS);
    this.sk.ackScheduled = true;
  }

  /**
   * The application reads.
   *
   * @param now The time, ns.
   * @param most Bytes it has room for.
   * @returns Bytes read.
   */
  read(now: number, most: number): number {
    const { sk } = this;
    const { pool, receiveQueue } = sk;
    const from = sk.copiedSeq;
    const to = from + most;
    while (sk.copiedSeq < to) {
      const skb = receiveQueue.head;
      if (skb === NONE) break;
      const end = pool.end[skb]!;
      sk.copiedSeq = Math.min(to, end);
      if (sk.copiedSeq === end) {
        rcvSpaceAdjust(sk, now);
        dropSkb(sk, receiveQueue, skb);
      } else rcvSpaceAdjust(sk, now);
    }
    const copied = sk.copiedSeq - from;
    this.#acks.cleanup(now, copied);
    return copied;
  }
}
