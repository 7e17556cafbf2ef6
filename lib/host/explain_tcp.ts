/**
 * How many more segments a TCP socket takes until its window closes, or its queue must be pruned.
 *
 * @module
 */

import type { StreamSysctl } from "../experiments/netperf_options.ts";
import type { RxPath } from "../net/rx_skb.ts";
import type { AckSink } from "../tcp/acks.ts";
import { TcpMemory } from "../tcp/memory.ts";
import { newSkb } from "../tcp/receive_memory.ts";
import { RxSegment, TcpReceiver } from "../tcp/receiver.ts";
import { type ExplainPacket, packetRxPath } from "./explain_packet.ts";
import type { SocketState } from "./explain_socket.ts";

/** How a TCP socket ends that nobody reads. */
export interface TcpRoom {
  /** Packets taken until then. */
  readonly packets: number;
  /** What ends it: no window for another packet, or no memory for one that the window allowed. */
  readonly until: "zero window" | "prune";
  /** `sk_rmem_alloc` then, bytes. */
  readonly rmemAlloc: number;
  /** `sk_rcvbuf` then, bytes. */
  readonly rcvbuf: number;
}

const NOBODY: AckSink = { ack() {} };
const MOST_PACKETS = 10_000_000;

/** A receiving socket in a printed state. */
function receiverIn(
  packet: ExplainPacket,
  state: SocketState,
  sysctl: StreamSysctl,
  rx: RxPath,
): TcpReceiver {
  const { kernel, size, mtu = 1500 } = packet;
  const mss = Math.max(size, mtu - (packet.ip === 6 ? 60 : 40));
  const receiver = new TcpReceiver({
    kernel,
    rmem: sysctl.tcp_rmem ?? kernel.tcp.rmem,
    rmemMax: sysctl.rmem_max ?? 212992,
    lockedRcvbuf: 0,
    advWinScale: sysctl.tcp_adv_win_scale ?? 1,
    moderateRcvbuf: sysctl.tcp_moderate_rcvbuf ?? true,
    mss,
    peerMss: mss,
    timestamps: sysctl.tcp_timestamps ?? true,
    passive: true,
    memory: new TcpMemory(undefined, kernel.build.pageSize),
  }, NOBODY);
  const { sk } = receiver;
  sk.rcvbuf = state.rcvbuf;
  sk.rcvMss = size;
  if (sk.byRatio) {
    rx.receive(size);
    sk.scalingRatio = Math.max(
      1,
      Math.min(255, Math.floor(size * 256 / rx.skb.truesize)),
    );
  }
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

/**
 * Sends segments to a socket in a given state until its window has no room for one more, or its queue is to be pruned;
 * nobody reads, and each segment is acknowledged before the next.
 *
 * Models `tcp_data_queue`, `tcp_try_rmem_schedule` (net/ipv4/tcp_input.c) and `__tcp_select_window`
 * (net/ipv4/tcp_output.c) by release.
 *
 * @param packet The segments.
 * @param state The socket.
 * @param sysctl The host's sysctls.
 */
export function tcpRoom(
  packet: ExplainPacket,
  state: SocketState,
  sysctl: StreamSysctl = {},
): TcpRoom {
  const rx = packetRxPath(packet);
  const receiver = receiverIn(packet, state, sysctl, rx);
  const { sk } = receiver;
  const segment = new RxSegment();
  segment.skb = rx.skb;
  let packets = 0;
  let now = 1e9;
  while (packets < MOST_PACKETS) {
    const { rmemAlloc, rcvbuf } = sk;
    if (sk.window() < packet.size) {
      return { packets, until: "zero window", rmemAlloc, rcvbuf };
    }
    rx.receive(packet.size);
    segment.seq = sk.rcvNxt;
    segment.end = segment.seq + packet.size;
    receiver.segment(now, segment);
    if (sk.counters.PruneCalled > 0 || sk.rcvNxt < segment.end) {
      return { packets, until: "prune", rmemAlloc, rcvbuf };
    }
    packets++;
    receiver.ackNow(now);
    now += 1e6;
  }
  throw new RangeError(
    `explain(): the socket takes more than ${MOST_PACKETS} packets`,
  );
}
