import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { checkNotebooks, extractCells } from "../../lib/jupyter/cells.ts";
import { type Notebook, writeNotebook } from "../../lib/jupyter/notebook.ts";
import {
  codeCell,
  codeNotebook,
  notebookOf,
  textCell,
  withFolder,
} from "./support.ts";

/** Type-checks notebooks, of which each is in a file n1.ipynb, n2.ipynb and so on. */
function check(...notebooks: Notebook[]): ReturnType<typeof checkNotebooks> {
  return withFolder(async (folder) => {
    const paths = notebooks.map((_, i) => join(folder, `n${i + 1}.ipynb`));
    await Promise.all(
      paths.map((path, i) => writeNotebook(path, notebooks[i]!)),
    );
    return await checkNotebooks(paths, folder);
  });
}

Deno.test("extracted cells stand under comments, and lines know their cells", () => {
  const notebook = notebookOf(
    textCell("intro", "# Title"),
    codeCell("a", "const x = 1;\nconst y = 2;"),
    codeCell("b", "x + y;"),
  );
  const { text, origins } = extractCells(notebook);
  assertEquals(
    text,
    "// cell 2 (id a)\nconst x = 1;\nconst y = 2;\n// cell 3 (id b)\nx + y;\nexport {};\n",
  );
  assertEquals(origins[2], { number: 2, id: "a", line: 2 });
  assertEquals(origins[3], undefined);
  assertEquals(origins[4], { number: 3, id: "b", line: 1 });
});

Deno.test("cells share names, may await at the top and import by bare name", async () => {
  const result = await check(codeNotebook(
    'import { assert } from "@std/assert";\nconst x: number = await Promise.resolve(1);',
    "assert(x > 0);",
  ));
  assertEquals(result, { ok: true, messages: "" });
});

Deno.test("a type error is told with notebook, cell and line", async () => {
  const { ok, messages } = await check(
    codeNotebook("const fine = 1;"),
    codeNotebook(
      "const size = 4096;",
      "// a comment\nconst name: string = size;",
    ),
  );
  assert(!ok);
  assertStringIncludes(messages, "n2.ipynb: cell 2 (id c2), line 2:7");
  assertStringIncludes(messages, "not assignable to type 'string'");
});

Deno.test("a syntax error and a name declared twice are told too", async () => {
  const syntax = await check(codeNotebook("const a = 1;", "const b = ;"));
  assert(!syntax.ok);
  assertStringIncludes(syntax.messages, "n1.ipynb: cell 2 (id c2), line 1:");
  const twice = await check(codeNotebook("const a = 1;", "const a = 2;"));
  assert(!twice.ok);
  assertStringIncludes(twice.messages, "cell 2 (id c2), line 1:7");
});

Deno.test("no notebooks are no fault", async () => {
  assertEquals(await checkNotebooks([], "nowhere"), { ok: true, messages: "" });
});
