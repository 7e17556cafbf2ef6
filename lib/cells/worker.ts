/**
 * A worker's side of `run_cells.ts`: is told a function, then gets cells one by one.
 *
 * @module
 */

import {
  type CellFunction,
  errorLine,
  functionOf,
  importedFunction,
  labFor,
  type WorkerReply,
  type WorkerTask,
} from "./cell_function.ts";

interface WorkerScope {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: WorkerReply): void;
}

const scope = self as unknown as WorkerScope;

// A worker that ends by itself says nothing to anybody, and its cell would be waited for until the end of time.
const noEnd = (): never => {
  throw new Error("a cell must return, it cannot end its worker");
};
Object.defineProperty(self, "close", { value: noEnd });
Object.defineProperty(Deno, "exit", { value: noEnd });

async function prepared(task: WorkerTask): Promise<CellFunction> {
  const run = task.kind === "text"
    ? functionOf(task.text)
    : await importedFunction(task);
  const lab = await labFor(run);
  return (cell) => run(cell, lab);
}

function failure(task: WorkerTask, error: unknown): string {
  const line = errorLine(error);
  return task.kind === "text" && error instanceof ReferenceError
    ? `${line} (run reaches a worker as text and sees its own parameters only: the cell, and the module as a second one)`
    : line;
}

scope.onmessage = async ({ data: task }: MessageEvent<WorkerTask>) => {
  let run: CellFunction;
  try {
    run = await prepared(task);
  } catch (error) {
    scope.postMessage({ kind: "unusable", message: errorLine(error) });
    return;
  }
  const one = async (cell: unknown): Promise<void> => {
    try {
      const value = await run(cell, undefined);
      scope.postMessage({ kind: "done", outcome: { value } });
    } catch (error) {
      scope.postMessage({
        kind: "done",
        outcome: { error: failure(task, error) },
      });
    }
  };
  // The next cell may be here already; it starts when the one before it has ended.
  let before = Promise.resolve();
  scope.onmessage = ({ data: cell }: MessageEvent) => {
    before = before.then(() => one(cell));
  };
  scope.postMessage({ kind: "ready" });
};
