/**
 * How a TCP socket on loopback or veth came to hold what it prints, found by simulation.
 *
 * How its charge lies in skbs, what the sender has in flight and when the next delayed ACK is due is not printed. But
 * where an application wrote alike and nobody read, all of it follows from the start: a history that prints the same
 * values has the same hidden state, and how it goes on is how the socket goes on.
 *
 * @module
 */

import type { StreamSysctl } from "../experiments/netperf_options.ts";
import type { TcpFillRow } from "../experiments/tcp_fill_run.ts";
import type { Kernel } from "../kernel.ts";
import { FRAG_BLOCK } from "../tcp/frag_blocks.ts";
import type { ExplainPacket } from "./explain_packet.ts";
import type { SocketState } from "./explain_socket.ts";
import {
  type FillFuture,
  type FillHistory,
  historySetup,
  LONG,
  PACES,
  resumed,
  Trace,
  usualHistory,
} from "./explain_trace.ts";

/** What came of the search. */
export interface FillSearch {
  /** Histories that print the socket's values and how each goes on, the likeliest first; empty where there is none. */
  readonly futures: readonly FillFuture[];
  /** Whether pace and page fragment were varied to see what hangs on them; a long history is followed once. */
  readonly varied: boolean;
  /** Where there is no such history: what says so. */
  readonly miss: string;
}

type World = Pick<FillHistory, "locked" | "rmemMax">;
type Offloads = Pick<FillHistory, "tso" | "sg" | "gro">;

/** Writes simulated at most to find out where the writer's page fragment stood. */
const OFFSET_WRITES = 30_000;
/** tcp_rmem[2] up to 6.17, bytes: a host may have kept it. */
const OLD_RMEM_MAX = 6291456;

const OFFLOADS: readonly Offloads[] = [
  { tso: true, sg: true, gro: false },
  { tso: false, sg: true, gro: false },
  { tso: false, sg: true, gro: true },
  { tso: false, sg: false, gro: false },
];

/** Offsets in a page fragment under which different writes straddle its end, for so many bytes; the first is 0. */
function fragOffsets(size: number, bytes: number): number[] {
  const blocks = Math.ceil(bytes / FRAG_BLOCK) + 1;
  const seen = new Set<number>();
  const offsets: number[] = [];
  for (let offset = 0; offset < FRAG_BLOCK; offset++) {
    let boundary = FRAG_BLOCK - offset;
    let signature = 0;
    for (let block = 0; block < blocks; block++) {
      const write = Math.floor(boundary / size);
      // Less than 32 bytes at the end are left unused.
      const unused = boundary - write * size < 32;
      signature = (signature * 8191 + 2 * write + (unused ? 1 : 0)) %
        0x1fffffffffff;
      boundary = (unused ? write * size : boundary) + FRAG_BLOCK;
    }
    if (seen.has(signature)) continue;
    seen.add(signature);
    offsets.push(offset);
  }
  return offsets;
}

/** A value that both print, and the name under which it is reported. */
const COLUMNS: readonly (readonly [
  keyof SocketState & keyof TcpFillRow,
  string,
])[] = [
  ["rmemAlloc", "sk_rmem_alloc"],
  ["rcvbuf", "sk_rcvbuf"],
  ["forwardAlloc", "sk_forward_alloc"],
  ["rcvWnd", "rcv_wnd"],
  ["rcvSsthresh", "rcv_ssthresh"],
  ["segments", "data_segs_in"],
];

/** What a state prints otherwise than a row. */
function differences(state: SocketState, row: TcpFillRow): string[] {
  return COLUMNS.flatMap(([key, name]) => {
    const printed = state[key];
    // A forward_alloc of 0 may be one that was not given.
    return printed === undefined || printed === row[key] ||
        key === "forwardAlloc" && printed === 0
      ? []
      : [`${name} ${printed} where such a history has ${row[key]}`];
  });
}

/** All histories of sockets that get the same writes. */
class Histories {
  readonly #packet: ExplainPacket;
  readonly #sysctl: StreamSysctl;
  readonly #traces = new Map<string, Trace>();
  readonly #offsets = new Map<number, readonly number[]>();

  constructor(packet: ExplainPacket, sysctl: StreamSysctl) {
    this.#packet = packet;
    this.#sysctl = sysctl;
  }

  trace(history: FillHistory, rcvbuf: number): Trace {
    const key = JSON.stringify([history, history.locked ? rcvbuf : 0]);
    let trace = this.#traces.get(key);
    if (trace === undefined) {
      trace = new Trace(
        ...historySetup(this.#packet, this.#sysctl, history, rcvbuf),
      );
      this.#traces.set(key, trace);
    }
    return trace;
  }

  /** As {@linkcode fragOffsets} for writes up to a history's end. */
  offsets(writes: number): readonly number[] {
    const { size } = this.#packet;
    let offsets = this.#offsets.get(writes);
    if (offsets === undefined) {
      offsets = fragOffsets(size, writes * size);
      this.#offsets.set(writes, offsets);
    }
    return offsets;
  }

  /** Whether a connection could have begun so, and what speaks against it. */
  starts(history: FillHistory, state: SocketState): string | undefined {
    const { wscale, first } = this.trace(history, state.rcvbuf);
    if (state.rcvWscale !== undefined && state.rcvWscale !== wscale) {
      return `wscale ${state.rcvWscale} where such a history has ${wscale}`;
    }
    return history.locked
      ? first.rcvbuf === state.rcvbuf ? undefined : "odd sk_rcvbuf"
      : first.rcvbuf <= state.rcvbuf
      ? undefined
      : `sk_rcvbuf ${state.rcvbuf} where it begins with ${first.rcvbuf}`;
  }

  /** How the history goes on; what speaks against it where it does not print the state. */
  try(history: FillHistory, state: SocketState): FillFuture | string[] {
    const unread = state.unread!;
    const { rmemAlloc, rcvbuf } = state;
    let least: string[] = [];
    let charged = false;
    const caught = { ...history, paused: false };
    const trace = this.trace(caught, rcvbuf);
    for (const row of trace.at(unread)) {
      const differ = differences(state, row);
      if (differ.length === 0) return trace.future(caught, row);
      charged ||= row.rmemAlloc === rmemAlloc && row.rcvbuf === rcvbuf;
      if (least.length === 0 || differ.length < least.length) least = differ;
    }
    // A pause lets ACKs out; it changes no charge.
    if (!history.paused || !charged) return least;
    return resumed(
      ...historySetup(this.#packet, this.#sysctl, history, rcvbuf),
      history,
      unread,
      (row) => (least = differences(state, row)).length === 0,
    ) ?? least;
  }

  /** The same history up to the state, and another gap between writes from then on. */
  hurried(
    history: FillHistory,
    state: SocketState,
    gapMs: number,
  ): FillFuture | undefined {
    return resumed(
      ...historySetup(this.#packet, this.#sysctl, history, state.rcvbuf),
      history,
      state.unread!,
      () => true,
      gapMs,
    );
  }
}

/** The sockets that were asked for last: those of a host are explained one after the other. */
let last: { kernel: Kernel; key: string; histories: Histories } | undefined;

function historiesOf(packet: ExplainPacket, sysctl: StreamSysctl): Histories {
  const { kernel, path, size, mtu } = packet;
  const key = JSON.stringify([path, size, mtu, sysctl]);
  if (last?.kernel !== kernel || last.key !== key) {
    last = { kernel, key, histories: new Histories(packet, sysctl) };
  }
  return last.histories;
}

/** What may have been set on the socket and its host, as far as it is not given. */
function worldsOf(
  { kernel, locked }: ExplainPacket,
  { tcp_rmem }: StreamSysctl,
): World[] {
  const maxima = tcp_rmem !== undefined || kernel.tcp.rmem[2] === OLD_RMEM_MAX
    ? [undefined]
    : [undefined, OLD_RMEM_MAX];
  return (locked === undefined ? [false, true] : [locked]).flatMap((locked) =>
    maxima.map((rmemMax) => ({ locked, rmemMax }))
  );
}

/** Other offloads than the usual ones, as far as they are not given. */
function otherOffloads(
  { path, tso, sg, gro }: ExplainPacket,
  usual: Offloads,
): Offloads[] {
  return OFFLOADS.filter((each) =>
    path === "veth" && each.tso === (tso ?? each.tso) &&
    each.sg === (sg ?? each.sg) && each.gro === (gro ?? each.gro) &&
    !(each.tso === usual.tso && each.sg === usual.sg && each.gro === usual.gro)
  );
}

/**
 * Histories of an unread socket, filled by writes of one size over loopback or veth, that print what a socket prints.
 *
 * What the options leave open (SO_RCVBUF, offloads) is found out, and pace and page fragment are varied: what does not
 * hang on them is the same in all futures.
 *
 * @param packet The writes.
 * @param state The socket.
 * @param sysctl The host's sysctls.
 */
export function fillHistories(
  packet: ExplainPacket,
  state: SocketState,
  sysctl: StreamSysctl,
): FillSearch {
  const { unread, received, rcvbuf } = state;
  const missed = (miss: string): FillSearch => ({
    futures: [],
    varied: false,
    miss,
  });
  if (unread === undefined) return missed("the unread bytes are not known");
  if (received !== undefined && received !== unread) {
    return missed(`${received - unread} of ${received} bytes were read`);
  }
  const histories = historiesOf(packet, sysctl);
  const usual = usualHistory(packet);
  const others = otherOffloads(packet, usual);
  let miss: string | undefined;
  let least = Infinity;
  const speaks = (against: readonly string[]): void => {
    if (against.length === 0 || against.length >= least) return;
    least = against.length;
    miss = against.join(", ");
  };
  const worlds = worldsOf(packet, sysctl).filter((world) => {
    const against = histories.starts({ ...usual, ...world }, state);
    miss ??= against;
    return against === undefined;
  });
  if (worlds.length === 0) return missed(miss!);
  const most = unread / packet.size > LONG ? 1 : PACES.length;
  const paces = (
    offloads: Partial<Offloads>,
    paused: boolean,
    tried = most,
  ): FillHistory[] =>
    worlds.flatMap((world) =>
      PACES.slice(0, tried).map((pace) => ({
        ...usual,
        ...world,
        ...offloads,
        ...pace,
        paused,
      }))
    );
  const elsewhere = (from: readonly FillHistory[]): FillHistory[] =>
    from.flatMap((history) => {
      const trace = histories.trace({ ...history, paused: false }, rcvbuf);
      const { length } = trace;
      const most = Math.floor(OFFSET_WRITES / length / from.length);
      if (most === 0 || !trace.holds(unread, packet.size)) return [];
      const offsets = histories.offsets(length).slice(1);
      const step = Math.ceil(offsets.length / most);
      return offsets.filter((_, i) => i % step === 0).map((fragOffset) => ({
        ...history,
        fragOffset,
      }));
    });
  const search = (candidates: readonly FillHistory[]): FillFuture[] => {
    const futures: FillFuture[] = [];
    for (const history of candidates) {
      const result = histories.try(history, state);
      if (Array.isArray(result)) speaks(result);
      else futures.push(result);
      if ((futures[0]?.writes ?? 0) > LONG) break;
    }
    return futures;
  };
  const rounds: (() => FillHistory[])[] = [
    () => paces({}, false),
    () => paces({}, true),
    () => others.flatMap((each) => paces(each, false)),
    () => others.flatMap((each) => paces(each, true)),
    () => elsewhere(paces({}, false, 1)),
  ];
  for (const round of rounds) {
    const futures = search(round());
    const [first] = futures;
    if (first === undefined) continue;
    if (first.writes > LONG) return { futures, varied: false, miss: "" };
    const { history } = first;
    const other = PACES.find(({ gapMs }) => gapMs !== history.gapMs)!;
    if (history.fragOffset === 0) futures.push(...search(elsewhere([history])));
    const hurried = histories.hurried(history, state, other.gapMs);
    if (hurried !== undefined) futures.push(hurried);
    return { futures, varied: true, miss: "" };
  }
  return missed(
    least < Infinity
      ? miss!
      : `${unread} unread bytes, which writes of ${packet.size} do not leave`,
  );
}
