/**
 * What an explanation says, as data, as text and in a notebook.
 *
 * @module
 */

import { type Cell, type CellKind, Table, type TableRow } from "../table.ts";
import type { CollapseWork } from "./explain_collapse.ts";
import type { CounterSign } from "./explain_counters.ts";
import type { SocketState } from "./explain_socket.ts";
import type { Suggestion } from "./explain_suggest.ts";

/** Where a TCP window stops, and why. */
export interface WindowExplanation {
  /** Where `rcv_ssthresh` stops for such packets, bytes. */
  readonly cap: number;
  /** What `tcp_rmem[2]` is worth, bytes. */
  readonly whole: number;
  /** What stops it: skbs worth more window than they carry, the socket's ratio, or `tcp_rmem[2]` alone. */
  readonly mechanism:
    | "tcp_grow_window"
    | "scaling_ratio"
    | "tcp_win_from_space";
  /** Window that one skb's charge is worth, bytes. */
  readonly worth: number;
  /** The largest throughput that the cap allows at the round trip, Mbit/s. */
  readonly mostMbit: number | undefined;
  /** Bytes in flight that the wanted throughput needs. */
  readonly bdp: number | undefined;
  /** The least `tcp_rmem[2]` whose cap holds them, bytes; Infinity if none does. */
  readonly rmemNeeded: number | undefined;
}

/** How the figures of an explanation came about. */
export interface ExplanationKinds {
  /** Of `charge`. */
  readonly charge: CellKind;
  /** Of `payload`, and so of `ratio`. */
  readonly payload: CellKind;
  /** Of `packets` and `until`. */
  readonly packets: CellKind;
  /** Of `bytes`, `segments` and `rmemAlloc`, which hang on what the last packet leaves. */
  readonly bytes: CellKind;
  /** Of all that `window` says. */
  readonly window: CellKind;
  /** Of all that `collapse` says. */
  readonly collapse: CellKind;
}

/** The figures of an {@linkcode Explanation}. */
export type ExplanationData = Omit<
  Explanation,
  "ratio" | "toTable" | "suggestionTable" | "toString"
>;

const whole = (value: number): string =>
  value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
const UNTIL = {
  "drop": "until the first drop",
  "zero window": "until the window has no room for another",
  "prune": "until the queue is pruned or collapsed",
  "open": "and the window is open still",
} as const;
/** Decimals of a suggestion's figures: counts, rates, ratios. */
const DECIMALS = { exact: 0, priced: 1, fitted: 3, unexplained: 3 } as const;

/** A socket explained. */
export class Explanation {
  /** The socket that was explained. */
  readonly state!: SocketState;
  /** Payload of a packet, bytes; of a write over loopback or veth. */
  readonly size!: number;
  /** Charge of a packet, bytes; over loopback and veth of the first write. */
  readonly charge!: number;
  /** Payload held, bytes; for UDP the charge's worth of packets of `size`. */
  readonly payload!: number;
  /** Packets that are still taken whole. */
  readonly packets!: number;
  /** The fewest and the most by all that the printed values leave open; both are `packets` where nothing hangs on it. */
  readonly range!: readonly [least: number, most: number];
  /** Payload that is still taken, bytes: of TCP's last packet a part may fit. */
  readonly bytes!: number;
  /** Segments or datagrams until then; over loopback and veth what TCP makes of the writes, window probes among them. */
  readonly segments!: number;
  /** What happens to the next packet; `open` where so many were followed and nothing happened. */
  readonly until!: "drop" | "zero window" | "prune" | "open";
  /** `sk_rmem_alloc` then, bytes. */
  readonly rmemAlloc!: number;
  /** How the figures came about. */
  readonly kinds!: ExplanationKinds;
  /** What `packets` rests on; undefined where the printed values say all. */
  readonly note!: string | undefined;
  /** TCP's window. */
  readonly window!: WindowExplanation | undefined;
  /** What collapsing copies while nobody reads; undefined where nothing says that it happens. */
  readonly collapse!: CollapseWork | undefined;
  /** Round trip, ms. */
  readonly rttMs!: number | undefined;
  /** Counters to look at. */
  readonly signs!: readonly CounterSign[];
  /** Changes, simulated. */
  readonly suggestions!: readonly Suggestion[];

  /** From its figures. */
  constructor(data: ExplanationData) {
    Object.assign(this, data);
  }

  /** Payload held by truesize held; of a single packet where the socket holds nothing. */
  get ratio(): number {
    const { rmemAlloc } = this.state;
    return rmemAlloc > 0 ? this.payload / rmemAlloc : this.size / this.charge;
  }

  /** Text for a terminal; each figure says how it came about. */
  toString(): string {
    const { state, size, charge, window, kinds, range, note, collapse } = this;
    const lines = [
      `${state.protocol.toUpperCase()}: holds ${
        whole(this.payload)
      } B of payload in ${whole(state.rmemAlloc)} B of truesize (sk_rcvbuf ${
        whole(state.rcvbuf)
      } B), ratio ${this.ratio.toFixed(3)} (${kinds.payload})`,
      `A packet of ${whole(size)} B is charged ${
        whole(charge)
      } B (${kinds.charge}); ${whole(this.packets)} more${
        range[0] === range[1]
          ? ""
          : ` (${whole(range[0])} to ${whole(range[1])})`
      } ${UNTIL[this.until]} (${kinds.packets}), at ${
        whole(this.rmemAlloc)
      } B (${kinds.bytes})`,
    ];
    if (note !== undefined) lines.push(`  rests on: ${note}`);
    if (state.drops > 0) lines.push(`${whole(state.drops)} dropped so far`);
    if (window !== undefined) lines.push(...this.#window(window));
    const { signs } = this;
    for (const { name, value, meaning } of signs) {
      if (value !== undefined && value > 0) {
        lines.push(`${name} ${value}: ${meaning}`);
      }
    }
    const open = signs.filter(({ value }) => value === undefined);
    if (open.length > 0) {
      lines.push(
        `Counters that would tell: ${open.map(({ name }) => name).join(", ")}`,
      );
    }
    if (collapse !== undefined) {
      const { packets, passes, skbs, bytes, longest } = collapse;
      lines.push(
        passes === 0
          ? `tcp_collapse: nothing to copy while nobody reads (${kinds.collapse})`
          : `tcp_collapse: after ${whole(packets)} packets that nobody reads, ${
            whole(passes)
          } passes copy ${whole(bytes)} B of ${whole(skbs)} skbs, one of them ${
            whole(longest)
          } B (${kinds.collapse}; a copied byte has no price here)`,
      );
    }
    for (
      const { change, metric, before, after, mends, by, kind } of this
        .suggestions
    ) {
      lines.push(
        `${mends ? "Helps" : "Does not help"}: ${change}: ${
          before.toFixed(DECIMALS[kind])
        } -> ${after.toFixed(DECIMALS[kind])} ${metric} (${by}, ${kind})`,
      );
    }
    return lines.join("\n");
  }

  #window(window: WindowExplanation): string[] {
    const { cap, mechanism, worth, mostMbit, bdp, rmemNeeded } = window;
    const kind = this.kinds.window;
    const why = {
      tcp_grow_window: `tcp_grow_window: an skb charged ${
        whole(this.charge)
      } B is worth ${whole(worth)} B of window but carries ${
        whole(this.size)
      } B, so rcv_ssthresh stops below the ${
        whole(window.whole)
      } B that tcp_rmem[2] is worth`,
      scaling_ratio:
        "scaling_ratio: tcp_rmem[2] is worth what such skbs carry in it",
      tcp_win_from_space: "tcp_rmem[2] alone (tcp_win_from_space)",
    }[mechanism];
    const lines = [`The window stops at ${whole(cap)} B (${kind}). ${why}`];
    if (mostMbit !== undefined) {
      lines.push(
        `At ${this.rttMs} ms that is ${
          mostMbit.toFixed(1)
        } Mbit/s at most (${kind})`,
      );
    }
    if (bdp !== undefined) {
      lines.push(
        `The wanted rate needs ${whole(bdp)} B in flight: tcp_rmem[2] ${
          rmemNeeded === Infinity
            ? "cannot be large enough"
            : `of ${whole(rmemNeeded!)} B`
        } (${kind})`,
      );
    }
    return lines;
  }

  /** The figures as a table, each marked with how it came about. */
  toTable(): Table {
    const { kinds, window, collapse, note, range } = this;
    const rows: TableRow[] = [];
    const row = (
      label: string,
      unit: string,
      simulated: number | undefined,
      kind: CellKind,
      note?: string,
    ): void => {
      if (simulated === undefined) return;
      const cell: Cell = {
        published: null,
        simulated: Number.isFinite(simulated) ? simulated : null,
        kind,
        unit,
        ...(note === undefined ? {} : { note }),
      };
      rows.push({ label, cells: [cell] });
    };
    row("payload held", "bytes", this.payload, kinds.payload);
    row("payload per truesize", "", this.ratio, kinds.payload);
    row("charge of a packet", "bytes", this.charge, kinds.charge);
    row(
      `packets ${UNTIL[this.until]}`,
      "packets",
      this.packets,
      kinds.packets,
      range[0] === range[1] || note === undefined
        ? note
        : `${range[0]} to ${range[1]}: ${note}`,
    );
    row("sk_rmem_alloc then", "bytes", this.rmemAlloc, kinds.bytes);
    if (window !== undefined) {
      const { cap, mostMbit, rmemNeeded, mechanism } = window;
      row("window stops at", "bytes", cap, kinds.window, mechanism);
      row(
        `throughput at ${this.rttMs} ms`,
        "Mbit/s",
        mostMbit,
        kinds.window,
      );
      row(
        "tcp_rmem[2] that the wanted rate needs",
        "bytes",
        rmemNeeded,
        kinds.window,
        rmemNeeded === Infinity ? "no value is large enough" : undefined,
      );
    }
    if (collapse !== undefined) {
      const { passes, skbs, bytes, longest } = collapse;
      const kind = kinds.collapse;
      row("tcp_collapse: passes while nobody reads", "", passes, kind);
      row("skbs they copy", "", skbs, kind);
      row("payload they copy", "bytes", bytes, kind);
      row("payload the longest copies", "bytes", longest, kind);
    }
    return new Table({
      id: "explanation",
      title: `A ${this.state.protocol.toUpperCase()} socket and packets of ${
        whole(this.size)
      } bytes`,
      unit: "",
      columns: ["figure"],
      rows,
    });
  }

  /** The suggested changes as a table; undefined where there is none. */
  suggestionTable(): Table | undefined {
    if (this.suggestions.length === 0) return undefined;
    return new Table({
      id: "suggestions",
      title: "Changes, each tried in simulation",
      unit: "",
      columns: ["before", "after"],
      rows: this.suggestions.map(
        ({ change, metric, before, after, mends, by, kind }) => {
          const cell = (simulated: number): Cell => ({
            published: null,
            simulated,
            kind,
            unit: metric,
          });
          return {
            label: change,
            cells: [cell(before), {
              ...cell(after),
              note: `${mends ? "helps" : "does not help"}, by ${by}`,
            }],
          };
        },
      ),
    });
  }

  /** What Jupyter shows: the text, and the tables. */
  [Symbol.for("Jupyter.display")](): Record<string, string> {
    const tables = [this.toTable(), this.suggestionTable()].filter((table) =>
      table !== undefined
    );
    return {
      "text/plain": `${this}\n`,
      "text/html": tables.map((table) => table.toHTML()).join("\n"),
      "text/markdown": tables.map((table) => table.toMarkdown()).join("\n"),
    };
  }
}
