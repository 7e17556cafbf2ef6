/**
 * What a sweep is: a grid, and what is run for each of its cells.
 *
 * @module
 */

import type { Lab } from "./lab.ts";
import { hook, optionsObject } from "../sim/check.ts";
import { type CellOf, type Grid, gridOf, type SweepOver } from "./grid.ts";
import type { SweepResultRow } from "./result.ts";

/** A sweep. */
export interface SweepDefinition<O extends SweepOver = SweepOver> {
  /** What is swept, for headings and file names; `sweep` if absent. */
  readonly title?: string | undefined;
  /**
   * Axes with their values, every combination of which is a cell, the last axis fastest; or a list of cells. Values are
   * numbers, strings, booleans or null: name a release, and make its kernel in `run`.
   */
  readonly over: O;
  /**
   * Computes one cell: a number, or a record of numbers, strings and booleans, each a column. It may be asynchronous.
   *
   * A worker imports it with its module, where {@linkcode SweepDefinition.module} says which; otherwise it gets the
   * function's text, which sees its two parameters and nothing else. The second is `@truesize/lab`.
   */
  run(cell: CellOf<O>, lab: Lab): SweepResultRow | Promise<SweepResultRow>;
  /** How long a cell takes, in any unit: the longest start first; in order if absent. */
  cost?(cell: CellOf<O>): number;
  /** `import.meta.url` of the module that exports the definition. */
  readonly module?: string | undefined;
  /** The export's name; `default` if absent. */
  readonly name?: string | undefined;
}

/** A definition that has been checked. */
export interface CheckedDefinition extends SweepDefinition {
  /** Its title. */
  readonly title: string;
  /** Its grid. */
  readonly grid: Grid;
}

/**
 * Checks a definition.
 *
 * @param who The function that was called.
 * @param definition The definition.
 * @throws {RangeError} There are no cells, or an axis has no possible name.
 * @throws {TypeError} A part is of the wrong type.
 */
export function checkedDefinition(
  who: string,
  definition: SweepDefinition,
): CheckedDefinition {
  optionsObject(definition, who);
  const { title = "sweep", over, run, cost, module, name } = definition;
  for (const [key, text] of Object.entries({ title, module, name })) {
    if (text !== undefined && (typeof text !== "string" || text === "")) {
      throw new TypeError(
        `${who}(): ${key} is ${String(text)}: a string is allowed`,
      );
    }
  }
  if (typeof run !== "function") {
    throw new TypeError(
      `${who}(): run must be a function of a cell, got ${String(run)}`,
    );
  }
  hook(`${who}(): cost`, cost);
  return { ...definition, title, grid: gridOf(over) };
}

/**
 * A sweep for a module to export: checked, and typed by its grid.
 *
 * @param definition Grid and function; give `module: import.meta.url`, so that workers can import it.
 * @returns The definition.
 * @throws {RangeError} There are no cells, or an axis has no possible name.
 * @throws {TypeError} A part is of the wrong type.
 *
 * @example A module that `deno task sweep` runs
 * ```ts
 * import { defineSweep, kernel, truesizeOf } from "@truesize/lab";
 *
 * export default defineSweep({
 *   module: import.meta.url,
 *   title: "UDP on veth",
 *   over: { release: ["6.1", "6.18"], payload: [1, 100, 1472] },
 *   run: ({ release, payload }) => truesizeOf({ kernel: kernel(release), path: "veth", payload }).truesize,
 * });
 * ```
 */
export function defineSweep<const O extends SweepOver>(
  definition: SweepDefinition<O>,
): SweepDefinition<O> {
  checkedDefinition("defineSweep", definition as unknown as SweepDefinition);
  return Object.freeze({ ...definition });
}
