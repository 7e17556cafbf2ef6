/**
 * What the two sockets of a stream are set up with.
 *
 * @module
 */

import { soRcvbuf } from "../net/sock.ts";
import { soSndbuf } from "../tcp/initial_buffers.ts";
import { mssOfMtu } from "../tcp/initial.ts";
import type { TcpMemory } from "../tcp/memory.ts";
import { firstWindow, type ReceiverOptions } from "../tcp/receiver_sock.ts";
import type { SenderOptions } from "../tcp/sender_sock.ts";
import type { StreamSetup } from "./netperf_setup.ts";

/** The receiving socket: the passive end. */
export function receiverOptions(
  setup: StreamSetup,
  memory: TcpMemory,
): ReceiverOptions {
  const mss = mssOfMtu(setup.mtu);
  return {
    kernel: setup.receiver,
    rmem: setup.rmem,
    rmemMax: setup.rmemMax,
    lockedRcvbuf: setup.soRcvbuf === undefined
      ? 0
      : soRcvbuf(setup.receiver, setup.soRcvbuf, setup.rmemMax),
    advWinScale: setup.advWinScale,
    moderateRcvbuf: setup.moderateRcvbuf,
    mss,
    peerMss: mss,
    timestamps: setup.timestamps,
    passive: true,
    memory,
  };
}

/** The sending socket, which has had the other one's SYN-ACK. */
export function senderOptions(
  setup: StreamSetup,
  receiver: ReceiverOptions,
  memory: TcpMemory,
): SenderOptions {
  return {
    kernel: setup.kernel,
    wmem: setup.wmem,
    lockedSndbuf: setup.soSndbuf === undefined
      ? 0
      : soSndbuf(setup.kernel, setup.soSndbuf, setup.wmemMax),
    peerMss: receiver.mss,
    timestamps: setup.timestamps,
    peerWindow: Math.min(firstWindow(receiver).rcvWnd, 65535),
    tso: setup.tso,
    gso: setup.gso,
    sg: setup.sg,
    congestionControl: setup.congestionControl,
    hystart: setup.hystart,
    ssthresh: setup.ssthresh,
    gsoMaxSize: 65536,
    nodelay: setup.nodelay,
    handshakeRtt: setup.delay + setup.latency,
    memory,
  };
}
