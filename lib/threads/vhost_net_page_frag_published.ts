/**
 * What the vhost_net page-frag thread published: `perf stat -r 10` of the tool, before and after the series.
 *
 * @module
 */

/** A line of `perf stat`. */
export interface PerfLine {
  /** The event, as perf prints it. */
  readonly event: string;
  /** Unit of {@linkcode PerfLine.value}; "" for counts. */
  readonly unit: string;
  /** Mean of ten runs; null in a line that has only a metric. */
  readonly value: number | null;
  /** What perf derives from it, or null. */
  readonly metric: number | null;
  /** Unit of {@linkcode PerfLine.metric}. */
  readonly metricUnit: string;
  /** Standard error of the mean, % of the value (perf prints `sqrt(variance / runs)`); null where none is printed. */
  readonly spread: number | null;
  /** Share of the time that the counter ran, %; null where it ran all the time. */
  readonly counted: number | null;
}

/** Both runs of `perf stat`, and the change that the cover letter names. */
export interface PerfStat {
  /** Lines before the series. */
  readonly before: readonly PerfLine[];
  /** Lines after it. */
  readonly after: readonly PerfLine[];
  /** "About 0.5 % performance boost". */
  readonly gainPercent: number;
}

const line = (
  event: string,
  unit: string,
  value: number | null,
  metric: number | null,
  metricUnit: string,
  spread: number | null,
  counted: number | null = null,
): PerfLine => ({ event, unit, value, metric, metricUnit, spread, counted });

/** The thread's `perf stat` figures. The elapsed time's own +- is in seconds, as its metric. */
export const PERF_STAT: PerfStat = {
  before: [
    line("task-clock", "ms", 305325.78, 1.738, "CPUs", 0.12),
    line("context-switches", "", 1048668, 3435, "/s", 0),
    line("cpu-migrations", "", 11, 0.036, "/s", 17.64),
    line("page-faults", "", 33, 0.108, "/s", 0.49),
    line("cycles", "", 244651819491, 0.801, "GHz", 0.43, 64),
    line(
      "stalled-cycles-frontend",
      "",
      64714638024,
      26.45,
      "% of cycles",
      2.19,
      67,
    ),
    line(
      "stalled-cycles-backend",
      "",
      30774313491,
      12.58,
      "% of cycles",
      7.68,
      70,
    ),
    line("instructions", "", 201749748680, 0.82, "per cycle", 0.41, 66.76),
    line("stalled cycles per insn", "", null, 0.32, "", null),
    line("branches", "", 65494787909, 214.508, "M/s", 0.35, 64),
    line("branch-misses", "", 4284111313, 6.54, "% of branches", 0.45, 66),
    line("elapsed", "s", 175.699, 0.189, "s, +-", 0.11),
  ],
  after: [
    line("task-clock", "ms", 303974.38, 1.739, "CPUs", 0.14),
    line("context-switches", "", 1048807, 3450, "/s", 0),
    line("cpu-migrations", "", 14, 0.046, "/s", 12.86),
    line("page-faults", "", 33, 0.109, "/s", 0.46),
    line("cycles", "", 251289376347, 0.827, "GHz", 0.32, 60),
    line(
      "stalled-cycles-frontend",
      "",
      67885175415,
      27.01,
      "% of cycles",
      0.48,
      63,
    ),
    line(
      "stalled-cycles-backend",
      "",
      27809282600,
      11.07,
      "% of cycles",
      0.36,
      71,
    ),
    line("instructions", "", 195543234672, 0.78, "per cycle", 0.29, 69.04),
    line("stalled cycles per insn", "", null, 0.35, "", null),
    line("branches", "", 62423183552, 205.357, "M/s", 0.48, 67),
    line("branch-misses", "", 4135666632, 6.63, "% of branches", 0.63, 67),
    line("elapsed", "s", 174.764, 0.214, "s, +-", 0.12),
  ],
  gainPercent: 0.5,
};
