import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { threads } from "@truesize/lab";
import { threadsPage } from "../../lib/threads/page.ts";
import { reproduceThreads } from "../../lib/threads/reproduce_threads.ts";
import { DEMANDED, PROGRAMS, withBrowser } from "../jupyter/jupyter_support.ts";
import { measurePage } from "../jupyter/page_support.ts";
import { withFolder } from "../jupyter/support.ts";

/** What {@linkcode measureReport} finds besides. */
interface Report {
  /** How much wider the page is than its window, px. */
  readonly overflow: number;
  /** Texts by their colour on what they stand on, the least readable first. */
  readonly contrasts: readonly (readonly [contrast: number, text: string])[];
}

/** Measures a page of threads; runs in the browser, without outside names. */
function measureReport(): Report {
  // deno-lint-ignore no-explicit-any
  const { document, getComputedStyle, NodeFilter } = globalThis as any;
  const rgb = (color: string): number[] =>
    (color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
  const luminance = (color: string): number => {
    const [r, g, b] = rgb(color).map((part) => {
      const share = part / 255;
      return share <= 0.04045
        ? share / 12.92
        : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const page = luminance(
    getComputedStyle(document.documentElement).backgroundColor,
  );
  const contrasts: [number, string][] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const parent = walker.currentNode.parentElement;
    if (text === "") continue;
    const drawn = parent.closest("svg") !== null;
    const style = getComputedStyle(parent);
    const color = drawn ? style.fill : style.color;
    // Words in a box are black or white, whichever reads better there.
    if (drawn && ["rgb(0, 0, 0)", "rgb(255, 255, 255)"].includes(color)) {
      continue;
    }
    const [low, high] = [page, luminance(color)].sort((a, b) => a - b);
    contrasts.push([(high! + 0.05) / (low! + 0.05), `${text} in ${color}`]);
  }
  contrasts.sort((a, b) => a[0] - b[0]);
  const { scrollWidth, clientWidth } = document.documentElement;
  return { overflow: scrollWidth - clientWidth, contrasts };
}

const ignore = PROGRAMS.chromium === undefined && !DEMANDED;

Deno.test({
  name: "browser: the measures of a page find what is wrong",
  ignore,
  fn: () =>
    withBrowser(async (browser) => {
      const page = await browser.newPage({
        viewport: { width: 640, height: 400 },
      });
      await page.setContent(`
        <html style="background:#ffffff"><body style="color:#000000">
        <p>read</p><p style="color:#aaaaaa">faint</p>
        <svg><g fill="#E69F00"><text y="20">orange</text></g><text y="40" fill="#000000">in a box</text></svg>
        <div style="width:900px">wide</div>`);
      const { overflow, contrasts } = await page.evaluate(measureReport);
      assert(overflow > 200);
      assertEquals(
        contrasts.filter(([contrast]) => contrast < 4.5).map(([, text]) =>
          text
        ),
        ["orange in rgb(230, 159, 0)", "faint in rgb(170, 170, 170)"],
      );
    }),
});

Deno.test({
  name:
    "browser: the page of all threads is whole, wide and narrow, light and dark",
  ignore,
  fn: () =>
    withFolder(async (folder) => {
      // Of the thread whose runs are long, what needs few of them.
      const rcvbuf = threads["rcvbuf-autotuning"]!;
      const only = ["fix-tso-on", "initial-buffers", "truesize-diagnosis"];
      const results = await reproduceThreads(
        Object.values({
          ...threads,
          [rcvbuf.id]: {
            ...rcvbuf,
            figures: Object.fromEntries(
              Object.entries(rcvbuf.figures).filter(([, { table }]) =>
                only.includes(table)
              ),
            ),
            plan: () => rcvbuf.plan!({ only }),
          },
        }),
        { figures: true },
      );
      const path = join(folder, "page.html");
      await Deno.writeTextFile(path, threadsPage(results, { version: "0" }));
      const drawings = results.reduce((sum, r) => sum + r.figures.length, 0);
      assert(drawings >= 20);
      await withBrowser(async (browser) => {
        for (const colorScheme of ["light", "dark"] as const) {
          for (const width of [1280, 640]) {
            const page = await browser.newPage({
              viewport: { width, height: 900 },
              colorScheme,
            });
            const asked: string[] = [];
            page.on("request", (request) => asked.push(request.url()));
            await page.goto(pathToFileURL(path).href);
            const where = `${colorScheme}, ${width} px`;
            const shown = await page.evaluate(measurePage, "figure, .table");
            // A wide table scrolls in its own place.
            assertEquals(
              shown.faults.filter((fault) =>
                !fault.startsWith("an output scrolls")
              ),
              [],
              where,
            );
            assertEquals(shown.drawings, drawings, where);
            for (const ink of shown.inkLightness) {
              if (colorScheme === "dark") assertGreater(ink, 0.5, where);
              else assertLess(ink, 0.5, where);
            }
            const { overflow, contrasts } = await page.evaluate(measureReport);
            assertEquals(overflow, 0, where);
            assert(contrasts.length > 1000, where);
            assertEquals(
              contrasts.filter(([contrast]) => contrast < 4.5),
              [],
              where,
            );
            assertEquals(asked, [pathToFileURL(path).href], where);
            await page.close();
          }
        }
      });
    }),
});
