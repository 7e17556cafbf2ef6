/**
 * How many more datagrams a UDP socket takes.
 *
 * @module
 */

import { packetSetup } from "../experiments/packet_options.ts";
import { receivedSkbs } from "../experiments/truesize.ts";
import { ReceiveQueue } from "../net/sock.ts";
import { type ExplainPacket, packetOptions } from "./explain_packet.ts";

/** From where to fill. */
export interface UdpState {
  /** `sk_rmem_alloc`, bytes. */
  readonly rmemAlloc: number;
  /** `sk_rcvbuf`, bytes. */
  readonly rcvbuf: number;
}

/** A UDP socket at its first drop. */
export interface UdpRoom {
  /** Datagrams taken before the drop. */
  readonly packets: number;
  /** `sk_rmem_alloc` at the drop, bytes. */
  readonly rmemAlloc: number;
}

/**
 * Sends datagrams to a socket in a given state until the first is dropped; nobody reads.
 *
 * Models `__udp_enqueue_schedule_skb` (net/ipv4/udp.c) by release; on a path with the condensing of small fragments.
 *
 * @param packet The datagrams.
 * @param state The socket.
 */
export function udpRoom(packet: ExplainPacket, state: UdpState): UdpRoom {
  const queue = new ReceiveQueue(packet.kernel, { rcvbuf: state.rcvbuf });
  queue.rmemAlloc = state.rmemAlloc;
  let packets = 0;
  if (packet.truesize !== undefined) {
    while (queue.accepts(packet.truesize)) {
      queue.rmemAlloc += packet.truesize;
      packets++;
    }
    return { packets, rmemAlloc: queue.rmemAlloc };
  }
  const setup = packetSetup("explain", packetOptions(packet, "udp"));
  for (;;) {
    const skbs = receivedSkbs(setup);
    if (typeof skbs === "string") {
      throw new RangeError(`explain(): the kernel refuses the packet: ${skbs}`);
    }
    for (const skb of skbs) {
      if (!queue.enqueue(skb)) return { packets, rmemAlloc: queue.rmemAlloc };
    }
    packets++;
  }
}

/**
 * The least `sk_rcvbuf` under which an empty socket takes so many datagrams, by bisection over simulated fills.
 *
 * @param packet The datagrams.
 * @param charge Charge of one, bytes.
 * @param packets How many.
 * @returns Bytes; Infinity where no buffer holds them.
 */
export function rcvbufFor(
  packet: ExplainPacket,
  charge: number,
  packets: number,
): number {
  const holds = (rcvbuf: number): boolean =>
    udpRoom(packet, { rmemAlloc: 0, rcvbuf }).packets >= packets;
  let low = 1;
  let high = packets * charge;
  if (high > 0x7ffffffe || !holds(high)) return Infinity;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
