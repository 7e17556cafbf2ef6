/**
 * What a TCP stream's run gives: goodput, what limited it, and every window over time.
 *
 * @module
 */

import type { LinkCounters } from "../path/link.ts";
import type { TcpCounters } from "../tcp/counters.ts";

/**
 * Names of the sampled values, in order; bytes unless noted.
 *
 * @example
 * ```ts
 * import { SERIES } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(SERIES.includes("rcvSsthresh"));
 * ```
 */
export const SERIES = [
  /** Simulated time, s. */
  "time",
  /** Bytes read so far. */
  "bytes",
  /** Congestion window, segments. */
  "cwnd",
  /** Slow-start threshold, segments. */
  "ssthresh",
  /** Segments in flight. */
  "inFlight",
  /** Window that the sender knows. */
  "sndWnd",
  /** Charged to the send buffer. */
  "wmemQueued",
  /** `sk_sndbuf`. */
  "sndbuf",
  /** Smoothed RTT, ms. */
  "srtt",
  /** `rcv_ssthresh`. */
  "rcvSsthresh",
  /** `window_clamp`. */
  "windowClamp",
  /** `sk_rcvbuf`. */
  "rcvbuf",
  /** Charged to the receive buffer. */
  "rmemAlloc",
  /** `rcvq_space.space`. */
  "rcvSpace",
] as const;

/** A sampled value's name. */
export type SeriesName = typeof SERIES[number];

/** Samples of one connection: a column for each of {@linkcode SERIES}. */
export type Series = { readonly [K in SeriesName]: Float64Array };

/** Shares of the time, 0 to 1, in which each limit held; names as TCP_INFO has them. */
export interface LimitShares {
  /** The peer's window. */
  readonly rwnd_limited: number;
  /** The send buffer. */
  readonly sndbuf_limited: number;
  /** The congestion window. */
  readonly cwnd_limited: number;
  /** The device's queue (TSQ). */
  readonly tsq_limited: number;
  /** Nothing: the application has nothing to send, or the host's CPU is busy. */
  readonly app_limited: number;
}

/** One connection's part. */
export interface FlowResult {
  /** Payload read, bytes. */
  readonly bytes: number;
  /** Payload written, bytes. */
  readonly written: number;
  /** Payload acknowledged, bytes. */
  readonly acked: number;
  /** Payload read, Mbit/s (10^6 bit/s). */
  readonly goodput: number;
  /** The same over the second half of the run. */
  readonly goodputSecondHalf: number;
  /** What held it back. */
  readonly limits: LimitShares;
  /** Samples. */
  readonly series: Series;
  /** The sender's counters. */
  readonly sender: TcpCounters;
  /** The receiver's counters. */
  readonly receiver: TcpCounters;
  /** The largest `rcv_ssthresh` seen at a sample or the end, bytes. */
  readonly rcvSsthresh: number;
  /** `sk_rcvbuf` at the end, bytes. */
  readonly rcvbuf: number;
  /** `sk_sndbuf` at the end, bytes. */
  readonly sndbuf: number;
  /** Congestion window at the end, segments. */
  readonly cwnd: number;
}

/** A run of {@linkcode netperf}. */
export interface StreamResult {
  /** Payload read by all connections, Mbit/s (10^6 bit/s). */
  readonly goodput: number;
  /** The same over the second half of the run: the plateau. */
  readonly goodputSecondHalf: number;
  /** MSS segments that arrived. */
  readonly segments: number;
  /** Events that were simulated. */
  readonly events: number;
  /** What held the first connection back; see `flows` for the others. */
  readonly limits: LimitShares;
  /** Samples of the first connection. */
  readonly series: Series;
  /** Each connection. */
  readonly flows: readonly FlowResult[];
  /** The way there. */
  readonly link: LinkCounters;
  /** Packets that found the receiver's ring full. */
  readonly ringDrops: number;
}
