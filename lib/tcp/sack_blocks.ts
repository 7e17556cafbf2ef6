/**
 * The SACK blocks that a receiver reports: out-of-order ranges, the newest first.
 *
 * @module
 */

import type { ReceiverSock } from "./receiver_sock.ts";

/** Blocks that fit an ACK: four, three beside timestamps. */
export const MAX_SACKS = 4;

/**
 * Notes an out-of-order range.
 *
 * Models `tcp_sack_new_ofo_skb` (net/ipv4/tcp_input.c): a block that touches it grows and moves to the front; otherwise
 * the oldest one is forgotten.
 */
export function sackNewOfo(sk: ReceiverSock, seq: number, end: number): void {
  const { sackStart, sackEnd } = sk;
  let from = seq;
  let to = end;
  let count = 0;
  // Blocks that do not touch the range keep their order behind it.
  for (let i = 0; i < sk.sackCount; i++) {
    const start = sackStart[i]!;
    const stop = sackEnd[i]!;
    if (start <= to && from <= stop) {
      from = Math.min(from, start);
      to = Math.max(to, stop);
    } else {
      sackStart[count] = start;
      sackEnd[count] = stop;
      count++;
    }
  }
  count = Math.min(count, MAX_SACKS - 1);
  sackStart.copyWithin(1, 0, count);
  sackEnd.copyWithin(1, 0, count);
  sackStart[0] = from;
  sackEnd[0] = to;
  sk.sackCount = count + 1;
}

/** Forgets blocks that the ACK number has reached (`tcp_sack_remove`). */
export function sackRemove(sk: ReceiverSock): void {
  const { sackStart, sackEnd } = sk;
  let count = 0;
  for (let i = 0; i < sk.sackCount; i++) {
    if (sackEnd[i]! <= sk.rcvNxt) continue;
    sackStart[count] = sackStart[i]!;
    sackEnd[count] = sackEnd[i]!;
    count++;
  }
  sk.sackCount = count;
}
