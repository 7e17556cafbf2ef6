/**
 * How a TCP socket's receive buffer fills while nobody reads, and what the window does when somebody does.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { flag, optionsObject, whole } from "../sim/check.ts";
import type { TcpCounters } from "../tcp/counters.ts";
import { FRAG_BLOCK } from "../tcp/frag_blocks.ts";
import type { StreamSysctl } from "./netperf_options.ts";
import { type StreamSetup, streamSetup } from "./netperf_setup.ts";
import { type FillPace, FillRun, type TcpFillRow } from "./tcp_fill_run.ts";

export type { TcpFillRow } from "./tcp_fill_run.ts";

/** A sender that writes a little at a time, and a socket that nobody reads. */
export interface TcpFillOptions {
  /** Kernel of both ends. */
  readonly kernel: Kernel;
  /** Which device joins them: both hand the sender's own skbs over. */
  readonly path: "loopback" | "veth";
  /** Bytes of one write(). */
  readonly write: number;
  /** sysctls of both ends. */
  readonly sysctl?: StreamSysctl | undefined;
  /** MTU, bytes: 65,536 on loopback, 1,500 on veth. */
  readonly mtu?: number | undefined;
  /** TSO on the sender's device; true if absent. Without it software segments. */
  readonly tso?: boolean | undefined;
  /** Scatter-gather on the sender's device; true if absent. */
  readonly sg?: boolean | undefined;
  /** GRO on the receiver's veth, which matters only without TSO; false if absent. */
  readonly gro?: boolean | undefined;
  /** SO_RCVBUF on the receiver, bytes; autotuned if absent. */
  readonly soRcvbuf?: number | undefined;
  /** SO_SNDBUF on the sender, bytes; autotuned if absent. */
  readonly soSndbuf?: number | undefined;
  /** Whether each write waits until the receiver has all bytes so far; true if absent. */
  readonly paced?: boolean | undefined;
  /** Writes at most; 100,000 if absent. */
  readonly writes?: number | undefined;
  /** The fill ends after so many simulated seconds; 4 if absent. */
  readonly seconds?: number | undefined;
  /** Writes that the receiver may leave waiting before the fill ends; 4 if absent. */
  readonly stalls?: number | undefined;
  /** How long a write waits for the receiver, ms; 200 if absent. */
  readonly patienceMs?: number | undefined;
  /** What the application needs between one write and the next, ms; 0.05 if absent. */
  readonly gapMs?: number | undefined;
  /** Ticks of the kernel's timers, Hz; 250 if absent. */
  readonly hz?: number | undefined;
  /** When the first write comes after a tick, ms; 0 if absent. */
  readonly phaseMs?: number | undefined;
  /** Round trip between the two ends, ms; 0.02 if absent. */
  readonly rttMs?: number | undefined;
  /** Where the writing task stands in its page fragment of 32 KiB, bytes; 0 if absent. */
  readonly fragOffset?: number | undefined;
  /** Bytes of reads that follow the fill, one after the other; none if absent. */
  readonly reads?: readonly number[] | undefined;
}

/** A filled socket. */
export interface TcpFill {
  /** Before the first write, after each, and when all has settled. */
  readonly rows: readonly TcpFillRow[];
  /** What each write added to `sk_rmem_alloc`, bytes. */
  readonly increments: readonly number[];
  /** Writes made. */
  readonly writes: number;
  /** Their bytes. */
  readonly written: number;
  /** Whether time ended the fill, not a full buffer. */
  readonly stoppedByTime: boolean;
  /** When all has settled. */
  readonly end: TcpFillRow;
  /** After each of `reads`. */
  readonly drain: readonly TcpFillRow[];
  /** The sender's `sk_wmem_queued`, bytes, after the fill. */
  readonly wmemQueued: number;
  /** The receiver's counters, after the fill. */
  readonly receiver: TcpCounters;
  /** The sender's. */
  readonly sender: TcpCounters;
}

const KEYS: readonly string[] = [
  "kernel",
  "path",
  "write",
  "sysctl",
  "mtu",
  "tso",
  "sg",
  "gro",
  "soRcvbuf",
  "soSndbuf",
  "paced",
  "writes",
  "seconds",
  "stalls",
  "patienceMs",
  "gapMs",
  "hz",
  "phaseMs",
  "rttMs",
  "fragOffset",
  "reads",
];

/** How the application behaves, and for how long. */
export interface FillPlan extends FillPace {
  readonly writes: number;
  readonly stalls: number;
  readonly reads: readonly number[];
}

function milliseconds(name: string, value: number | undefined, absent: number) {
  const ms = value ?? absent;
  if (typeof ms !== "number") {
    throw new TypeError(`${name} ${String(ms)}: a number is allowed`);
  }
  if (!(ms >= 0 && ms <= 1e6)) {
    throw new RangeError(`${name} ${ms}: 0 to 1000000 is allowed`);
  }
  return ms * 1e6;
}

/** Checks a fill's options and fills in the defaults. */
export function fillSetup(options: TcpFillOptions): [StreamSetup, FillPlan] {
  optionsObject(options, "tcpFill");
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key)) {
      throw new TypeError(
        `tcpFill(): unknown option "${key}"; known are ${KEYS.join(", ")}`,
      );
    }
  }
  const { path } = options;
  if (path !== "loopback" && path !== "veth") {
    throw new RangeError(
      `path "${String(path)}": "loopback" or "veth" is allowed`,
    );
  }
  const reads = options.reads ?? [];
  reads.forEach((bytes, i) => whole(`reads[${i}]`, bytes, 1, 0x7fffffff));
  const pace = {
    paced: flag("paced", options.paced ?? true),
    writes: whole("writes", options.writes ?? 100_000, 1, 1e9),
    stalls: whole("stalls", options.stalls ?? 4, 1, 1000),
    patience: milliseconds("patienceMs", options.patienceMs, 200),
    gap: milliseconds("gapMs", options.gapMs, 0.05),
    jiffy: 1e9 / whole("hz", options.hz ?? 250, 1, 10_000),
    phase: milliseconds("phaseMs", options.phaseMs, 0),
    fragOffset: whole("fragOffset", options.fragOffset ?? 0, 0, FRAG_BLOCK - 1),
    reads,
  };
  const { kernel, write, sysctl, mtu, tso, sg, gro, soRcvbuf, soSndbuf } =
    options;
  const setup = streamSetup({
    kernel,
    path,
    write,
    sysctl,
    mtu,
    tso,
    sg,
    gro,
    soRcvbuf,
    soSndbuf,
    rttMs: options.rttMs ?? 0.02,
    seconds: options.seconds ?? 4,
    nodelay: true,
    read: 0,
  });
  return [setup, pace];
}

/**
 * Fills a TCP socket that nobody reads, one write at a time, as a test program over loopback or veth does.
 *
 * The receiver gets the sender's own skbs, so a write costs its bytes and, where it cannot be merged into the queue's
 * last skb, a head: not beyond 17 fragments, and not while the sender still holds the last one's clone, which is until
 * the delayed ACK. Without `soRcvbuf` a full buffer is raised; with it the queue is collapsed.
 *
 * Models `tcp_queue_rcv`, `tcp_try_rmem_schedule` and `tcp_prune_queue` (net/ipv4/tcp_input.c) behind `tcp_sendmsg`
 * and the device's offloads.
 *
 * @param options Kernel, path, size of a write and offloads; see {@linkcode TcpFillOptions}.
 * @returns The receiving socket after each write, at the end and after each read; sizes in bytes.
 * @throws {RangeError} A value is out of range.
 * @throws {TypeError} A value is of the wrong type, or an option is unknown.
 *
 * @example The first of 17 single bytes pays for a head
 * ```ts
 * import { kernel, tcpFill } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const fill = tcpFill({ kernel: kernel("6.18"), path: "veth", write: 1, writes: 18 });
 * assertEquals(fill.increments.slice(0, 2), [833, 1]);
 * assertEquals(fill.increments[17], 833);
 * ```
 */
export function tcpFill(options: TcpFillOptions): TcpFill {
  const [setup, plan] = fillSetup(options);
  const run = new FillRun(setup, plan);
  const rows = [run.row()];
  let inTime = true;
  while (run.writes < plan.writes && run.stalled < plan.stalls) {
    inTime = run.rest() < setup.duration;
    if (!inTime) break;
    run.write();
    rows.push(run.row());
  }
  run.settle();
  const end = run.row();
  const increments = rows.slice(1).map(({ rmemAlloc }, i) =>
    rmemAlloc - rows[i]!.rmemAlloc
  );
  rows.push(end);
  return {
    rows,
    increments,
    writes: run.writes,
    written: run.written,
    stoppedByTime: !inTime,
    end,
    wmemQueued: run.sender.wmemQueued,
    receiver: { ...run.receiver.counters },
    sender: { ...run.sender.counters },
    drain: plan.reads.map((bytes) => {
      run.read(bytes);
      return run.row();
    }),
  };
}
