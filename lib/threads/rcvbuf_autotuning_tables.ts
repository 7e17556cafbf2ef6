/**
 * The tables of the rcvbuf autotuning thread: which runs each needs, and how their outcomes fill it.
 *
 * @module
 */

import { truesizeOf } from "../experiments/truesize.ts";
import type { PacketPath } from "../experiments/packet_options.ts";
import { kernel } from "../releases/mod.ts";
import { type Cell, type Table, table } from "../table.ts";
import { initialBuffers } from "../tcp/initial_buffers.ts";
import { windowCap } from "../tcp/window_cap.ts";
import { cell } from "./cell.ts";
import {
  type CellOutcome,
  type CellSpec,
  columnKernel,
  LATENCY_MS,
  mtuBuffers,
  SECONDS,
} from "./rcvbuf_autotuning_cells.ts";
import {
  COLUMNS,
  RTTS,
  TSO_OFF,
  TSO_ON,
} from "./rcvbuf_autotuning_published.ts";

/** Gives the outcome of a run. */
export type Runs = (spec: CellSpec) => CellOutcome;

/** A table and the runs it is made from. */
export interface TablePlan {
  /** The table's id. */
  readonly id: string;
  /** Runs that it needs. */
  readonly specs: readonly CellSpec[];
  /** Makes it. */
  readonly make: (runs: Runs) => Table;
}

const NUMBERS = [1, 2, 3] as const;
const TCP_RMEM = [4096, 87380, 6291456] as const;

/** The run of a cell of the message's tables. */
function messageSpec(
  tso: boolean,
  column: 1 | 2 | 3,
  rttMs: number,
  latencyMs = 0,
): CellSpec {
  return {
    column,
    tso,
    rttMs,
    driver: "whole page",
    seconds: SECONDS,
    latencyMs,
  };
}

/** Whether the mechanism explains a cell of the message's tables. */
function explained(tso: boolean, column: number, rttMs: number): boolean {
  return rttMs > 0 && (tso ? column === 3 : column !== 2);
}

function why(tso: boolean, column: number, rttMs: number): string | undefined {
  if (explained(tso, column, rttMs)) return undefined;
  return rttMs === 0
    ? "bound by the hosts' CPUs, of which the message says nothing"
    : "the code gives the same in all columns; see the table of hypotheses";
}

function messageTable(tso: boolean, latencyMs: number): TablePlan {
  const published = tso ? TSO_ON : TSO_OFF;
  const name = tso ? "on" : "off";
  const specs = RTTS.flatMap((rtt) =>
    NUMBERS.map((column) => messageSpec(tso, column, rtt, latencyMs))
  );
  const id = latencyMs > 0 ? `tso-${name}-latency` : `tso-${name}`;
  return {
    id,
    specs,
    make: (runs) =>
      table({
        id,
        title: `netperf over virtio, 60 s, TSO/GSO ${name}` +
          (latencyMs > 0
            ? `; ${latencyMs} ms of host latency in each RTT`
            : ""),
        unit: "Mbit/s",
        columns: [...COLUMNS],
        rows: RTTS.map((rtt, i) => ({
          label: `${rtt} ms`,
          cells: NUMBERS.map((column) =>
            cell(
              !explained(tso, column, rtt)
                ? "unexplained"
                : latencyMs > 0
                ? "fitted"
                : "priced",
              runs(messageSpec(tso, column, rtt, latencyMs)).goodput,
              published[i]![column - 1]!,
              { note: why(tso, column, rtt) },
            )
          ),
        })),
      }),
  };
}

/** Cells of the message that are set against what bound them, and against their windows. */
const EXPLAINED: readonly (readonly [string, boolean, 1 | 3])[] = [
  ["TSO off, 1", false, 1],
  ["TSO off, 3", false, 3],
  ["TSO on, 3", true, 3],
];
const DELAYED = RTTS.filter((rtt) => rtt > 0);
const EXPLAINED_SPECS = DELAYED.flatMap((rtt) =>
  EXPLAINED.map(([, tso, column]) => messageSpec(tso, column, rtt))
);

const limits: TablePlan = {
  id: "limits",
  specs: EXPLAINED_SPECS,
  make: (runs) =>
    table({
      id: "limits",
      title:
        "What held the stream back: share of the time, as TCP_INFO counts it",
      unit: "% of the time",
      columns: EXPLAINED.flatMap(([name]) => [
        `${name}: rwnd`,
        `${name}: sndbuf`,
        `${name}: cwnd`,
      ]),
      rows: DELAYED.map((rtt) => ({
        label: `${rtt} ms`,
        cells: EXPLAINED.flatMap(([, tso, column]) => {
          const { rwnd_limited, sndbuf_limited, cwnd_limited } =
            runs(messageSpec(tso, column, rtt)).limits;
          return [rwnd_limited, sndbuf_limited, cwnd_limited].map((share) =>
            cell("priced", Math.round(share * 1000) / 10)
          );
        }),
      })),
    }),
};

/** Bytes that a rate keeps under way over an RTT. */
function impliedWindow(mbit: number, rttMs: number): number {
  return Math.round(mbit * rttMs * 125);
}

const windows: TablePlan = {
  id: "implied-windows",
  specs: EXPLAINED_SPECS,
  make: (runs) =>
    table({
      id: "implied-windows",
      title: "Throughput times RTT: the window that each figure implies",
      unit: "bytes",
      columns: EXPLAINED.map(([name]) => name),
      rows: DELAYED.map((rtt) => ({
        label: `${rtt} ms`,
        cells: EXPLAINED.map(([, tso, column]) => {
          const published = (tso ? TSO_ON : TSO_OFF)[RTTS.indexOf(rtt)]!;
          const { goodput } = runs(messageSpec(tso, column, rtt));
          return cell(
            "priced",
            impliedWindow(goodput, rtt),
            impliedWindow(published[column - 1]!, rtt),
            { note: "published: arithmetic on the message's figure" },
          );
        }),
      })),
    }),
};

const initial: TablePlan = {
  id: "initial-buffers",
  specs: [],
  make: () => {
    const of = (column: 1 | 2 | 3, maxTcpHeader: number) =>
      initialBuffers({
        kernel: columnKernel(column, maxTcpHeader),
        tcpRmem: TCP_RMEM,
      });
    const row = (
      label: string,
      pick: (buffers: ReturnType<typeof initialBuffers>) => number,
    ) => ({
      label,
      cells: [256, 304].flatMap((header) =>
        NUMBERS.map((column): Cell => cell("exact", pick(of(column, header))))
      ),
    });
    return table({
      id: "initial-buffers",
      title: "What a connection starts with, by column and MAX_TCP_HEADER",
      unit: "bytes",
      columns: [256, 304].flatMap((header) =>
        NUMBERS.map((column) => `${column}, H ${header}`)
      ),
      rows: [
        row("receive buffer", ({ rcvbuf }) => rcvbuf),
        row("window clamp", ({ windowClamp }) => windowClamp),
        row("send buffer", ({ sndbuf }) => sndbuf),
        row("SYN-ACK window", ({ synAckWindow }) => synAckWindow),
      ],
    });
  },
};

const diagnosis: TablePlan = {
  id: "truesize-diagnosis",
  specs: [],
  make: () => {
    const base = columnKernel(1);
    const rows: [
      string,
      Parameters<typeof truesizeOf>[0]["kernel"],
      PacketPath,
    ][] = [
      ["mergeable, whole page (the thread's base)", base, "virtio-mergeable"],
      [
        "mergeable, MTU buffers (the fix, softirq or refill_work)",
        mtuBuffers(base),
        "virtio-mergeable",
      ],
      ["big", base, "virtio-big"],
      ["not mergeable (small)", base, "virtio-small"],
      ["6.1, mergeable", kernel("6.1"), "virtio-mergeable"],
      ["6.1, big", kernel("6.1"), "virtio-big"],
      ["6.18, mergeable", kernel("6.18"), "virtio-mergeable"],
    ];
    return table({
      id: "truesize-diagnosis",
      title:
        "A segment of 1,448 bytes without GRO: its charge, and where that stops the window (tcp_rmem[2] 6 MiB)",
      unit: "",
      columns: ["truesize, bytes", "charge per byte", "window cap, bytes"],
      rows: rows.map(([label, k, path]) => {
        const packet = truesizeOf({
          kernel: k,
          path,
          protocol: "tcp",
          payload: 1448,
        });
        const { truesize } = packet;
        if (packet.error !== undefined) {
          const note = "this release drops large frames in this mode";
          return {
            label,
            cells: [1, 2, 3].map(() => cell("exact", null, null, { note })),
          };
        }
        return {
          label,
          cells: [
            cell("exact", truesize),
            cell("exact", Math.round(truesize / 1448 * 1000) / 1000),
            cell(
              "exact",
              windowCap({
                kernel: k,
                payload: 1448,
                truesize,
                tcpRmem: TCP_RMEM,
              }),
            ),
          ],
        };
      }),
    });
  },
};

/** Seconds of the runs that have no figure of the message beside them. */
const SHORT = 20;

function fix(tso: boolean): TablePlan {
  const drivers = ["whole page", "MTU buffer", "6.18"] as const;
  const spec = (driver: CellSpec["driver"], rttMs: number): CellSpec => ({
    column: 3,
    tso,
    rttMs,
    driver,
    seconds: SHORT,
  });
  const rtts = RTTS.filter((rtt) => rtt >= 25);
  const id = `fix-tso-${tso ? "on" : "off"}`;
  return {
    id,
    specs: rtts.flatMap((rtt) => drivers.map((driver) => spec(driver, rtt))),
    make: (runs) =>
      table({
        id,
        title: `The fix replayed: second half of ${SHORT} s, TSO/GSO ${
          tso ? "on" : "off"
        }`,
        unit: "Mbit/s",
        columns: [
          "whole pages (4,864)",
          "Dalton's page-frag buffers (2,304)",
          "6.18 and its virtio_net",
        ],
        rows: rtts.map((rtt) => ({
          label: `${rtt} ms`,
          cells: drivers.map((driver) =>
            cell("priced", runs(spec(driver, rtt)).secondHalf)
          ),
        })),
      }),
  };
}

const CLAIM_RTTS = [25, 100, 250] as const;

const claims: TablePlan = (() => {
  const base = { tso: false, driver: "whole page", seconds: SECONDS } as const;
  const rows: [string, (rttMs: number) => CellSpec][] = [
    [
      "initial buffer 366,720 (column 2)",
      (rttMs) => ({ ...base, column: 2, rttMs }),
    ],
    [
      "initial buffer 221,184 (column 3)",
      (rttMs) => ({ ...base, column: 3, rttMs }),
    ],
    [
      "initial buffer tcp_rmem[2]",
      (rttMs) => ({
        ...base,
        column: 2,
        rttMs,
        tcpRmem: [4096, 6291456, 6291456],
      }),
    ],
    [
      "tcp_rmem[2] doubled, 12 MiB",
      (rttMs) => ({
        ...base,
        column: 2,
        rttMs,
        tcpRmem: [4096, 87380, 12582912],
      }),
    ],
    [
      "virtio fixed: 2,304 a segment",
      (rttMs) => ({ ...base, column: 2, rttMs, driver: "MTU buffer" }),
    ],
  ];
  return {
    id: "claims",
    specs: rows.flatMap(([, spec]) => CLAIM_RTTS.map(spec)),
    make: (runs) =>
      table({
        id: "claims",
        title: "Eric Dumazet's three claims, TSO/GSO off, 60 s",
        unit: "Mbit/s",
        columns: CLAIM_RTTS.map((rtt) => `${rtt} ms`),
        rows: rows.map(([label, spec]) => ({
          label,
          cells: CLAIM_RTTS.map((rtt) =>
            cell("priced", runs(spec(rtt)).goodput)
          ),
        })),
      }),
  };
})();

const HYPOTHESIS_RTTS = DELAYED.filter((rtt) => rtt >= 25);

const hypotheses: TablePlan = (() => {
  const off = {
    column: 2,
    tso: false,
    driver: "whole page",
    seconds: SECONDS,
  } as const;
  const on = {
    column: 1,
    tso: true,
    driver: "whole page",
    seconds: SECONDS,
  } as const;
  const columns: [string, (rttMs: number) => CellSpec][] = [
    ["TSO off, 2: as it is", (rttMs) => ({ ...off, rttMs })],
    ["netem limit 1,000", (rttMs) => ({ ...off, rttMs, netemLimit: 1000 })],
    ["a loss every 8 s", (rttMs) => ({ ...off, rttMs, lossEvery: 8 })],
    ["TSO on, 1: as it is", (rttMs) => ({ ...on, rttMs })],
    ["a loss every 10.5 s", (rttMs) => ({ ...on, rttMs, lossEvery: 10.5 })],
  ];
  return {
    id: "hypotheses",
    specs: HYPOTHESIS_RTTS.flatMap((rtt) =>
      columns.map(([, spec]) => spec(rtt))
    ),
    make: (runs) =>
      table({
        id: "hypotheses",
        title:
          "What might have differed between the runs, one free parameter a column: Mbit/s, and how far off the message's figure",
        unit: "",
        columns: columns.flatMap(([name]) => [`${name}, Mbit/s`, "off by, %"]),
        rows: HYPOTHESIS_RTTS.map((rtt) => ({
          label: `${rtt} ms`,
          cells: columns.flatMap(([, spec], i) => {
            const kind = i === 0 || i === 3 ? "unexplained" : "fitted";
            const { goodput } = runs(spec(rtt));
            const message = i < 3
              ? TSO_OFF[RTTS.indexOf(rtt)]![1]
              : TSO_ON[RTTS.indexOf(rtt)]![0];
            return [
              cell(kind, goodput),
              cell(kind, Math.round((goodput / message - 1) * 1000) / 10),
            ];
          }),
        })),
      }),
  };
})();

const choices: TablePlan = (() => {
  const variants: [string, Partial<CellSpec>][] = [
    ["as in the tables", {}],
    ["prices halved", { price: 0.5 }],
    ["prices doubled", { price: 2 }],
    ["two CPUs a host", { cpus: 2 }],
    ["MAX_TCP_HEADER 304", { maxTcpHeader: 304 }],
  ];
  const streams = [["TSO off, 1", false, 1], ["TSO on, 3", true, 3]] as const;
  const spec = (
    variant: Partial<CellSpec>,
    tso: boolean,
    column: 1 | 3,
    rttMs: number,
  ): CellSpec => ({
    ...messageSpec(tso, column, rttMs),
    seconds: SHORT,
    ...variant,
  });
  return {
    id: "choices",
    specs: variants.flatMap(([, variant]) =>
      streams.flatMap(([, tso, column]) =>
        CLAIM_RTTS.map((rtt) => spec(variant, tso, column, rtt))
      )
    ),
    make: (runs) =>
      table({
        id: "choices",
        title:
          `What the configuration's choices change: second half of ${SHORT} s`,
        unit: "Mbit/s",
        columns: streams.flatMap(([name]) =>
          CLAIM_RTTS.map((rtt) => `${name}: ${rtt} ms`)
        ),
        rows: variants.map(([label, variant]) => ({
          label,
          cells: streams.flatMap(([, tso, column]) =>
            CLAIM_RTTS.map((rtt) =>
              cell("priced", runs(spec(variant, tso, column, rtt)).secondHalf)
            )
          ),
        })),
      }),
  };
})();

/** All tables, the headline first. */
export const PLANS: readonly TablePlan[] = [
  messageTable(false, 0),
  messageTable(true, 0),
  messageTable(false, LATENCY_MS),
  messageTable(true, LATENCY_MS),
  limits,
  windows,
  initial,
  diagnosis,
  fix(false),
  fix(true),
  claims,
  hypotheses,
  choices,
];
