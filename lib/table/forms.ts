/**
 * The written forms of a table: terminal text, CSV, Markdown and HTML.
 *
 * @module
 */

import { errorPercent, kindMarks, type TableData } from "./cell.ts";
import { textColumns } from "./columns.ts";
import { type GridCell, layout } from "./layout.ts";

function joined(...parts: string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** The terminal form. See `Table.toText`. */
export function toText(data: TableData, ascii: boolean): string {
  const grid = layout(data, 2);
  const mark = (cell: GridCell): string =>
    cell.kind === undefined
      ? ""
      : kindMarks[cell.kind][ascii ? "ascii" : "mark"];
  const write = (cell: GridCell): string =>
    joined(
      cell.text,
      mark(cell),
      cell.note === undefined ? "" : `[${cell.note}]`,
    );
  const compared = grid.groups.some(({ span }) => span > 1);
  const rows = grid.rows.map((row) => [
    row.label,
    ...(grid.stacked ? [row.figure] : []),
    ...row.cells.map(write),
  ]);
  const labels = grid.stacked ? 2 : 1;
  const under = [...Array.from({ length: labels }, () => ""), ...grid.figures];
  const lines = textColumns(
    labels,
    grid.groups,
    compared ? [under, ...rows] : rows,
  );
  const width = Math.max(
    data.title.length,
    ...lines.map((line) => line.length),
  );
  lines.splice(compared ? 2 : 1, 0, "-".repeat(width));
  const legend = grid.kinds.map((kind) =>
    ` ${kindMarks[kind][ascii ? "ascii" : "mark"]} ${kindMarks[kind].meaning}`
  );
  const notes = grid.notes.map((note, i) => ` [${i + 1}] ${note}`);
  return [data.title, "", ...lines, "", ...legend, ...notes].join("\n")
    .trimEnd() + "\n";
}

/** One field of a CSV line (RFC 4180). */
export function csvField(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 4180, one line a cell. See `Table.toCSV`. */
export function toCSV(data: TableData): string {
  const lines: (string | number | null)[][] = [[
    "row",
    "column",
    "unit",
    "published",
    "simulated",
    "error_percent",
    "kind",
  ]];
  for (const row of data.rows) {
    row.cells.forEach((cell, c) => {
      const error = errorPercent(cell);
      lines.push([
        row.label,
        data.columns[c]!,
        cell.unit ?? data.unit,
        cell.published,
        cell.simulated,
        // More digits would only show how doubles divide.
        error === null ? null : Number(error.toFixed(4)),
        cell.kind,
      ]);
    });
  }
  return lines.map((line) => line.map(csvField).join(",") + "\r\n").join("");
}

/** Keeps kernel names such as `tcp_rmem[2]` and `skb->len | 1` what they are. */
export function markdownText(text: string): string {
  return text.replace(/[\\|*_`<>[\]~$&]/g, "\\$&").replace(
    /\s*[\r\n]+\s*/g,
    " ",
  );
}

/** A pipe table. See `Table.toMarkdown`. */
export function toMarkdown(data: TableData): string {
  const grid = layout(data, 1);
  const write = (cell: GridCell): string =>
    joined(
      markdownText(cell.text),
      cell.kind === undefined ? "" : kindMarks[cell.kind].mark,
      cell.note === undefined ? "" : `\\[${cell.note}\\]`,
    );
  const line = (texts: readonly string[]): string => `| ${texts.join(" | ")} |`;
  const heads = grid.groups.flatMap(({ title, span }, g) => {
    const first = grid.groups.slice(0, g).reduce(
      (sum, group) => sum + group.span,
      0,
    );
    return Array.from(
      { length: span },
      (_, i) =>
        markdownText(joined(title, span > 1 ? grid.figures[first + i]! : "")),
    );
  });
  const out = [
    `**${markdownText(data.title)}**`,
    "",
    line(["", ...(grid.stacked ? [""] : []), ...heads]),
    line([
      ":---",
      ...(grid.stacked ? [":---"] : []),
      ...heads.map(() => "---:"),
    ]),
    ...grid.rows.map((row) =>
      line([
        markdownText(row.label),
        ...(grid.stacked ? [row.figure] : []),
        ...row.cells.map(write),
      ])
    ),
    "",
    ...grid.kinds.map((kind) =>
      `- ${kindMarks[kind].mark} ${kindMarks[kind].meaning}`
    ),
    ...grid.notes.map((note, i) => `- \\[${i + 1}\\] ${markdownText(note)}`),
  ];
  return out.join("\n").trimEnd() + "\n";
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text made safe between tags and inside attribute values. */
export function escapeHTML(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}

// nbconvert aligns every cell on the right by a rule that beats an attribute;
// an untrusted notebook keeps the attribute alone.
const left = 'align="left" style="text-align:left"';

/** Long kernel names may break after an underscore, where a narrow page would scroll otherwise. */
function headHTML(text: string): string {
  return escapeHTML(text).replace(/_(?=\w)/g, "_<wbr>");
}

/** A row's label up to this long, in characters, stays on one line. */
const shortLabel = 12;

/** A semantic table. See `Table.toHTML`. */
export function toHTML(data: TableData): string {
  const grid = layout(data, 1);
  const write = (cell: GridCell): string => {
    const kind = cell.kind === undefined ? undefined : kindMarks[cell.kind];
    const mark = kind === undefined
      ? ""
      : `<span title="${escapeHTML(kind.meaning)}">${kind.mark}</span>`;
    const note = cell.note === undefined
      ? ""
      : `<sup title="${
        escapeHTML(grid.notes[cell.note - 1]!)
      }">${cell.note}</sup>`;
    // A no-break space keeps a mark on its figure's line.
    return joined(escapeHTML(cell.text), mark).replace(
      " <span",
      "&nbsp;<span",
    ) + note;
  };
  // Figures are aligned by attribute: an untrusted notebook drops every style.
  const td = (cell: GridCell): string =>
    `<td align="right">${write(cell)}</td>`;
  const compared = grid.groups.some(({ span }) => span > 1);
  const corner = `<td${compared ? ' rowspan="2"' : ""}${
    grid.stacked ? ' colspan="2"' : ""
  }></td>`;
  const heads = grid.groups.map(({ title, span }) =>
    span > 1
      ? `<th scope="colgroup" colspan="${span}" align="center">${
        headHTML(title)
      }</th>`
      : `<th scope="col"${compared ? ' rowspan="2"' : ""} align="right">${
        headHTML(title)
      }</th>`
  );
  const figures = grid.groups.flatMap(({ span }) =>
    span > 1 ? ["published", "simulated", "error"] : []
  )
    .map((figure) => `<th scope="col" align="right">${figure}</th>`);
  const body = grid.rows.map((row) => {
    const rows = row.span > 1 ? ` rowspan="${row.span}"` : "";
    const label = row.span === 0
      ? ""
      : `<th scope="row"${rows} ${left}>${
        row.label.length <= shortLabel
          ? escapeHTML(row.label).replaceAll(" ", "&nbsp;")
          : headHTML(row.label)
      }</th>`;
    const figure = grid.stacked ? `<td ${left}>${row.figure}</td>` : "";
    return `<tr>${label}${figure}${row.cells.map(td).join("")}</tr>`;
  });
  const width = 1 + (grid.stacked ? 1 : 0) + grid.figures.length;
  const foot = [
    ...grid.kinds.map((kind) =>
      `${kindMarks[kind].mark} ${escapeHTML(kindMarks[kind].meaning)}`
    ),
    ...grid.notes.map((note, i) => `<sup>${i + 1}</sup> ${escapeHTML(note)}`),
  ];
  return [
    "<table>",
    `<caption>${escapeHTML(data.title)}</caption>`,
    `<thead><tr>${corner}${heads.join("")}</tr>${
      figures.length > 0 ? `<tr>${figures.join("")}</tr>` : ""
    }</thead>`,
    `<tbody>${body.join("\n")}</tbody>`,
    ...(foot.length > 0
      ? [
        `<tfoot><tr><td colspan="${width}" ${left}><small>${
          foot.join("<br>")
        }</small></td></tr></tfoot>`,
      ]
      : []),
    "</table>",
  ].join("\n") + "\n";
}
