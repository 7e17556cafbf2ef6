/**
 * Round-trip time and retransmission timeout.
 *
 * @module
 */

import { RTO_MAX, RTO_MIN, type SenderSock } from "./sender_sock.ts";

/**
 * Feeds an RTT sample to the estimator.
 *
 * Models `tcp_rtt_estimator` and `tcp_set_rto` (net/ipv4/tcp_input.c): Van Jacobson's, with a floor for the variance
 * and a slow decay.
 *
 * @param sk The socket.
 * @param rtt The sample, ns.
 */
export function rttEstimate(sk: SenderSock, rtt: number): void {
  const sample = Math.max(1, Math.floor(rtt / sk.tick));
  const least = RTO_MIN / sk.tick;
  if (sample < sk.minRtt) sk.minRtt = sample;
  if (sk.srtt === 0) {
    sk.srtt = sample * 8;
    sk.mdev = sample * 2;
    sk.rttvar = Math.max(sk.mdev, least);
    sk.mdevMax = sk.rttvar;
    sk.rttSeq = sk.sndNxt;
  } else {
    let m = sample - (sk.srtt >> 3);
    sk.srtt += m;
    if (m < 0) {
      m = -m - (sk.mdev >> 2);
      // A falling RTT counts less.
      if (m > 0) m >>= 3;
    } else m -= sk.mdev >> 2;
    sk.mdev += m;
    if (sk.mdev > sk.mdevMax) {
      sk.mdevMax = sk.mdev;
      if (sk.mdevMax > sk.rttvar) sk.rttvar = sk.mdevMax;
    }
    if (sk.sndUna > sk.rttSeq) {
      if (sk.mdevMax < sk.rttvar) {
        sk.rttvar -= (sk.rttvar - sk.mdevMax) >> 2;
      }
      sk.rttSeq = sk.sndNxt;
      sk.mdevMax = least;
    }
  }
  sk.rto = Math.min(
    ((sk.srtt >> 3) + sk.rttvar) * sk.tick,
    RTO_MAX,
  );
  sk.backoff = 0;
}

/**
 * `sk_pacing_rate`: the rate that window and RTT give, bytes/s; without bound before the first RTT sample.
 *
 * Models `tcp_update_pacing_rate` (net/ipv4/tcp_input.c). Computed when it is asked for: between two ACKs nothing that
 * goes into it changes.
 */
export function pacingRate(sk: SenderSock): number {
  if (sk.srtt === 0) return Infinity;
  const percent = sk.cwnd < sk.ssthresh / 2 ? sk.pacingStart : sk.pacingAfter;
  const bytes = sk.mss * Math.max(sk.cwnd, sk.packetsOut) * percent / 100;
  // In jiffies, a tick or less counts as an eighth of one.
  const srtt = sk.tick > 1000 && sk.srtt <= 10 ? 1 : sk.srtt;
  return Math.min(Math.floor(bytes * 8e9 / (srtt * sk.tick)), 2 ** 32 - 1);
}
