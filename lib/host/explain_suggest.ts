/**
 * Changes that may mend a socket, each tried in simulation.
 *
 * @module
 */

import type {
  NetperfOptions,
  StreamSysctl,
} from "../experiments/netperf_options.ts";
import type { PacketPath } from "../experiments/packet_options.ts";
import { RxStrategy } from "../drivers/rx_strategy.ts";
import { kernel as kernelNamed } from "../releases/mod.ts";
import { winFromSpace } from "../tcp/space.ts";
import {
  type ExplainPacket,
  packetCharge,
  packetRxPath,
} from "./explain_packet.ts";
import { rcvbufFor, udpRoom } from "./explain_udp.ts";
import { whatIf } from "./what_if.ts";

/** A change, and what a simulation with and without it gave. */
export interface Suggestion {
  /** What to change. */
  readonly change: string;
  /** What was counted. */
  readonly metric: string;
  /** Without the change. */
  readonly before: number;
  /** With it. */
  readonly after: number;
  /** Which experiment gave both; `datagramsUntilDrop` is the same fill, of a measured charge where one is given. */
  readonly by: "netperf" | "datagramsUntilDrop";
  /** Whether the change is for the better. */
  readonly mends: boolean;
}

/** What TCP's suggestions start from. */
export interface StreamCase {
  /** The packets. */
  readonly packet: ExplainPacket;
  /** Charge of one, bytes. */
  readonly charge: number;
  /** sysctls. */
  readonly sysctl: StreamSysctl;
  /** Round trip, ms. */
  readonly rttMs: number;
  /** tcp_rmem[2] to try, bytes; undefined where it is enough already. */
  readonly rmemMax: number | undefined;
  /** Whether the window is held below what tcp_rmem[2] is worth. */
  readonly capped: boolean;
  /** Whether collapse or prune is to be looked into. */
  readonly prunes: boolean;
  /** `sk_rcvbuf`, bytes. */
  readonly rcvbuf: number;
}

/** Round trips a stream runs: slow start and autotuning have ended well before. */
const ROUND_TRIPS = 60;
/** Datagrams that a suggested buffer holds at most. */
const MOST_DATAGRAMS = 50_000;
/** IPv4 and TCP headers with timestamps, bytes. */
const HEADERS = 52;

/** netperf's options for a stream of such packets, one skb a segment. */
export function streamOptions(
  packet: ExplainPacket,
  sysctl: StreamSysctl,
  rttMs: number,
): NetperfOptions {
  const { kernel, path, truesize, size } = packet;
  const measured = truesize !== undefined || path instanceof RxStrategy ||
    path === undefined;
  return {
    kernel,
    path: measured ? "netdev-alloc-skb" : path,
    rx: measured ? packetRxPath(packet) : undefined,
    mtu: Math.max(128, Math.min(65536, size + HEADERS)),
    rttMs,
    seconds: ROUND_TRIPS * rttMs / 1e3,
    // The receiver is explained: its peer's send buffer should not be the limit.
    sysctl: { tcp_wmem: [4096, 16384, 0x3fffffff], ...sysctl },
    tso: false,
    gro: false,
    hystart: false,
    samples: 20,
  };
}

/** A cheaper way to receive the same packets; undefined where the present one is as cheap. */
function cheaper(
  { packet, charge }: Pick<StreamCase, "packet" | "charge">,
  protocol: "udp" | "tcp",
): { readonly packet: ExplainPacket; readonly text: string } | undefined {
  const virtio = typeof packet.path === "string" &&
    packet.path.startsWith("virtio");
  const path: PacketPath = virtio ? "virtio-mergeable" : "ixgbe";
  if (path === packet.path) return undefined;
  const other: ExplainPacket = {
    ...packet,
    path,
    truesize: undefined,
    mtu: undefined,
    napiFrags: undefined,
  };
  if (packet.size + HEADERS > 1500) return undefined;
  const less = packetCharge(other, protocol);
  if (less * 4 > charge * 3) return undefined;
  return {
    packet: other,
    text: virtio
      ? `mergeable receive buffers (VIRTIO_NET_F_MRG_RXBUF): ${less} instead of ${charge} bytes a packet`
      : `driver buffers of half a page, as ixgbe's: ${less} instead of ${charge} bytes a packet`,
  };
}

function streamed(
  from: StreamCase,
  change: string,
  changed: Partial<NetperfOptions>,
): Suggestion {
  const result = whatIf({
    ...streamOptions(from.packet, from.sysctl, from.rttMs),
    change: changed,
  });
  const before = result.before.goodputSecondHalf;
  const after = result.after.goodputSecondHalf;
  return {
    change,
    metric: `Mbit/s at ${from.rttMs} ms`,
    before,
    after,
    by: "netperf",
    mends: after > before * 1.05,
  };
}

// Nobody reads: how often must a full queue be pruned until the window closes?
function pruned(
  from: StreamCase,
  change: string,
  changed: Partial<NetperfOptions>,
): Suggestion {
  const result = whatIf({
    ...streamOptions(from.packet, {
      ...from.sysctl,
      rmem_max: from.rcvbuf,
    }, from.rttMs),
    soRcvbuf: from.rcvbuf >> 1,
    read: 0,
    change: changed,
  });
  const count = (run: typeof result.before): number =>
    run.flows[0]!.receiver.PruneCalled;
  return {
    change,
    metric: "PruneCalled while nobody reads",
    before: count(result.before),
    after: count(result.after),
    by: "netperf",
    mends: count(result.after) < count(result.before),
  };
}

/** tcp_adv_win_scale under which an skb is worth no more window than it carries; undefined if none is. */
function honestScale({ packet, charge }: StreamCase): number | undefined {
  for (let scale = 0; scale >= -8; scale--) {
    if (winFromSpace(scale, charge) <= packet.size) return scale;
  }
  return undefined;
}

/** What may mend a TCP socket. */
export function tcpSuggestions(from: StreamCase): Suggestion[] {
  const { packet, sysctl } = from;
  const { kernel } = packet;
  const suggestions: Suggestion[] = [];
  const less = cheaper(from, "tcp");
  const newer = kernel.tcp.space === "scaling_ratio"
    ? undefined
    : { ...packet, kernel: kernelNamed("6.18") };
  const tried = (
    run: typeof streamed,
    other: ExplainPacket,
    text: string,
  ): void => {
    const { path, rx, mtu, kernel } = streamOptions(other, sysctl, from.rttMs);
    suggestions.push(run(from, text, { path, rx, mtu, kernel }));
  };
  const { rmemMax } = from;
  if (rmemMax !== undefined && rmemMax <= 0x7fffffff) {
    const [min, initial] = sysctl.tcp_rmem ?? kernel.tcp.rmem;
    suggestions.push(streamed(from, `tcp_rmem[2] ${rmemMax}`, {
      sysctl: { tcp_rmem: [min, Math.min(initial, rmemMax), rmemMax] },
    }));
  }
  if (from.capped && newer !== undefined) {
    tried(streamed, newer, "a kernel from 6.6 on (scaling_ratio), here 6.18");
  }
  if (from.capped && less !== undefined) {
    tried(streamed, less.packet, less.text);
  }
  if (from.prunes) {
    const scale = newer === undefined ? undefined : honestScale(from);
    if (scale !== undefined) {
      suggestions.push(pruned(from, `tcp_adv_win_scale ${scale}`, {
        sysctl: { tcp_adv_win_scale: scale },
      }));
    }
    if (newer !== undefined) {
      tried(pruned, newer, "a kernel from 6.6 on (scaling_ratio), here 6.18");
    }
    if (less !== undefined) tried(pruned, less.packet, less.text);
  }
  return suggestions;
}

/** What may mend a UDP socket: a buffer for as many datagrams as its bytes promise, and cheaper packets. */
export function udpSuggestions(
  packet: ExplainPacket,
  charge: number,
  rcvbuf: number,
): Suggestion[] {
  const suggestions: Suggestion[] = [];
  const empty = { rmemAlloc: 0, rcvbuf };
  const before = udpRoom(packet, empty).packets;
  const add = (change: string, after: number): void => {
    suggestions.push({
      change,
      metric: "datagrams until the first drop",
      before,
      after,
      by: "datagramsUntilDrop",
      mends: after > before,
    });
  };
  // Beyond MOST_DATAGRAMS a simulated fill takes long and a longer queue helps nobody.
  const promised = Math.min(
    MOST_DATAGRAMS,
    Math.floor(rcvbuf / Math.max(1, packet.size)),
  );
  if (promised > before) {
    const needed = rcvbufFor(packet, charge, promised);
    if (needed < Infinity) {
      const asked = Math.ceil(needed / 2);
      add(
        `SO_RCVBUF ${asked} (sk_rcvbuf ${
          2 * asked
        }), net.core.rmem_max at least that`,
        udpRoom(packet, { rmemAlloc: 0, rcvbuf: 2 * asked }).packets,
      );
    }
  }
  const less = cheaper({ packet, charge }, "udp");
  if (less !== undefined) add(less.text, udpRoom(less.packet, empty).packets);
  return suggestions;
}
