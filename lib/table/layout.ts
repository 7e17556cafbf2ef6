/**
 * Lays a table's figures out as rows and columns of short texts, once for all
 * written forms (terminal, Markdown, HTML).
 *
 * @module
 */

import {
  type Cell,
  type CellKind,
  errorPercent,
  kindMarks,
  type TableData,
} from "./cell.ts";
import { decimals, grouped, signedPercent, significant } from "./number.ts";

/** One text of the grid, with what a form may add to it. */
export interface GridCell {
  /** The figure as text; "-" where there is none, "" where none belongs. */
  readonly text: string;
  /** The kind to mark it with. */
  readonly kind?: CellKind;
  /** The number of its footnote. */
  readonly note?: number;
}

/** A table's head over one or three columns of the grid. */
export interface GridGroup {
  /** The column's name with its unit. */
  readonly title: string;
  /** How many columns of the grid it spans. */
  readonly span: number;
}

/** One row of the grid. */
export interface GridRow {
  /** What the row is about; "" where the row above says so. */
  readonly label: string;
  /** How many rows of the grid the label stands for; 0 where it is "". */
  readonly span: number;
  /** Which figure the row holds, in the stacked layout. */
  readonly figure: string;
  /** The texts. */
  readonly cells: readonly GridCell[];
}

/** A table laid out. */
export interface Grid {
  /** Whether the three figures of a cell stand below each other. */
  readonly stacked: boolean;
  /** The columns of the table. */
  readonly groups: readonly GridGroup[];
  /** What stands in each column of the grid: published, simulated, error. */
  readonly figures: readonly string[];
  /** The rows: a label, in the stacked layout also which figure, and the texts. */
  readonly rows: readonly GridRow[];
  /** Kinds that occur, in the legend's order. */
  readonly kinds: readonly CellKind[];
  /** Footnotes; the first is number 1. */
  readonly notes: readonly string[];
}

/** Writes published figures as they were published, digits and all. */
function publishedText(value: number): string {
  return grouped(value, Math.min(decimals(value), 12));
}

/**
 * How to write a column's simulated figures: all with the same digits behind
 * the point, enough for three significant ones of the smallest without giving
 * the largest a useless tail, and no fewer than were published.
 */
function simulatedFormat(
  cells: readonly Cell[],
): (value: number, kind: CellKind) => string {
  const simulated = cells.flatMap((cell) => cell.simulated ?? []);
  const sizes = simulated.map(Math.abs).filter((size) => size > 0);
  const published = cells.flatMap((cell) => cell.published ?? []);
  const power = (size: number): number => Math.floor(Math.log10(size));
  const wanted = sizes.length === 0 ? 0 : Math.min(
    2 - power(Math.min(...sizes)),
    Math.max(4 - power(Math.max(...sizes)), 0),
  );
  const needed = Math.max(0, ...simulated.map(decimals));
  const digits = Math.min(
    8,
    Math.max(0, Math.min(wanted, needed), ...published.map(decimals)),
  );
  return (value, kind) => {
    // A count is whole, whatever stands below or above it.
    if (kind === "exact" && Number.isInteger(value)) {
      return grouped(value);
    }
    const vanishes = value !== 0 && Math.abs(value) < 5 * 10 ** -digits &&
      decimals(value) > digits;
    return vanishes ? significant(value, 2) : grouped(value, digits);
  };
}

/** Where every cell of a column has one unit it belongs in the head. */
function columnUnit(data: TableData, column: number): string | null {
  const units = new Set(
    data.rows.map((row) => row.cells[column]!.unit ?? data.unit),
  );
  if (units.size > 1) return null;
  return [...units][0] ?? data.unit;
}

/**
 * Lays a table out. A few columns with published figures get three columns
 * each; with more of them the three figures stand below each other instead, so
 * that the table still fits a page.
 *
 * @param data The table.
 * @param sideBySide Up to how many columns with published figures are widened.
 * @returns The grid.
 */
export function layout(data: TableData, sideBySide: number): Grid {
  const columns = data.columns.map((name, c) => {
    const cells = data.rows.map((row) => row.cells[c]!);
    const unit = columnUnit(data, c);
    return {
      title: unit ? `${name} (${unit})` : name,
      ownUnits: unit === null,
      compared: cells.some((cell) => cell.published !== null),
      write: simulatedFormat(cells),
    };
  });
  const stacked =
    columns.filter((column) => column.compared).length > sideBySide;
  const notes: string[] = [];
  const texts = data.rows.map((row) =>
    row.cells.map((cell, c) => {
      const column = columns[c]!;
      const unit = column.ownUnits ? (cell.unit ?? data.unit) : "";
      const withUnit = (text: string): string =>
        unit ? `${text} ${unit}` : text;
      let note = 0;
      if (cell.note !== undefined) {
        const known = notes.indexOf(cell.note);
        note = known < 0 ? notes.push(cell.note) : known + 1;
      }
      const empty = cell.published === null && cell.simulated === null &&
        note === 0;
      const error = errorPercent(cell);
      return {
        published: {
          text: cell.published === null
            ? "-"
            : withUnit(publishedText(cell.published)),
        },
        simulated: {
          text: cell.simulated === null
            ? "-"
            : withUnit(column.write(cell.simulated, cell.kind)),
          ...(empty ? {} : { kind: cell.kind }),
          ...(note > 0 ? { note } : {}),
        },
        error: { text: error === null ? "" : signedPercent(error) },
      };
    })
  );
  const present = new Set(
    texts.flatMap((row) => row.flatMap((cell) => cell.simulated.kind ?? [])),
  );
  const kinds = (Object.keys(kindMarks) as CellKind[]).filter((kind) =>
    present.has(kind)
  );
  const base = { stacked, kinds, notes };
  if (stacked) {
    return {
      ...base,
      groups: columns.map(({ title }) => ({ title, span: 1 })),
      figures: columns.map(() => "simulated"),
      rows: data.rows.flatMap(({ label }, r) => {
        const simulated = {
          label,
          span: 1,
          figure: "simulated",
          cells: texts[r]!.map((cell) => cell.simulated),
        };
        if (data.rows[r]!.cells.every((cell) => cell.published === null)) {
          return [simulated];
        }
        return [
          {
            label,
            span: 3,
            figure: "published",
            cells: texts[r]!.map((cell) => cell.published),
          },
          { ...simulated, label: "", span: 0 },
          {
            label: "",
            span: 0,
            figure: "error",
            cells: texts[r]!.map((cell) => cell.error),
          },
        ];
      }),
    };
  }
  return {
    ...base,
    groups: columns.map(({ title, compared }) => ({
      title,
      span: compared ? 3 : 1,
    })),
    figures: columns.flatMap(({ compared }) =>
      compared ? ["published", "simulated", "error"] : ["simulated"]
    ),
    rows: data.rows.map(({ label }, r) => ({
      label,
      span: 1,
      figure: "",
      cells: texts[r]!.flatMap((cell, c) =>
        columns[c]!.compared
          ? [cell.published, cell.simulated, cell.error]
          : [cell.simulated]
      ),
    })),
  };
}
