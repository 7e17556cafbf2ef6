/**
 * The tables of the vhost_net page-frag thread that set `perf stat` beside what the model counts and prices.
 *
 * @module
 */

import {
  runVhostNetTest,
  type VhostNetTestResult,
} from "../experiments/vhost_net_test.ts";
import { pageCost } from "../sim/locks.ts";
import { type Cell, type Table, table } from "../table.ts";
import { cell } from "./cell.ts";
import { PERF_STAT, type PerfLine } from "./vhost_net_page_frag_published.ts";
import {
  firstTool,
  vhostNetPageFragKernels,
} from "./vhost_net_page_frag_tables.ts";

/** Why most lines of `perf stat` are not simulated. */
const SPINS =
  "decided by the user thread, which spins until its packet comes back";
const ARITHMETIC = "arithmetic of the published figures";

const unexplained = (
  published: number | null,
  unit: string | undefined,
  note?: string,
): Cell => cell("unexplained", null, published, { unit, note });

/** One of the two `perf stat` tables. */
export function perfStat(when: "before" | "after"): Table {
  const [before, after] = firstTool();
  const { wakeups } = (when === "before" ? before! : after!).run.worker;
  return table({
    id: `perf-${when}`,
    title: `perf stat -r 10 ./vhost_net_test, ${when} the series`,
    unit: "",
    columns: ["mean", "metric", "+-", "counted"],
    rows: PERF_STAT[when].map((line) => ({
      label: line.event,
      cells: [
        line.event === "context-switches"
          ? cell("exact", wakeups, line.value, {
            note:
              "the worker is woken once a packet in the one direction of the first version's tool; the rest is the process's own start and end",
          })
          : unexplained(
            line.value,
            line.unit,
            line.value === null ? undefined : SPINS,
          ),
        unexplained(line.metric, line.metricUnit),
        unexplained(line.spread, "%"),
        unexplained(line.counted, "%"),
      ],
    })),
  });
}

/** Standard error of a line's mean, in its unit. */
function standardError(line: PerfLine): number {
  return line.event === "elapsed"
    ? line.metric!
    : line.value! * line.spread! / 100;
}

/** How far two lines of `perf stat` lie apart. */
export interface PerfChange {
  /** Change, % of the value before. */
  readonly percent: number;
  /** Standard error of the difference, % of the value before. */
  readonly error: number;
  /** Change in standard errors; null where perf printed a spread of 0. */
  readonly sigma: number | null;
}

/**
 * How far the lines of an event lie apart.
 *
 * @param event The event, as perf prints it.
 * @throws {RangeError} There is no such line.
 */
export function perfChange(event: string): PerfChange {
  const find = (lines: readonly PerfLine[]) =>
    lines.find((line) => line.event === event && line.value !== null);
  const [before, after] = [find(PERF_STAT.before), find(PERF_STAT.after)];
  if (before === undefined || after === undefined) {
    throw new RangeError(
      `event "${event}": ${
        PERF_STAT.before.filter(({ value }) => value !== null)
          .map((line) => `"${line.event}"`).join(", ")
      } are allowed`,
    );
  }
  const difference = after.value! - before.value!;
  const error = Math.hypot(standardError(before), standardError(after));
  return {
    percent: 100 * difference / before.value!,
    error: 100 * error / before.value!,
    sigma: error > 0 ? Math.abs(difference) / error : null,
  };
}

/** What the spreads allow. */
export function changes(): Table {
  const worked = (simulated: number | null, unit: string): Cell =>
    cell("unexplained", simulated, null, { unit, note: ARITHMETIC });
  return table({
    id: "changes",
    title: "What changed, and what the spreads of ten runs allow",
    unit: "",
    columns: ["change", "standard error", "distance"],
    rows: PERF_STAT.before.filter(({ value }) => value !== null).map(
      ({ event }) => {
        const { percent, error, sigma } = perfChange(event);
        return {
          label: event,
          cells: [
            worked(percent, "%"),
            worked(error, "%"),
            worked(sigma, "sigma"),
          ],
        };
      },
    ),
  });
}

/** How much of the published gain the blocks can carry. */
export interface BlockShare {
  /** Pairs of order-3 allocation and free that the series saves. */
  readonly pairs: number;
  /** Cycles of a pair that takes the zone's lock, and of one that finds its block on the per-CPU list. */
  readonly cycles: { readonly zoneLock: number; readonly perCpuList: number };
  /** Seconds saved in the dearer case, at the clock that perf printed. */
  readonly seconds: number;
  /** Of the elapsed time, %. */
  readonly percent: number;
  /** Of the gain of elapsed time, %. */
  readonly ofGain: number;
  /** Cycles that each pair would have to cost to carry all of the gain. */
  readonly needed: number;
}

/**
 * How much of the published gain the blocks can carry, by the counts of a run of the tool.
 *
 * @param before A run before the series.
 * @param after The same run after it.
 */
export function blockShare(
  before: VhostNetTestResult,
  after: VhostNetTestResult,
): BlockShare {
  const pairs = before.order3Allocations - after.order3Allocations;
  const value = (lines: readonly PerfLine[], event: string): PerfLine =>
    lines.find((line) => line.event === event)!;
  const hertz = value(PERF_STAT.before, "cycles").metric! * 1e9;
  const elapsed = value(PERF_STAT.before, "elapsed").value!;
  const gain = elapsed - value(PERF_STAT.after, "elapsed").value!;
  const zoneLock = pageCost(3).cycles;
  const seconds = pairs * zoneLock / hertz;
  return {
    pairs,
    cycles: { zoneLock, perCpuList: pageCost(0).cycles },
    seconds,
    percent: 100 * seconds / elapsed,
    ofGain: 100 * seconds / gain,
    needed: gain * hertz / pairs,
  };
}

/** What the page-frag path can carry of the gain. */
export function share(): Table {
  const [before, , series] = vhostNetPageFragKernels();
  const posted = [before!, series!].map(({ kernel }) =>
    runVhostNetTest({ kernel, directions: "tx" })
  );
  const runs = [firstTool().map(({ run }) => run), posted].map(([a, b]) =>
    blockShare(a!, b!)
  );
  const priced = (simulated: number, unit: string, note?: string): Cell =>
    cell("priced", simulated, null, { unit, note });
  return table({
    id: "share",
    title:
      "How much of the gain the blocks can carry, at the price of 4.6 with the zone's lock and at 0.801 GHz",
    unit: "",
    columns: ["first version's tool", "posted tool"],
    rows: [
      {
        label: "order-3 pairs saved",
        cells: runs.map(({ pairs }) => cell("exact", pairs)),
      },
      {
        label: "cycles of a pair, zone's lock",
        cells: runs.map(({ cycles }) => priced(cycles.zoneLock, "cycles")),
      },
      {
        label: "cycles of a pair, per-CPU list",
        cells: runs.map(({ cycles }) =>
          priced(
            cycles.perCpuList,
            "cycles",
            "taken from order 0, which lived on the lists of 4.6; order 3 does since 5.14",
          )
        ),
      },
      {
        label: "time saved",
        cells: runs.map(({ seconds }) => priced(seconds, "s")),
      },
      {
        label: "of the elapsed time",
        cells: runs.map(({ percent }, i) =>
          i === 0
            ? cell("priced", percent, PERF_STAT.gainPercent, {
              unit: "%",
              note: "published: about 0.5 %",
            })
            : priced(percent, "%")
        ),
      },
      {
        label: "of the gain",
        cells: runs.map(({ ofGain }) => priced(ofGain, "%")),
      },
      {
        label: "cycles a pair would have to cost",
        cells: runs.map(({ needed }) =>
          cell("unexplained", needed, null, {
            unit: "cycles",
            note: ARITHMETIC,
          })
        ),
      },
    ],
  });
}
