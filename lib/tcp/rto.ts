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
    let m = sample - Math.floor(sk.srtt / 8);
    sk.srtt += m;
    if (m < 0) {
      m = -m - Math.floor(sk.mdev / 4);
      // A falling RTT counts less.
      if (m > 0) m = Math.floor(m / 8);
    } else m -= Math.floor(sk.mdev / 4);
    sk.mdev += m;
    if (sk.mdev > sk.mdevMax) {
      sk.mdevMax = sk.mdev;
      if (sk.mdevMax > sk.rttvar) sk.rttvar = sk.mdevMax;
    }
    if (sk.sndUna > sk.rttSeq) {
      if (sk.mdevMax < sk.rttvar) {
        sk.rttvar -= Math.floor((sk.rttvar - sk.mdevMax) / 4);
      }
      sk.rttSeq = sk.sndNxt;
      sk.mdevMax = least;
    }
  }
  sk.rto = Math.min(
    (Math.floor(sk.srtt / 8) + sk.rttvar) * sk.tick,
    RTO_MAX,
  );
  sk.backoff = 0;
}

/**
 * The rate that the window allows, bytes/s.
 *
 * Models `tcp_update_pacing_rate` (net/ipv4/tcp_input.c).
 */
export function updatePacingRate(sk: SenderSock): void {
  const [start, after] = sk.kernel.tcp.pacing;
  const percent = sk.cwnd < sk.ssthresh / 2 ? start : after;
  const bytes = sk.mss * Math.max(sk.cwnd, sk.packetsOut) * percent / 100;
  // A tick or less counts as an eighth of one.
  const srtt = sk.tick > 1000
    ? (sk.srtt > 10 ? sk.srtt / 8 : 1 / 8) * sk.tick
    : Math.max(sk.srtt, 1) / 8 * sk.tick;
  sk.pacingRate = Math.min(Math.floor(bytes * 1e9 / srtt), 2 ** 32 - 1);
}
