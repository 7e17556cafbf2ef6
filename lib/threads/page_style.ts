/**
 * How the page of `deno task reproduce` looks: on a light and a dark screen, on a narrow one, on paper.
 *
 * @module
 */

import { okabeIto } from "../view/colors.ts";

/** The style sheet. */
export const PAGE_STYLE = `
:root {
  --page: #ffffff; --ink: #1c2128; --muted: #57606a; --rule: #d5dae0; --shade: #f5f7f9; --link: #0550ae; --bad: #a40e26;
  --jp-layout-color0: var(--page);
  color: var(--ink); background: var(--page);
  font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
}
@media screen {
  :root { color-scheme: light dark }
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --ink: #e3e7eb; --muted: #a3acb6; --rule: #3a414a; --shade: #1d2127; --link: #79b8ff; --bad: #ff8f9c;
  }
  /* A thin line of it is hard to see on black. */
  figure [stroke="${okabeIto.blue}" i] { stroke: #3b9ddb }
}
* { box-sizing: border-box }
body { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1, h2, h3 { line-height: 1.25; text-wrap: balance }
h1 { font-size: 1.9rem; margin: 0 0 .5rem }
h2 { font-size: 1.45rem; margin: 0 0 .5rem; padding-top: 1.5rem; border-top: 2px solid var(--rule) }
h3 { font-size: 1.08rem; margin: 2.25rem 0 .5rem }
p, li { max-width: 46rem }
a { color: var(--link) }
.lead { font-size: 1.12rem; color: var(--muted); margin: 0 0 1rem }
.small, figcaption { font-size: .88rem; color: var(--muted) }
.bad { color: var(--bad); font-weight: 600 }
section.thread { margin-top: 3.5rem }
nav a { text-decoration: none }
nav a:hover { text-decoration: underline }
nav ul { columns: 19rem; column-gap: 2.5rem; padding-left: 1.2rem; margin: .25rem 0 .75rem; font-size: .92rem }
nav li { break-inside: avoid }
.table { overflow-x: auto; margin: 1.25rem 0 }
.table:focus-visible { outline: 2px solid var(--link) }
table { border-collapse: collapse; font-size: .86rem; line-height: 1.4; font-variant-numeric: tabular-nums }
caption { text-align: left; font-weight: 600; font-size: 1rem; padding-bottom: .5rem; caption-side: top }
th, td { padding: .25rem .6rem; vertical-align: top }
thead th { font-weight: 600; vertical-align: bottom }
thead tr:last-child > * { border-bottom: 1px solid var(--muted) }
tbody tr + tr > * { border-top: 1px solid var(--rule) }
tbody th { font-weight: 400; text-align: left; min-width: 9rem }
tbody td { white-space: nowrap }
tbody tr:hover > * { background: var(--shade) }
td[align="left"] { white-space: normal }
tfoot td { border-top: 1px solid var(--muted); padding-top: .5rem; color: var(--muted) }
tfoot small { display: block; max-width: 44rem; font-size: .82rem }
sup { line-height: 0 }
figure { margin: 1.5rem 0; max-width: 640px }
figure svg { display: block; max-width: 100%; height: auto; overflow: visible }
summary { cursor: pointer }
dl.legend { display: grid; grid-template-columns: auto 1fr; gap: .1rem .9rem; margin: 1rem 0; max-width: 46rem }
dl.legend dd { margin: 0 }
code { font: .92em ui-monospace, "DejaVu Sans Mono", monospace }
@media screen and (max-width: 45rem) {
  body { padding: 1rem .9rem 3rem }
  th, td { padding: .2rem .35rem }
  tbody th { min-width: 6rem }
}
@media print {
  body { max-width: none; padding: 0 }
  figure, tr, caption { break-inside: avoid }
  h2, h3, caption { break-after: avoid }
  section.thread { break-before: page }
  .table { overflow: visible }
  table { font-size: 7.5pt }
  th, td { padding: .12rem .35rem }
  a { color: inherit; text-decoration: none }
}
`;
