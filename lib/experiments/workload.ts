/**
 * Workloads: anything deterministic that a kernel runs step by step and that counts what it did.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { ReceiveQueue } from "../net/sock.ts";
import { whole } from "../sim/check.ts";
import type { CellKind } from "../table.ts";
import { ipForward, type IpForwardOptions } from "./ip_forward.ts";
import { netperf } from "./netperf.ts";
import type { NetperfOptions } from "./netperf_options.ts";
import { packetSetup } from "./packet_options.ts";
import type { SocketFillOptions } from "./socket_fill.ts";
import { receivedSkbs } from "./truesize.ts";
import { runVhostNetTest, type VhostNetTestOptions } from "./vhost_net_test.ts";

/** Counters: numbers, in records as deep as one likes. */
export interface Counters {
  /** A counter, or a group of them. */
  readonly [name: string]: number | Counters;
}

/** What a kernel can be made to do. */
export interface Workload {
  /** Its name, for messages. */
  readonly name: string;
  /** Steps of a whole run. */
  readonly steps: number;
  /** What a step is, in the singular. */
  readonly unit: string;
  /** How its figures come about; `exact` if absent. */
  readonly kind?: CellKind | undefined;
  /**
   * Runs a kernel through some steps from the start. Counters stand in the order in which one moves another.
   *
   * @param kernel The kernel.
   * @param steps How many, 1 to `steps`.
   */
  run(kernel: Kernel, steps: number): Counters;
}

/** Counters of any record, nested ones under their group's name: `slab.ALLOC_FASTPATH`. */
export function flatCounters(counters: unknown): Map<string, number> {
  const flat = new Map<string, number>();
  const walk = (group: unknown, prefix: string): void => {
    for (const [name, value] of Object.entries(group as object)) {
      if (typeof value === "number") flat.set(prefix + name, value);
      else if (typeof value === "object" && value !== null) {
        walk(value, `${prefix}${name}.`);
      } else if (typeof value !== "function") {
        throw new TypeError(
          `the workload's ${prefix}${name} is ${
            String(value)
          }: counters are numbers`,
        );
      }
    }
  };
  if (typeof counters !== "object" || counters === null) {
    throw new TypeError(
      `the workload returned ${
        String(counters)
      }: a record of counters is allowed`,
    );
  }
  walk(counters, "");
  return flat;
}

const MOST_STEPS = 1 << 24;

/** What {@linkcode workloads} holds. */
export interface Workloads {
  /** Equal datagrams to a socket that nobody reads; a step is a datagram, of which there are 1,024 if absent. */
  udpFill(
    options: Omit<SocketFillOptions, "kernel">,
    datagrams?: number,
  ): Workload;
  /** IPv4 forwarding on one CPU; a step is a poll, of which there are 256 if absent. */
  forwarding(
    options?: Omit<IpForwardOptions, "kernel" | "polls" | "warmup">,
    polls?: number,
  ): Workload;
  /** `tools/virtio/vhost_net_test`; a step is a packet in each direction, of which there are 4,096 if absent. */
  vhostNetTest(
    options?: Omit<VhostNetTestOptions, "kernel" | "packets">,
    packets?: number,
  ): Workload;
  /**
   * A TCP stream; a step is a millisecond, of which there are 1,000 if absent. Where hosts have prices the counters
   * follow from them.
   */
  netperf(
    options: Omit<NetperfOptions, "kernel" | "receiver" | "seconds">,
    milliseconds?: number,
  ): Workload;
}

/**
 * Workloads to compare kernels by. Each takes the options of its experiment without the kernel, and how many steps.
 *
 * @example
 * ```ts
 * import { compare, kernel, workloads } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const fill = workloads.udpFill({ path: "veth", payload: 1472 });
 * assertEquals(compare(kernel("6.12"), kernel("6.12"), fill).first, null);
 * ```
 */
export const workloads: Workloads = Object.freeze({
  udpFill(
    options: Omit<SocketFillOptions, "kernel">,
    datagrams = 1024,
  ): Workload {
    return {
      name: "UDP fill",
      unit: "datagram",
      steps: whole("datagrams", datagrams, 1, MOST_STEPS),
      run(kernel, steps) {
        const { rcvbuf, memPages, ...packet } = options;
        const setup = packetSetup("udpFill", { ...packet, kernel });
        const { socket } = setup;
        const queue = new ReceiveQueue(kernel, { rcvbuf, memPages, socket });
        let truesize = 0;
        let skbs = 0;
        let refused = 0;
        for (let i = 0; i < steps; i++) {
          const received = receivedSkbs(setup);
          if (typeof received === "string") {
            refused++;
            continue;
          }
          truesize = 0;
          for (const skb of received) {
            skbs++;
            truesize += skb.truesize;
            queue.enqueue(skb);
          }
        }
        const { rmemAlloc, counters } = queue;
        return { refused, skbs, truesize, rmemAlloc, ...counters };
      },
    };
  },

  forwarding(
    options: Omit<IpForwardOptions, "kernel" | "polls" | "warmup"> = {},
    polls = 256,
  ): Workload {
    return {
      name: "forwarding",
      unit: "poll",
      steps: whole("polls", polls, 1, MOST_STEPS),
      run(kernel, steps) {
        const { work: _, ...counted } = ipForward({
          ...options,
          kernel,
          polls: steps,
          warmup: 0,
        });
        const { rx, frags, slab, napi, softirq, tx, ...totals } = counted;
        return { rx, frags, slab, napi, softirq, tx, ...totals };
      },
    };
  },

  vhostNetTest(
    options: Omit<VhostNetTestOptions, "kernel" | "packets"> = {},
    packets = 4096,
  ): Workload {
    return {
      name: "vhost_net_test",
      unit: "packet",
      steps: whole("packets", packets, 1, MOST_STEPS),
      run(kernel, steps) {
        return {
          ...runVhostNetTest({ ...options, kernel, packets: steps }),
        } as unknown as Counters;
      },
    };
  },

  netperf(
    options: Omit<NetperfOptions, "kernel" | "receiver" | "seconds">,
    milliseconds = 1000,
  ): Workload {
    return {
      name: "netperf",
      unit: "millisecond",
      kind: options.host === undefined ? "exact" : "priced",
      steps: whole("milliseconds", milliseconds, 1, MOST_STEPS),
      run(kernel, steps) {
        const { flows, link, ringDrops } = netperf({
          ...options,
          kernel,
          seconds: steps / 1000,
          samples: 1,
        });
        const { receiver, sender, bytes, rcvSsthresh, rcvbuf, sndbuf, cwnd } =
          flows[0]!;
        return {
          rcvbuf,
          sndbuf,
          rcvSsthresh,
          cwnd,
          receiver,
          sender,
          link,
          ringDrops,
          bytes,
        } as unknown as Counters;
      },
    };
  },
});
