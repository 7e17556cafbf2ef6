/**
 * Every exported name has a doc comment, and an example that runs (`deno test --doc` runs them): functions, classes and
 * constants one of their own, a type that of a name whose signature it belongs to.
 */

import { assert, assertEquals } from "@std/assert";
import { runDeno } from "./deno_command.ts";

interface Declaration {
  readonly kind: string;
  readonly location: { readonly filename: string; readonly line: number };
  readonly jsDoc?: { readonly doc?: string; readonly tags?: unknown };
  readonly def?: unknown;
}

interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

const TYPES = ["interface", "typeAlias"];

async function exported(entry: string): Promise<DocSymbol[]> {
  const { code, out, err } = await runDeno(["doc", "--json", entry]);
  assertEquals(code, 0, err);
  const nodes: Record<string, { symbols: DocSymbol[] }> = JSON.parse(out).nodes;
  return Object.values(nodes).flatMap(({ symbols }) => symbols);
}

function place({ name, declarations }: DocSymbol): string {
  const { filename, line } = declarations[0]!.location;
  return `${name} (${filename.slice(filename.indexOf("/lib/") + 1)}:${line})`;
}

/** Whether a declaration's comment has a block of TypeScript. */
function hasExample({ jsDoc }: Declaration): boolean {
  return JSON.stringify(jsDoc ?? {}).includes("```ts\\n");
}

/** The types that a definition names. */
function typesIn(definition: unknown): Set<string> {
  const names = JSON.stringify(definition ?? {})
    .matchAll(/"typeName":"(\w+)|"superTypeParams"|"extends":"(\w+)"/g);
  return new Set([...names].flatMap(([, type, base]) => type ?? base ?? []));
}

for (const entry of ["mod.ts", "engine.ts"]) {
  Deno.test(`${entry}: every function, class and constant has an example`, async () => {
    const symbols = await exported(entry);
    assert(symbols.length > 100, `${symbols.length} names seen`);
    const values = symbols.filter(({ declarations }) =>
      declarations.some(({ kind }) => !TYPES.includes(kind))
    );
    assertEquals(
      values.filter(({ declarations }) => !declarations.some(hasExample))
        .map(place),
      [],
    );
  });
}

Deno.test("every type belongs to something that has an example", async () => {
  const symbols = await exported("mod.ts");
  const byName = new Map(symbols.map((symbol) => [symbol.name, symbol]));
  const shown = new Set<string>();
  const left = symbols.filter(({ declarations }) =>
    declarations.some(hasExample)
  );
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (shown.has(at.name)) continue;
    shown.add(at.name);
    for (const { def } of at.declarations) {
      for (const name of typesIn(def)) {
        const type = byName.get(name);
        if (type !== undefined) left.push(type);
      }
    }
  }
  assertEquals(
    symbols.filter(({ name }) => !shown.has(name)).map(place),
    [],
  );
});
