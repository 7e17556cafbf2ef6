/**
 * How many more segments a TCP socket takes until its window closes, or its queue must be pruned.
 *
 * @module
 */

import type { StreamSysctl } from "../experiments/netperf_options.ts";
import type { CellKind } from "../table.ts";
import type { RxPath } from "../net/rx_skb.ts";
import type { AckSink } from "../tcp/acks.ts";
import { TcpMemory } from "../tcp/memory.ts";
import { newSkb } from "../tcp/receive_memory.ts";
import { RxSegment, TcpReceiver } from "../tcp/receiver.ts";
import { fillHistories, type FillSearch } from "./explain_history.ts";
import { type ExplainPacket, isLocal, packetRxPath } from "./explain_packet.ts";
import type { SocketState } from "./explain_socket.ts";
import type { FillFuture } from "./explain_trace.ts";

/** How a TCP socket ends that nobody reads. */
export interface TcpRoom {
  /** Packets taken whole until then. */
  readonly packets: number;
  /** The fewest and the most by all that the printed values leave open; the same where nothing hangs on it. */
  readonly range: readonly [least: number, most: number];
  /** Payload taken until then, bytes: of the last packet a part may fit. */
  readonly bytes: number;
  /** Segments until then, window probes among them. */
  readonly segments: number;
  /**
   * What ends it: no window for another packet, or no memory for one that the window allowed; "open" where the window
   * still is after as many packets as were followed.
   */
  readonly until: "zero window" | "prune" | "open";
  /** `sk_rmem_alloc` then, bytes. */
  readonly rmemAlloc: number;
  /** `sk_rcvbuf` then, bytes. */
  readonly rcvbuf: number;
  /** How `packets` came about. */
  readonly kind: CellKind;
  /** How `bytes`, `segments` and `rmemAlloc` did. */
  readonly bytesKind: CellKind;
  /** What they rest on. */
  readonly note: string | undefined;
}

/** Segments of a write that may come in one poll; more were seen to meet the reader's own look at the socket. */
const BURST = 3;
/** IPv4 and TCP headers with timestamps, bytes. */
const HEADERS = 52;
const NOBODY: AckSink = { ack() {} };
const MOST_PACKETS = 10_000_000;

/** A receiving socket of which nothing was heard yet, and whose segments are alike. */
export function newReceiver(
  packet: ExplainPacket,
  sysctl: StreamSysctl,
  rx: RxPath,
  lockedRcvbuf = 0,
): TcpReceiver {
  const { kernel, size, mtu = packet.path === "loopback" ? 65536 : 1500 } =
    packet;
  const mss = Math.min(
    65495,
    Math.max(size, mtu - (packet.ip === 6 ? 60 : 40)),
  );
  const receiver = new TcpReceiver({
    kernel,
    rmem: sysctl.tcp_rmem ?? kernel.tcp.rmem,
    rmemMax: sysctl.rmem_max ?? 212992,
    lockedRcvbuf,
    advWinScale: sysctl.tcp_adv_win_scale ?? 1,
    moderateRcvbuf: sysctl.tcp_moderate_rcvbuf ?? true,
    mss,
    peerMss: mss,
    timestamps: sysctl.tcp_timestamps ?? true,
    passive: true,
    memory: new TcpMemory(undefined, kernel.build.pageSize),
  }, NOBODY);
  const { sk } = receiver;
  sk.rcvMss = size;
  if (sk.byRatio) {
    rx.receive(size);
    sk.scalingRatio = Math.max(
      1,
      Math.min(255, Math.floor(size * 256 / rx.skb.truesize)),
    );
  }
  return receiver;
}

/** A receiving socket in a printed state. */
function receiverIn(
  packet: ExplainPacket,
  state: SocketState,
  sysctl: StreamSysctl,
  rx: RxPath,
): TcpReceiver {
  const { size } = packet;
  const receiver = newReceiver(packet, sysctl, rx);
  const { sk } = receiver;
  sk.rcvbuf = state.rcvbuf;
  sk.windowClamp = Math.max(sk.win(state.rcvbuf), state.rcvSsthresh ?? 0);
  sk.rcvSsthresh = state.rcvSsthresh ?? sk.windowClamp;
  if (state.rcvWscale !== undefined) {
    Object.assign(sk, {
      wscale: state.rcvWscale,
      wscaleUnit: 2 ** state.rcvWscale,
    });
  }
  const unread = state.unread ?? 0;
  sk.rcvNxt = unread;
  sk.rcvWup = unread;
  sk.rcvqSeq = 0;
  if (state.rmemAlloc > 0) {
    rx.receive(size);
    const skb = newSkb(sk, rx.skb, 0, unread, 0);
    // How the printed charge lies in skbs is not printed: nothing merges with it.
    sk.pool.truesize[skb] = state.rmemAlloc;
    sk.pool.tailroom[skb] = 0;
    sk.pool.frags[skb] = sk.maxSkbFrags;
    sk.receiveQueue.push(skb);
  }
  sk.rmemAlloc = state.rmemAlloc;
  sk.forwardAlloc = state.forwardAlloc;
  sk.rcvWnd = state.rcvWnd ?? Math.max(
    0,
    Math.min(sk.rcvSsthresh, sk.space()),
  );
  return receiver;
}

/** Where a socket with a known past ends. */
function knownRoom(
  { futures, varied }: FillSearch,
  { size, path, mtu = path === "loopback" ? 65536 : 1500 }: ExplainPacket,
  unread: number,
): TcpRoom {
  const [{ history, end, ended, segments }] = futures as [FillFuture];
  const counts = futures.map(({ end }) =>
    Math.floor((end.queued - unread) / size)
  );
  const [packets] = counts as [number];
  const range = [Math.min(...counts), Math.max(...counts)] as const;
  const bursts = size > BURST * (mtu - HEADERS);
  const certain = varied && !bursts && range[0] === range[1];
  const alike = certain &&
    futures.every((future) =>
      future.end.queued === end.queued &&
      future.end.rmemAlloc === end.rmemAlloc
    );
  const past = [
    `writes of ${size} B that nobody read print the same`,
    history.locked ? "SO_RCVBUF set" : "SO_RCVBUF not set",
    ...(history.tso ? [] : ["no TSO"]),
    ...(history.sg ? [] : ["no scatter-gather"]),
    ...(history.gro ? ["GRO"] : []),
    ...(history.rmemMax === undefined
      ? []
      : [`tcp_rmem[2] ${history.rmemMax}`]),
    ...(history.paused ? ["the writer had paused"] : []),
    ...(bursts
      ? ["what of a burst meets a reader and waits in the backlog is chance"]
      : alike
      ? []
      : varied
      ? [
        "the rest hangs on the writer's pace and where its page fragment stands",
      ]
      : ["followed at one pace of the writer"]),
  ];
  return {
    packets,
    range,
    bytes: end.queued - unread,
    segments,
    until: !ended ? "open" : end.rcvWnd === 0 ? "zero window" : "prune",
    rmemAlloc: end.rmemAlloc,
    rcvbuf: end.rcvbuf,
    // The usual pace is the one at which the reference was measured.
    kind: certain ? "exact" : "fitted",
    bytesKind: alike ? "exact" : "fitted",
    note: past.join(", "),
  };
}

/**
 * How many packets a socket takes until its window has no room for one more, or its queue is to be pruned; nobody reads.
 *
 * Over loopback and veth that follows from a history which prints the same values, where there is one: prunes and
 * collapses on the way are part of it. Elsewhere segments are sent from the printed values on, each acknowledged before
 * the next, until the first prune: exact from an empty queue, or where nothing merges.
 *
 * Models `tcp_data_queue`, `tcp_try_rmem_schedule` (net/ipv4/tcp_input.c) and `__tcp_select_window`
 * (net/ipv4/tcp_output.c) by release.
 *
 * @param packet The segments; over loopback and veth the writes.
 * @param state The socket.
 * @param sysctl The host's sysctls.
 */
export function tcpRoom(
  packet: ExplainPacket,
  state: SocketState,
  sysctl: StreamSysctl = {},
): TcpRoom {
  const { size, truesize } = packet;
  if (!isLocal(packet, "tcp")) {
    const known = truesize !== undefined || state.rmemAlloc === 0;
    return continued(packet, state, sysctl, known ? undefined : LUMP);
  }
  const search = fillHistories(packet, state, sysctl);
  return search.futures.length > 0
    ? knownRoom(search, packet, state.unread!)
    : continued(
      packet,
      state,
      sysctl,
      `an estimate: not a socket that nobody read and that writes of ${size} B filled (${search.miss}); ${LUMP}`,
    );
}

const LUMP =
  "how the printed charge lies in skbs is not printed: nothing merges with it";

// From the printed values on.
function continued(
  packet: ExplainPacket,
  state: SocketState,
  sysctl: StreamSysctl,
  note: string | undefined,
): TcpRoom {
  const { size } = packet;
  const rx = packetRxPath(packet);
  const receiver = receiverIn(packet, state, sysctl, rx);
  const { sk } = receiver;
  const segment = new RxSegment();
  segment.skb = rx.skb;
  let packets = 0;
  let now = 1e9;
  let until: TcpRoom["until"] | undefined;
  let { rmemAlloc, rcvbuf } = sk;
  while (until === undefined) {
    ({ rmemAlloc, rcvbuf } = sk);
    if (packets === MOST_PACKETS) until = "open";
    else if (sk.window() < size) until = "zero window";
    else {
      rx.receive(size);
      segment.seq = sk.rcvNxt;
      segment.end = segment.seq + size;
      receiver.segment(now, segment);
      if (sk.counters.PruneCalled > 0 || sk.rcvNxt < segment.end) {
        until = "prune";
        break;
      }
      packets++;
      receiver.ackNow(now);
      now += 1e6;
    }
  }
  const kind = note === undefined ? "exact" : "unexplained";
  return {
    packets,
    range: [packets, packets],
    segments: packets,
    bytes: packets * size + (until === "zero window" ? sk.window() : 0),
    until,
    rmemAlloc,
    rcvbuf,
    kind,
    bytesKind: kind,
    note,
  };
}
