/**
 * Reproduces several threads at once: the runs of all of them go through one pool of workers.
 *
 * @module
 */

import { type Table, table, type TableData } from "../table.ts";
import { type BandReport, checkBands } from "./bands.ts";
import { threads } from "./mod.ts";
import { doRuns, type PlannedRun, type RunOptions } from "./plan.ts";
import type { Thread } from "./thread.ts";

/** A figure that has been drawn, as plain data. */
export interface DrawnFigure {
  /** Its name among the thread's figures. */
  readonly name: string;
  /** Id of the table that it belongs to. */
  readonly table: string;
  /** Its finding. */
  readonly title: string;
  /** A standalone SVG. */
  readonly svg: string;
}

/** A thread with what came out. */
export interface ReproducedThread {
  /** The thread. */
  readonly thread: Thread;
  /** Its tables. */
  readonly tables: readonly Table[];
  /** Ids of its dear tables that were left out. */
  readonly leftOut: readonly string[];
  /** Its figures; none unless asked for. */
  readonly figures: readonly DrawnFigure[];
  /** Its cells against their bands. */
  readonly bands: BandReport;
}

/** How to reproduce threads. */
export interface ReproduceThreadsOptions extends RunOptions {
  /** Draw the figures too, which loads Plot and jsdom. */
  readonly figures?: boolean | undefined;
  /** Make the threads' dear tables too. */
  readonly all?: boolean | undefined;
}

/** What a thread without runs of its own gives, whole, from a worker. */
interface WholeThread {
  readonly tables: readonly TableData[];
  readonly figures: readonly DrawnFigure[];
}

async function drawAll(
  { figures }: Thread,
  draw: (figure: Thread["figures"][string]) => ReturnType<
    Thread["figures"][string]["draw"]
  >,
): Promise<DrawnFigure[]> {
  const drawn: DrawnFigure[] = [];
  for (const [name, figure] of Object.entries(figures)) {
    const { title, svg } = await draw(figure).then((done) => ({
      title: done.title,
      svg: done.svg(),
    }));
    drawn.push({ name, table: figure.table, title, svg });
  }
  return drawn;
}

/** Reproduces one thread in a worker. */
export async function wholeThread(
  { id, figures }: { readonly id: string; readonly figures: boolean },
): Promise<WholeThread> {
  const thread = threads[id]!;
  const tables = await thread.reproduce();
  return {
    tables: tables.map((made) => made.toJSON()),
    figures: figures
      ? await drawAll(thread, (figure) => figure.draw(tables))
      : [],
  };
}

/** A thread as one run. Each takes a second or two, less than the longest runs of a thread with many. */
function wholeRun({ id }: Thread, figures: boolean): PlannedRun {
  return {
    module: import.meta.resolve("./reproduce_threads.ts"),
    name: "wholeThread",
    input: { id, figures },
    cost: figures ? 4 : 2,
  };
}

/**
 * Reproduces threads, all runs in one pool, the longest first.
 *
 * @param chosen The threads, from `threads`.
 * @param options Progress, workers, figures.
 * @returns Tables, figures and bands in the threads' order.
 * @throws {Error} A run failed.
 *
 * @example
 * ```ts
 * import { reproduceThreads, threads } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [refill] = await reproduceThreads([threads["skb-page-frag-refill"]!], { workers: 0 });
 * assertEquals(refill!.bands.outside, []);
 * ```
 */
export async function reproduceThreads(
  chosen: readonly Thread[],
  { figures = false, all = false, ...options }: ReproduceThreadsOptions = {},
): Promise<ReproducedThread[]> {
  const plans = chosen.map((thread) => {
    const leftOut = all ? [] : thread.dear ?? [];
    const only = thread.plan?.().ids.filter((id) => !leftOut.includes(id));
    return { thread, leftOut, plan: thread.plan?.({ only }) };
  });
  const outcomeOf = await doRuns(
    plans.flatMap(({ thread, plan }) =>
      plan === undefined ? [wholeRun(thread, figures)] : [
        ...plan.runs,
        ...figures
          ? Object.values(thread.figures).flatMap(({ runs = [] }) => runs)
          : [],
      ]
    ),
    options,
  );
  const results: ReproducedThread[] = [];
  for (const { thread, leftOut, plan } of plans) {
    const whole = plan === undefined
      ? outcomeOf(wholeRun(thread, figures)) as WholeThread
      : undefined;
    const tables = whole?.tables.map(table) ?? plan!.tables(outcomeOf);
    results.push({
      thread,
      tables,
      leftOut,
      figures: whole?.figures ??
        (figures
          ? await drawAll(thread, (figure) => figure.draw(tables, outcomeOf))
          : []),
      bands: checkBands(tables, thread.bands),
    });
  }
  return results;
}
