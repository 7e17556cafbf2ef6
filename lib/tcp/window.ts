/**
 * The window that an ACK advertises.
 *
 * @module
 */

import type { ReceiverSock } from "./receiver_sock.ts";

function roundUp(sk: ReceiverSock, value: number): number {
  return Math.ceil(value / sk.wscaleUnit) * sk.wscaleUnit;
}

/**
 * The window that would be offered now, bytes.
 *
 * Models `__tcp_select_window` (net/ipv4/tcp_output.c).
 */
export function selectSpace(sk: ReceiverSock): number {
  let free = sk.space();
  const allSpace = sk.fullSpace();
  const full = Math.min(sk.windowClamp, allSpace);
  const mss = Math.min(sk.rcvMss, full);
  if (mss <= 0) return 0;
  if (free < full >> 1) {
    sk.quick = 0;
    if (sk.memory.pressure) {
      sk.rcvSsthresh = Math.min(sk.rcvSsthresh, 4 * sk.advmss);
    }
    if (sk.zeroAtSixteenth) {
      free = Math.floor(free / sk.wscaleUnit) * sk.wscaleUnit;
      if (free < allSpace >> 4 || free < mss) return 0;
    } else if (free < mss) return 0;
  }
  if (free > sk.rcvSsthresh) free = sk.rcvSsthresh;
  if (sk.wscale > 0) return roundUp(sk, free);
  const window = sk.rcvWnd;
  if (window <= free - mss || window > free) return free - free % mss;
  if (mss === full && free > window + (full >> 1)) return free;
  return window;
}

/**
 * Settles the window of an ACK that is about to leave.
 *
 * Models `tcp_select_window` (net/ipv4/tcp_output.c): what was offered is never taken back, and rounds to the scale.
 *
 * @param sk The socket.
 * @param offer What {@linkcode selectSpace} has just said, bytes; -1 where it was not asked.
 * @returns Bytes as the peer will read them from the header.
 */
export function selectWindow(sk: ReceiverSock, offer = -1): number {
  const { counters } = sk;
  const before = sk.rcvWnd;
  if (sk.noMemory) {
    sk.noMemory = false;
    if (sk.kernel.tcp.clampFollowsRatio) {
      sk.rcvWnd = 0;
      sk.rcvWup = sk.rcvNxt;
    }
    return 0;
  }
  const current = sk.window();
  let window = offer < 0 ? selectSpace(sk) : offer;
  if (window < current) {
    if (window === 0) counters.TCPWantZeroWindowAdv++;
    window = roundUp(sk, current);
  }
  sk.rcvWnd = window;
  sk.rcvWup = sk.rcvNxt;
  const field = Math.floor(
    Math.min(window, 65535 * sk.wscaleUnit) / sk.wscaleUnit,
  );
  if (field === 0) {
    if (before > 0) counters.TCPToZeroWindowAdv++;
  } else if (before === 0) counters.TCPFromZeroWindowAdv++;
  return field * sk.wscaleUnit;
}
