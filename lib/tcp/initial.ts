/**
 * What a connection starts with: the first window, the window scale, the buffers.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { skbTruesize } from "../net/skbuff.ts";
import { powerOfTwoAbove, winFromSpace, winFromSpaceByRatio } from "./space.ts";

/** Congestion window of a new connection, segments (`TCP_INIT_CWND`). */
export const INIT_CWND = 10;

/** Bytes that IPv4 and TCP headers without options take of the MTU. */
const HEADERS = 40;

/** Bytes of the timestamp option, padded. */
export const TIMESTAMPS = 12;

/** The largest window field, and the largest window at all: bytes. */
const MAX_WINDOW_FIELD = 65535;
const MAX_WINDOW = 65535 * 2 ** 14;

/** The MSS that a device's MTU gives, bytes (`dst_metric_advmss`). */
export function mssOfMtu(mtu: number): number {
  return Math.min(mtu, 65535) - HEADERS;
}

/** Segments that a first window holds at most (`tcp_default_init_rwnd`, up to 4.19). */
export function defaultInitRwnd(mss: number): number {
  return mss > 1460 ? Math.max(Math.trunc(1460 * 20 / mss), 2) : 20;
}

/** Window of `space` bytes of memory in a new socket. */
export function initialWin(
  kernel: Kernel,
  advWinScale: number,
  space: number,
): number {
  return kernel.tcp.space === "adv_win_scale"
    ? winFromSpace(advWinScale, space)
    : winFromSpaceByRatio(kernel.tcp.scalingRatio, space);
}

/** What `tcp_select_initial_window` gives. */
export interface InitialWindow {
  /** `rcv_wnd`, bytes. */
  readonly rcvWnd: number;
  /** `window_clamp`, bytes. */
  readonly clamp: number;
  /** Window scale, a shift. */
  readonly wscale: number;
}

/**
 * The first window and the scale.
 *
 * Models `tcp_select_initial_window` (net/ipv4/tcp_output.c).
 *
 * @param kernel The kernel.
 * @param space Window that the whole receive buffer is worth, bytes.
 * @param mss MSS, bytes; less the timestamps where they are agreed already.
 * @param most The larger of `tcp_rmem[2]` and `rmem_max`, bytes.
 * @param windowClamp Bound of the window where SO_RCVBUF was set, bytes; 0 for none.
 */
export function selectInitialWindow(
  kernel: Kernel,
  space: number,
  mss: number,
  most: number,
  windowClamp: number,
): InitialWindow {
  const clampIn = windowClamp === 0 ? MAX_WINDOW : windowClamp;
  let s = Math.min(clampIn, Math.max(space, 0));
  if (s > mss) s -= s % mss;
  let wscale = 0;
  let rcvWnd = s;
  if (kernel.tcp.initialWindow === "init_rwnd") {
    let x = Math.min(Math.max(most, 0), clampIn);
    while (x > MAX_WINDOW_FIELD && wscale < 14) {
      x = Math.floor(x / 2);
      wscale++;
    }
    if (mss > 2 ** wscale) {
      rcvWnd = Math.min(rcvWnd, defaultInitRwnd(mss) * mss);
    }
  } else {
    if (kernel.tcp.initialWindow === "64 KiB") {
      rcvWnd = Math.min(s, MAX_WINDOW_FIELD);
    }
    const x = Math.min(Math.max(s, most), clampIn);
    wscale = Math.min(14, Math.max(0, 31 - Math.clz32(Math.max(1, x)) - 15));
  }
  return {
    rcvWnd,
    clamp: Math.min(MAX_WINDOW_FIELD * 2 ** wscale, clampIn),
    wscale,
  };
}

/**
 * What an established socket's receive buffer is raised to, bytes; 0 where the release leaves it at `tcp_rmem[1]`.
 *
 * Models `tcp_fixup_rcvbuf` (net/ipv4/tcp_input.c, up to 4.19) and `tcp_rcvbuf_expand` of the October 2013 thread.
 *
 * @param kernel The kernel.
 * @param advmss Advertised MSS, bytes.
 * @param mssCache MSS for sending, bytes.
 * @param moderate `tcp_moderate_rcvbuf`.
 */
export function establishedRcvbuf(
  kernel: Kernel,
  advmss: number,
  mssCache: number,
  moderate = true,
): number {
  const { maxTcpHeader } = kernel.build;
  switch (kernel.tcp.initialRcvbuf) {
    case "tcp_rmem[1]":
      return 0;
    case "expand": {
      const per = perMss(kernel, advmss, mssCache);
      return 2 * defaultInitRwnd(per) * per * (moderate ? 4 : 1);
    }
    default: {
      const fourfold = kernel.tcp.initialRcvbuf === "fixup, fourfold" &&
        moderate;
      return 2 * skbTruesize(kernel, advmss + maxTcpHeader) *
        defaultInitRwnd(advmss) * (fourfold ? 4 : 1);
    }
  }
}

// A segment's skb with its head rounded to the kmalloc class.
function perMss(kernel: Kernel, a: number, b: number): number {
  return powerOfTwoAbove(
    Math.max(a, b) + kernel.build.maxTcpHeader + kernel.skb.sharedInfo,
  ) + kernel.skb.skBuffAligned;
}

/**
 * What a segment is taken to cost when the send buffer is sized, bytes.
 *
 * Models `tcp_fixup_sndbuf` and `tcp_new_space` up to 3.12, `tcp_sndbuf_expand` from 6ae705323 (3.13) on.
 *
 * @param kernel The kernel.
 * @param mssClamp The peer's MSS option, bytes.
 * @param mssCache MSS for sending, bytes.
 */
export function sndbufPerMss(
  kernel: Kernel,
  mssClamp: number,
  mssCache: number,
): number {
  return kernel.tcp.sndbufPerMss === "power of two"
    ? perMss(kernel, mssClamp, mssCache)
    : skbTruesize(
      kernel,
      Math.max(mssClamp, mssCache) + kernel.build.maxTcpHeader,
    );
}

/**
 * Send buffer of a new connection, bytes.
 *
 * @param kernel The kernel.
 * @param mssClamp The peer's MSS option, bytes.
 * @param mssCache MSS for sending, bytes.
 * @param wmem `tcp_wmem`, bytes.
 * @param factor Congestion windows that the buffer covers: 2, BBR's 3; the formula up to 3.12 takes one.
 */
export function initialSndbuf(
  kernel: Kernel,
  mssClamp: number,
  mssCache: number,
  wmem: readonly [number, number, number],
  factor = 2,
): number {
  // The formula up to 3.12 takes the peer's MSS alone, and one window.
  const old = kernel.tcp.sndbufPerMss === "truesize";
  const want = old
    ? INIT_CWND * sndbufPerMss(kernel, mssClamp, 0)
    : factor * INIT_CWND * sndbufPerMss(kernel, mssClamp, mssCache);
  return Math.max(wmem[1], Math.min(want, wmem[2]));
}
