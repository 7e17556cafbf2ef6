/**
 * Receive-buffer autotuning: how far the window may open, and how the buffer follows the reader.
 *
 * @module
 */

import { skbTruesize } from "../net/skbuff.ts";
import type { ReceiverSock } from "./receiver_sock.ts";
import type { RxSkb } from "../net/rx_skb.ts";
import { spaceFromWin } from "./space.ts";

/**
 * Opens `rcv_ssthresh` for a received skb, if it is worth its memory.
 *
 * Models `tcp_grow_window` and `__tcp_grow_window` (net/ipv4/tcp_input.c).
 *
 * @param sk The socket.
 * @param skb The skb's shape.
 * @param len Payload, bytes.
 * @param adjust Whether a head without payload may be left out of account; not for an skb queued out of order.
 */
export function growWindow(
  sk: ReceiverSock,
  skb: RxSkb,
  len: number,
  adjust = true,
): void {
  const room = Math.min(sk.windowClamp, sk.space()) - sk.rcvSsthresh;
  if (room <= 0) return;
  if (sk.memory.pressure) {
    if (sk.growFills) {
      sk.rcvSsthresh = Math.min(sk.rcvSsthresh, 4 * sk.advmss);
    }
    return;
  }
  let { truesize } = skb;
  if (adjust && sk.growIgnoresHead && skb.linear === 0) {
    const rest = truesize - skbTruesize(sk.kernel, skb.end);
    if (rest >= len) truesize = rest;
  }
  let increment = 0;
  if (sk.win(truesize) <= len) increment = 2 * sk.advmss;
  else increment = growSlowly(sk, truesize, len);
  if (increment === 0) return;
  increment = Math.max(increment, 2 * len);
  sk.rcvSsthresh = sk.growFills
    ? sk.rcvSsthresh + Math.min(room, increment)
    : Math.min(sk.rcvSsthresh + increment, sk.windowClamp);
  sk.quick |= 1;
}

// An skb whose memory is worth more window than it carried: only while the window is small enough for such skbs.
function growSlowly(sk: ReceiverSock, truesize: number, len: number): number {
  let worth = sk.win(truesize) >> 1;
  let window = sk.win(sk.rmem[2]) >> 1;
  while (sk.rcvSsthresh <= window) {
    if (worth <= len) return 2 * sk.rcvMss;
    worth >>= 1;
    window >>= 1;
  }
  return 0;
}

/**
 * The queue is over its limit: raise the buffer where that is allowed, close the window where it is not.
 *
 * Models `tcp_clamp_window` (net/ipv4/tcp_input.c).
 */
export function clampWindow(sk: ReceiverSock): void {
  sk.quick = 0;
  if (
    sk.rcvbuf < sk.rmem[2] && !sk.rcvbufLocked && !sk.memory.pressure &&
    sk.memory.allocated < sk.memory.low
  ) sk.rcvbuf = Math.min(sk.rmemAlloc, sk.rmem[2]);
  if (sk.rmemAlloc > sk.rcvbuf) {
    sk.rcvSsthresh = Math.min(sk.windowClamp, 2 * sk.advmss);
  }
}

// tcp_rcv_rtt_update; the estimate is kept shifted by 3.
function updateRcvRtt(
  sk: ReceiverSock,
  sample: number,
  windowDependent: boolean,
): void {
  const m = sample * 8;
  const rule = sk.rcvRttRule;
  if (sk.rcvRtt === 0 || rule !== "average" && m < sk.rcvRtt) {
    sk.rcvRtt = m;
    return;
  }
  if (windowDependent) {
    if (rule === "average") sk.rcvRtt = Math.min(sk.rcvRtt, m);
    return;
  }
  if (
    rule === "minimum, average of read" && sk.rcvNxt !== sk.copiedSeq
  ) return;
  sk.rcvRtt += sample - Math.floor(sk.rcvRtt / 8);
}

/**
 * An RTT sample from the echoed timestamp of a data segment.
 *
 * Models `tcp_rcv_rtt_measure_ts` (net/ipv4/tcp_input.c). TCP's timestamps count milliseconds.
 *
 * @param sk The socket.
 * @param now The time, ns.
 * @param len Payload, bytes.
 */
export function rcvRttByTimestamp(
  sk: ReceiverSock,
  now: number,
  len: number,
): void {
  const echo = sk.rxTsecr;
  if (echo < 0 || len < sk.rcvMss) return;
  if (sk.tick === 1000) {
    if (echo === sk.lastTsecr) return;
    sk.lastTsecr = echo;
  }
  let ms = sk.clock.of(now) - echo;
  if (ms === 0) {
    if (sk.rcvRttRule === "minimum, average of read") return;
    ms = 1;
  }
  updateRcvRtt(sk, sk.tick === 1000 ? ms * 1000 : ms, false);
}

/**
 * An RTT sample without timestamps: the time that a window of data takes.
 *
 * Models `tcp_rcv_rtt_measure` (net/ipv4/tcp_input.c).
 */
export function rcvRttByWindow(sk: ReceiverSock, now: number): void {
  if (sk.rcvRttTime !== 0) {
    if (sk.rcvNxt < sk.rcvRttSeq) return;
    const sample = Math.floor((now - sk.rcvRttTime) / sk.tick);
    updateRcvRtt(sk, Math.max(sample, 1), true);
  }
  sk.rcvRttSeq = sk.rcvNxt + sk.rcvWnd;
  sk.rcvRttTime = now;
}

/**
 * Follows the reader: once in an RTT, compares what was read with what was read the time before, and raises the buffer.
 *
 * Models `tcp_rcv_space_adjust` (net/ipv4/tcp_input.c): in 3.12 twice what was copied; from b0983d3c9b13 (3.13) on
 * with room for the sender's doubling; from 4.18 in proportion to the growth; in 6.18 as `tcp_rcvbuf_grow`.
 *
 * @param sk The socket.
 * @param now The time, ns.
 */
export function rcvSpaceAdjust(sk: ReceiverSock, now: number): void {
  const rule = sk.drs;
  if (rule === "twice copied" && sk.rcvqTime === 0) {
    sk.rcvqSeq = sk.copiedSeq;
    sk.rcvqTime = Math.floor(now / sk.tick);
    return;
  }
  if (
    sk.rcvRtt === 0 ||
    now < (sk.rcvqTime + Math.floor(sk.rcvRtt / 8)) * sk.tick
  ) return;
  let copied = sk.copiedSeq - sk.rcvqSeq;
  const auto = sk.moderateRcvbuf && !sk.rcvbufLocked;
  switch (rule) {
    case "twice copied":
      adjustTwiceCopied(sk, copied, auto);
      break;
    case "rcvbuf_grow":
      copied -= sk.rcvNxt - sk.copiedSeq;
      if (copied > sk.rcvqSpace) {
        if (auto) rcvbufGrow(sk, copied);
        else sk.rcvqSpace = copied;
      }
      break;
    default:
      if (rule === "smooth, read only") copied -= sk.rcvNxt - sk.copiedSeq;
      if (copied > sk.rcvqSpace) {
        if (auto) {
          if (rule === "doubling") adjustDoubling(sk, copied);
          else adjustSmooth(sk, copied);
        }
        sk.rcvqSpace = copied;
      }
  }
  sk.rcvqSeq = sk.copiedSeq;
  sk.rcvqTime = Math.floor(now / sk.tick);
}

function adjustTwiceCopied(
  sk: ReceiverSock,
  copied: number,
  auto: boolean,
): void {
  const space = Math.max(sk.rcvqSpace, 2 * copied);
  if (space === sk.rcvqSpace) return;
  sk.rcvqSpace = space;
  if (!auto) return;
  const segments = Math.max(1, Math.floor(space / sk.advmss));
  const rcvbuf = Math.min(segments * sk.rcvmem, sk.rmem[2]);
  if (rcvbuf > sk.rcvbuf) {
    sk.rcvbuf = rcvbuf;
    sk.windowClamp = space;
  }
}

function adjustDoubling(sk: ReceiverSock, copied: number): void {
  const space = sk.rcvqSpace;
  let rcvwin = 2 * copied + 16 * sk.advmss;
  if (copied >= space + Math.floor(space / 4)) {
    rcvwin += copied >= space + Math.floor(space / 2)
      ? rcvwin
      : Math.floor(rcvwin / 2);
  }
  const rcvbuf = Math.min(
    Math.floor(rcvwin / sk.advmss) * sk.rcvmem,
    sk.rmem[2],
  );
  if (rcvbuf > sk.rcvbuf) {
    sk.rcvbuf = rcvbuf;
    // The clamp stays as it was reached, whatever the buffer is worth.
    sk.windowClamp = rcvwin;
  }
}

function adjustSmooth(sk: ReceiverSock, copied: number): void {
  let rcvwin = 2 * copied + 16 * sk.advmss;
  const grow = Math.floor(
    rcvwin * (copied - sk.rcvqSpace) / sk.rcvqSpace,
  );
  rcvwin += 2 * grow;
  const want = sk.byRatio
    ? spaceFromWin(sk.scalingRatio, rcvwin)
    : Math.floor(rcvwin / sk.advmss) * sk.rcvmem;
  raise(sk, want);
}

/**
 * Raises the buffer for `newspace` bytes read in an RTT.
 *
 * Models `tcp_rcvbuf_grow` (net/ipv4/tcp_input.c, 6.18).
 */
export function rcvbufGrow(sk: ReceiverSock, newspace: number): void {
  const oldspace = sk.rcvqSpace;
  sk.rcvqSpace = newspace;
  let rcvwin = 2 * newspace;
  const { lowRtt } = sk.kernel.tcp;
  const rttUs = Math.floor(sk.rcvRtt / 8);
  rcvwin += rttUs < lowRtt
    ? Math.floor(rcvwin * rttUs / lowRtt)
    : 2 * Math.floor(rcvwin * (newspace - oldspace) / oldspace);
  const last = sk.ofoQueue.tail;
  if (last >= 0) rcvwin += sk.pool.end[last]! - sk.rcvNxt;
  raise(sk, spaceFromWin(sk.scalingRatio, rcvwin));
}

function raise(sk: ReceiverSock, want: number): void {
  const rcvbuf = Math.min(want, sk.rmem[2]);
  if (rcvbuf > sk.rcvbuf) {
    sk.rcvbuf = rcvbuf;
    sk.windowClamp = sk.win(rcvbuf);
  }
}

/**
 * Learns the sender's segment size, and what a segment's memory is worth.
 *
 * Models `tcp_measure_rcv_mss` (net/ipv4/tcp_input.c).
 *
 * @param sk The socket.
 * @param skb The skb's shape.
 * @param len Payload, bytes.
 * @param gsoSize Segment size of an aggregate, bytes; 0 for a single segment.
 * @param push Whether PSH is set.
 */
export function measureRcvMss(
  sk: ReceiverSock,
  skb: RxSkb,
  len: number,
  gsoSize: number,
  push: boolean,
): void {
  const lastSegSize = sk.lastSegSize;
  sk.lastSegSize = 0;
  let size = gsoSize > 0 ? gsoSize : len;
  if (size >= sk.rcvMss) {
    if (sk.byRatio && size !== sk.rcvMss) measureRatio(sk, skb, len);
    sk.rcvMss = Math.min(size, sk.advmss);
    return;
  }
  const header = sk.timestamps ? 32 : 20;
  if (size + header >= 536 + 20 || size + header >= 88 + 20 && !push) {
    sk.lastSegSize = size;
    if (size === lastSegSize) {
      sk.rcvMss = size;
      return;
    }
  } else size = 0;
  // ICSK_ACK_PUSHED: a small segment was seen.
  sk.ackPushed = true;
}

function measureRatio(sk: ReceiverSock, skb: RxSkb, len: number): void {
  const ratio = Math.max(1, Math.floor(len * 256 / skb.truesize) & 0xff);
  if (ratio === sk.scalingRatio) return;
  sk.scalingRatio = ratio;
  if (!sk.kernel.tcp.clampFollowsRatio) return;
  setWindowClamp(sk, sk.win(sk.rcvbuf));
  sk.rcvqSpace = Math.min(sk.rcvqSpace, sk.windowClamp);
}

// tcp_set_window_clamp: a clamp that rises frees the threshold up to what is advertised already.
function setWindowClamp(sk: ReceiverSock, window: number): void {
  const clamp = Math.max(window, Math.floor(sk.kernel.udp.minRcvbuf / 2));
  const before = sk.windowClamp;
  sk.windowClamp = clamp;
  if (clamp < before) sk.rcvSsthresh = Math.min(sk.rcvSsthresh, clamp);
  else if (clamp > before) {
    sk.rcvSsthresh = Math.max(Math.min(sk.rcvWnd, clamp), sk.rcvSsthresh);
  }
}
