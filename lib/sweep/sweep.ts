/**
 * A question over a grid, on all cores.
 *
 * @module
 */

import { type Outcome, runCells } from "../cells/run_cells.ts";
import { progress } from "../view/progress.ts";
import { checkedDefinition, type SweepDefinition } from "./definition.ts";
import type { SweepOver } from "./grid.ts";
import { type CellResult, cellValues, SweepResult } from "./result.ts";
import { checkedShard, inShard, type Shard, shardText } from "./shard.ts";

/** How a sweep is run. */
export interface SweepOptions<O extends SweepOver = SweepOver>
  extends SweepDefinition<O> {
  /** Workers; one a core if absent; 0 runs in this thread, where `run` may be any closure. */
  readonly workers?: number | undefined;
  /** Whether to show how far it is, in a notebook or a terminal; true if absent. */
  readonly progress?: boolean | undefined;
  /** Ends the sweep early. */
  readonly signal?: AbortSignal | undefined;
}

/** A sweep of which one shard is run. */
export interface SweepShardOptions<O extends SweepOver = SweepOver>
  extends SweepOptions<O> {
  /** The part of the grid to run. */
  readonly shard: Shard;
}

/** What a shard gave. */
export interface ShardResult {
  /** Its rows. */
  readonly result: SweepResult;
  /** Its file, for `deno task merge` and {@linkcode mergeShards}. */
  readonly text: string;
}

function cellResult(
  axes: readonly string[],
  index: number,
  outcome: Outcome<unknown>,
): CellResult {
  if (outcome.error !== undefined) {
    return { index, values: null, error: outcome.error };
  }
  try {
    return { index, values: cellValues(axes, outcome.value), error: null };
  } catch (error) {
    const { name, message } = error as Error;
    return { index, values: null, error: `${name}: ${message}` };
  }
}

/**
 * Runs a function over every cell of a grid, on all cores. A cell that fails keeps its row, with its error in it. The
 * rows, their order and so the bytes of every format are the same whatever the number of workers or shards, as long as
 * `run` looks at nothing but the cell.
 *
 * A function of a notebook's cell reaches the workers as text: it sees the cell and, as a second parameter, this module.
 * A definition that says which `module` exports it is imported there and sees all of its module. With `workers: 0` it
 * runs in this thread and sees everything.
 *
 * @param options Grid, function, workers; with `shard` the part of the grid to run.
 * @returns The rows; for a shard also its file.
 * @throws {RangeError} There are no cells, an axis has no possible name, or `workers` or the shard is out of range.
 * @throws {TypeError} A part is of the wrong type, or `run` cannot reach a worker.
 * @throws {Error} The module cannot be imported.
 *
 * @example What each release charges for a datagram
 * ```ts
 * import { sweep } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const charges = await sweep({
 *   over: { release: ["3.12", "6.18"], payload: [100, 1472] },
 *   run: ({ release, payload }, { kernel, truesizeOf }) => ({
 *     truesize: truesizeOf({ kernel: kernel(release), path: "veth", payload }).truesize,
 *   }),
 *   workers: 2,
 * });
 * assertEquals(charges.rows.map(({ truesize }) => truesize), [768, 2304, 832, 2304]);
 * ```
 *
 * @example
 * ```ts
 * import { sweep } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const result = await sweep({ over: { payload: [1, 1472] }, run: ({ payload }) => 2 * payload, workers: 0, progress: false });
 * assertEquals(result.rows.map(({ value }) => value), [2, 2944]);
 * ```
 */
export function sweep<const O extends SweepOver>(
  options: SweepShardOptions<O>,
): Promise<ShardResult>;
/**
 * Runs a function over every cell of a grid: the whole of it.
 *
 * @param options Grid, function, workers.
 * @returns The rows.
 */
export function sweep<const O extends SweepOver>(
  options: SweepOptions<O>,
): Promise<SweepResult>;
export async function sweep<const O extends SweepOver>(
  options: SweepOptions<O> & { readonly shard?: Shard | undefined },
): Promise<SweepResult | ShardResult> {
  const { title, grid, run, cost, module, name } = checkedDefinition(
    "sweep",
    options as unknown as SweepDefinition,
  );
  const shard = options.shard === undefined
    ? undefined
    : checkedShard(options.shard);
  const indices = grid.cells.map((_, i) => i)
    .filter((i) => shard === undefined || inShard(i, shard));
  const bar = options.progress === false || indices.length === 0
    ? undefined
    : progress(indices.length, title);
  try {
    const outcomes = await runCells({
      cells: indices.map((i) => grid.cells[i]!),
      run: module === undefined || options.workers === 0
        ? run
        : { module, name },
      workers: options.workers,
      cost: cost as ((cell: unknown) => number) | undefined,
      onDone: () => bar?.tick(),
      signal: options.signal,
    });
    const cells = outcomes.map((outcome, i) =>
      cellResult(grid.axes, indices[i]!, outcome)
    );
    const result = new SweepResult(title, grid, cells);
    return shard === undefined
      ? result
      : { result, text: shardText(title, grid, shard, cells) };
  } finally {
    await bar?.done();
  }
}
