/**
 * Runs one function over many cells on all cores, and gives what each gave in the cells' order.
 *
 * @module
 */

import { hook, whole } from "../sim/check.ts";
import {
  type CellFunction,
  type CellSource,
  errorLine,
  functionOf,
  importedFunction,
  labFor,
  type Outcome,
  type WorkerReply,
  type WorkerTask,
} from "./cell_function.ts";

export type { CellFunction, CellSource, Outcome };

/** What {@linkcode runCells} takes. */
export interface RunCellsOptions<C> {
  /** The cells: anything that a message to a worker can hold. */
  readonly cells: readonly C[];
  /** The function, or the module that exports it. A function without a module reaches workers as text. */
  readonly run: CellFunction | CellSource;
  /** Workers; one a core if absent, never more than cells; 0 runs in this thread, where `run` may be any closure. */
  readonly workers?: number | undefined;
  /** How long a cell takes, in any unit: the longest are handed out first; in order if absent. */
  readonly cost?: ((cell: C) => number) | undefined;
  /** Called after each cell, in the order in which they end. */
  readonly onDone?: ((index: number) => void | Promise<void>) | undefined;
  /** Ends the run early. */
  readonly signal?: AbortSignal | undefined;
}

/** Indices of cells in the order in which they are handed out. */
function handingOrder<C>(
  cells: readonly C[],
  cost: ((cell: C) => number) | undefined,
): number[] {
  const order = cells.map((_, i) => i);
  if (hook("cost", cost) === undefined) return order;
  const costs = cells.map((cell, i) => {
    const value = cost!(cell);
    if (typeof value !== "number" || Number.isNaN(value)) {
      throw new TypeError(
        `cost of cell ${i} is ${String(value)}: a number is allowed`,
      );
    }
    return value;
  });
  return order.sort((a, b) => costs[b]! - costs[a]! || a - b);
}

/**
 * Runs a function over cells on all cores. A cell that fails leaves its error in its place and the others run on; what
 * comes back is the same whatever the number of workers, as long as a cell's value depends on the cell alone.
 *
 * Cells are handed out one by one, the costliest first; while many are left a worker has its next one at hand.
 *
 * @param options Cells, function, workers.
 * @returns What each cell gave, in the cells' order.
 * @throws {RangeError} `workers` is out of range.
 * @throws {TypeError} `run` is no function or cannot reach a worker, or a cost is no number.
 * @throws {Error} The module cannot be imported or has no such function.
 *
 * @example
 * ```ts
 * import { runCells } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const outcomes = await runCells({
 *   cells: [1472, -1],
 *   run: (payload, { kernel, truesizeOf }) => truesizeOf({ kernel: kernel("6.18"), path: "veth", payload }).truesize,
 *   workers: 1,
 * });
 * assertEquals(outcomes[0], { value: 2304 });
 * assertEquals(outcomes[1]!.error, "RangeError: truesizeOf(): payload -1: a whole number from 0 to 2147483647 is allowed");
 * ```
 */
export async function runCells<C, R = unknown>(
  options: RunCellsOptions<C>,
): Promise<Outcome<R>[]> {
  const { cells, run, signal } = options;
  if (typeof run !== "function" && typeof run?.module !== "string") {
    throw new TypeError(
      `run must be a function or { module, name }, got ${String(run)}`,
    );
  }
  hook("onDone", options.onDone);
  const workers = Math.min(
    cells.length,
    whole(
      "workers",
      options.workers ?? navigator.hardwareConcurrency,
      0,
      1024,
    ),
  );
  const order = handingOrder(cells, options.cost);
  signal?.throwIfAborted();
  const outcomes = new Array<Outcome<R>>(cells.length);
  const job = { ...options, order, outcomes };
  await (workers === 0 ? runHere(job) : runThere(job, workers));
  return outcomes;
}

interface Job<C, R> extends RunCellsOptions<C> {
  readonly order: readonly number[];
  readonly outcomes: Outcome<R>[];
}

async function runHere<C, R>(job: Job<C, R>): Promise<void> {
  const { cells, run: given, outcomes, signal, onDone } = job;
  const run = typeof given === "function"
    ? given
    : await importedFunction(given);
  const lab = await labFor(run);
  for (const index of job.order) {
    try {
      // As a worker would see it: a copy.
      const value = await run(structuredClone(cells[index]!), lab) as R;
      outcomes[index] = { value: structuredClone(value) };
    } catch (error) {
      outcomes[index] = { error: errorLine(error) };
    }
    signal?.throwIfAborted();
    await onDone?.(index);
  }
}

function taskOf(run: CellFunction | CellSource): WorkerTask {
  if (typeof run !== "function") {
    return { kind: "module", module: run.module, name: run.name ?? "default" };
  }
  const text = String(run);
  functionOf(text);
  return { kind: "text", text };
}

async function runThere<C, R>(
  job: Job<C, R>,
  count: number,
): Promise<void> {
  const { cells, order, outcomes, signal, onDone } = job;
  const task = taskOf(job.run);
  const running = new Set<Worker>();
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  // The next one last, since a long list is short only at its end.
  const waiting = order.toReversed();
  let left = cells.length;

  const finish = async (
    index: number,
    outcome: Outcome<R>,
  ): Promise<void> => {
    outcomes[index] = outcome;
    left--;
    await onDone?.(index);
    if (left === 0) resolve();
  };

  const start = (): void => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      type: "module",
    });
    running.add(worker);
    // The one that runs, and one that waits behind it.
    const inHand: number[] = [];
    const give = (): void => {
      // While plenty is left a worker has its next cell at hand and need not wait for this thread to be scheduled.
      const most = waiting.length > 2 * count ? 2 : 1;
      while (inHand.length < most && waiting.length > 0) {
        const index = waiting.pop()!;
        inHand.push(index);
        worker.postMessage(cells[index]);
      }
      if (inHand.length > 0) return;
      running.delete(worker);
      worker.terminate();
    };
    worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => {
      if (data.kind === "unusable") {
        reject(new Error(`run cannot be used: ${data.message}`));
        return;
      }
      if (data.kind === "ready") {
        give();
        return;
      }
      const index = inHand.shift()!;
      give();
      finish(index, data.outcome as Outcome<R>).catch(reject);
    };
    // What nobody awaits ends the worker: its cell has failed, the others need a new one.
    worker.onerror = (event) => {
      event.preventDefault();
      running.delete(worker);
      worker.terminate();
      const [index, ...others] = inHand;
      if (index === undefined) {
        reject(
          new Error(`a worker failed outside of a cell: ${event.message}`),
        );
        return;
      }
      waiting.push(...others.reverse());
      if (waiting.length > 0) start();
      finish(index, { error: `worker failed: ${event.message}` })
        .catch(reject);
    };
    worker.postMessage(task);
  };

  const abort = (): void => reject(signal!.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for (let i = 0; i < count; i++) start();
    await ended;
  } finally {
    signal?.removeEventListener("abort", abort);
    for (const worker of running) worker.terminate();
  }
}
