import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { codeCells, readNotebook } from "../lib/jupyter/notebook.ts";
import {
  describeFault,
  isDrawing,
  reviewOutputs,
} from "../lib/jupyter/review.ts";
import {
  jupyterEnvironment,
  nbconvert,
  NotebookServer,
  SKIPPED,
  withBrowser,
} from "./jupyter/jupyter_support.ts";
import {
  measureClassic,
  measurePage,
  OUTPUTS,
} from "./jupyter/page_support.ts";
import { allNotebooks, nameOf, withFolder } from "./jupyter/support.ts";

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 640, height: 900 };

/** The displays of a notebook that are drawings, and how many tables there are. */
async function expectedOutputs(
  path: string,
): Promise<{ drawings: number; tables: number }> {
  const cells = codeCells(await readNotebook(path));
  const bundles = cells.flatMap(({ cell }) => cell.outputs)
    .flatMap((output) => "data" in output ? [output.data] : []);
  const tables = bundles.map((data) =>
    String(data["text/html"] ?? "").match(/<table[\s>]/g)?.length ?? 0
  );
  return {
    drawings: bundles.filter(isDrawing).length,
    tables: tables.reduce((sum, count) => sum + count, 0),
  };
}

/** Opens an HTML file without its outside scripts. */
async function openFile(browser: Browser, path: string): Promise<Page> {
  const page = await browser.newPage({ viewport: WIDE });
  await page.route(
    "**/*",
    (route) =>
      route.request().url().startsWith("http")
        ? route.abort()
        : route.continue(),
  );
  await page.goto(pathToFileURL(path).href, { waitUntil: "domcontentloaded" });
  return page;
}

async function checkPage(page: Page, theme: string, expected: {
  drawings: number;
  tables: number;
}): Promise<void> {
  for (const viewport of [WIDE, NARROW]) {
    await page.setViewportSize(viewport);
    const report = await page.evaluate(measurePage, OUTPUTS);
    const where = `${theme}, ${viewport.width} px`;
    // A wide table may scroll on a narrow page; a drawing must fit.
    const faults = report.faults.filter((fault) =>
      viewport === WIDE || !fault.startsWith("an output scrolls")
    );
    assertEquals(faults, [], where);
    assertGreater(report.drawings + 1, expected.drawings, `${where}: drawings`);
    assertEquals(report.tables, expected.tables, `${where}: tables`);
    for (const ink of report.inkLightness) {
      if (theme === "dark") assertGreater(ink, report.pageLightness, where);
      else assertLess(ink, report.pageLightness, where);
    }
  }
}

Deno.test({
  name: "browser: the measures find what is wrong",
  ignore: SKIPPED,
  fn: () =>
    withBrowser(async (browser) => {
      const page = await browser.newPage({ viewport: NARROW });
      await page.setContent(`
        <div class="jp-OutputArea-output" style="width:300px;overflow:auto">
          <svg width="200" height="50"><text x="190" y="30">cut off</text></svg>
          <svg width="200" height="50"><text x="10" y="30">whole</text></svg>
          <svg width="100" height="40" viewBox="0 0 160 64">
            <text y="20">small</text>
          </svg>
          <svg width="200" height="50">
            <text y="20">one</text><text x="9" y="24">other</text>
            <text y="40"><tspan>apart</tspan></text>
          </svg>
          <table><tr><td align="right"><div style="width:400px">too wide</div></td></tr></table>
          <table><tr><td>2,304</td></tr></table>
          <svg width="350" height="50"></svg>
          <svg width="10" height="0"></svg>
          <img style="display:none">
        </div>`);
      const { faults } = await page.evaluate(measurePage, OUTPUTS);
      const found = [
        "10 by 0 px",
        '"cut off" is cut',
        '"small" is 10.0 px high',
        '"one" and "other" overlap',
        '"2,304" is aligned',
        "wider than its place",
        "scrolls sideways",
      ];
      assertEquals(faults.length, found.length, faults.join("\n"));
      for (const part of found) {
        assert(faults.some((fault) => fault.includes(part)), part);
      }
    }),
});

for (const path of allNotebooks()) {
  const name = nameOf(path);
  Deno.test({
    name: `browser: nbconvert executes ${name}, and its pages are whole`,
    ignore: SKIPPED,
    fn: () =>
      withFolder(async (folder) => {
        const env = await jupyterEnvironment(folder);
        await nbconvert([
          "--to=notebook",
          "--execute",
          `--output-dir=${folder}`,
          path,
        ], env);
        const executed = join(folder, basename(path));
        const faults = reviewOutputs(await readNotebook(executed));
        assertEquals(faults.map((fault) => describeFault(name, fault)), []);
        const expected = await expectedOutputs(executed);
        await withBrowser(async (browser) => {
          for (const theme of ["light", "dark"]) {
            const html = join(folder, `${name}-${theme}.html`);
            await nbconvert([
              "--to=html",
              `--HTMLExporter.theme=${theme}`,
              `--output=${html}`,
              executed,
            ], env);
            await checkPage(await openFile(browser, html), theme, expected);
          }
        });
      }),
  });
}

/** The text of a display's HTML that stands outside its drawing. */
function textBesideDrawing(html: string): string {
  // deno-lint-ignore no-explicit-any
  const { document } = globalThis as any;
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const svg of template.content.querySelectorAll("svg")) svg.remove();
  return template.content.textContent.replace(/\s+/g, " ").trim();
}

async function checkClassic(page: Page, path: string): Promise<void> {
  const outputs = codeCells(await readNotebook(path)).flatMap(({ cell }) =>
    cell.outputs
  );
  await page.waitForSelector(".code_cell");
  await page.waitForFunction(
    `document.querySelectorAll(".output_area").length >= ${outputs.length}`,
  );
  await page.waitForFunction(
    `[...document.images].every((image) => image.complete)`,
  );
  const shown = await page.evaluate(measureClassic);
  assertEquals(shown.trusted, false);
  assertEquals(shown.outputs.length, outputs.length);
  for (const [i, output] of outputs.entries()) {
    if (!("data" in output) || !isDrawing(output.data)) continue;
    const seen = shown.outputs[i]!;
    const where = `${basename(path)}, output ${i + 1} of the notebook`;
    assert(
      seen.images.some((width) => width > 0),
      `${where}: no picture where HTML is not trusted; shown is ${
        JSON.stringify(seen)
      }`,
    );
    const beside = await page.evaluate(
      textBesideDrawing,
      output.data["text/html"] as string,
    );
    assertEquals(seen.text, beside, `${where}: words of the drawing are left`);
  }
}

Deno.test({
  name:
    "browser: the classic Notebook shows committed, untrusted notebooks with pictures",
  ignore: SKIPPED,
  fn: () =>
    withFolder(async (folder) => {
      const env = await jupyterEnvironment(folder);
      // The Notebook may write to what it opens.
      for (const path of allNotebooks()) {
        await Deno.copyFile(path, join(folder, basename(path)));
      }
      await using server = await NotebookServer.start(folder, env);
      await withBrowser(async (browser) => {
        for (const path of allNotebooks()) {
          const page = await browser.newPage({ viewport: WIDE });
          await page.goto(server.pageOf(basename(path)), {
            waitUntil: "domcontentloaded",
          });
          await checkClassic(page, path);
          await page.close();
        }
      });
    }),
});
