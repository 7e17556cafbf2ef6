/**
 * The figures of the rcvbuf autotuning thread.
 *
 * @module
 */

import type { Series } from "../experiments/stream_result.ts";
import type { Kernel } from "../kernel.ts";
import { kernel } from "../releases/mod.ts";
import { windowCap } from "../tcp/window_cap.ts";
import { colorOf } from "../view/colors.ts";
import { type LineSeries, plotLines, type Point } from "../view/lines.ts";
import { count } from "../view/pixels.ts";
import { tableOf, type ThreadFigure } from "./figures.ts";
import type { OutcomeOf } from "./plan.ts";
import {
  type CellSpec,
  columnKernel,
  simulateCell,
  TCP_RMEM,
} from "./rcvbuf_autotuning_cells.ts";
import { plannedRun, type Runs, runsBy } from "./rcvbuf_autotuning_plan.ts";
import { COLUMNS } from "./rcvbuf_autotuning_published.ts";

const MIB = 2 ** 20;
const MSS = 1448;

const runsOf = (outcomeOf: OutcomeOf | undefined): Runs =>
  outcomeOf === undefined ? simulateCell : runsBy(outcomeOf);

function throughput(
  id: string,
  domain: readonly [number, number],
  title: string,
): ThreadFigure {
  return {
    table: id,
    draw(tables) {
      const rows = tableOf(tables, id).rows.filter(({ label }) =>
        parseInt(label) > 0
      );
      const spreads = rows.map(({ cells }) => {
        const all = cells.map(({ simulated }) => simulated!);
        return 100 * (Math.max(...all) / Math.min(...all) - 1);
      });
      const points = (
        column: number,
        what: "published" | "simulated",
      ): Point[] =>
        rows.map(({ label, cells }): Point => [
          parseInt(label),
          cells[column]![what]!,
        ]);
      return plotLines({
        title,
        subtitle:
          `rings: published; line: simulated, the three columns within ${
            Math.max(...spreads).toFixed(1)
          } % of each other`,
        series: [
          {
            label: "simulated",
            points: points(2, "simulated"),
          },
          ...COLUMNS.map((_, column) => ({
            label: `column ${column + 1}`,
            points: points(column, "published"),
            published: points(column, "published"),
            dashed: true,
          })),
        ],
        x: {
          label: "RTT, ms",
          type: "log",
          ticks: [10, 25, 50, 100, 250],
          tickFormat: (ms: number) => String(ms),
        },
        y: {
          label: "throughput, Mbit/s",
          type: "log",
          domain: [...domain],
          ticks: [50, 100, 200, 500, 1000, 2000].filter((mbit) =>
            mbit <= domain[1]
          ),
          tickFormat: count,
        },
      });
    },
  };
}

/** Samples of a run in MiB over seconds. */
const course = (
  series: Series,
  of: (i: number) => number,
): Point[] => [...series.time].map((time, i): Point => [time, of(i) / MIB]);

/** What a connection's windows did. */
function windows(
  table: string,
  spec: CellSpec & { readonly samples: number },
  lines: (series: Series) => LineSeries[],
  rules: readonly number[],
  most: number,
  title: string,
  subtitle: string,
): ThreadFigure {
  return {
    table,
    runs: [plannedRun(spec)],
    draw: (_, outcomeOf) =>
      plotLines({
        title,
        subtitle,
        series: lines(runsOf(outcomeOf)(spec).series!),
        marks: (Plot) => [Plot.ruleY(rules, { strokeDasharray: "2 3" })],
        x: { label: "time, s", domain: [0, spec.seconds] },
        y: { label: "MiB", domain: [0, most] },
      }),
  };
}

const whole = { column: 1, tso: false, driver: "whole page" } as const;

const courseOff = windows(
  "limits",
  { ...whole, rttMs: 100, seconds: 5, samples: 500 },
  (s) => [
    {
      label: "rcvbuf / 2",
      points: course(s, (i) => s.rcvbuf[i]! / 2),
    },
    {
      label: "window_clamp",
      points: course(s, (i) => s.windowClamp[i]!),
      dashed: true,
    },
    {
      label: "cwnd × MSS",
      points: course(s, (i) => s.cwnd[i]! * MSS),
    },
    {
      label: "window",
      points: course(s, (i) => s.sndWnd[i]!),
    },
    {
      label: "rcv_ssthresh",
      points: course(s, (i) => s.rcvSsthresh[i]!),
      dashed: true,
    },
  ],
  [1.5],
  4,
  "The buffer grows to 6 MiB, the window stops at half of what it is worth",
  "column 1, 100 ms, TSO off; dashed rule: the cap, 1,572,864 bytes",
);

const courseOn = windows(
  "limits",
  { ...whole, column: 3, tso: true, rttMs: 100, seconds: 16, samples: 1600 },
  (s) => [
    {
      label: "sndbuf",
      points: course(s, (i) => s.sndbuf[i]!),
      dashed: true,
    },
    {
      label: "send queue",
      points: course(s, (i) => s.wmemQueued[i]!),
    },
    {
      label: "window",
      points: course(s, (i) => s.sndWnd[i]!),
    },
    {
      label: "in flight",
      points: course(s, (i) => s.inFlight[i]! * MSS),
    },
  ],
  [3, 8 / 3],
  4.5,
  "TSO on: the window is 3 MiB, a sleeping writer lets the flight dip",
  "column 3, 100 ms; dotted rules: window of 3 MiB, two thirds of the 4 MiB send buffer",
);

const STAIR_RUNS: readonly CellSpec[] = [1800, 2600, 3200, 4000, 5200, 6200]
  .map((truesize) => ({ ...whole, rttMs: 100, seconds: 8, truesize }));

/** Drivers and what they charge for a segment, bytes. */
const DRIVERS: readonly Driver[] = [
  ["virtio small", 2176],
  ["Dalton's fix", 2304],
  ["virtio, 6.1", 2816],
  ["virtio big, 6.1", 4352],
  ["whole page (2013)", 4864],
];
type Driver = readonly [name: string, truesize: number];

const stairs: ThreadFigure = {
  table: "truesize-diagnosis",
  runs: STAIR_RUNS.map(plannedRun),
  draw(_, outcomeOf) {
    const runs = runsOf(outcomeOf);
    const driverAt = ([, truesize]: Driver) => truesize / MSS;
    const driverName = (_: Driver, i: number) => 6 - 0.4 * i;
    const cap = (k: Kernel): Point[] =>
      Array.from({ length: 640 }, (_, i) => 1472 + 8 * i).map((truesize) => [
        truesize / MSS,
        windowCap({ kernel: k, payload: MSS, truesize, tcpRmem: TCP_RMEM }) /
        MIB,
      ]);
    return plotLines({
      title: "The window halves at 2 bytes of charge per byte, and again at 4",
      subtitle:
        "where rcv_ssthresh stops, tcp_rmem[2] 6 MiB, MSS 1,448; rings: simulated streams",
      series: [
        {
          label: "2013 to 6.5",
          points: cap(columnKernel(1)),
          published: STAIR_RUNS.map((spec): Point => [
            spec.truesize! / MSS,
            runs(spec).rcvSsthresh / MIB,
          ]),
        },
        {
          label: "6.18",
          points: cap(kernel("6.18")),
          dashed: true,
        },
      ],
      marks: (Plot) => [
        Plot.ruleX(DRIVERS, {
          x: driverAt,
          y1: 0,
          y2: driverName,
          strokeDasharray: "2 3",
        }),
        Plot.text(DRIVERS, {
          x: driverAt,
          y: driverName,
          textAnchor: "start",
          dx: 4,
          text: ([name, bytes]: Driver) => `${name}: ${count(bytes)}`,
        }),
      ],
      height: 420,
      x: { label: "truesize / payload", domain: [1, 4.6] },
      y: { label: "largest rcv_ssthresh, MiB", domain: [0, 6.2] },
    });
  },
};

const STARTS: readonly (readonly [string, CellSpec, string])[] = ([
  ["366,720 (column 2)", { column: 2 }, "column 2"],
  ["221,184 (column 3)", { column: 3 }, "column 3"],
  [
    "tcp_rmem[2]",
    { column: 2, tcpRmem: [4096, 6291456, 6291456] },
    "tcp_rmem[2]",
  ],
] as [string, Partial<CellSpec>, string][]).map(([label, spec, name]) => [
  label,
  { ...whole, ...spec, rttMs: 100, seconds: 4, samples: 400 },
  colorOf(name),
]);

const starts: ThreadFigure = {
  table: "initial-buffers",
  runs: STARTS.map(([, spec]) => plannedRun(spec)),
  draw: (_, outcomeOf) =>
    plotLines({
      title:
        "Whatever the first buffer, rcv_ssthresh is at the cap within two seconds",
      subtitle:
        "rcv_ssthresh by first receive buffer, 100 ms, TSO off; rule: the cap",
      series: STARTS.map(([label, spec, color]) => {
        const series = runsOf(outcomeOf)(spec).series!;
        return {
          label,
          color,
          points: course(series, (i) => series.rcvSsthresh[i]!),
          dashed: spec.column === 3,
        };
      }),
      marks: (Plot) => [Plot.ruleY([1.5], { strokeDasharray: "2 3" })],
      x: { label: "time, s", domain: [0, 4] },
      y: { label: "MiB", domain: [0, 2] },
    }),
};

/** The figures, by name. */
export const FIGURES: Readonly<Record<string, ThreadFigure>> = {
  "tso-off": throughput(
    "tso-off",
    [40, 1500],
    "TSO off: columns 1 and 3 follow one window, column 2 does not",
  ),
  "tso-on": throughput(
    "tso-on",
    [50, 3000],
    "TSO on: column 3 is near the line, columns 1 and 2 are below",
  ),
  "course-off": courseOff,
  "course-on": courseOn,
  starts,
  stairs,
};
