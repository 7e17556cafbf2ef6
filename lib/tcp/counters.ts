/**
 * TCP's counters, by the names that `nstat` prints without their `TcpExt` or `Tcp` prefix.
 *
 * @module
 */

/**
 * Counters of one end of a connection.
 *
 * @example
 * ```ts
 * import { kernel, netperf, type TcpCounters } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const run = netperf({ kernel: kernel("6.18"), path: "virtio-mergeable", rttMs: 10, seconds: 1, rateMbit: 100 });
 * const counters: TcpCounters = run.flows[0]!.receiver;
 * assert(counters.InSegs > 1000 && counters.PruneCalled === 0);
 * ```
 */
export class TcpCounters {
  /** Segments received. */
  InSegs = 0;
  /** Segments sent, retransmissions included. */
  OutSegs = 0;
  /** Segments retransmitted. */
  RetransSegs = 0;
  /** Delayed ACKs sent. */
  DelayedACKs = 0;
  /** Times that a full receive buffer was to be pruned. */
  PruneCalled = 0;
  /** Segments dropped because pruning did not help. */
  RcvPruned = 0;
  /** Times that out-of-order data was dropped for memory. */
  OfoPruned = 0;
  /** skbs freed by collapsing the queue. */
  TCPRcvCollapsed = 0;
  /** Segments merged into the skb before them. */
  TCPRcvCoalesce = 0;
  /** Segments dropped because the backlog was full. */
  TCPBacklogDrop = 0;
  /** Segments merged in the backlog. */
  TCPBacklogCoalesce = 0;
  /** In-order segments dropped for memory. */
  TCPRcvQDrop = 0;
  /** Segments dropped at a closed window. */
  TCPZeroWindowDrop = 0;
  /** Segments dropped because they ended beyond the window. */
  BeyondWindow = 0;
  /** Times that the window went to zero. */
  TCPToZeroWindowAdv = 0;
  /** Times that it came back. */
  TCPFromZeroWindowAdv = 0;
  /** Times that a zero window was wanted but could not be advertised. */
  TCPWantZeroWindowAdv = 0;
  /** Times that TCP memory came under pressure. */
  TCPMemoryPressures = 0;
  /** Segments queued out of order. */
  TCPOFOQueue = 0;
  /** Out-of-order segments dropped for memory. */
  TCPOFODrop = 0;
  /** Out-of-order segments merged. */
  TCPOFOMerge = 0;
  /** Duplicates received. */
  DelayedACKLost = 0;
  /** Recoveries by SACK. */
  TCPSackRecovery = 0;
  /** Segments retransmitted in fast recovery. */
  TCPFastRetrans = 0;
  /** Segments retransmitted in slow start after a timeout. */
  TCPSlowStartRetrans = 0;
  /** Retransmission timeouts. */
  TCPTimeouts = 0;
  /** Timeouts that found what was SACKed gone. */
  TCPSACKReneging = 0;
  /** Reorderings noticed. */
  TCPSACKReorder = 0;
  /** Times that HyStart's ACK train ended slow start. */
  TCPHystartTrainDetect = 0;
  /** cwnd when it did, summed. */
  TCPHystartTrainCwnd = 0;
  /** Times that HyStart's delay test ended slow start. */
  TCPHystartDelayDetect = 0;
  /** cwnd when it did, summed. */
  TCPHystartDelayCwnd = 0;
  /** Tail loss probes sent. */
  TCPLossProbes = 0;
  /** Zero-window probes sent. */
  TCPWinProbe = 0;
  /** Times that the local qdisc refused a segment. */
  TCPLocalDrop = 0;
}
