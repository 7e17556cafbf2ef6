/**
 * When an ACK leaves: at once, after two segments, by timer, or because the reader made room.
 *
 * @module
 */

import { MS, type ReceiverSock } from "./receiver_sock.ts";
import { NONE } from "./skb_list.ts";
import { timerAt } from "./timers.ts";
import { selectSpace, selectWindow } from "./window.ts";

/** `TCP_MAX_QUICKACKS`. */
export const MAX_QUICKACKS = 16;

/** `TCP_ATO_MIN` and `TCP_DELACK_MIN`, ns. */
const ATO_MIN = 40 * MS;
/** `TCP_DELACK_MAX`, ns. */
const DELACK_MAX = 200 * MS;
/** Half a second: the longest delay at all, ns. */
const LONGEST = 500 * MS;

/** Where ACKs go. */
export interface AckSink {
  /**
   * An ACK leaves.
   *
   * @param now The time, ns.
   * @param sk The socket: `rcvNxt`, SACK blocks and `tsRecent` are read from it.
   * @param window The window as the header carries it, bytes.
   */
  ack(now: number, sk: ReceiverSock, window: number): void;
}

/** The ACK rules of one socket. */
export class Acks {
  readonly #sk: ReceiverSock;
  readonly #sink: AckSink;
  readonly #ackWhenRead: boolean;

  /** The rules of `sk`, whose ACKs go to `sink`. */
  constructor(sk: ReceiverSock, sink: AckSink) {
    this.#sk = sk;
    this.#sink = sink;
    this.#ackWhenRead = sk.kernel.tcp.growRoom === "fill";
  }

  /** Acknowledges the next few segments one by one (`tcp_incr_quickack`). */
  quickAck(most: number): void {
    const sk = this.#sk;
    const quick = Math.floor(sk.rcvWnd / (2 * sk.rcvMss)) || 2;
    if (quick > sk.quick) sk.quick = Math.min(quick, most);
  }

  /** Learns the distance of segments (the middle of `tcp_event_data_recv`). */
  dataReceived(now: number): void {
    const sk = this.#sk;
    if (sk.ato === 0) {
      this.quickAck(MAX_QUICKACKS);
      sk.ato = ATO_MIN;
    } else {
      const gap = now - sk.lrcvtime;
      if (gap <= ATO_MIN / 2) {
        sk.ato = sk.ato / 2 + ATO_MIN / 2;
      } else if (gap < sk.ato) {
        sk.ato = Math.min(sk.ato / 2 + gap, DELACK_MAX);
      } else if (gap > DELACK_MAX + sk.handshakeRtt) {
        // So long a pause, beyond the RTO, that the sender may have restarted.
        this.quickAck(MAX_QUICKACKS);
      }
    }
    sk.lrcvtime = now;
  }

  /** Sends or delays, if an ACK is wanted at all (`tcp_ack_snd_check`). */
  checkScheduled(now: number): void {
    if (this.#sk.ackScheduled) this.check(now);
  }

  /** Sends or delays an ACK (`__tcp_ack_snd_check`). */
  check(now: number): void {
    const sk = this.#sk;
    if (sk.rcvNxt - sk.rcvWup > sk.rcvMss) {
      if (this.#ackWhenRead && sk.rcvNxt === sk.copiedSeq) {
        this.send(now);
        return;
      }
      // Before quick ACKs are looked at, since the window of a half full buffer ends them.
      const offer = selectSpace(sk);
      if (offer >= sk.rcvWnd) {
        this.send(now, offer);
        return;
      }
    }
    if (sk.quick > 0 || sk.ackNow || sk.ofoQueue.tail !== NONE) this.send(now);
    else this.#delay(now);
  }

  // tcp_send_delayed_ack
  #delay(now: number): void {
    const sk = this.#sk;
    let { ato } = sk;
    if (ato > ATO_MIN) {
      let most = sk.ackPushed ? DELACK_MAX : LONGEST;
      if (sk.handshakeRtt > 0) {
        most = Math.min(most, Math.max(sk.handshakeRtt, ATO_MIN));
      }
      ato = Math.min(ato, most);
    }
    if (sk.delackAt !== Infinity) {
      if (sk.delackAt <= now + ato / 4) {
        this.send(now);
        return;
      }
      sk.delackAt = Math.min(sk.delackAt, timerAt(now, ato, sk.jiffy));
      return;
    }
    sk.delackAt = timerAt(now, ato, sk.jiffy);
  }

  /** The delayed ACK is due (`tcp_delack_timer_handler`). */
  timer(now: number): void {
    const sk = this.#sk;
    sk.delackAt = Infinity;
    if (!sk.ackScheduled) return;
    sk.ato = Math.min(2 * sk.ato, DELACK_MAX + sk.handshakeRtt);
    sk.counters.DelayedACKs++;
    this.send(now);
  }

  /**
   * Sends an ACK (`__tcp_send_ack`, `tcp_event_ack_sent`).
   *
   * @param now The time, ns.
   * @param offer What {@linkcode selectSpace} has just said, bytes; -1 where it was not asked.
   */
  send(now: number, offer = -1): void {
    const sk = this.#sk;
    if (sk.quick > 0 && --sk.quick === 0) sk.ato = ATO_MIN;
    sk.ackScheduled = false;
    sk.ackPushed = false;
    sk.ackNow = false;
    sk.delackAt = Infinity;
    sk.counters.OutSegs++;
    this.#sink.ack(now, sk, selectWindow(sk, offer));
    sk.dsackEnd = sk.dsackStart;
  }

  /** The reader took `copied` bytes: an ACK that waits, or a window update (`tcp_cleanup_rbuf`). */
  cleanup(now: number, copied: number): void {
    const sk = this.#sk;
    if (
      sk.ackScheduled &&
      (sk.rcvNxt - sk.rcvWup > sk.rcvMss ||
        copied > 0 && sk.ackPushed && sk.rmemAlloc === 0)
    ) {
      this.send(now);
      return;
    }
    if (copied === 0) return;
    const window = sk.window();
    if (2 * window > sk.windowClamp) return;
    const offer = selectSpace(sk);
    if (offer > 0 && offer >= 2 * window) this.send(now, offer);
  }
}
