/**
 * The rows of a sweep to be looked at: all of a short one, both ends of a long one.
 *
 * @module
 */

import { escapeHTML } from "../table/forms.ts";
import type { SweepValue } from "./grid.ts";

/** What is shown. */
interface Shown {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, SweepValue>>[];
  readonly failed: number;
}

/** Rows shown of each end of a long sweep. */
const END = 15;

function parts({ columns, rows, failed }: Shown): {
  names: readonly string[];
  lines: SweepValue[][];
  left: number;
} {
  // Nobody needs a column of nothing.
  const names = failed > 0 ? columns : columns.slice(0, -1);
  const long = rows.length > 2 * END + 1;
  const shown = long ? [...rows.slice(0, END), ...rows.slice(-END)] : rows;
  return {
    names,
    lines: shown.map((row) => names.map((name) => row[name]!)),
    left: rows.length - shown.length,
  };
}

function text(value: SweepValue): string {
  return value === null ? "" : String(value);
}

function summary({ title, rows, failed }: Shown): string {
  return `${title}: ${rows.length} cells${
    failed === 0 ? "" : `, ${failed} failed`
  }`;
}

/** Text in columns, numbers on the right. */
export function rowsText(sweep: Shown): string {
  const { names, lines, left } = parts(sweep);
  const widths = names.map((name, c) =>
    Math.max(name.length, ...lines.map((line) => text(line[c]!).length))
  );
  const write = (values: readonly SweepValue[], head = false): string =>
    values.map((value, c) =>
      typeof value === "number" || (head && isNumeric(lines, c))
        ? text(value).padStart(widths[c]!)
        : text(value).padEnd(widths[c]!)
    ).join("  ").trimEnd();
  const body = lines.map((line) => write(line));
  if (left > 0) body.splice(END, 0, `… ${left} more`);
  return [summary(sweep), "", write(names, true), ...body].join("\n") + "\n";
}

function isNumeric(lines: readonly SweepValue[][], column: number): boolean {
  return lines.some((line) => typeof line[column] === "number");
}

/** A table element. */
export function rowsHTML(sweep: Shown): string {
  const { names, lines, left } = parts(sweep);
  const cell = (tag: string, value: SweepValue, right: boolean): string =>
    right
      ? `<${tag} align="right">${escapeHTML(text(value))}</${tag}>`
      : `<${tag} align="left" style="text-align:left">${
        escapeHTML(text(value))
      }</${tag}>`;
  const numeric = names.map((_, c) => isNumeric(lines, c));
  const body = lines.map((line) =>
    `<tr>${line.map((v, c) => cell("td", v, numeric[c]!)).join("")}</tr>`
  );
  if (left > 0) {
    body.splice(
      END,
      0,
      `<tr><td colspan="${names.length}" align="left" style="text-align:left">… ${left} more</td></tr>`,
    );
  }
  return [
    "<table>",
    `<caption>${escapeHTML(summary(sweep))}</caption>`,
    `<thead><tr>${
      names.map((name, c) => cell("th", name, numeric[c]!)).join("")
    }</tr></thead>`,
    `<tbody>${body.join("\n")}</tbody>`,
    "</table>",
  ].join("\n") + "\n";
}
