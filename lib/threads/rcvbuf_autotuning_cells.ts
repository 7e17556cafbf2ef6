/**
 * One run of the rcvbuf autotuning thread: which kernel, driver and path, and what came out.
 *
 * @module
 */

import { netperf } from "../experiments/netperf.ts";
import type { NetperfOptions } from "../experiments/netperf_options.ts";
import type { LimitShares, Series } from "../experiments/stream_result.ts";
import type { Kernel } from "../kernel.ts";
import {
  rcvbufExpand,
  sndbufAutotuning,
} from "../patches/rcvbuf_autotuning.ts";
import { skbPageFragRefillV3 } from "../patches/skb_page_frag_refill.ts";
import {
  virtioCoalesceRxFrags,
  virtioHeaderRoom,
  virtioMtuBuffers,
} from "../patches/virtio_net_buffers.ts";
import type { HostPrices } from "../path/host_prices.ts";
import type { RxPath } from "../net/rx_skb.ts";
import { kernel } from "../releases/mod.ts";

/**
 * What each host spends, ns: round figures for a guest of 2013, named here and nowhere else. The rows from 25 ms on
 * hardly depend on them (table `host-prices`); the row of 0 ms is nothing but them.
 */
export const HOST: HostPrices = {
  packet: 2000,
  segment: 0,
  ack: 500,
  byte: 0.3,
  call: 300,
  wake: 5000,
  cpus: 1,
};

/** Host latency in each round trip of the second variant, ms. */
export const LATENCY_MS = 1.5;

/** Seconds that a run lasts, as netperf's did; at 0 ms less, since nothing changes after the first. */
export const SECONDS = 60;
export const SECONDS_AT_0 = 1;

/** Packets that may wait for the receiver: a tap queue that drops nothing. */
const RING = 10_000;

/** How the receiver's virtio_net holds packets. */
export type RcvbufAutotuningDriver =
  | "whole page"
  | "MTU buffer"
  | "small"
  | "6.18";

/** A run of the rcvbuf autotuning thread. Plain data, so that it can go to a worker. */
export interface CellSpec {
  /** The message's column. */
  readonly column: 1 | 2 | 3;
  /** TSO and GSO on the sender. */
  readonly tso: boolean;
  /** Delay that netem adds, ms. */
  readonly rttMs: number;
  /** The receiver's driver. */
  readonly driver: RcvbufAutotuningDriver;
  /** Simulated time, s. */
  readonly seconds: number;
  /** Latency that the hosts add, ms. */
  readonly latencyMs?: number;
  /** `MAX_TCP_HEADER`, bytes; 256 if absent. */
  readonly maxTcpHeader?: number;
  /** Prices as a multiple of those of the tables; 1 if absent. */
  readonly price?: number;
  /** CPUs of each host; 1 if absent. */
  readonly cpus?: 1 | 2;
  /** netem's limit, packets; none if absent. */
  readonly netemLimit?: number;
  /** A packet is lost every so many seconds; never if absent. */
  readonly lossEvery?: number;
  /** `tcp_rmem`; the release's if absent. */
  readonly tcpRmem?: readonly [number, number, number];
  /** Charge of each segment, bytes, in a fragment of its own; the driver's if absent. */
  readonly truesize?: number;
  /** Samples of the first connection that the outcome keeps; none if absent. */
  readonly samples?: number;
}

/** What a run gives. */
export interface CellOutcome {
  /** Mbit/s of payload read. */
  readonly goodput: number;
  /** Mbit/s over the second half. */
  readonly secondHalf: number;
  /** Shares of the time by limit. */
  readonly limits: LimitShares;
  /** Largest `rcv_ssthresh`, bytes. */
  readonly rcvSsthresh: number;
  /** MSS segments simulated. */
  readonly segments: number;
  /** Samples, where the run asked for them. */
  readonly series?: Series;
}

/** `tcp_rmem` of every run that has none of its own. */
export const TCP_RMEM = [4096, 87380, 6291456] as const;

/** A run with every choice made that has a usual one. */
export type CompleteSpec =
  & CellSpec
  & Required<
    Pick<
      CellSpec,
      "latencyMs" | "maxTcpHeader" | "price" | "cpus" | "tcpRmem"
    >
  >;

/** The same run with every choice made, in one order: equal runs are equal texts. */
export function completeSpec(spec: CellSpec): CompleteSpec {
  const { column, tso, rttMs, driver, seconds } = spec;
  return {
    column,
    tso,
    rttMs,
    driver,
    seconds: rttMs === 0 ? SECONDS_AT_0 : seconds,
    latencyMs: spec.latencyMs ?? 0,
    maxTcpHeader: spec.maxTcpHeader ?? 256,
    price: spec.price ?? 1,
    cpus: spec.cpus ?? HOST.cpus,
    tcpRmem: spec.tcpRmem ?? TCP_RMEM,
    ...(spec.netemLimit === undefined ? {} : { netemLimit: spec.netemLimit }),
    ...(spec.lossEvery === undefined ? {} : { lossEvery: spec.lossEvery }),
    ...(spec.truesize === undefined ? {} : { truesize: spec.truesize }),
    ...(spec.samples === undefined ? {} : { samples: spec.samples }),
  };
}

/** A driver whose segments have a charge as asked. */
function chargedAs(truesize: number): RxPath {
  return {
    skb: {
      truesize,
      linear: 0,
      frags: 1,
      tailroom: 0,
      end: 512,
      moved: truesize - 768,
      headFrag: false,
      fragList: false,
      shared: false,
      sharedEnd: Infinity,
    },
    receive() {},
  };
}

/** The kernel of a column. */
export function columnKernel(column: 1 | 2 | 3, maxTcpHeader = 256): Kernel {
  const base = kernel("net-next-2013-10", { maxTcpHeader });
  return column === 1
    ? base
    : column === 2
    ? base.am(sndbufAutotuning)
    : base.am(sndbufAutotuning, rcvbufExpand);
}

/** A kernel with Michael Dalton's buffers of one MTU-sized frame, as merged for 3.13. */
export function mtuBuffers(base: Kernel): Kernel {
  return base.am(
    skbPageFragRefillV3,
    virtioMtuBuffers,
    virtioCoalesceRxFrags,
    virtioHeaderRoom,
  );
}

/**
 * A run of the rcvbuf autotuning thread as {@linkcode netperf} takes it: kernels, driver, path and the hosts' prices, which are
 * those of the thread's tables.
 *
 * @param spec Column of the message, offloads, delay and driver.
 * @returns Options, which may be spread and changed.
 *
 * @example
 * ```ts
 * import { netperf, rcvbufAutotuningRun } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const run = rcvbufAutotuningRun({ column: 1, tso: false, rttMs: 50, driver: "whole page", seconds: 2 });
 * const { rcvSsthresh } = netperf({ ...run, samples: 20 }).flows[0]!;
 * assertEquals(Math.floor(rcvSsthresh / 1e5), 15);
 * ```
 */
export function rcvbufAutotuningRun(given: CellSpec): NetperfOptions {
  const spec = completeSpec(given);
  const { column, driver, truesize, price } = spec;
  const sender = columnKernel(column, spec.maxTcpHeader);
  const host: HostPrices = {
    packet: HOST.packet * price,
    segment: HOST.segment * price,
    ack: HOST.ack * price,
    byte: HOST.byte * price,
    call: HOST.call * price,
    wake: HOST.wake * price,
    cpus: spec.cpus,
  };
  return {
    kernel: driver === "6.18" ? kernel("6.18") : sender,
    receiver: driver === "MTU buffer" ? mtuBuffers(sender) : undefined,
    path: driver === "small" ? "virtio-small" : "virtio-mergeable",
    tso: spec.tso,
    rttMs: spec.rttMs,
    latencyMs: spec.latencyMs,
    seconds: spec.seconds,
    host: { sender: host, receiver: host },
    ring: RING,
    sysctl: {
      tcp_rmem: spec.tcpRmem,
      tcp_wmem: [4096, 16384, 4194304],
    },
    netem: {
      limit: spec.netemLimit,
      lossEvery: spec.lossEvery,
    },
    ...(truesize === undefined ? {} : { rx: chargedAs(truesize) }),
    samples: spec.samples ?? 60,
  };
}

/** Simulates a cell. */
export function simulateCell(spec: CellSpec): CellOutcome {
  const run = netperf(rcvbufAutotuningRun(spec));
  return {
    goodput: run.goodput,
    secondHalf: run.goodputSecondHalf,
    limits: run.limits,
    rcvSsthresh: run.flows[0]!.rcvSsthresh,
    segments: run.segments,
    ...(spec.samples === undefined ? {} : { series: run.series }),
  };
}
