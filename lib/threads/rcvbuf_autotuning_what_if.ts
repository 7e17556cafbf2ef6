/**
 * The tables of the rcvbuf autotuning thread that have no figure of the message beside them: the fix replayed, the claims, the
 * hypotheses, the choices.
 *
 * @module
 */

import { table } from "../table.ts";
import { cell } from "./cell.ts";
import { type CellSpec, SECONDS } from "./rcvbuf_autotuning_cells.ts";
import { RTTS, TSO_OFF, TSO_ON } from "./rcvbuf_autotuning_published.ts";
import {
  DELAYED,
  messageSpec,
  type TablePlan,
} from "./rcvbuf_autotuning_plan.ts";

/** Seconds of the runs that have no figure of the message beside them. */
const SHORT = 20;

/** The fix replayed. */
export function fix(tso: boolean): TablePlan {
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

/** Eric Dumazet's claims. */
export const claims: TablePlan = (() => {
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

/** What might have differed between the runs. */
export const hypotheses: TablePlan = (() => {
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

/** What the configuration's choices change. */
export const choices: TablePlan = (() => {
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
