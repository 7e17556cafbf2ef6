/** What the committed notebooks look like, as far as it can be told without a browser. */

import {
  assert,
  assertEquals,
  assertGreater,
  assertStringIncludes,
} from "@std/assert";
import { JSDOM } from "jsdom";
import { codeCells, readNotebook } from "../lib/jupyter/notebook.ts";
import { colors } from "../lib/view/colors.ts";
import { allNotebooks, FIXTURE, nameOf } from "./jupyter/support.ts";
import { textFaults } from "./view/svg_texts.ts";

const paths = allNotebooks().filter((path) => path !== FIXTURE);

interface Page {
  readonly notebook: string;
  readonly cell: string;
  readonly html: string;
}

/** Every output of the notebooks that has an HTML form. */
async function pages(): Promise<Page[]> {
  const all: Page[] = [];
  for (const path of paths) {
    for (const { cell } of codeCells(await readNotebook(path))) {
      for (const output of cell.outputs) {
        const html = "data" in output ? output.data["text/html"] : undefined;
        if (typeof html === "string") {
          all.push({ notebook: nameOf(path), cell: cell.id, html });
        }
      }
    }
  }
  return all;
}

function drawings({ html }: Page): string[] {
  return html.match(/<svg[\s>][\s\S]*?<\/svg>/g) ?? [];
}

async function* sources(folder: URL): AsyncGenerator<URL> {
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) yield* sources(new URL(`${entry.name}/`, folder));
    else if (entry.name.endsWith(".ts")) yield new URL(entry.name, folder);
  }
}

const literalColor = /["'`]#[0-9a-f]{3}(?:[0-9a-f]{3})?["'`]/gi;

Deno.test("look: colours are written in lib/view/colors.ts alone", async () => {
  const wrong: string[] = [];
  for (const folder of ["../lib/", "../tasks/"]) {
    for await (const source of sources(new URL(folder, import.meta.url))) {
      // A picture's paper is white, and a colour's text is black or white, whatever anything means.
      const text = (await Deno.readTextFile(source)).replace(
        /"#(?:FFFFFF|000000)"/g,
        "",
      );
      if (source.pathname.endsWith("/view/colors.ts")) {
        assertGreater(text.match(literalColor)?.length ?? 0, 7);
      } else if (literalColor.test(text)) wrong.push(source.pathname);
      literalColor.lastIndex = 0;
    }
  }
  for (const path of paths) {
    for (const { number, cell } of codeCells(await readNotebook(path))) {
      const found = cell.source.match(literalColor);
      if (found !== null) {
        wrong.push(`${nameOf(path)}, cell ${number}: ${found.join(", ")}`);
      }
    }
  }
  assertEquals(wrong, []);
});

Deno.test("look: a line's name has one colour in all notebooks, its own where it has one", async () => {
  const seen = new Map<string, { color: string; where: string }>();
  const wrong: string[] = [];
  const known = new Set(Object.values(colors));
  let lines = 0;
  for (const page of await pages()) {
    const where = `${page.notebook}, ${page.cell}`;
    for (const svg of drawings(page)) {
      for (
        const [line, name] of svg.matchAll(/<line aria-label="([^"]+)"[^>]*>/g)
      ) {
        lines++;
        const color = / stroke="([^"]+)"/.exec(line)![1]!;
        const first = seen.get(name!) ?? { color, where };
        seen.set(name!, first);
        if (first.color !== color) {
          wrong.push(
            `${name} is ${first.color} in ${first.where}, ${color} in ${where}`,
          );
        }
        if (color !== (colors[name!] ?? color) || !known.has(color)) {
          wrong.push(`${name} is ${color} in ${where}, not ${colors[name!]}`);
        }
      }
    }
  }
  assertEquals(wrong, []);
  assertGreater(lines, 40);
});

Deno.test("look: no text of a drawing is cut, covers another, or is small in a window of 640 px", async () => {
  const faults: string[] = [];
  let count = 0;
  for (const page of await pages()) {
    for (const svg of drawings(page)) {
      count++;
      const where = `${page.notebook}, ${page.cell}`;
      faults.push(...textFaults(svg).map((fault) => `${where}: ${fault}`));
      const width = Number(/ width="([\d.]+)"/.exec(svg)![1]);
      if (width > 640) faults.push(`${where}: ${width} px wide`);
      const sizes = [...svg.matchAll(/ font-size="([\d.]+)"/g)].map((
        [, size],
      ) => Number(size));
      // nbconvert's page leaves 498 px of 640 to a drawing.
      const smallest = Math.min(...sizes) * 498 / width;
      if (smallest < 11) {
        faults.push(`${where}: text of ${smallest.toFixed(1)} px`);
      }
    }
  }
  assertEquals(faults, []);
  assertGreater(count, 40);
});

Deno.test("look: figures of tables are on the right, units in parentheses", async () => {
  const faults: string[] = [];
  let count = 0;
  for (const page of await pages()) {
    const { document } = new JSDOM(page.html).window;
    for (const table of document.querySelectorAll("table")) {
      count++;
      const where = `${page.notebook}, ${page.cell}: ${
        table.querySelector("caption")?.textContent
      }`;
      for (const cell of table.querySelectorAll("tbody td, thead th")) {
        const align = cell.getAttribute("align");
        // Heads of three columns stand over their middle, words on the left.
        const expected = cell.hasAttribute("colspan")
          ? "center"
          : /^(?:published|simulated|error)$/.test(cell.textContent) &&
              cell.tagName === "TD"
          ? "left"
          : "right";
        if (align !== expected) {
          faults.push(`${where}: ${cell.textContent} is aligned ${align}`);
        }
      }
      for (const head of table.querySelectorAll("thead th")) {
        if (/, (?:bytes|KiB|MiB|ns|ms|s|%|\S+\/s)$/.test(head.textContent)) {
          faults.push(`${where}: the unit of "${head.textContent}"`);
        }
      }
    }
  }
  assertEquals(faults, []);
  assert(count > 40, `${count} tables`);
});

Deno.test("look: the front page and the README name every notebook", async () => {
  const front = paths.find((path) => nameOf(path) === "00-start-here")!;
  const { cells } = await readNotebook(front);
  const text = cells.filter(({ cell_type }) => cell_type === "markdown").map((
    { source },
  ) => source).join("\n");
  const readme = await Deno.readTextFile(
    new URL("../README.md", import.meta.url),
  );
  for (const name of paths.map(nameOf)) {
    assertStringIncludes(readme, `](notebooks/${name}.ipynb)`);
    if (name !== "00-start-here") {
      assertStringIncludes(text, `](${name}.ipynb)`);
    }
  }
});
