import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  formatNotebook,
  NotebookError,
  parseNotebook,
  readNotebook,
} from "../../lib/jupyter/notebook.ts";
import { codeCell, FIXTURE, notebookOf, textCell } from "./support.ts";

/** A notebook's JSON with one code cell, parts of which are replaced. */
function json(
  cell: Record<string, unknown> = {},
  file: Record<string, unknown> = {},
): string {
  return JSON.stringify({
    cells: [{
      cell_type: "code",
      id: "a",
      metadata: {},
      source: [],
      execution_count: null,
      outputs: [],
      ...cell,
    }],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
    ...file,
  });
}

Deno.test("a notebook is written as Jupyter writes it", () => {
  const notebook = notebookOf({
    ...codeCell("sum", "1 +\n1\n"),
    execution_count: 3,
  });
  notebook.metadata = {};
  assertEquals(
    formatNotebook(notebook),
    `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "sum",
   "metadata": {},
   "outputs": [],
   "source": [
    "1 +\\n",
    "1\\n"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
`,
  );
});

Deno.test("text is split in the file and joined in memory, JSON is neither", () => {
  const notebook = notebookOf(textCell("a", "# Title\n\nText"), {
    ...codeCell("b", ""),
    outputs: [
      { output_type: "stream", name: "stdout", text: "one\ntwo\n" },
      {
        output_type: "display_data",
        data: {
          "text/plain": "a\nb",
          "application/json": ["a\n", "b"],
          "image/png": "aGk=",
        },
        metadata: { "image/png": { width: 10 } },
      },
      {
        output_type: "execute_result",
        data: { "text/html": "<p>\n</p>" },
        metadata: {},
        execution_count: 1,
      },
      {
        output_type: "error",
        ename: "Error",
        evalue: "boom",
        traceback: ["at a", "at b"],
      },
    ],
  });
  const text = formatNotebook(notebook);
  assertEquals(parseNotebook(text, "x"), notebook);
  const file = JSON.parse(text);
  assertEquals(file.cells[0].source, ["# Title\n", "\n", "Text"]);
  assertEquals(file.cells[1].outputs[0].text, ["one\n", "two\n"]);
  assertEquals(file.cells[1].outputs[1].data, {
    "application/json": ["a\n", "b"],
    "image/png": "aGk=",
    "text/plain": ["a\n", "b"],
  });
});

Deno.test("the committed fixture is in that layout already", async () => {
  const text = await Deno.readTextFile(FIXTURE);
  assertEquals(formatNotebook(await readNotebook(FIXTURE)), text);
});

Deno.test("sources may be one string or a list", () => {
  assertEquals(
    parseNotebook(json({ source: "a\nb" }), "x").cells[0]!.source,
    "a\nb",
  );
  assertEquals(
    parseNotebook(json({ source: ["a\n", "b"] }), "x").cells[0]!.source,
    "a\nb",
  );
});

Deno.test("a fault is named with its place, its value and what is allowed", () => {
  const cases: [string, string][] = [
    ["{", "not JSON"],
    ["[]", "the file is []; allowed is an object"],
    [json({}, { nbformat: 3 }), "nbformat 3.5"],
    [json({}, { nbformat_minor: 4 }), "nbformat 4.4"],
    [json({}, { cells: {} }), "cells is {}; allowed is an array"],
    [json({}, { metadata: null }), "metadata is null"],
    [json({ id: undefined }), "cells[0].id is undefined; allowed is a string"],
    [json({ id: "a b" }), 'cells[0].id is "a b"; allowed is 1 to 64 letters'],
    [json({ cell_type: "sql" }), 'cells[0].cell_type is "sql"'],
    [json({ source: 5 }), "cells[0].source is 5"],
    [
      json({ execution_count: "1" }),
      'cells[0].execution_count is "1"; allowed is an integer',
    ],
    [json({ outputs: [{}] }), "cells[0].outputs[0].output_type is undefined"],
    [
      json({ outputs: [{ output_type: "stream", name: "log", text: "" }] }),
      'cells[0].outputs[0].name is "log"; allowed is "stdout" or "stderr"',
    ],
  ];
  for (const [text, message] of cases) {
    const error = assertThrows(
      () => parseNotebook(text, "plots.ipynb"),
      NotebookError,
    );
    assertStringIncludes(error.message, message);
    assert(error.message.startsWith("plots.ipynb: "));
  }
});

Deno.test("two cells may not share an id", () => {
  const twice = formatNotebook(
    notebookOf(textCell("a", ""), textCell("a", "")),
  );
  assertThrows(
    () => parseNotebook(twice, "x"),
    NotebookError,
    'cells[1].id is "a"',
  );
});
