/** The house's rule: a file imports only from the lines above its own. */

import { assert, assertEquals } from "@std/assert";

// Who may import whom, top to bottom (CONTRIBUTING.md). Later folders may use all that stand before them.
const ORDER = [
  "kernel",
  "table",
  "sim",
  "cells",
  "mm",
  "net",
  "tcp",
  "path",
  "drivers",
  "releases",
  "patches",
  "experiments",
  "host",
  "view",
  "threads",
  "sweep",
];

async function* sources(folder: URL): AsyncGenerator<URL> {
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) yield* sources(new URL(`${entry.name}/`, folder));
    else if (entry.name.endsWith(".ts")) yield new URL(entry.name, folder);
  }
}

const lib = new URL("../lib/", import.meta.url);
const place = (url: URL): string =>
  url.pathname.slice(lib.pathname.length).split("/")[0]!.replace(/\.ts$/, "");

Deno.test("imports point upwards", async () => {
  const wrong: string[] = [];
  let edges = 0;
  for await (const source of sources(lib)) {
    const text = await Deno.readTextFile(source);
    for (
      const [, specifier] of text.matchAll(
        /^(?:import|export)[^"']*?from\s+"(\.[^"]+)"/gms,
      )
    ) {
      const [from, to] = [place(source), place(new URL(specifier!, source))];
      edges++;
      if (from === to) continue;
      // Experiments know a release as a Kernel only.
      if (from === "experiments" && (to === "releases" || to === "patches")) {
        wrong.push(
          `${source.pathname.slice(lib.pathname.length)} imports ${specifier}`,
        );
      }
      const allowed = from !== "jupyter" && to !== "jupyter" &&
        ORDER.indexOf(to) >= 0 && ORDER.indexOf(to) < ORDER.indexOf(from);
      if (!allowed) {
        wrong.push(
          `${source.pathname.slice(lib.pathname.length)} imports ${specifier}`,
        );
      }
    }
  }
  assertEquals(wrong, []);
  assert(edges > 50, `${edges} imports seen`);
});

Deno.test("the engine uses neither a clock nor Math.random", async () => {
  const wrong: string[] = [];
  for await (const source of sources(lib)) {
    if (["jupyter", "view"].includes(place(source))) continue;
    const text = (await Deno.readTextFile(source)).replaceAll(
      /\/\*[\s\S]*?\*\/|\/\/.*/g,
      "",
    );
    if (
      /Math\.random|Date\.now|new Date|performance\.now|setTimeout/.test(text)
    ) wrong.push(source.pathname);
  }
  assertEquals(wrong, []);
});
