/**
 * What a user may say of a packet and its path, checked once and completed with defaults.
 *
 * @module
 */

import { RxStrategy } from "../drivers/rx_strategy.ts";
import type { TunOptions } from "../drivers/tun.ts";
import type { Kernel } from "../kernel.ts";
import type { SocketKind } from "../net/sock.ts";
import { optionsObject, whole } from "../sim/check.ts";

/**
 * Paths a packet can take to the receiving socket.
 *
 * @example
 * ```ts
 * import { packetPaths } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(packetPaths.includes("virtio-mergeable"));
 * ```
 */
export const packetPaths = [
  "loopback",
  "veth",
  "tun",
  "tap",
  "vhost-net",
  "virtio-mergeable",
  "virtio-big",
  "virtio-small",
  "ixgbe",
  "page-pool",
  "netdev-alloc-skb",
] as const;

/** One of {@linkcode packetPaths}. */
export type PacketPath = typeof packetPaths[number];

/** A packet and its path. */
export interface PacketOptions {
  /** The kernel that builds and receives it. */
  readonly kernel: Kernel;
  /** How it arrives; a receive strategy of one's own stands for its driver. */
  readonly path: PacketPath | RxStrategy;
  /** Transport protocol; UDP by default. */
  readonly protocol?: "udp" | "tcp" | undefined;
  /** Payload of the datagram or segment, bytes. */
  readonly payload: number;
  /** IP version, 4 by default. */
  readonly ip?: 4 | 6 | undefined;
  /** MTU, bytes: 65,536 on loopback, 1,500 elsewhere; tun and tap take any IP packet whatever their MTU. */
  readonly mtu?: number | undefined;
  /** Kind of the receiving socket; UDP by default. */
  readonly socket?: SocketKind | undefined;
  /** Scatter-gather on the sender's device (loopback and veth); true by default. */
  readonly sg?: boolean | undefined;
  /** Receive offload (GRO): one packet alone costs the same with it. */
  readonly gro?: boolean | undefined;
  /** Whether a TCP payload over the MSS arrives as one frame (GSO): true by default on mergeable and big virtio, tun, tap. */
  readonly gso?: boolean | undefined;
  /** TCP timestamps, 12 bytes of every TCP header; true by default. */
  readonly timestamps?: boolean | undefined;
  /** tun and tap: O_NONBLOCK, as vhost_net writes. */
  readonly nonblocking?: boolean | undefined;
  /** tun and tap: a virtio_net_hdr in front of each packet. */
  readonly vnetHdr?: boolean | undefined;
  /** tun and tap: IFF_NAPI (4.15+). */
  readonly napi?: boolean | undefined;
  /** tap: IFF_NAPI_FRAGS (4.15+), the lengths of the write's iovec elements, bytes. */
  readonly napiFrags?: readonly number[] | undefined;
  /** tap and vhost-net: an XDP program is attached. */
  readonly xdp?: boolean | undefined;
  /** virtio-mergeable: bytes of the ring entry that the frame lands in; a fresh ring's first if absent. */
  readonly bufferSize?: number | undefined;
}

/** {@linkcode PacketOptions} with everything filled in. */
export interface PacketSetup {
  /** The kernel. */
  readonly kernel: Kernel;
  /** The path; `strategy` where {@linkcode PacketSetup.strategy} receives. */
  readonly path: PacketPath | "strategy";
  /** The receive strategy, on path `strategy` alone. */
  readonly strategy: RxStrategy | undefined;
  /** The protocol. */
  readonly protocol: "udp" | "tcp";
  /** Payload, bytes. */
  readonly payload: number;
  /** IP version. */
  readonly ip: 4 | 6;
  /** MTU, bytes; Infinity where the writer decides. */
  readonly mtu: number;
  /** Receiving socket. */
  readonly socket: SocketKind;
  /** Scatter-gather. */
  readonly sg: boolean;
  /** Whether TCP arrives unsegmented. */
  readonly gso: boolean;
  /** TCP header, bytes. */
  readonly tcpHeader: number;
  /** tun and tap options. */
  readonly tun: TunOptions;
  /** virtio ring entry, bytes. */
  readonly bufferSize: number | undefined;
}

const KEYS = new Set([
  "kernel",
  "path",
  "protocol",
  "payload",
  "ip",
  "mtu",
  "socket",
  "sg",
  "gro",
  "gso",
  "timestamps",
  "nonblocking",
  "vnetHdr",
  "napi",
  "napiFrags",
  "xdp",
  "bufferSize",
]);

/** Largest payload that is looked at at all: what an `int` holds. */
const MAX_PAYLOAD = 0x7fffffff;

function booleanOr(
  who: string,
  name: string,
  value: unknown,
  absent: boolean,
): boolean {
  if (value === undefined) return absent;
  if (typeof value !== "boolean") {
    throw new TypeError(
      `${who}(): ${name} must be a boolean, got ${typeof value}`,
    );
  }
  return value;
}

function oneOf<T>(
  who: string,
  name: string,
  value: T | undefined,
  allowed: readonly T[],
  absent: T,
): T {
  if (value === undefined) return absent;
  if (!allowed.includes(value)) {
    const list = allowed.map((item) => JSON.stringify(item)).join(", ");
    throw new RangeError(
      `${who}(): ${name} must be one of ${list}, got ${
        JSON.stringify(value) ?? String(value)
      }`,
    );
  }
  return value;
}

const SOCKETS: readonly SocketKind[] = ["udp", "raw", "packet"];
const PROTOCOLS = ["udp", "tcp"] as const;
const VERSIONS = [4, 6] as const;
const NO_TUN: TunOptions = {
  tap: false,
  nonblocking: false,
  napiFrags: null,
  xdp: false,
};

/**
 * Checks a packet's options and fills in the defaults.
 *
 * @param who Name of the function the user called, for messages.
 * @param options The options; those that are `undefined` count as absent.
 * @param more Names of further options that the caller takes.
 * @throws {RangeError} A value is out of range or does not belong to the path or the release.
 * @throws {TypeError} A value is of the wrong type, or an option is unknown.
 */
export function packetSetup(
  who: string,
  options: PacketOptions,
  more: readonly string[] = [],
): PacketSetup {
  optionsObject(options, who);
  for (const key in options) {
    if (!KEYS.has(key) && !more.includes(key)) {
      throw new TypeError(
        `${who}(): unknown option "${key}"; known are ${
          [...KEYS, ...more].join(", ")
        }`,
      );
    }
  }
  const { kernel } = options;
  if (
    typeof kernel !== "object" || kernel === null ||
    typeof kernel.am !== "function"
  ) {
    throw new TypeError(
      `${who}(): kernel must be a kernel, as kernel("6.18") gives, got ${
        String(kernel)
      }`,
    );
  }
  const strategy = options.path instanceof RxStrategy
    ? options.path
    : undefined;
  const path = strategy === undefined
    ? options.path as PacketPath
    : "strategy" as const;
  // A text "strategy" is no path.
  if (strategy === undefined && !packetPaths.includes(path as PacketPath)) {
    throw new RangeError(
      `${who}(): unknown path ${JSON.stringify(options.path)}; known are ${
        packetPaths.join(", ")
      }, and what defineRxStrategy gives`,
    );
  }
  if (path === "page-pool" && !kernel.pagePool.fragments) {
    throw new RangeError(
      `${who}(): path "page-pool" needs 5.15 or later, kernel is ${kernel.name}`,
    );
  }
  const payload = whole("payload", options.payload, 0, MAX_PAYLOAD, who);
  const protocol = oneOf(who, "protocol", options.protocol, PROTOCOLS, "udp");
  const ip = oneOf(who, "ip", options.ip, VERSIONS, 4);
  const tunLike = path === "tun" || path === "tap";
  const mtu = options.mtu === undefined
    ? (path === "loopback" ? 65536 : 1500)
    : whole("mtu", options.mtu, ip === 4 ? 68 : 1280, 65536, who);
  booleanOr(who, "gro", options.gro, false);
  const timestamps = booleanOr(who, "timestamps", options.timestamps, true);
  const gso = booleanOr(
    who,
    "gso",
    options.gso,
    tunLike || path === "virtio-mergeable" || path === "virtio-big",
  );
  if (protocol === "tcp" && payload > 65535) {
    throw new RangeError(
      `${who}(): payload of one TCP segment must be at most 65535 bytes, got ${payload}`,
    );
  }
  const bufferSize = options.bufferSize === undefined
    ? undefined
    : whole("bufferSize", options.bufferSize, 64, 65536, who);
  if (bufferSize !== undefined && path !== "virtio-mergeable") {
    throw new RangeError(
      `${who}(): bufferSize belongs to path "virtio-mergeable", got path "${path}"`,
    );
  }
  return {
    kernel,
    path,
    strategy,
    protocol,
    payload,
    ip,
    mtu: tunLike ? Infinity : mtu,
    socket: oneOf(who, "socket", options.socket, SOCKETS, "udp"),
    sg: booleanOr(who, "sg", options.sg, true),
    gso,
    tcpHeader: timestamps ? 32 : 20,
    tun: tunLike || path === "vhost-net"
      ? tunSetup(who, options, protocol, ip, timestamps)
      : noTun(who, options),
    bufferSize,
  };
}

function noTun(who: string, options: PacketOptions): TunOptions {
  for (const name of ["nonblocking", "vnetHdr", "napi", "xdp"] as const) {
    if (booleanOr(who, name, options[name], false)) {
      throw new RangeError(
        `${who}(): ${name} belongs to paths "tun" and "tap", got path "${options.path}"`,
      );
    }
  }
  if (options.napiFrags !== undefined) {
    throw new RangeError(
      `${who}(): napiFrags belongs to path "tap", got path "${options.path}"`,
    );
  }
  return NO_TUN;
}

function tunSetup(
  who: string,
  options: PacketOptions,
  protocol: "udp" | "tcp",
  ip: 4 | 6,
  timestamps: boolean,
): TunOptions {
  const { kernel, path, napiFrags } = options;
  const napi = booleanOr(who, "napi", options.napi, false);
  booleanOr(who, "vnetHdr", options.vnetHdr, false);
  if ((napi || napiFrags !== undefined) && !kernel.tun.napi) {
    throw new RangeError(
      `${who}(): napi and napiFrags need 4.15 or later, kernel is ${kernel.name}`,
    );
  }
  if (napiFrags !== undefined) {
    if (path !== "tap") {
      throw new RangeError(
        `${who}(): napiFrags belongs to path "tap", got path "${path}"`,
      );
    }
    if (!Array.isArray(napiFrags) || napiFrags.length === 0) {
      throw new TypeError(
        `${who}(): napiFrags must be a list of iovec lengths, got ${
          String(napiFrags)
        }`,
      );
    }
    let sum = 0;
    napiFrags.forEach((length, i) =>
      sum += whole(`napiFrags[${i}]`, length, 0, MAX_PAYLOAD, who)
    );
    const frame = options.payload + 14 + (ip === 4 ? 20 : 40) +
      (protocol === "udp" ? 8 : timestamps ? 32 : 20);
    if (sum !== frame) {
      throw new RangeError(
        `${who}(): napiFrags must add up to the frame's ${frame} bytes, got ${sum}`,
      );
    }
  }
  return {
    tap: path === "tap",
    nonblocking: booleanOr(who, "nonblocking", options.nonblocking, false),
    napiFrags: napiFrags ?? null,
    xdp: booleanOr(who, "xdp", options.xdp, false),
  };
}
