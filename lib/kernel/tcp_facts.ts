/**
 * What differs in TCP between releases: how buffers start and grow, how windows follow, how data leaves.
 *
 * @module
 */

/** TCP (net/ipv4/tcp*.c, include/net/tcp.h). */
export interface TcpFacts {
  /** Bytes of payload that a sender's skb holds in its head where the device has GSO; 0: page fragments only. */
  readonly linear: number;
  /** `net.ipv4.tcp_rmem`: least, initial and greatest receive buffer, bytes. */
  readonly rmem: readonly [min: number, initial: number, max: number];
  /** `net.ipv4.tcp_wmem`: least, initial and greatest send buffer, bytes. */
  readonly wmem: readonly [min: number, initial: number, max: number];
  /**
   * What an established socket's receive buffer is raised to: `tcp_fixup_rcvbuf` without and with the fourfold cushion,
   * the thread's `tcp_rcvbuf_expand`, or nothing beyond `tcp_rmem[1]` (4.20+).
   */
  readonly initialRcvbuf:
    | "fixup"
    | "fixup, fourfold"
    | "expand"
    | "tcp_rmem[1]";
  /** What a segment is taken to cost in the send buffer: `SKB_TRUESIZE`, or the kmalloc class (6ae705323, 3.13). */
  readonly sndbufPerMss: "truesize" | "power of two";
  /** Least window of segments that the growing send buffer covers: the reordering degree + 1, and 10 besides (3.13+). */
  readonly sndbufInitCwnd: boolean;
  /** How `tcp_rcv_space_adjust` sizes the receive buffer. */
  readonly drs:
    | "twice copied"
    | "doubling"
    | "smooth"
    | "smooth, read only"
    | "rcvbuf_grow";
  /** `net.ipv4.tcp_rcvbuf_low_rtt`, microseconds: below it `tcp_rcvbuf_grow` leaves less room; 0 where it is absent. */
  readonly lowRtt: number;
  /** Whether a window is a fixed share of its memory (`tcp_adv_win_scale`) or the socket's own (`scaling_ratio`, 6.6+). */
  readonly space: "adv_win_scale" | "scaling_ratio";
  /** `scaling_ratio` of a new socket, of 256; 0 where it does not exist. */
  readonly scalingRatio: number;
  /** Whether `window_clamp` follows a change of `scaling_ratio` (6.10+). */
  readonly clampFollowsRatio: boolean;
  /** First window: `tcp_default_init_rwnd` segments, up to 64 KiB (4.20+), or all there is (6.11+). */
  readonly initialWindow: "init_rwnd" | "64 KiB" | "all";
  /** Whether the passive end takes the timestamps off its advertised MSS before it sizes its buffers (2025). */
  readonly advmssBeforeBuffers: boolean;
  /** `tcp_grow_window` tests whether there is room, or measures it and fills it (5.8+). */
  readonly growRoom: "test" | "fill";
  /** Whether `tcp_grow_window` leaves the head of an skb without linear payload out of account (5.19+). */
  readonly growIgnoresHead: boolean;
  /** Whether free space counts what waits in the backlog as used. */
  readonly spaceCountsBacklog: boolean;
  /** When a shrinking offer becomes zero: below one segment, or below a sixteenth of the buffer as well (3.15+). */
  readonly zeroWindow: "mss" | "sixteenth";
  /** The receiver's RTT estimate: average; least value first, then average (2025); and not while data is unread (6.18). */
  readonly rcvRtt: "average" | "minimum, average" | "minimum, average of read";
  /** Clock of the RTT estimates: jiffies of a millisecond, or microseconds. */
  readonly clock: "jiffies" | "microseconds";
  /** Whether an in-order segment for an empty queue is always taken (4.4+). */
  readonly takesWhenEmpty: boolean;
  /** When the receive buffer takes a segment: while it is not over its limit, or with the segment's bytes still within it (6.17+). */
  readonly ingest: "rmem" | "rmem + len";
  /** Whether out-of-order segments open the window too. */
  readonly ofoGrowsWindow: boolean;
  /** Whether out-of-order segments teach rcv_mss and the ratio, and the buffer makes room for what they span (6.16 and 6.17). */
  readonly ofoTunesBuffer: boolean;
  /** Whether a segment that ends beyond the window is dropped while data is unread (6.17+). */
  readonly dropsBeyondWindow: boolean;
  /** Whether data at a closed window is dropped and counted (`TCPZeroWindowDrop`). */
  readonly zeroWindowDrop: boolean;
  /** Whether an skb refused for memory makes the next ACK advertise nothing (6.8+). */
  readonly noMemoryZeroWindow: boolean;
  /** Whether `tcp_prune_queue` returns before it collapses anything once the buffer was raised. */
  readonly pruneReturnsEarly: boolean;
  /** What `tcp_prune_ofo_queue` drops. */
  readonly ofoPrune: "all" | "eighths" | "above the incoming";
  /** Room of a collapsed skb's head: one page with the old headroom, or without. */
  readonly collapseHeadroom: boolean;
  /** What may wait for a socket that is in use, `tcp_add_backlog`. */
  readonly backlogLimit:
    | "rcvbuf + sndbuf"
    | "rcvbuf + sndbuf + 64 KiB"
    | "rcvbuf + sndbuf/2 + 64 KiB"
    | "2 rcvbuf + sndbuf/2 + 64 KiB";
  /** Whether segments are merged in the backlog (4.20+). */
  readonly backlogCoalesces: boolean;
  /** Whether slow start opens by one segment an ACK, or by the segments acknowledged (3.13+). */
  readonly slowStart: "ack" | "acked";
  /** Where the size of a GSO skb is chosen: at write time by the pacing rate, or at most, and split when sent (4.x). */
  readonly sizeGoal: "pacing" | "split";
  /** Bytes of GSO skb that a short RTT adds: `65536 >> (min_rtt >> 9)` (5.18+). */
  readonly autosizeByRtt: boolean;
  /** `sk_pacing_rate` in per cent of cwnd / srtt, in slow start and after. */
  readonly pacing: readonly [slowStart: number, after: number];
  /** How much TSQ lets wait below TCP. */
  readonly tsq:
    | "128 KiB or 1 ms"
    | "2 skbs or 1 ms, 256 KiB"
    | "2 skbs or 1 ms";
  /** Whether every TCP skb is built for GSO, whatever the device does (4.17+). */
  readonly gsoAlways: boolean;
  /** When the congestion window counts as limiting. */
  readonly cwndLimited: "in flight" | "max packets out";
  /** How a loss is noticed: segments SACKed above it (FACK), or time (RACK, 4.18+). */
  readonly lossDetection: "fack" | "rack";
  /** How long a tail loss probe waits: at least 10 ms and 200 more for one segment, or 2 ms and `TCP_RTO_MIN` (4.12+). */
  readonly lossProbe: "2 rtt, 10 ms" | "2 rtt + 2 ms";
  /**
   * What PRR lets out below ssthresh: one segment more than was delivered, or that only with an ACK that advances and
   * shows no new loss (4.3+).
   */
  readonly prr: "slow start" | "conservative";
  /** When `tcp_tso_should_defer` gives up waiting: after 2 jiffies, or 1 ms after the last data was sent. */
  readonly tsoDefer: "2 jiffies" | "1 ms";
  /** HyStart's delay threshold as a share of the least RTT: 16 or 8. */
  readonly hystartDelayShift: number;
  /** What a blocked sender compares with cwnd before its buffer grows. */
  readonly expandTest: "packets_out" | "packets_in_flight";
}
