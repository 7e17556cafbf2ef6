/**
 * What a sweep gave: a row for each cell, in the grid's order, and the forms it is written in.
 *
 * @module
 */

import { csvField } from "../table/forms.ts";
import type { CellKind } from "../table.ts";
import { Table } from "../table.ts";
import type { Figure } from "../view/figure.ts";
import { type LineSeries, plotLines, type Point } from "../view/lines.ts";
import {
  ERROR,
  type Grid,
  type SweepCell,
  type SweepValue,
  sweepValue,
} from "./grid.ts";
import { parquetBytes } from "./parquet.ts";
import { rowsHTML, rowsText } from "./rows_view.ts";

export type { Grid };

/** What a cell's `run` may return: a value for each column, or one value, whose column is called `value`. */
export type SweepResultRow = SweepValue | Readonly<Record<string, SweepValue>>;

/** What one cell gave: its columns, or the error it ended with. */
export interface CellResult {
  /** Number of the cell in the grid, from 0. */
  readonly index: number;
  /** Its columns; none where it failed. */
  readonly values: Readonly<Record<string, SweepValue>> | null;
  /** What went wrong; null where nothing did. */
  readonly error: string | null;
}

/** A row: the cell's axes, what it gave, and its error. Absent values are null. */
export type SweepRow = Readonly<Record<string, SweepValue>>;

/** How to make a {@linkcode Table} of a sweep. */
export interface SweepTableOptions {
  /** What the table shows. */
  readonly title: string;
  /** How the figures came about: the same for all columns, or by column. */
  readonly kind: CellKind | Readonly<Record<string, CellKind>>;
  /** The unit of all columns, or by column; none if absent. */
  readonly unit?: string | Readonly<Record<string, string>> | undefined;
  /** A short name; `sweep` if absent. */
  readonly id?: string | undefined;
}

/** What to plot of a sweep. */
export interface SweepPlotOptions {
  /** The finding. */
  readonly title: string;
  /** What was swept. */
  readonly subtitle?: string | undefined;
  /** The axis or column along x; numbers. */
  readonly x: string;
  /** The column along y; numbers. */
  readonly y: string;
  /** The axes that tell lines apart; all but x if absent. */
  readonly by?: readonly string[] | undefined;
  /** Whether a value holds until the next point. */
  readonly step?: boolean | undefined;
}

/**
 * A cell's columns, checked.
 *
 * @throws {TypeError} What `run` returned is no record of values, or names a column as an axis is named.
 */
export function cellValues(
  axes: readonly string[],
  returned: unknown,
): Readonly<Record<string, SweepValue>> {
  if (typeof returned !== "object" || returned === null) {
    return { value: sweepValue("what run returned", returned) };
  }
  if (Array.isArray(returned)) {
    throw new TypeError("run returned a list: a record of values is allowed");
  }
  const values: Record<string, SweepValue> = {};
  for (const [name, value] of Object.entries(returned)) {
    if (axes.includes(name) || name === ERROR) {
      throw new TypeError(
        `run returned "${name}", which is ${
          name === ERROR ? "the error's column" : "an axis"
        }`,
      );
    }
    values[name] = sweepValue(name, value);
  }
  return values;
}

/**
 * The rows of a sweep, or of those shards of it that there are.
 *
 * @example
 * ```ts
 * import { sweep, SweepResult } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const result: SweepResult = await sweep({ over: { n: [1, 2] }, run: ({ n }) => n * n, workers: 0, progress: false });
 * assertEquals([result.columns, result.failed], [["n", "value", "error"], 0]);
 * assertEquals(result.toCSV().split("\r\n")[2], "2,4,");
 * ```
 */
export class SweepResult {
  /** What was swept. */
  readonly title: string;
  /** The axes. */
  readonly axes: readonly string[];
  /** What the cells gave, in the order in which it first appears. */
  readonly results: readonly string[];
  /** All columns: axes, results, `error`. */
  readonly columns: readonly string[];
  /** A row a cell. */
  readonly rows: readonly SweepRow[];
  /** Cells that failed. */
  readonly failed: number;

  /**
   * Rows in the grid's order.
   *
   * @param title What was swept.
   * @param grid The grid.
   * @param cells What cells gave, in any order.
   */
  constructor(title: string, grid: Grid, cells: readonly CellResult[]) {
    const ordered = [...cells].sort((a, b) => a.index - b.index);
    this.title = title;
    this.axes = grid.axes;
    this.results = [
      ...new Set(ordered.flatMap(({ values }) => Object.keys(values ?? {}))),
    ];
    this.columns = [...grid.axes, ...this.results, ERROR];
    this.rows = ordered.map(({ index, values, error }) => {
      const row: Record<string, SweepValue> = { ...grid.cells[index]! };
      for (const name of this.results) row[name] = values?.[name] ?? null;
      row[ERROR] = error;
      return Object.freeze(row);
    });
    this.failed = ordered.filter(({ error }) => error !== null).length;
    Object.freeze(this);
  }

  /**
   * RFC 4180: a head line, then a line a cell. Numbers are unrounded, null is an empty field, lines end in CR LF.
   *
   * @returns The lines.
   */
  toCSV(): string {
    const lines = [
      this.columns,
      ...this.rows.map((row) =>
        this.columns.map((name) => {
          const value = row[name]!;
          return typeof value === "boolean" ? String(value) : value;
        })
      ),
    ];
    return lines.map((line) => line.map(csvField).join(",") + "\r\n").join("");
  }

  /**
   * JSON lines: an object a cell, every column in each.
   *
   * @returns The lines.
   */
  toJSONLines(): string {
    return this.rows.map((row) =>
      JSON.stringify(
        Object.fromEntries(this.columns.map((name) => [name, row[name]])),
      ) + "\n"
    ).join("");
  }

  /**
   * Apache Parquet: whole numbers as INT32, other numbers as DOUBLE, a column with both text and numbers as text.
   *
   * @returns The file's bytes.
   */
  toParquet(): Promise<Uint8Array> {
    return parquetBytes(this.columns, this.rows);
  }

  /**
   * A {@linkcode Table} of the numbers: a row a cell, a column a result. What is no number, and the error of a cell that
   * failed, stand in the notes.
   *
   * @param options Title, kinds, units.
   * @throws {RangeError} There is no column of numbers, or one without a kind.
   */
  toTable(options: SweepTableOptions): Table {
    const { title, kind, unit = "", id = "sweep" } = options;
    const numeric = this.results.filter((name) =>
      this.rows.some((row) => typeof row[name] === "number")
    );
    const kindOf = (name: string): CellKind => {
      const found = typeof kind === "string" ? kind : kind[name];
      if (found === undefined) {
        throw new RangeError(`kind: column "${name}" has none`);
      }
      return found;
    };
    const notes = (row: SweepRow): string[] => [
      ...this.results.filter((name) =>
        row[name] !== null && typeof row[name] !== "number"
      ).map((name) => `${name}: ${row[name]}`),
      ...(row[ERROR] === null ? [] : [String(row[ERROR])]),
    ];
    return new Table({
      id,
      title,
      unit: typeof unit === "string" ? unit : "",
      columns: numeric,
      rows: this.rows.map((row) => {
        const note = notes(row).join("; ");
        return {
          label: this.#label(row, this.axes),
          cells: numeric.map((name, c) => ({
            published: null,
            simulated: typeof row[name] === "number" ? row[name] : null,
            kind: kindOf(name),
            ...(typeof unit === "string" ? {} : { unit: unit[name] ?? "" }),
            ...(c === 0 && note !== "" ? { note } : {}),
          })),
        };
      }),
    });
  }

  /**
   * One column over another as lines, for {@linkcode plotLines}. Rows without one of the two numbers are left out.
   *
   * @param x The axis or column along x.
   * @param y The column along y.
   * @param by The axes that tell lines apart; all but x if absent.
   * @throws {RangeError} There is no such column.
   */
  series(x: string, y: string, by?: readonly string[]): LineSeries[] {
    const apart = by ?? this.axes.filter((axis) => axis !== x);
    for (const name of [x, y, ...apart]) {
      if (!this.columns.includes(name)) {
        throw new RangeError(
          `no column "${name}"; there are ${this.columns.join(", ")}`,
        );
      }
    }
    const lines = new Map<string, Point[]>();
    for (const row of this.rows) {
      const label = this.#label(row, apart) || y;
      const [a, b] = [row[x], row[y]];
      if (typeof a !== "number" || typeof b !== "number") continue;
      const points = lines.get(label);
      if (points === undefined) lines.set(label, [[a, b]]);
      else points.push([a, b]);
    }
    return Array.from(lines, ([label, points]) => ({ label, points }));
  }

  /**
   * Plots one column over another.
   *
   * @param options Title, columns.
   * @throws {RangeError} There is no such column, or nothing to plot.
   */
  async plot(options: SweepPlotOptions): Promise<Figure> {
    const { title, subtitle, x, y, by, step } = options;
    const series = this.series(x, y, by).map((line) => ({ ...line, step }));
    if (series.length === 0) {
      throw new RangeError(`no row has numbers in both "${x}" and "${y}"`);
    }
    return await plotLines({
      title,
      subtitle,
      series,
      x: { label: x },
      y: { label: y },
    });
  }

  // A single axis needs no name beside its value.
  #label(row: SweepCell, axes: readonly string[]): string {
    return axes.length === 1
      ? String(row[axes[0]!])
      : axes.map((axis) => `${axis} ${row[axis]}`).join(", ");
  }

  /** What Jupyter shows: the first and last rows. */
  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return {
      "text/plain": rowsText(this),
      "text/html": rowsHTML(this),
    };
  }
}
