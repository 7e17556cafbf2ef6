/**
 * Texts in columns, for a terminal.
 *
 * @module
 */

import type { GridGroup } from "./layout.ts";

const GAP = 2;

function width(text: string): number {
  return [...text].length;
}

function sum(widths: readonly number[]): number {
  return widths.reduce((a, b) => a + b, 0);
}

/** What columns under one head are wide together. */
function spanned(widths: readonly number[]): number {
  return sum(widths) + GAP * (widths.length - 1);
}

/** Column by column, which of them stand under a head: its first and the one after its last. */
function places(
  labels: number,
  heads: readonly GridGroup[],
): (readonly [number, number])[] {
  let at = labels;
  return heads.map(({ span }) => [at, at += span] as const);
}

/**
 * Rows as lines: labels on the left, figures aligned on the right, and a first line of heads over the figures.
 *
 * @param labels How many columns hold labels.
 * @param heads The heads, each over one or more columns of figures; a wide one widens them evenly.
 * @param rows The rows, a text a column.
 */
export function textColumns(
  labels: number,
  heads: readonly GridGroup[],
  rows: readonly (readonly string[])[],
): string[] {
  const columns = labels + sum(heads.map(({ span }) => span));
  const widths = Array.from(
    { length: columns },
    (_, c) => Math.max(0, ...rows.map((row) => width(row[c]!))),
  );
  const under = places(labels, heads);
  heads.forEach(({ title }, h) => {
    const [from, to] = under[h]!;
    let lacking = width(title) - spanned(widths.slice(from, to));
    for (let c = from; c < to && lacking > 0; c++) {
      const more = Math.round(lacking / (to - c));
      widths[c]! += more;
      lacking -= more;
    }
  });
  const line = (texts: readonly string[], sizes: readonly number[]): string =>
    ` ${
      texts.map((text, i) => {
        const space = " ".repeat(sizes[i]! - width(text));
        return i < labels ? text + space : space + text;
      }).join(" ".repeat(GAP))
    }`.trimEnd();
  const blank = Array.from({ length: labels }, () => "");
  return [
    line(
      [...blank, ...heads.map(({ title }) => title)],
      [
        ...widths.slice(0, labels),
        ...under.map(([from, to]) => spanned(widths.slice(from, to))),
      ],
    ),
    ...rows.map((row) => line(row, widths)),
  ];
}
