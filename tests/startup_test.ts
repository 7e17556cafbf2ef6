/** What a script pays that imports the module and draws nothing: no package, no permission, no more modules than it asks for. */

import { assert, assertEquals } from "@std/assert";
import { runDeno } from "./deno_command.ts";

interface GraphModule {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier?: string };
  }[];
}

/** All modules that running `entry` loads before its first line, and the imports that leave the project. */
async function staticGraph(
  entry: string,
): Promise<{ modules: string[]; outside: string[] }> {
  const { code, out, err } = await runDeno(["info", "--json", entry]);
  assertEquals(code, 0, err);
  const graph: { roots: string[]; modules: GraphModule[] } = JSON.parse(out);
  const byName = new Map(graph.modules.map((m) => [m.specifier, m]));
  const seen = new Set<string>();
  const outside: string[] = [];
  const left = [...graph.roots];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    for (
      const { specifier, isDynamic, code } of byName.get(at)?.dependencies ?? []
    ) {
      // Types alone load nothing.
      if (isDynamic || code?.specifier === undefined) continue;
      if (code.specifier.startsWith("file:")) left.push(code.specifier);
      else {outside.push(
          `${at.slice(at.indexOf("/lib/"))} imports ${specifier}`,
        );}
    }
  }
  return { modules: [...seen], outside };
}

Deno.test("no module waits for npm or Node before something is drawn", async () => {
  const { modules, outside } = await staticGraph("mod.ts");
  assertEquals(outside, []);
  assert(modules.length > 100, `${modules.length} modules seen`);
});

Deno.test("the engine's entry point loads neither experiments over time nor what shows and reads", async () => {
  const { modules, outside } = await staticGraph("engine.ts");
  assertEquals(outside, []);
  const folders = modules.map((name) => /\/lib\/([^/]+)\//.exec(name)?.[1]);
  for (const folder of ["path", "threads", "host", "view", "cells", "sweep"]) {
    assertEquals(folders.filter((each) => each === folder).length, 0, folder);
  }
});

/** What a script prints that is granted nothing and can ask nobody. */
async function printed(script: string): Promise<string> {
  const { code, out, err } = await runDeno(["run", "--no-prompt", "-"], script);
  assertEquals([code, err], [0, ""]);
  return out;
}

Deno.test("the engine runs without a permission", async () => {
  for (const entry of ["@truesize/lab", "@truesize/lab/engine"]) {
    const out = await printed(`
import { datagramsUntilDrop, kernel, slabLayout, truesizeOf } from "${entry}";
const k = kernel("6.18");
console.log(
  truesizeOf({ kernel: k, path: "veth", protocol: "udp", payload: 1472 }).truesize,
  datagramsUntilDrop({ kernel: k, path: "loopback", payload: 1, rcvbuf: 2304 }).queued,
  slabLayout({ kernel: k, objectSize: 256 }).objects,
);
`);
    const [truesize, queued, objects] = out.trim().split(" ").map(Number);
    assertEquals(truesize, 2304);
    assert(queued! >= 1 && objects! >= 16, out);
  }
});

Deno.test("a table prints without a permission", async () => {
  const out = await printed(`
import { threads } from "@truesize/lab";
const tables = await threads["skb-page-frag-refill"]!.reproduce({ workers: 0 });
console.log(tables.map((table) => table.toText() + table.toMarkdown() + table.toHTML()).join(""));
`);
  assert(out.includes("<table"), out);
});
