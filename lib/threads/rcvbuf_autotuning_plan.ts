/**
 * What a table of the rcvbuf autotuning thread is made from.
 *
 * @module
 */

import type { Table } from "../table.ts";
import type { OutcomeOf, PlannedRun } from "./plan.ts";
import {
  type CellOutcome,
  type CellSpec,
  completeSpec,
  SECONDS,
} from "./rcvbuf_autotuning_cells.ts";
import { RTTS } from "./rcvbuf_autotuning_published.ts";

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

/** A run as it goes to a worker. Its cost is that of the segments: a packet of TSO carries a few. */
export function plannedRun(spec: CellSpec): PlannedRun {
  const input = completeSpec(spec);
  const { tso, seconds, rttMs, latencyMs } = input;
  return {
    module: import.meta.resolve("./rcvbuf_autotuning_cells.ts"),
    name: "simulateCell",
    input,
    cost: (tso ? 0.25 : 1) * seconds / Math.max(rttMs + latencyMs, 3),
  };
}

/** Outcomes by what the run was. */
export function runsBy(outcomeOf: OutcomeOf): Runs {
  return (spec) => outcomeOf(plannedRun(spec)) as CellOutcome;
}

/** Round-trip times with a delay, ms. */
export const DELAYED: readonly number[] = RTTS.filter((rtt) => rtt > 0);

/** The run of a cell of the message's tables. */
export function messageSpec(
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
