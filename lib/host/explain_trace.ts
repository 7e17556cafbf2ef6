/**
 * One history of an unread TCP socket on loopback or veth, followed as far as anybody asks.
 *
 * @module
 */

import type { StreamSysctl } from "../experiments/netperf_options.ts";
import type { StreamSetup } from "../experiments/netperf_setup.ts";
import { fillSetup } from "../experiments/tcp_fill.ts";
import {
  type FillPace,
  FillRun,
  type TcpFillRow,
} from "../experiments/tcp_fill_run.ts";
import type { ExplainPacket } from "./explain_packet.ts";

/** What no socket prints of its past. */
export interface FillHistory {
  /** SO_RCVBUF was set. */
  readonly locked: boolean;
  /** tcp_rmem[2] where it differs from the release's, bytes. */
  readonly rmemMax: number | undefined;
  /** TSO on the sender's device. */
  readonly tso: boolean;
  /** Scatter-gather there. */
  readonly sg: boolean;
  /** GRO on the receiver's veth. */
  readonly gro: boolean;
  /** Between one write and the next, ms. */
  readonly gapMs: number;
  /** From a timer tick to the first write, ms. */
  readonly phaseMs: number;
  /** Where the writing task stood in its page fragment of 32 KiB, bytes. */
  readonly fragOffset: number;
  /** Whether the writer had paused, so that every ACK was sent, when the values were printed. */
  readonly paused: boolean;
}

/** How a history goes on. */
export interface FillFuture {
  /** The history. */
  readonly history: FillHistory;
  /** The socket when nothing more is taken. */
  readonly end: TcpFillRow;
  /** Data segments from the printed state until then. */
  readonly segments: number;
  /** Writes since the start. */
  readonly writes: number;
  /** Whether it was followed to its end; false where the window is open still. */
  readonly ended: boolean;
  /** Times that the queue was pruned since the start. */
  readonly pruned: number;
  /** skbs freed by collapsing since the start. */
  readonly collapsed: number;
}

/**
 * Paces of the writer. The first is fitted: the measured fills of 6.18 that serve as reference were made at it, but for
 * a few at the second or third. The rest are there to see what hangs on the pace: it decides on which write a delayed
 * ACK falls.
 */
export const PACES: readonly Pick<FillHistory, "gapMs" | "phaseMs">[] = [
  { gapMs: 0.02, phaseMs: 3 },
  { gapMs: 0.002, phaseMs: 2.5 },
  { gapMs: 0.02, phaseMs: 0 },
  { gapMs: 0.016, phaseMs: 1 },
  { gapMs: 0.024, phaseMs: 2 },
  { gapMs: 0.01, phaseMs: 3.5 },
  { gapMs: 0.03, phaseMs: 1.5 },
];

/** Writes that a history is followed for at most. */
export const MOST_WRITES = 60_000;
/** More writes than this make a history that is followed once only. */
export const LONG = 4_000;
/** Writes that the receiver leaves waiting before the fill counts as ended. */
const STALLS = 4;
/** A send buffer that never is the limit, bytes. */
const SNDBUF = 4 << 20;

/** The likeliest history: offloads as given or as devices have them, nothing set on the socket. */
export function usualHistory(
  { locked, tso, sg, gro }: ExplainPacket,
): FillHistory {
  return {
    locked: locked ?? false,
    rmemMax: undefined,
    // Without scatter-gather there is no TSO.
    tso: tso ?? sg ?? true,
    sg: sg ?? true,
    gro: gro ?? false,
    ...PACES[0]!,
    fragOffset: 0,
    paused: false,
  };
}

/**
 * What a fill with such a history is set up with.
 *
 * @param packet The writes and their path.
 * @param sysctl The host's sysctls.
 * @param history The history.
 * @param rcvbuf `sk_rcvbuf` as SO_RCVBUF set it, where it did, bytes.
 */
export function historySetup(
  packet: ExplainPacket,
  sysctl: StreamSysctl,
  history: FillHistory,
  rcvbuf: number,
): [StreamSetup, FillPace] {
  const { kernel, path, size, mtu } = packet;
  const { locked, rmemMax, tso, sg, gro, gapMs, phaseMs, fragOffset } = history;
  const [min, initial] = kernel.tcp.rmem;
  const { rmem_max = 212992 } = sysctl;
  return fillSetup({
    kernel,
    path: path as "loopback" | "veth",
    write: size,
    mtu,
    tso,
    sg,
    gro,
    gapMs,
    phaseMs,
    fragOffset,
    soSndbuf: SNDBUF,
    soRcvbuf: locked ? rcvbuf >> 1 : undefined,
    sysctl: {
      ...sysctl,
      ...(rmemMax === undefined ? {} : { tcp_rmem: [min, initial, rmemMax] }),
      wmem_max: SNDBUF,
      rmem_max: locked ? Math.max(rmem_max, rcvbuf) : rmem_max,
    },
  });
}

function futureOf(
  history: FillHistory,
  run: FillRun,
  from: TcpFillRow,
): FillFuture {
  const end = run.row();
  const { PruneCalled, TCPRcvCollapsed } = run.receiver.counters;
  return {
    history,
    end,
    segments: end.segments - from.segments,
    writes: run.writes,
    ended: run.stalled >= STALLS,
    pruned: PruneCalled,
    collapsed: TCPRcvCollapsed,
  };
}

/** A fill at an even pace and its moments: when a write has arrived, and when the next one is to come. */
export class Trace {
  readonly #run: FillRun;
  readonly #rows: TcpFillRow[] = [];
  #ended = false;

  /** A history at its first write. */
  constructor(setup: StreamSetup, pace: FillPace) {
    this.#run = new FillRun(setup, pace);
    this.#push();
  }

  /** Window scale of the receiver. */
  get wscale(): number {
    return this.#run.receiver.wscale;
  }

  /** Before the first write. */
  get first(): TcpFillRow {
    return this.#rows[0]!;
  }

  /** Writes until its end; Infinity where it is {@linkcode LONG}. */
  get length(): number {
    while (!this.#ended && this.#run.writes <= LONG) this.#step();
    return this.#run.writes <= LONG ? this.#run.writes : Infinity;
  }

  #push(): void {
    const row = this.#run.row();
    const last = this.#rows.at(-1);
    if (
      last === undefined || row.queued !== last.queued ||
      row.rcvWnd !== last.rcvWnd || row.segments !== last.segments ||
      row.rmemAlloc !== last.rmemAlloc
    ) this.#rows.push(row);
  }

  #step(): void {
    const run = this.#run;
    this.#ended = run.writes >= MOST_WRITES || run.stalled >= STALLS;
    if (this.#ended) run.settle();
    else {
      run.rest();
      this.#push();
      run.write();
    }
    this.#push();
  }

  /** The moments at which so many bytes waited. */
  at(unread: number): TcpFillRow[] {
    const rows = this.#rows;
    while (!this.#ended && rows.at(-1)!.queued <= unread) this.#step();
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle]!.queued < unread) low = middle + 1;
      else high = middle;
    }
    const found: TcpFillRow[] = [];
    while (low < rows.length && rows[low]!.queued === unread) {
      found.push(rows[low++]!);
    }
    return found;
  }

  /** Whether so many bytes wait at some moment; what the last packet leaves at the end counts as near enough. */
  holds(unread: number, size: number): boolean {
    return this.at(unread).length > 0 ||
      Math.abs(this.#rows.at(-1)!.queued - unread) < size;
  }

  /** How it goes on from one of its moments. */
  future(history: FillHistory, from: TcpFillRow): FillFuture {
    while (!this.#ended) this.#step();
    return futureOf(history, this.#run, from);
  }
}

/**
 * A history up to the moment at which so many bytes wait, and how it goes on.
 *
 * @param setup Both ends.
 * @param pace The writer's pace.
 * @param history The history; where it is `paused`, the writer waits at that moment until every ACK was sent.
 * @param unread Bytes that wait.
 * @param accept Whether the socket is the one that is looked for.
 * @param gapMs Gap between the writes that follow, ms; as before if absent.
 * @returns Undefined where so many bytes never wait, or the socket is another one.
 */
export function resumed(
  setup: StreamSetup,
  pace: FillPace,
  history: FillHistory,
  unread: number,
  accept: (row: TcpFillRow) => boolean,
  gapMs: number = history.gapMs,
): FillFuture | undefined {
  const run = new FillRun(setup, pace);
  while (run.queued < unread && run.stalled < STALLS) run.write();
  if (run.queued !== unread) return undefined;
  if (history.paused) run.settle();
  const from = run.row();
  if (!accept(from)) return undefined;
  run.gap = gapMs * 1e6;
  while (run.stalled < STALLS && run.writes < MOST_WRITES) run.write();
  run.settle();
  return futureOf(history, run, from);
}

/** What the first write is charged, bytes. */
export function firstWrite(
  packet: ExplainPacket,
  sysctl: StreamSysctl,
): number {
  const history = { ...usualHistory(packet), locked: false };
  const run = new FillRun(...historySetup(packet, sysctl, history, 0));
  run.write();
  return run.row().rmemAlloc;
}

/** Where a socket ends that nothing is set on. */
export function fillEnd(
  packet: ExplainPacket,
  sysctl: StreamSysctl,
): FillFuture {
  const history = { ...usualHistory(packet), locked: false };
  const trace = new Trace(...historySetup(packet, sysctl, history, 0));
  return trace.future(history, trace.first);
}
