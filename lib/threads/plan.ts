/**
 * The runs that tables and figures need, done once each by one pool of workers, whichever thread they belong to.
 *
 * @module
 */

import { importedFunction } from "../cells/cell_function.ts";
import { runCells } from "../cells/run_cells.ts";
import type { Table } from "../table.ts";

/** A run as it goes to a worker: an exported function and what it takes. */
export interface PlannedRun {
  /** URL of the module. */
  readonly module: string;
  /** Name of the exported function. */
  readonly name: string;
  /** What the function takes: plain data, the same for the same run. */
  readonly input: unknown;
  /** CPU seconds, roughly: the longest runs start first, and the bar follows. */
  readonly cost: number;
}

/** Gives what a run gave. */
export type OutcomeOf = (run: PlannedRun) => unknown;

/** Runs, and what is made from them. */
export interface ThreadPlan {
  /** The runs; one that is named twice is done once. */
  readonly runs: readonly PlannedRun[];
  /** Ids of the tables. */
  readonly ids: readonly string[];
  /** Makes the tables. */
  readonly tables: (outcomeOf: OutcomeOf) => Table[];
}

/** How to do runs. */
export interface RunOptions {
  /** Called with the share done, 0 to 1. */
  readonly onProgress?: ((done: number) => void | Promise<void>) | undefined;
  /** Workers: one a core if absent, 0 for none. */
  readonly workers?: number | undefined;
}

const keyOf = ({ module, name, input }: PlannedRun): string =>
  `${module} ${name} ${JSON.stringify(input)}`;

/** Does a run; the worker's side. */
export async function doRun(
  { module, name, input }: PlannedRun,
): Promise<unknown> {
  return (await importedFunction({ module, name }))(input, undefined);
}

/**
 * Does runs on all cores.
 *
 * @param runs The runs; equal ones are done once.
 * @param options Progress, workers.
 * @returns What gives each run's outcome.
 * @throws {Error} A run failed; it is named.
 */
export async function doRuns(
  runs: readonly PlannedRun[],
  { onProgress, workers }: RunOptions = {},
): Promise<OutcomeOf> {
  const byKey = new Map(runs.map((run) => [keyOf(run), run]));
  const cells = [...byKey.values()];
  const total = cells.reduce((sum, { cost }) => sum + cost, 0);
  let done = 0;
  const results = await runCells<PlannedRun>({
    cells,
    run: { module: import.meta.resolve("./plan.ts"), name: "doRun" },
    workers,
    cost: ({ cost }) => cost,
    onDone: (i) => onProgress?.((done += cells[i]!.cost) / total),
  });
  if (cells.length === 0) await onProgress?.(1);
  const outcomes = new Map<string, unknown>();
  [...byKey.keys()].forEach((key, i) => {
    const { value, error } = results[i]!;
    if (error !== undefined) {
      const { name, input } = cells[i]!;
      throw new Error(`${name}(${JSON.stringify(input)}): ${error}`);
    }
    outcomes.set(key, value);
  });
  return (run) => {
    const key = keyOf(run);
    if (!outcomes.has(key)) throw new Error(`not among the runs: ${key}`);
    return outcomes.get(key);
  };
}
