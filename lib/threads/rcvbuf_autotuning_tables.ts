/**
 * The tables of the rcvbuf autotuning thread: which runs each needs, and how their outcomes fill it.
 *
 * @module
 */

import { truesizeOf } from "../experiments/truesize.ts";
import type { PacketPath } from "../experiments/packet_options.ts";
import { kernel } from "../releases/mod.ts";
import { type Cell, table } from "../table.ts";
import { initialBuffers } from "../tcp/initial_buffers.ts";
import { windowCap } from "../tcp/window_cap.ts";
import { cell } from "./cell.ts";
import {
  DELAYED,
  messageSpec,
  type TablePlan,
} from "./rcvbuf_autotuning_plan.ts";
import {
  choices,
  claims,
  fix,
  hypotheses,
} from "./rcvbuf_autotuning_what_if.ts";
import {
  columnKernel,
  LATENCY_MS,
  mtuBuffers,
  TCP_RMEM,
} from "./rcvbuf_autotuning_cells.ts";
import {
  COLUMNS,
  RTTS,
  TSO_OFF,
  TSO_ON,
} from "./rcvbuf_autotuning_published.ts";

const NUMBERS = [1, 2, 3] as const;

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
      unit: "bytes",
      columns: ["truesize", "charge", "window cap"],
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
            cells: ["bytes", "bytes a byte", "bytes"].map((unit) =>
              cell("exact", null, null, { note, unit })
            ),
          };
        }
        return {
          label,
          cells: [
            cell("exact", truesize),
            cell("exact", Math.round(truesize / 1448 * 1000) / 1000, null, {
              unit: "bytes a byte",
            }),
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
