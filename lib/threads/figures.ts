/**
 * A thread's figures: each belongs below a table, and notebooks and the page of `deno task reproduce` draw the same.
 *
 * @module
 */

import type { Table } from "../table.ts";
import type { Figure } from "../view/figure.ts";
import type { OutcomeOf, PlannedRun } from "./plan.ts";

/** A figure of a thread. */
export interface ThreadFigure {
  /** Id of the table that it belongs to. */
  readonly table: string;
  /** Runs that it is drawn from, where a pool should do them. */
  readonly runs?: readonly PlannedRun[];
  /**
   * Draws it.
   *
   * @param tables The thread's tables, or those that it reads.
   * @param outcomeOf Gives what `runs` gave; they are done here and now if absent.
   * @returns The figure.
   */
  draw(tables: readonly Table[], outcomeOf?: OutcomeOf): Promise<Figure>;
}

/**
 * The table of an id.
 *
 * @param tables Tables of a thread.
 * @param id Its id.
 * @throws {RangeError} There is no such table.
 */
export function tableOf(tables: readonly Table[], id: string): Table {
  const found = tables.find((table) => table.id === id);
  if (found === undefined) {
    throw new RangeError(
      `table "${id}" is needed; there are ${
        tables.map(({ id }) => id).join(", ") || "none"
      }`,
    );
  }
  return found;
}
