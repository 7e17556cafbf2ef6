/**
 * The state of a socket that an explanation starts from, whoever printed it.
 *
 * @module
 */

import { whole } from "../sim/check.ts";
import type { SsSocket } from "./ss.ts";

/** A socket in plain numbers, for those who have no `ss`. */
export interface SocketNumbers {
  /** Transport protocol. */
  readonly protocol: "udp" | "tcp";
  /** `sk_rcvbuf`, bytes: `rb` of skmem. */
  readonly rcvbuf: number;
  /** `sk_rmem_alloc`, bytes: `r` of skmem; 0 if absent. */
  readonly rmemAlloc?: number | undefined;
  /** `sk_forward_alloc`, bytes: `f` of skmem; 0 if absent. */
  readonly forwardAlloc?: number | undefined;
  /** Payload that waits to be read, bytes; for UDP worked out from the charge if absent. */
  readonly unread?: number | undefined;
  /** Packets dropped, a count: `d` of skmem; 0 if absent. */
  readonly drops?: number | undefined;
  /** TCP: `rcv_ssthresh`, bytes; what `rcvbuf` is worth if absent, as if nothing had held it back. */
  readonly rcvSsthresh?: number | undefined;
  /** TCP: the window last announced, bytes; `rcv_ssthresh` if absent. */
  readonly rcvWnd?: number | undefined;
  /** TCP: the receive window's scale, a shift. */
  readonly rcvWscale?: number | undefined;
  /** TCP: data segments received, a count. */
  readonly segments?: number | undefined;
  /** TCP: bytes received in order, whether read or not. */
  readonly received?: number | undefined;
  /** TCP: round trip, ms. */
  readonly rttMs?: number | undefined;
}

/** The same, completed. */
export interface SocketState {
  /** Transport protocol. */
  readonly protocol: "udp" | "tcp";
  /** `sk_rmem_alloc`, bytes. */
  readonly rmemAlloc: number;
  /** `sk_rcvbuf`, bytes. */
  readonly rcvbuf: number;
  /** `sk_forward_alloc`, bytes. */
  readonly forwardAlloc: number;
  /** Payload that waits, bytes, where it is known. */
  readonly unread: number | undefined;
  /** Packets dropped. */
  readonly drops: number;
  /** TCP: `rcv_ssthresh`, bytes. */
  readonly rcvSsthresh: number | undefined;
  /** TCP: window last announced, bytes. */
  readonly rcvWnd: number | undefined;
  /** TCP: window scale. */
  readonly rcvWscale: number | undefined;
  /** TCP: data segments received. */
  readonly segments: number | undefined;
  /** TCP: bytes received in order. */
  readonly received: number | undefined;
  /** TCP: round trip, ms. */
  readonly rttMs: number | undefined;
}

const WHO = "explain";
const MOST = 0x7fffffff;

function isSs(socket: SsSocket | SocketNumbers): socket is SsSocket {
  return "recvQ" in socket;
}

function numbersOf(
  socket: SsSocket,
  protocol: "udp" | "tcp" | undefined,
): SocketNumbers {
  const { memory, tcp, netid } = socket;
  // ss -um prints no Netid, but UNCONN, which TCP has not.
  const kind = netid ?? protocol ??
    (tcp !== undefined ? "tcp" : socket.state === "UNCONN" ? "udp" : undefined);
  if (kind !== "udp" && kind !== "tcp") {
    throw new RangeError(
      `explain(): the socket of line ${socket.line} is ${
        kind === undefined ? "of no known kind" : `"${kind}"`
      }; "udp" or "tcp" is allowed, protocol says which where ss does not`,
    );
  }
  if (memory === undefined) {
    throw new RangeError(
      `explain(): the socket of line ${socket.line} has no skmem; run ss with -m`,
    );
  }
  if (socket.state === "LISTEN") {
    throw new RangeError(
      `explain(): the socket of line ${socket.line} listens; it holds no data`,
    );
  }
  return {
    protocol: kind,
    rcvbuf: memory.rb,
    rmemAlloc: memory.r,
    forwardAlloc: memory.f,
    // Recv-Q of UDP is the charge, not the payload.
    unread: kind === "tcp" ? socket.recvQ : undefined,
    drops: memory.d,
    rcvSsthresh: tcp?.rcvSsthresh,
    rcvWnd: tcp?.rcvWnd,
    rcvWscale: tcp?.wscale?.rcv,
    segments: tcp?.dataSegsIn,
    received: tcp?.bytesReceived,
    rttMs: tcp?.rcvRtt ?? tcp?.rtt?.srtt,
  };
}

/**
 * Checks and completes a socket's state.
 *
 * @param socket A socket of `readSs`, or plain numbers.
 * @param protocol Which protocol, where `ss` printed no Netid and no TCP_INFO.
 * @throws {RangeError} A value is out of range, or `ss` did not print what is needed.
 * @throws {TypeError} A value is of the wrong type.
 */
export function socketState(
  socket: SsSocket | SocketNumbers,
  protocol?: "udp" | "tcp",
): SocketState {
  if (typeof socket !== "object" || socket === null) {
    throw new TypeError(
      `explain(): socket must be what readSs() gives, or numbers, got ${
        String(socket)
      }`,
    );
  }
  const given = isSs(socket) ? numbersOf(socket, protocol) : socket;
  if (given.protocol !== "udp" && given.protocol !== "tcp") {
    throw new RangeError(
      `explain(): protocol "${
        String(given.protocol)
      }": "udp" or "tcp" is allowed`,
    );
  }
  const some = (name: keyof SocketNumbers, to = MOST): number | undefined =>
    given[name] === undefined
      ? undefined
      : whole(name, given[name], 0, to, WHO);
  const { rttMs } = given;
  if (rttMs !== undefined && !(rttMs >= 0 && rttMs <= 1e6)) {
    throw new RangeError(
      `explain(): rttMs ${rttMs}: a number from 0 to 1000000 is allowed`,
    );
  }
  const rmemAlloc = some("rmemAlloc") ?? 0;
  return {
    protocol: given.protocol,
    rcvbuf: whole("rcvbuf", given.rcvbuf, 1, MOST, WHO),
    rmemAlloc,
    forwardAlloc: given.forwardAlloc === undefined
      ? 0
      : whole("forwardAlloc", given.forwardAlloc, -MOST, MOST, WHO),
    unread: some("unread") ?? (rmemAlloc === 0 ? 0 : undefined),
    drops: some("drops", 0xffffffff) ?? 0,
    rcvSsthresh: some("rcvSsthresh"),
    rcvWnd: some("rcvWnd"),
    rcvWscale: some("rcvWscale", 14),
    segments: some("segments", Number.MAX_SAFE_INTEGER),
    received: some("received", Number.MAX_SAFE_INTEGER),
    rttMs,
  };
}
