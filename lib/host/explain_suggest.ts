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
import type { CellKind } from "../table.ts";
import { winFromSpace } from "../tcp/space.ts";
import { collapseWork } from "./explain_collapse.ts";
import {
  type ExplainPacket,
  packetCharge,
  packetRxPath,
} from "./explain_packet.ts";
import { fillEnd } from "./explain_trace.ts";
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
  /** Which simulation gave both; `datagramsUntilDrop` is the same fill, of a measured charge where one is given. */
  readonly by: "netperf" | "datagramsUntilDrop" | "tcpFill" | "collapseWork";
  /** How both figures came about. */
  readonly kind: CellKind;
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
/** A write large enough to be worth its head, bytes. */
const LARGE_WRITE = 16384;
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
    kind: "priced",
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
    kind: "exact",
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
  if (!from.prunes) return suggestions;
  const scale = newer === undefined ? undefined : honestScale(from);
  if (scale !== undefined) {
    const change = `tcp_adv_win_scale ${scale}`;
    suggestions.push(
      pruned(from, change, { sysctl: { tcp_adv_win_scale: scale } }),
      ...copied(from, change, packet, {
        ...sysctl,
        tcp_adv_win_scale: scale,
      }),
    );
  }
  if (newer !== undefined) {
    const change = "a kernel from 6.6 on (scaling_ratio), here 6.18";
    tried(pruned, newer, change);
    suggestions.push(...copied(from, change, newer, sysctl));
  }
  if (less !== undefined) {
    tried(pruned, less.packet, less.text);
    suggestions.push(...copied(from, less.text, less.packet, sysctl));
  }
  return suggestions;
}

// What collapsing copies, where it copies anything.
function copied(
  from: StreamCase,
  change: string,
  packet: ExplainPacket,
  sysctl: StreamSysctl,
): Suggestion[] {
  const before = collapseWork(from.packet, from.rcvbuf, from.sysctl).bytes;
  if (before === 0) return [];
  const after = collapseWork(packet, from.rcvbuf, sysctl).bytes;
  return [{
    change,
    metric: "bytes copied by tcp_collapse while nobody reads",
    before,
    after,
    by: "collapseWork",
    kind: "exact",
    mends: after < before,
  }];
}

/** What may mend a socket whose sender writes on the same machine: fewer heads. */
export function localSuggestions(
  packet: ExplainPacket,
  sysctl: StreamSysctl,
): Suggestion[] {
  if (packet.size >= LARGE_WRITE) return [];
  const cost = (size: number): number => {
    const { end } = fillEnd({ ...packet, size }, sysctl);
    return end.rmemAlloc / end.queued;
  };
  const before = cost(packet.size);
  const after = cost(LARGE_WRITE);
  return [{
    change: `writes of ${LARGE_WRITE} bytes instead of ${packet.size}`,
    metric: "bytes of truesize per byte that waits in a full socket",
    before,
    after,
    by: "tcpFill",
    kind: "fitted",
    mends: after < before * 0.95,
  }];
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
      kind: "exact",
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
