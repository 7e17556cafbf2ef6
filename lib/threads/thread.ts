/**
 * What a mailing-list thread is here: its published figures as data, and how to reproduce each.
 *
 * @module
 */

import type { Table } from "../table.ts";
import type { ErrorBand } from "./bands.ts";
import type { ThreadFigure } from "./figures.ts";
import type { RunOptions, ThreadPlan } from "./plan.ts";

/** A message of a thread. */
export interface ThreadMessage {
  /** Subject line. */
  readonly subject: string;
  /** Who wrote it. */
  readonly from: string;
  /** Date, ISO 8601, where the thread gives it. */
  readonly date?: string;
}

/** A constant that was chosen to meet published figures. */
export interface FittedConstant {
  /** Its name. */
  readonly name: string;
  /** Its value. */
  readonly value: number;
  /** Its unit. */
  readonly unit: string;
  /** The one reason for it. */
  readonly reason: string;
}

/** How to reproduce a thread; short threads need no workers. */
export interface ReproduceOptions extends RunOptions {
  /** Ids of the tables to make; all if absent. */
  readonly only?: readonly string[] | undefined;
}

/** A mailing-list thread. */
export interface Thread {
  /** Its key in `threads`. */
  readonly id: string;
  /** What it is about, in a line. */
  readonly title: string;
  /** What its notebook and its page ask. */
  readonly question: string;
  /** Its messages that matter here. */
  readonly messages: readonly ThreadMessage[];
  /** Releases that its tables and figures run, by name; its patches apply to the first of them. */
  readonly kernels: readonly string[];
  /** Constants fitted for its tables; most threads have few or none. */
  readonly fitted: readonly FittedConstant[];
  /** What it draws, by name, in the order of its tables or of the story. */
  readonly figures: Readonly<Record<string, ThreadFigure>>;
  /** How far each explained cell may be from its published figure, not wider than was measured. */
  readonly bands: readonly ErrorBand[];
  /** What the mechanism explains and what it does not, in sentences. */
  readonly findings: readonly string[];
  /**
   * Its tables, published beside simulated.
   *
   * @param options Progress.
   */
  reproduce(options?: ReproduceOptions): Promise<Table[]>;
  /** Ids of tables beyond the thread's own that cost much: `reproduceThreads` makes them when asked for all. */
  readonly dear?: readonly string[];
  /** Its runs, where they are many: what a pool of workers for several threads does. A thread without them is one run. */
  readonly plan?: (options?: ReproduceOptions) => ThreadPlan;
}

/**
 * Makes a thread's tables, one by one.
 *
 * @param makers What makes each, in order.
 * @param options Progress.
 * @returns The tables.
 */
export async function makeTables(
  makers: readonly (() => Table)[],
  options: ReproduceOptions = {},
): Promise<Table[]> {
  const tables: Table[] = [];
  for (const make of makers) {
    tables.push(make());
    await options.onProgress?.(tables.length / makers.length);
  }
  return options.only === undefined
    ? tables
    : tables.filter(({ id }) => options.only!.includes(id));
}
