/**
 * How many packets a socket takes that nobody reads, and how its charge falls once somebody does.
 *
 * @module
 */

import { ReceiveQueue, type SocketCounters } from "../net/sock.ts";
import { PacketMemory } from "../net/packet_memory.ts";
import { type PacketOptions, packetSetup } from "./packet_options.ts";
import { receivedSkbs } from "./truesize.ts";

/** A packet, and the buffer of the socket that it fills. */
export interface SocketFillOptions extends PacketOptions {
  /** `sk_rcvbuf`, bytes (what `ss -m` prints as `rb`); the release's `net.core.rmem_default` if absent. */
  readonly rcvbuf?: number | undefined;
  /** `net.ipv4.udp_mem[2]`, pages; no limit if absent. */
  readonly memPages?: number | undefined;
}

/** A filled socket. */
export interface SocketFill {
  /** Packets queued before the first drop. */
  readonly queued: number;
  /** `sk_rmem_alloc` at the drop, bytes. */
  readonly rmemAlloc: number;
  /** Packets sent, the dropped one included. */
  readonly sent: number;
  /** Charges in order: `[bytes, packets]` runs. */
  readonly increments: [number, number][];
  /** Event counts at the drop. */
  readonly counters: SocketCounters;
  /** `sk_rmem_alloc` after reading 1, 2, 3, … of the queued packets, bytes; computed when asked for. */
  afterReads(count: number): number[];
}

/**
 * Sends equal packets to a socket that nobody reads until the first is dropped.
 *
 * Models `__udp_enqueue_schedule_skb` (net/ipv4/udp.c) and `sock_queue_rcv_skb` (net/core/sock.c) by release, the
 * condensing of small fragments under pressure, and `udp_rmem_release` on the way back.
 *
 * @param options The packet as for {@linkcode truesizeOf}, and `rcvbuf`.
 * @returns Packets queued and bytes charged, and how the charge falls.
 * @throws {RangeError} As {@linkcode truesizeOf}; also where the kernel refuses the packet itself.
 * @throws {TypeError} As {@linkcode truesizeOf}.
 *
 * @example A default buffer holds 256 tiny datagrams
 * ```ts
 * import { datagramsUntilDrop, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { queued, rmemAlloc } = datagramsUntilDrop({ kernel: kernel("6.18"), path: "loopback", payload: 1 });
 * assertEquals([queued, rmemAlloc], [256, 212992]);
 * ```
 */
export function datagramsUntilDrop(options: SocketFillOptions): SocketFill {
  const setup = packetSetup("datagramsUntilDrop", options, [
    "rcvbuf",
    "memPages",
  ]);
  const { kernel, socket } = setup;
  const queue = new ReceiveQueue(kernel, {
    rcvbuf: options.rcvbuf,
    memPages: options.memPages,
    socket,
  });
  const increments: [number, number][] = [];
  let sent = 0;
  let dropped = false;
  while (!dropped) {
    const skbs = receivedSkbs(setup);
    if (typeof skbs === "string") {
      const refused = new PacketMemory(kernel, setup.payload, skbs);
      throw new RangeError(
        `datagramsUntilDrop(): the kernel refuses the packet: ${refused}`,
      );
    }
    sent++;
    for (const skb of skbs) {
      const before = queue.rmemAlloc;
      dropped = !queue.enqueue(skb);
      if (dropped) break;
      const bytes = queue.rmemAlloc - before;
      const last = increments[increments.length - 1];
      if (last !== undefined && last[0] === bytes) last[1]++;
      else increments.push([bytes, 1]);
    }
  }
  const after: number[] = [];
  return {
    queued: queue.length,
    rmemAlloc: queue.rmemAlloc,
    sent,
    increments,
    counters: { ...queue.counters },
    afterReads(count: number): number[] {
      while (after.length < count && queue.length > 0) {
        queue.read();
        after.push(queue.rmemAlloc);
      }
      return after.slice(0, count);
    },
  };
}
