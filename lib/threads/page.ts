/**
 * The page of `deno task reproduce`: all tables and figures of some threads in one HTML file that needs nothing else.
 *
 * @module
 */

import { kindMarks, type Table } from "../table.ts";
import { escapeHTML } from "../table/forms.ts";
import { bandText } from "./bands.ts";
import { PAGE_STYLE } from "./page_style.ts";
import type { DrawnFigure, ReproducedThread } from "./reproduce_threads.ts";

/** What the page says about how it was made. */
export interface PageOptions {
  /** The package's version. */
  readonly version: string;
}

/** A cell of {@linkcode wordTable}: figures stand on the right. */
type WordCell = string | { readonly figure: string };

/** A table of words and a few figures, named by the heading above it. */
function wordTable(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly WordCell[])[],
): string {
  const td = (cell: WordCell): string =>
    typeof cell === "string"
      ? `<td align="left">${escapeHTML(cell)}</td>`
      : `<td align="right">${escapeHTML(cell.figure)}</td>`;
  return scrolling(
    title,
    `<table class="words"><thead><tr>${
      heads.map((head, i) =>
        `<th scope="col" align="${
          typeof rows[0]?.[i] === "object" ? "right" : "left"
        }">${escapeHTML(head)}</th>`
      ).join("")
    }</tr></thead><tbody>${
      rows.map((row) => `<tr>${row.map(td).join("")}</tr>`).join("\n")
    }</tbody></table>`,
  );
}

/** What is wider than the page scrolls by itself, with the keyboard too. */
function scrolling(title: string, html: string): string {
  return `<div class="table" tabindex="0" role="region" aria-label="${
    escapeHTML(title)
  }">${html}</div>`;
}

const anchor = (thread: string, id: string): string =>
  escapeHTML(`${thread}-${id}`);

function figureHTML(thread: string, { name, title, svg }: DrawnFigure): string {
  return `<figure id="${
    anchor(thread, `figure-${name}`)
  }" role="img" aria-label="${escapeHTML(title)}">${svg}</figure>`;
}

function tableHTML(thread: string, made: Table): string {
  return `<div id="${anchor(thread, made.id)}">${
    scrolling(made.title, made.toHTML())
  }</div>`;
}

/** What the bands say of a thread, and each cell that is outside. */
function verdict({ bands }: ReproducedThread): string {
  const { compared, unexplained, outside } = bands;
  const none = unexplained === 0
    ? ""
    : ` ${unexplained} more are unexplained and have no band.`;
  if (outside.length === 0) {
    return `<p>${compared} cells with a published figure are explained; each is inside its band.${none}</p>`;
  }
  return `<p class="bad">${outside.length} of ${compared} cells are outside their band.</p>` +
    wordTable(
      "Cells outside their band",
      ["table", "row", "column", "published", "simulated", "error", "band"],
      outside.map((cell) => [
        cell.table,
        cell.row,
        cell.column,
        { figure: String(cell.published) },
        { figure: String(cell.simulated) },
        { figure: cell.error === null ? "-" : `${cell.error.toFixed(2)} %` },
        cell.band === undefined ? "none stated" : bandText(cell.band),
      ]),
    );
}

function threadHTML(result: ReproducedThread): string {
  const { thread, tables, figures, leftOut } = result;
  const { id } = thread;
  const parts = tables.map((made) =>
    [
      tableHTML(id, made),
      ...figures.filter(({ table }) => table === made.id)
        .map((figure) => figureHTML(id, figure)),
    ].join("\n")
  );
  const messages = thread.messages.map(({ subject, from, date }) =>
    `<li>${escapeHTML(subject)} <span class="small">${escapeHTML(from)}${
      date === undefined ? "" : `, ${escapeHTML(date)}`
    }</span></li>`
  );
  const made = new Set(tables.map(({ id }) => id));
  const stated = thread.bands.filter(({ table }) => made.has(table));
  const bands = stated.map((band, i) => {
    const above = stated.slice(0, i).filter(({ table }) =>
      table === band.table
    );
    const named = (part: "rows" | "columns"): string =>
      band[part]?.join(", ") ??
        (above.some((other) => other[part]) ? "the others" : "all");
    return [
      band.table,
      named("rows"),
      named("columns"),
      { figure: bandText(band) },
      band.note ?? "",
    ];
  });
  const fitted = thread.fitted.map(({ name, value, unit, reason }) => [
    name,
    { figure: `${Math.round(value * 1e3) / 1e3} ${unit}` },
    reason,
  ]);
  return `<section class="thread" id="${escapeHTML(id)}">
<h2>${escapeHTML(thread.title)}</h2>
<p class="lead">${escapeHTML(thread.question)}</p>
<details><summary>${messages.length} messages</summary><ul>${
    messages.join("\n")
  }</ul></details>
${parts.join("\n")}
<h3 id="${anchor(id, "findings")}">Findings</h3>
<ul>${
    thread.findings.map((text) => `<li>${escapeHTML(text)}</li>`).join("\n")
  }</ul>
<h3 id="${anchor(id, "fitted")}">Fitted constants, each for one reason</h3>
${
    fitted.length === 0 ? "<p>None.</p>" : wordTable("Fitted constants", [
      "name",
      "value",
      "reason",
    ], fitted)
  }
<h3 id="${anchor(id, "bands")}">Error bands</h3>
${verdict(result)}
${
    wordTable("Error bands", [
      "table",
      "rows",
      "columns",
      "allowed error",
      "remark",
    ], bands)
  }
<h3 id="${anchor(id, "made")}">How it was made</h3>
<p><code>deno task reproduce --thread ${escapeHTML(id)}</code>, on models of ${
    escapeHTML(thread.kernels.join(", "))
  }, each with the sizes and constants of its own release.${
    leftOut.length === 0
      ? ""
      : ` Left out for their cost, made with <code>--all</code>: ${
        escapeHTML(leftOut.join(", "))
      }.`
  }</p>
</section>`;
}

function contents(results: readonly ReproducedThread[]): string {
  return results.map(({ thread, tables }) =>
    `<li><a href="#${escapeHTML(thread.id)}">${escapeHTML(thread.title)}</a>
<ul>${
      tables.map(({ id, title }) =>
        `<li><a href="#${anchor(thread.id, id)}">${escapeHTML(title)}</a></li>`
      ).join("\n")
    }</ul></li>`
  ).join("\n");
}

function summary(results: readonly ReproducedThread[]): string {
  return wordTable(
    "What is compared",
    [
      "thread",
      "tables",
      "figures",
      "explained cells",
      "outside their band",
      "unexplained",
    ],
    results.map(({ thread, tables, figures, bands }) => [
      thread.id,
      { figure: String(tables.length) },
      { figure: String(figures.length) },
      { figure: String(bands.compared) },
      { figure: String(bands.outside.length) },
      { figure: String(bands.unexplained) },
    ]),
  );
}

/**
 * Writes the page.
 *
 * @param results Threads, as `reproduceThreads` gives them.
 * @param options The package's version.
 * @returns An HTML document: style and drawings inside, no script, nothing from a network. Same results, same bytes.
 */
export function threadsPage(
  results: readonly ReproducedThread[],
  { version }: PageOptions,
): string {
  const legend = Object.values(kindMarks).map(({ mark, meaning }) =>
    `<dt>${mark}</dt><dd>${escapeHTML(meaning)}</dd>`
  ).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="truesize ${escapeHTML(version)}">
<title>truesize: mailing-list threads, published beside simulated</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>Mailing-list threads, published beside simulated</h1>
<p class="lead">The tables of ${results.length} ${
    results.length === 1 ? "thread" : "threads"
  } of the Linux network stack, each figure beside what the model of that kernel gives.</p>
<p>A mark behind each simulated figure says how it came about:</p>
<dl class="legend">${legend}</dl>
<h3>What is compared</h3>
${summary(results)}
</header>
<nav aria-label="Contents">
<h3>Contents</h3>
<ol>${contents(results)}</ol>
</nav>
<main>
${results.map(threadHTML).join("\n")}
</main>
<footer>
<p class="small">Made by <code>deno task reproduce --html</code> of truesize ${
    escapeHTML(version)
  }. Every simulated figure was computed for this page; the same version gives the same page.</p>
</footer>
</body>
</html>
`;
}
