/**
 * A TCP stream's options, checked once and completed with defaults.
 *
 * @module
 */

import { RxStrategy } from "../drivers/rx_strategy.ts";
import type { Kernel } from "../kernel.ts";
import type { RxPath } from "../net/rx_skb.ts";
import { FREE_HOST, type HostPrices } from "../path/host_prices.ts";
import {
  finite,
  flag,
  kernelArgument,
  optionsObject,
  share,
  whole,
} from "../sim/check.ts";
import { type Sizes, sizes } from "../tcp/initial_buffers.ts";
import type { NetemOptions, NetperfOptions } from "./netperf_options.ts";
import { type PacketPath, packetPaths } from "./packet_options.ts";

/** {@linkcode NetperfOptions} with everything filled in. */
export interface StreamSetup {
  readonly kernel: Kernel;
  readonly receiver: Kernel;
  readonly rmem: Sizes;
  readonly wmem: Sizes;
  readonly tcpMem: Sizes | undefined;
  readonly advWinScale: number;
  readonly moderateRcvbuf: boolean;
  readonly timestamps: boolean;
  readonly rmemMax: number;
  readonly wmemMax: number;
  /** ns. */
  readonly delay: number;
  /** ns. */
  readonly latency: number;
  /** ns. */
  readonly duration: number;
  readonly path: PacketPath;
  readonly bufferSize: number | undefined;
  readonly rx: RxPath | undefined;
  readonly mtu: number;
  readonly tso: boolean;
  readonly gso: boolean;
  readonly sg: boolean;
  readonly gro: boolean;
  /** bits/s. */
  readonly rate: number;
  readonly queue: number;
  readonly netem: Required<
    { [K in keyof NetemOptions]: NonNullable<NetemOptions[K]> }
  >;
  readonly sender: HostPrices;
  readonly receiverHost: HostPrices;
  readonly ring: number;
  readonly flows: number;
  readonly write: number;
  readonly read: number;
  readonly bytes: number;
  readonly congestionControl: "cubic" | "reno";
  readonly hystart: boolean;
  readonly ssthresh: number;
  readonly soRcvbuf: number | undefined;
  readonly soSndbuf: number | undefined;
  readonly nodelay: boolean;
  readonly seed: number;
  readonly samples: number;
}

const KEYS = [
  "kernel",
  "receiver",
  "sysctl",
  "rttMs",
  "latencyMs",
  "seconds",
  "path",
  "bufferSize",
  "rx",
  "mtu",
  "tso",
  "gso",
  "sg",
  "gro",
  "rateMbit",
  "queue",
  "netem",
  "host",
  "ring",
  "flows",
  "write",
  "read",
  "bytes",
  "congestionControl",
  "hystart",
  "ssthresh",
  "soRcvbuf",
  "soSndbuf",
  "nodelay",
  "seed",
  "samples",
];
const SYSCTL_KEYS = [
  "tcp_rmem",
  "tcp_wmem",
  "tcp_mem",
  "tcp_adv_win_scale",
  "tcp_moderate_rcvbuf",
  "tcp_timestamps",
  "rmem_max",
  "wmem_max",
];
const NETEM_KEYS = [
  "limit",
  "loss",
  "reorder",
  "jitterMs",
  "lossEvery",
  "placement",
];
const HOST_KEYS = ["packet", "segment", "ack", "byte", "call", "wake", "cpus"];
const PLACEMENTS = ["sender", "middle", "receiver", "split"] as const;
const INT_MAX = 0x7fffffff;

function known(who: string, value: object, keys: readonly string[]): void {
  for (const key of Object.keys(value)) {
    if (!keys.includes(key)) {
      throw new TypeError(
        `${who}: unknown option "${key}"; known are ${keys.join(", ")}`,
      );
    }
  }
}

function number(
  name: string,
  value: number | undefined,
  absent: number,
  from: number,
  to: number,
): number {
  if (value === undefined) return absent;
  if (!(typeof value === "number" && value >= from && value <= to)) {
    const error = typeof value === "number" ? RangeError : TypeError;
    throw new error(
      `${name} ${String(value)}: a number from ${from} to ${to} is allowed`,
    );
  }
  return value;
}

function boolean(name: string, value: boolean | undefined, absent: boolean) {
  return value === undefined ? absent : flag(name, value);
}

function integer(
  name: string,
  value: number | undefined,
  absent: number,
  from: number,
  to = INT_MAX,
): number {
  return value === undefined ? absent : whole(name, value, from, to);
}

function prices(name: string, given: Partial<HostPrices> = {}): HostPrices {
  optionsObject(given, name);
  known(name, given, HOST_KEYS);
  const price = (key: Exclude<keyof HostPrices, "cpus">): number =>
    number(`${name}.${key}`, given[key], FREE_HOST[key], 0, 1e9);
  const cpus = given.cpus ?? FREE_HOST.cpus;
  if (cpus !== 1 && cpus !== 2) {
    throw new RangeError(`${name}.cpus ${String(cpus)}: 1 or 2 is allowed`);
  }
  return {
    packet: price("packet"),
    segment: price("segment"),
    ack: price("ack"),
    byte: price("byte"),
    call: price("call"),
    wake: price("wake"),
    cpus,
  };
}

function netem(given: NetemOptions = {}): StreamSetup["netem"] {
  optionsObject(given, "netem");
  known("netem", given, NETEM_KEYS);
  const placement = given.placement ?? "sender";
  if (!PLACEMENTS.includes(placement)) {
    throw new RangeError(
      `netem.placement "${String(placement)}": ${
        PLACEMENTS.join(", ")
      } are allowed`,
    );
  }
  return {
    limit: integer("netem.limit", given.limit, Infinity, 1),
    loss: share("netem.loss", given.loss ?? 0),
    reorder: share("netem.reorder", given.reorder ?? 0),
    jitterMs: number("netem.jitterMs", given.jitterMs, 0, 0, 1e6),
    lossEvery: number("netem.lossEvery", given.lossEvery, Infinity, 1e-3, 1e9),
    placement,
  };
}

/** Paths whose frames are never larger than the MTU. */
const MTU_FRAMES: readonly PacketPath[] = [
  "tun",
  "tap",
  "vhost-net",
  "virtio-small",
  "ixgbe",
  "page-pool",
  "netdev-alloc-skb",
];

/** Whether an aggregate reaches the receiver as one frame. */
export function wholeFrames(path: PacketPath): boolean {
  return !MTU_FRAMES.includes(path);
}

/** Whether the path is a wire behind a card that segments. */
export function isWire(path: PacketPath): boolean {
  return path === "ixgbe" || path === "page-pool" ||
    path === "netdev-alloc-skb";
}

// Whether the driver hands its skbs to GRO unless told otherwise.
function usesGro(kernel: Kernel, path: PacketPath): boolean {
  switch (path) {
    case "ixgbe":
    case "page-pool":
      return true;
    case "virtio-mergeable":
    case "virtio-big":
    case "virtio-small":
      return kernel.virtio.gro;
    default:
      return false;
  }
}

/**
 * Checks a stream's options and fills in the defaults.
 *
 * @throws {RangeError} A value is out of range, or nothing on the path would bound the rate.
 * @throws {TypeError} A value is of the wrong type, or an option is unknown.
 */
export function streamSetup(options: NetperfOptions): StreamSetup {
  optionsObject(options, "netperf");
  known("netperf()", options, KEYS);
  const { kernel } = options;
  kernelArgument(kernel, "netperf");
  const receiver = options.receiver ?? kernel;
  kernelArgument(receiver, "netperf");
  const sysctl = options.sysctl ?? {};
  optionsObject(sysctl, "netperf");
  known("sysctl", sysctl, SYSCTL_KEYS);
  const strategy = options.path instanceof RxStrategy ? options.path : null;
  const path = strategy === null ? options.path as PacketPath : "ixgbe";
  if (!packetPaths.includes(path)) {
    throw new RangeError(
      `path "${String(path)}": known are ${
        packetPaths.join(", ")
      }, and what defineRxStrategy gives`,
    );
  }
  const { congestionControl = "cubic" } = options;
  if (congestionControl !== "cubic" && congestionControl !== "reno") {
    throw new RangeError(
      `congestionControl "${
        String(congestionControl)
      }": "cubic" or "reno" is allowed`,
    );
  }
  const tso = boolean("tso", options.tso, path !== "tun" && path !== "tap");
  const host = options.host ?? {};
  optionsObject(host, "host");
  known("host", host, ["sender", "receiver"]);
  const setup: StreamSetup = {
    kernel,
    receiver,
    rmem: sizes("sysctl.tcp_rmem", sysctl.tcp_rmem ?? receiver.tcp.rmem),
    wmem: sizes("sysctl.tcp_wmem", sysctl.tcp_wmem ?? kernel.tcp.wmem),
    tcpMem: sysctl.tcp_mem === undefined
      ? undefined
      : sizes("sysctl.tcp_mem", sysctl.tcp_mem),
    advWinScale: integer(
      "sysctl.tcp_adv_win_scale",
      sysctl.tcp_adv_win_scale,
      1,
      -31,
      31,
    ),
    moderateRcvbuf: boolean(
      "sysctl.tcp_moderate_rcvbuf",
      sysctl.tcp_moderate_rcvbuf,
      true,
    ),
    timestamps: boolean("sysctl.tcp_timestamps", sysctl.tcp_timestamps, true),
    rmemMax: integer("sysctl.rmem_max", sysctl.rmem_max, 212992, 1),
    wmemMax: integer("sysctl.wmem_max", sysctl.wmem_max, 212992, 1),
    delay: number("rttMs", options.rttMs, NaN, 0, 1e6) * 1e6,
    latency: number("latencyMs", options.latencyMs, 0, 0, 1e6) * 1e6,
    duration: number("seconds", options.seconds, NaN, 1e-6, 1e6) * 1e9,
    path,
    bufferSize: options.bufferSize,
    rx: options.rx ?? strategy?.rxPath(receiver, {
      timestamps: sysctl.tcp_timestamps,
    }),
    mtu: integer(
      "mtu",
      options.mtu,
      path === "loopback" ? 65536 : 1500,
      128,
      65536,
    ),
    tso,
    gso: boolean("gso", options.gso, tso),
    sg: boolean("sg", options.sg, true),
    gro: boolean("gro", options.gro, usesGro(receiver, path)),
    rate: number("rateMbit", options.rateMbit, Infinity, 1e-3, 1e9) * 1e6,
    queue: integer("queue", options.queue, 1000, 1),
    netem: netem(options.netem),
    sender: prices("host.sender", host.sender),
    receiverHost: prices("host.receiver", host.receiver),
    ring: integer("ring", options.ring, 256, 1),
    flows: integer("flows", options.flows, 1, 1, 2047),
    write: integer("write", options.write, 16384, 1),
    read: integer("read", options.read, 87380, 0),
    bytes: options.bytes === undefined
      ? Infinity
      : whole("bytes", options.bytes, 1, Number.MAX_SAFE_INTEGER),
    congestionControl,
    hystart: boolean("hystart", options.hystart, true),
    ssthresh: integer("ssthresh", options.ssthresh, 0, 2),
    soRcvbuf: options.soRcvbuf,
    soSndbuf: options.soSndbuf,
    nodelay: boolean("nodelay", options.nodelay, false),
    seed: finite("seed", options.seed ?? 1),
    samples: integer("samples", options.samples, 200, 1, 1e6),
  };
  for (const name of ["delay", "duration"] as const) {
    if (Number.isNaN(setup[name])) {
      throw new TypeError(
        `netperf(): ${
          name === "delay" ? "rttMs" : "seconds"
        } must be a number, got undefined`,
      );
    }
  }
  const { sender, receiverHost } = setup;
  if (
    setup.delay + setup.latency === 0 && setup.rate === Infinity &&
    sender.packet + sender.byte + receiverHost.packet + receiverHost.byte === 0
  ) {
    throw new RangeError(
      "rttMs 0: without a rate or a host's prices nothing bounds the stream; give rateMbit or host",
    );
  }
  return setup;
}
