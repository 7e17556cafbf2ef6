/**
 * What a cell of a table is: the published figure, the simulated one, and how
 * the simulated one came about.
 *
 * @module
 */

/** How a simulated figure came about. */
export type CellKind = "exact" | "priced" | "fitted" | "unexplained";

/** How one {@link CellKind} is marked beside a figure and explained in a legend. */
export interface KindMark {
  /** The mark in Markdown, HTML and on a terminal. */
  readonly mark: string;
  /** The mark in plain ASCII. */
  readonly ascii: string;
  /** What the mark says, for the legend. */
  readonly meaning: string;
}

/**
 * The mark and meaning of every kind of figure, in the order a legend lists them.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { kindMarks } from "@truesize/lab";
 *
 * assertEquals(Object.keys(kindMarks), ["exact", "priced", "fitted", "unexplained"]);
 * assertEquals(kindMarks.fitted.mark, "†");
 * ```
 */
export const kindMarks: Readonly<Record<CellKind, KindMark>> = Object.freeze({
  exact: Object.freeze({
    mark: "=",
    ascii: "=",
    meaning: "exact: a byte or event count that follows from the mechanism",
  }),
  priced: Object.freeze({
    mark: "≈",
    ascii: "~",
    meaning: "priced: counted events times calibrated prices",
  }),
  fitted: Object.freeze({
    mark: "†",
    ascii: "*",
    meaning: "fitted: rests on a constant chosen to meet a published figure",
  }),
  unexplained: Object.freeze({
    mark: "?",
    ascii: "?",
    meaning: "unexplained: the mechanism does not explain this figure",
  }),
});

/** One cell: a published figure, the simulated one beside it, and its kind. */
export interface Cell {
  /** The figure as published, in the cell's unit; null where nothing was published. */
  readonly published: number | null;
  /** The figure the simulation gives, in the cell's unit; null where it gives none. */
  readonly simulated: number | null;
  /** How the simulated figure came about. */
  readonly kind: CellKind;
  /** The cell's unit, where it differs from its table's. */
  readonly unit?: string | undefined;
  /** A remark, printed as a footnote. */
  readonly note?: string | undefined;
}

/** One row of a table. */
export interface TableRow {
  /** What the row is about; stands on its left. */
  readonly label: string;
  /** One cell a column, in the order of the columns. */
  readonly cells: readonly Cell[];
}

/** A table as plain data: what {@link table} takes and `JSON.stringify` gives. */
export interface TableData {
  /** A short name, unique among the tables of a thread. */
  readonly id: string;
  /** What the table shows, in words. */
  readonly title: string;
  /** The unit of every cell that names none of its own; "" for plain counts. */
  readonly unit: string;
  /** The columns' names. */
  readonly columns: readonly string[];
  /** The rows, each with one cell a column. */
  readonly rows: readonly TableRow[];
}

/**
 * How far the simulated figure is from the published one, in percent of the
 * published one: positive where the simulation is too high.
 *
 * @param cell The cell; only `published` and `simulated` are read.
 * @returns The signed error in percent, or null where one of the two figures
 * is missing or where the published one is 0 and the simulated one is not.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { errorPercent } from "@truesize/lab";
 *
 * assertEquals(errorPercent({ published: 200, simulated: 190 }), -5);
 * assertEquals(errorPercent({ published: null, simulated: 190 }), null);
 * ```
 */
export function errorPercent(
  cell: Pick<Cell, "published" | "simulated">,
): number | null {
  const { published, simulated } = cell;
  if (published === null || simulated === null) return null;
  // A sum of prices may miss by the last bit of a double, which is no error.
  if (Math.abs(simulated - published) <= 1e-12 * Math.abs(published)) return 0;
  if (published === 0) return null;
  return ((simulated - published) / Math.abs(published)) * 100;
}
