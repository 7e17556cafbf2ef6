/**
 * What a Table and a Cell are: published beside simulated, each figure with
 * its kind, and the forms a table is printed in.
 *
 * @module
 */

import type { Cell, TableData, TableRow } from "./table/cell.ts";
import { kindMarks } from "./table/cell.ts";
import { toCSV, toHTML, toMarkdown, toText } from "./table/forms.ts";

export {
  type Cell,
  type CellKind,
  errorPercent,
  type KindMark,
  kindMarks,
  type TableData,
  type TableRow,
} from "./table/cell.ts";

/** What Jupyter shows of a table: the same content in three forms. */
export interface TableBundle {
  /** For terminals and for front ends that show neither of the other two. */
  readonly "text/plain": string;
  /** What notebooks show. */
  readonly "text/html": string;
  /** For front ends that prefer Markdown. */
  readonly "text/markdown": string;
  /** A display may carry further forms; a table has none. */
  readonly [mime: string]: string;
}

/** How to print a table on a terminal. */
export interface TableTextOptions {
  /** Only ASCII marks; by default where standard output is no terminal. */
  readonly ascii?: boolean | undefined;
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function text(name: string, value: unknown, mayBeEmpty = false): string {
  if (typeof value !== "string") {
    throw new TypeError(`${name} is ${show(value)}; a string is needed`);
  }
  if (!mayBeEmpty && value.trim() === "") {
    throw new RangeError(
      `${name} is ${show(value)}; a string that is not empty is needed`,
    );
  }
  return value;
}

function list(name: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`${name} is ${show(value)}; an array is needed`);
  }
  return value;
}

function record(name: string, value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`${name} is ${show(value)}; an object is needed`);
  }
  return value as Record<string, unknown>;
}

function figure(name: string, value: unknown): number | null {
  if (value === null) return null;
  if (typeof value !== "number") {
    throw new TypeError(
      `${name} is ${show(value)}; a number or null is needed`,
    );
  }
  if (!Number.isFinite(value)) {
    throw new RangeError(
      `${name} is ${value}; a finite number or null is needed`,
    );
  }
  return value;
}

function checkCell(name: string, input: unknown): Cell {
  const cell = record(name, input);
  const kind = text(`${name}.kind`, cell.kind);
  if (!Object.hasOwn(kindMarks, kind)) {
    throw new RangeError(
      `${name}.kind is ${show(kind)}; one of ${
        Object.keys(kindMarks).join(", ")
      } is needed`,
    );
  }
  return Object.freeze({
    published: figure(`${name}.published`, cell.published),
    simulated: figure(`${name}.simulated`, cell.simulated),
    kind: kind as Cell["kind"],
    ...(cell.unit === undefined
      ? {}
      : { unit: text(`${name}.unit`, cell.unit, true) }),
    ...(cell.note === undefined
      ? {}
      : { note: text(`${name}.note`, cell.note) }),
  });
}

function checkRow(name: string, input: unknown, columns: number): TableRow {
  const row = record(name, input);
  const label = text(`${name}.label`, row.label);
  const cells = list(`${name}.cells`, row.cells);
  if (cells.length !== columns) {
    throw new RangeError(
      `${name} (${
        show(label)
      }) has ${cells.length} cells; one for each of the ${columns} columns is needed`,
    );
  }
  return Object.freeze({
    label,
    cells: Object.freeze(
      cells.map((cell, c) => checkCell(`${name}.cells[${c}]`, cell)),
    ),
  });
}

/**
 * An immutable table of published and simulated figures.
 *
 * Where nothing of a column was published, only its simulated values are
 * printed, so a table with `published: null` everywhere is a plain table.
 *
 * @example
 * ```ts
 * import { assertEquals, assertStringIncludes } from "@std/assert";
 * import { Table } from "@truesize/lab";
 *
 * const udp = new Table({
 *   id: "udp",
 *   title: "Memory of a datagram of 1,000 bytes",
 *   unit: "bytes",
 *   columns: ["loopback"],
 *   rows: [{ label: "truesize", cells: [{ published: 2304, simulated: 2304, kind: "exact" }] }],
 * });
 * assertEquals(udp.rows[0]?.cells[0]?.simulated, 2304);
 * assertStringIncludes(udp.toText({ ascii: true }), "2,304 =");
 * ```
 */
export class Table implements TableData {
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

  /**
   * Checks and copies the data; see {@link table}.
   *
   * @param data The table's data.
   * @throws {TypeError} Where a part of the data is of the wrong type.
   * @throws {RangeError} Where an id, title, column, label, unit, kind, figure or cell count is not a possible one.
   */
  constructor(data: TableData) {
    const input = record("table", data);
    this.id = text("table.id", input.id);
    this.title = text("table.title", input.title);
    this.unit = text("table.unit", input.unit, true);
    this.columns = Object.freeze(
      list("table.columns", input.columns).map((name, c) =>
        text(`table.columns[${c}]`, name)
      ),
    );
    if (this.columns.length === 0) {
      throw new RangeError(
        "table.columns is empty; at least one column is needed",
      );
    }
    this.rows = Object.freeze(
      list("table.rows", input.rows).map((row, r) =>
        checkRow(`table.rows[${r}]`, row, this.columns.length)
      ),
    );
    Object.freeze(this);
  }

  /**
   * The form for a terminal: numbers right-aligned, signed errors in percent
   * where a figure was published, a mark for each kind and a legend. No
   * colours. With more than two columns that have published figures, published,
   * simulated and error stand below each other.
   *
   * @param options Whether to keep to ASCII.
   * @returns Lines, each ended.
   */
  toText(options: TableTextOptions = {}): string {
    return toText(this, options.ascii ?? !Deno.stdout.isTerminal());
  }

  /**
   * The long form as RFC 4180 has it, one line a cell:
   * `row,column,unit,published,simulated,error_percent,kind`. Figures are
   * unrounded, the error has at most four digits behind the point, and a
   * missing figure is an empty field. Lines end in CR LF.
   *
   * @returns The head line and one line a cell.
   */
  toCSV(): string {
    return toCSV(this);
  }

  /**
   * The table as plain data, so that `JSON.stringify` gives its stable shape.
   *
   * @returns Data that makes an equal table.
   */
  toJSON(): TableData {
    const { id, title, unit, columns, rows } = this;
    return { id, title, unit, columns, rows };
  }

  /**
   * A pipe table with right-aligned figures, its title above and its legend below.
   *
   * @returns Lines of Markdown.
   */
  toMarkdown(): string {
    return toMarkdown(this);
  }

  /**
   * A semantic table with caption, units in its head and right-aligned figures.
   * Alignment is in `align` attributes, which an untrusted notebook keeps.
   *
   * @returns A `table` element.
   */
  toHTML(): string {
    return toHTML(this);
  }

  /**
   * What Jupyter shows.
   *
   * @returns The forms by their MIME types.
   */
  [Symbol.for("Jupyter.display")](): TableBundle {
    return {
      "text/plain": this.toText({ ascii: false }),
      "text/html": this.toHTML(),
      "text/markdown": this.toMarkdown(),
    };
  }
}

/**
 * Makes a {@link Table}; the same as `new Table(data)`.
 *
 * @param data The table's data; it is copied.
 * @returns An immutable table.
 * @throws {TypeError} Where a part of the data is of the wrong type.
 * @throws {RangeError} Where an id, title, column, label, unit, kind, figure or cell count is not a possible one.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { table } from "@truesize/lab";
 *
 * const rates = table({
 *   id: "forwarding",
 *   title: "IPv4 forwarding on one core",
 *   unit: "Mpps",
 *   columns: ["base", "bulk"],
 *   rows: [{
 *     label: "64-byte frames",
 *     cells: [
 *       { published: 1.61, simulated: 1.6, kind: "priced" },
 *       { published: null, simulated: 1.81, kind: "priced" },
 *     ],
 *   }],
 * });
 * assertEquals(rates.toCSV().split("\r\n")[1], "64-byte frames,base,Mpps,1.61,1.6,-0.6211,priced");
 *
 * assertThrows(() => table({ ...rates, columns: ["base"] }), RangeError, "has 2 cells");
 * ```
 */
export function table(data: TableData): Table {
  return new Table(data);
}
