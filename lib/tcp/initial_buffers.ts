/**
 * What a new connection advertises and holds, by kernel and sysctl.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { kernelArgument, optionsObject, whole } from "../sim/check.ts";
import { initialSndbuf, mssOfMtu, TIMESTAMPS } from "./initial.ts";
import { TcpMemory } from "./memory.ts";
import {
  firstWindow,
  type ReceiverOptions,
  ReceiverSock,
} from "./receiver_sock.ts";
import { soRcvbuf } from "../net/sock.ts";

/** Three sizes in bytes, as `tcp_rmem` and `tcp_wmem` hold them. */
export type Sizes = readonly [min: number, initial: number, max: number];

/** What decides a connection's first windows and buffers; an undefined option is absent. */
export interface InitialBufferOptions {
  /** The kernel of both ends. */
  readonly kernel: Kernel;
  /** MTU of both devices, bytes; 1,500 if absent. */
  readonly mtu?: number | undefined;
  /** `net.ipv4.tcp_rmem`; the release's if absent. */
  readonly tcpRmem?: Sizes | undefined;
  /** `net.ipv4.tcp_wmem`; the release's if absent. */
  readonly tcpWmem?: Sizes | undefined;
  /** `net.core.rmem_max`, bytes; 212,992 if absent. */
  readonly rmemMax?: number | undefined;
  /** `net.core.wmem_max`, bytes; 212,992 if absent. */
  readonly wmemMax?: number | undefined;
  /** What SO_RCVBUF was set to, bytes, on both ends before the connection; autotuned if absent. */
  readonly soRcvbuf?: number | undefined;
  /** What SO_SNDBUF was set to, bytes; autotuned if absent. */
  readonly soSndbuf?: number | undefined;
  /** TCP timestamps; true if absent. */
  readonly timestamps?: boolean | undefined;
  /** `tcp_adv_win_scale` (without effect from 6.6 on); 1 if absent. */
  readonly advWinScale?: number | undefined;
  /** `tcp_moderate_rcvbuf`; true if absent. */
  readonly moderateRcvbuf?: boolean | undefined;
  /** Congestion control: bbr keeps a larger send buffer; cubic if absent. */
  readonly congestionControl?: "cubic" | "reno" | "bbr" | undefined;
}

/** What a connection starts with, bytes; of the passive end where the two differ. */
export interface InitialBuffers {
  /** `sk_rcvbuf` once established. */
  readonly rcvbuf: number;
  /** `sk_sndbuf` once established. */
  readonly sndbuf: number;
  /** `rcv_ssthresh` once established. */
  readonly rcvSsthresh: number;
  /** `window_clamp` once established. */
  readonly windowClamp: number;
  /** `rcvq_space.space`, which `ss` prints as rcv_space. */
  readonly rcvSpace: number;
  /** Window field of the active end's SYN. */
  readonly synWindow: number;
  /** Window field of the SYN-ACK. */
  readonly synAckWindow: number;
  /** Window scale, a shift. */
  readonly windowScale: number;
  /** The receiver's first guess of the sender's MSS, bytes. */
  readonly rcvMss: number;
}

/** Three whole numbers in rising order. */
export function sizes(name: string, value: Sizes): Sizes {
  if (!Array.isArray(value) || value.length !== 3) {
    throw new TypeError(
      `${name} ${String(value)}: three sizes [min, initial, max] are allowed`,
    );
  }
  value.forEach((size, i) => whole(`${name}[${i}]`, size, 1, 0x7fffffff));
  if (!(value[0] <= value[1] && value[1] <= value[2])) {
    throw new RangeError(
      `${name} ${value.join(" ")}: sizes must not fall from one to the next`,
    );
  }
  return value;
}

/** `sk_sndbuf` after `setsockopt(SO_SNDBUF, value)` (net/core/sock.c: `sock_setsockopt`). */
export function soSndbuf(
  kernel: Kernel,
  value: number,
  wmemMax: number,
): number {
  whole("soSndbuf", value, 0, 0x7fffffff);
  return Math.max(
    2 * Math.min(value, wmemMax, 0x3fffffff),
    kernel.udp.minSndbuf,
  );
}

/** Receiver options of one end. */
export function receiverOptions(
  options: InitialBufferOptions,
  passive: boolean,
  memory: TcpMemory = new TcpMemory(),
): ReceiverOptions {
  const { kernel } = options;
  const rmemMax = options.rmemMax ?? 212992;
  const mss = mssOfMtu(options.mtu ?? 1500);
  return {
    kernel,
    rmem: options.tcpRmem ?? kernel.tcp.rmem,
    rmemMax,
    lockedRcvbuf: options.soRcvbuf === undefined
      ? 0
      : soRcvbuf(kernel, options.soRcvbuf, rmemMax),
    advWinScale: options.advWinScale ?? 1,
    moderateRcvbuf: options.moderateRcvbuf ?? true,
    mss,
    peerMss: mss,
    timestamps: options.timestamps ?? true,
    passive,
    memory,
  };
}

/**
 * First windows and buffers of a connection.
 *
 * Models `tcp_select_initial_window` (net/ipv4/tcp_output.c), `tcp_init_buffer_space` with `tcp_fixup_rcvbuf` and
 * `tcp_sndbuf_expand` (net/ipv4/tcp_input.c) by release.
 *
 * @param options Kernel, MTU, sysctls and socket options.
 * @returns Sizes in bytes; see {@linkcode InitialBuffers}.
 * @throws {RangeError} A value is out of range.
 * @throws {TypeError} A value is of the wrong type.
 *
 * @example The patch of October 2013 lowers the first receive buffer
 * ```ts
 * import { initialBuffers, kernel, patches } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("net-next-2013-10").am(patches.sndbufAutotuning!);
 * assertEquals(initialBuffers({ kernel: base }).rcvbuf, 366720);
 * assertEquals(initialBuffers({ kernel: base.am(patches.rcvbufExpand!) }).rcvbuf, 221184);
 * ```
 */
export function initialBuffers(options: InitialBufferOptions): InitialBuffers {
  optionsObject(options, "initialBuffers");
  const { kernel, timestamps = true } = options;
  kernelArgument(kernel, "initialBuffers");
  const mtu = options.mtu ?? 1500;
  whole("mtu", mtu, 68, 65536);
  if (options.tcpRmem !== undefined) sizes("tcpRmem", options.tcpRmem);
  const tcpWmem = options.tcpWmem === undefined
    ? kernel.tcp.wmem
    : sizes("tcpWmem", options.tcpWmem);
  for (const name of ["rmemMax", "wmemMax", "soRcvbuf"] as const) {
    const value = options[name];
    if (value !== undefined) whole(name, value, 0, 0x7fffffff);
  }
  if (options.advWinScale !== undefined) {
    whole("advWinScale", options.advWinScale, -31, 31);
  }
  const cc = options.congestionControl ?? "cubic";
  if (cc !== "cubic" && cc !== "reno" && cc !== "bbr") {
    throw new RangeError(
      `congestionControl "${String(cc)}": "cubic", "reno" or "bbr" is allowed`,
    );
  }
  const active = receiverOptions(options, false);
  const passive = receiverOptions(options, true);
  const sock = new ReceiverSock(passive);
  const mss = passive.mss - (timestamps ? TIMESTAMPS : 0);
  return {
    rcvbuf: sock.rcvbuf,
    sndbuf: options.soSndbuf === undefined
      ? initialSndbuf(kernel, passive.mss, mss, tcpWmem, cc === "bbr" ? 3 : 2)
      : soSndbuf(kernel, options.soSndbuf, options.wmemMax ?? 212992),
    rcvSsthresh: sock.rcvSsthresh,
    windowClamp: sock.windowClamp,
    rcvSpace: sock.rcvqSpace,
    synWindow: Math.min(firstWindow(active).rcvWnd, 65535),
    synAckWindow: Math.min(firstWindow(passive).rcvWnd, 65535),
    windowScale: sock.wscale,
    rcvMss: sock.rcvMss,
  };
}
