/**
 * Runs a notebook from its first cell to its last.
 *
 * @module
 */

import { type CellResult, Kernel, KernelDiedError } from "./kernel.ts";
import { type CodeCell, codeCells, type Notebook } from "./notebook.ts";

/** How to run a notebook. */
export interface ExecuteOptions {
  /** The notebook's name, for messages. */
  readonly name: string;
  /** The folder to run in; `deno.json` is looked for from here upwards. */
  readonly cwd: string;
  /** How long a cell may run, in ms; by default 300,000. */
  readonly cellTimeoutMs?: number;
  /** Called before each code cell, with its place and how many there are. */
  readonly onCell?: (index: number, total: number) => void;
}

/** A cell threw, did not parse, took too long or ended the kernel. */
export class CellError extends Error {
  /** The name of the class. */
  override name = "CellError";
  /** The notebook's name. */
  readonly notebook: string;
  /** The cell's number among all cells, counted from 1. */
  readonly cellNumber: number;
  /** The cell's id. */
  readonly cellId: string;
  /** The cell's source. */
  readonly source: string;

  /** Makes an error about a cell; `reason` says what went wrong. */
  constructor(
    notebook: string,
    number: number,
    cell: CodeCell,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(
      `${notebook}: cell ${number} (id ${cell.id}): ${reason}\n` +
        cell.source.trimEnd().replace(/^/gm, "    "),
      options,
    );
    this.notebook = notebook;
    this.cellNumber = number;
    this.cellId = cell.id;
    this.source = cell.source;
  }
}

/**
 * Runs every code cell in a kernel of the notebook's own.
 *
 * @returns A copy of the notebook with its outputs. It holds nothing that
 * differs from run to run unless a cell shows such a thing.
 * @throws {CellError} At the first cell that fails.
 * @throws {KernelDiedError} If the kernel does not start.
 */
export async function executeNotebook(
  notebook: Notebook,
  options: ExecuteOptions,
): Promise<Notebook> {
  const executed = structuredClone(notebook);
  const cells = codeCells(executed);
  for (const { cell } of cells) {
    cell.outputs = [];
    cell.execution_count = null;
  }
  await using kernel = await Kernel.start({ cwd: options.cwd });
  const ids = new Map<CodeCell, string>();
  for (const [index, { number, cell }] of cells.entries()) {
    if (cell.source.trim() === "") continue;
    options.onCell?.(index, cells.length);
    const result = await execute(kernel, number, cell, options);
    ids.set(cell, result.id);
    cell.execution_count = result.executionCount;
    // Outputs alone do not tell: a syntax error has none.
    if (result.status === "error") {
      throw new CellError(options.name, number, cell, reasonOf(result));
    }
    // The kernel names as parent what runs when it sends, so the next must wait.
    await kernel.settle();
  }
  for (const [cell, id] of ids) cell.outputs = kernel.outputsOf(id);
  return executed;
}

async function execute(
  kernel: Kernel,
  number: number,
  cell: CodeCell,
  options: ExecuteOptions,
): Promise<CellResult> {
  try {
    return await kernel.execute(cell.source, options.cellTimeoutMs ?? 300_000);
  } catch (error) {
    if (!(error instanceof KernelDiedError)) throw error;
    throw new CellError(options.name, number, cell, error.message, {
      cause: error,
    });
  }
}

function reasonOf({ ename, evalue, traceback }: CellResult): string {
  // What the kernel says of a cell that does not parse, and of nothing else.
  if (evalue === "Execution failed") {
    return "it does not parse; the type check of the notebook's cells says where";
  }
  const title = `${ename}: ${evalue}`;
  const stack = traceback.join("\n").trim();
  return stack === "" || stack.startsWith(title)
    ? stack || title
    : `${title}\n${stack}`;
}
