/** What the tests of notebooks share. */

import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { executeNotebook } from "../../lib/jupyter/executor.ts";
import type {
  CodeCell,
  Notebook,
  Output,
  TextCell,
} from "../../lib/jupyter/notebook.ts";

/** The project's folder. */
export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

/** The committed notebooks. */
export const NOTEBOOKS: string = join(ROOT, "notebooks");

/** A notebook of the tests' own, with every kind of output that is allowed. */
export const FIXTURE: string = join(
  ROOT,
  "tests",
  "fixtures",
  "notebooks",
  "hello.ipynb",
);

/** The fixture and every committed notebook, in order. */
export function allNotebooks(): string[] {
  const committed = [...Deno.readDirSync(NOTEBOOKS)]
    .filter((entry) => entry.isFile && entry.name.endsWith(".ipynb"))
    .map((entry) => join(NOTEBOOKS, entry.name))
    .sort();
  return [FIXTURE, ...committed];
}

/** A folder inside the project, so that bare imports resolve; it is removed afterwards. */
export async function withFolder<T>(
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const parent = join(NOTEBOOKS, ".executed");
  await Deno.mkdir(parent, { recursive: true });
  const folder = await Deno.makeTempDir({ dir: parent, prefix: "test-" });
  try {
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A code cell with nothing run yet. */
export function codeCell(id: string, source: string): CodeCell {
  return {
    cell_type: "code",
    id,
    metadata: {},
    source,
    execution_count: null,
    outputs: [],
  };
}

/** A Markdown cell. */
export function textCell(id: string, source: string): TextCell {
  return { cell_type: "markdown", id, metadata: {}, source };
}

/** A Deno notebook of these cells. */
export function notebookOf(...cells: (CodeCell | TextCell)[]): Notebook {
  return {
    cells,
    metadata: {
      kernelspec: {
        display_name: "Deno",
        language: "typescript",
        name: "deno",
      },
      language_info: { name: "typescript" },
    },
    nbformat: 4,
    nbformat_minor: 5,
  };
}

/** A Deno notebook with one code cell a source, whose ids are c1, c2 and so on. */
export function codeNotebook(...sources: string[]): Notebook {
  return notebookOf(
    ...sources.map((source, i) => codeCell(`c${i + 1}`, source)),
  );
}

/** Runs a notebook in the notebooks' folder. */
export function run(
  notebook: Notebook,
  cellTimeoutMs = 60_000,
): Promise<Notebook> {
  return executeNotebook(notebook, {
    name: "test.ipynb",
    cwd: NOTEBOOKS,
    cellTimeoutMs,
  });
}

/** The outputs of the n-th cell, which is a code cell. */
export function outputsOf(notebook: Notebook, index: number): Output[] {
  const cell = notebook.cells[index];
  if (cell?.cell_type !== "code") {
    throw new Error(`cell ${index} is no code cell`);
  }
  return cell.outputs;
}

/** The text of every output, by its plainest form. */
export function textsOf(notebook: Notebook, index: number): unknown[] {
  return outputsOf(notebook, index).map((output) => {
    if (output.output_type === "stream") return output.text;
    if (output.output_type === "error") return output.evalue;
    return output.data["text/plain"];
  });
}

/** A notebook's file name without its ending. */
export function nameOf(path: string): string {
  return basename(path, ".ipynb");
}
