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

/** Files that need each other when they run: sending, probing and marking losses call one another, as in the kernel. */
const CIRCLES = [["tcp/output.ts", "tcp/scoreboard.ts", "tcp/tlp.ts"]];

/** What each file of lib/ needs to run, by path; imports of types alone need nothing. */
async function needs(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const source of sources(lib)) {
    const text = await Deno.readTextFile(source);
    const imports = text.matchAll(
      /^(?:import|export)(?! type)\s+(\{[^}]*\}|[^"']*?)\s*from\s+"(\.[^"]+)"/gms,
    );
    found.set(
      source.pathname,
      [...imports]
        .filter(([, names]) => !/^\{(?:\s*type [^,}]+,?)+\s*\}$/.test(names!))
        .map(([, , specifier]) => new URL(specifier!, source).pathname),
    );
  }
  return found;
}

Deno.test("no circles of files that need each other to run", async () => {
  const graph = await needs();
  const reachable = (from: string): Set<string> => {
    const seen = new Set<string>();
    const left = [...graph.get(from)!];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      left.push(...graph.get(at) ?? []);
    }
    return seen;
  };
  const reach = new Map(
    [...graph.keys()].map((file) => [file, reachable(file)]),
  );
  const circles = new Set<string>();
  for (const [file, seen] of reach) {
    if (!seen.has(file)) continue;
    const round = [...seen].filter((other) => reach.get(other)!.has(file));
    circles.add(
      JSON.stringify(
        round.map((path) => path.slice(lib.pathname.length)).sort(),
      ),
    );
  }
  assertEquals([...circles].map((text) => JSON.parse(text)), CIRCLES);
  assert(graph.size > 200, `${graph.size} files seen`);
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
