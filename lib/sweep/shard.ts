/**
 * Shards: the parts of a grid that machines of a cluster run, and the file that each of them leaves.
 *
 * @module
 */

import { whole } from "../sim/check.ts";
import { type Grid, gridOf, type SweepCell, sweepValue } from "./grid.ts";
import { type CellResult, SweepResult } from "./result.ts";

/** One of several parts of a sweep. */
export interface Shard {
  /** Which, from 1. */
  readonly index: number;
  /** Of how many. */
  readonly of: number;
}

/** A shard, and which word of the command line or the environment said so. */
export interface NamedShard extends Shard {
  /** Where it was read. */
  readonly from: string;
}

/** `shard` itself, checked. */
export function checkedShard(shard: Shard): Shard {
  const of = whole("shard.of", shard.of, 1, 1_000_000);
  return { index: whole("shard.index", shard.index, 1, of), of };
}

/** Whether a shard has a cell: neighbours are dealt out, since they often take as long. */
export function inShard(index: number, { index: shard, of }: Shard): boolean {
  return index % of === shard - 1;
}

function number(name: string, text: string): number {
  if (!/^\d+$/.test(text)) {
    throw new RangeError(`${name} is "${text}": a whole number is allowed`);
  }
  return Number(text);
}

/**
 * A shard as the command line names it.
 *
 * @param text `i/n`, i from 1 to n.
 * @throws {RangeError} It is something else.
 *
 * @example
 * ```ts
 * import { parseShard } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseShard("2/5"), { index: 2, of: 5 });
 * ```
 */
export function parseShard(text: string): Shard {
  const match = /^(\d+)\/(\d+)$/.exec(text);
  const [index, of] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || of < 1 || index < 1 || index > of) {
    throw new RangeError(`shard "${text}": i/n with i from 1 to n is allowed`);
  }
  return { index, of };
}

/**
 * The shard that a cluster's environment names: a Slurm array's task (`SLURM_ARRAY_TASK_ID`, `_COUNT`, `_MIN`, `_MAX`,
 * `_STEP`) or a pod of a Kubernetes indexed job (`JOB_COMPLETION_INDEX`, and the job's completions as
 * `JOB_COMPLETIONS`, which Kubernetes does not set by itself).
 *
 * @param env The environment.
 * @returns The shard; null outside of both.
 * @throws {RangeError} A variable is missing or no number, or the array's numbers have gaps.
 *
 * @example
 * ```ts
 * import { shardFromEnvironment } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { index, of } = shardFromEnvironment({ JOB_COMPLETION_INDEX: "0", JOB_COMPLETIONS: "5" })!;
 * assertEquals([index, of], [1, 5]);
 * ```
 */
export function shardFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): NamedShard | null {
  const read = (name: string, hint: string): number => {
    const text = env[name];
    if (text === undefined) throw new RangeError(`${name} is not set: ${hint}`);
    return number(name, text);
  };
  if (env.SLURM_ARRAY_TASK_ID !== undefined) {
    const hint = "Slurm sets it for each task of an array; or give --shard i/n";
    const [id, count, min, max] = ["ID", "COUNT", "MIN", "MAX"].map((name) =>
      read(`SLURM_ARRAY_TASK_${name}`, hint)
    ) as [number, number, number, number];
    const step = number(
      "SLURM_ARRAY_TASK_STEP",
      env.SLURM_ARRAY_TASK_STEP ?? "1",
    );
    if (max - min !== (count - 1) * step || (id - min) % step !== 0) {
      throw new RangeError(
        `the array's ${count} tasks from ${min} to ${max} in steps of ${step} have gaps: which shard is task ${id}? Give --shard i/n`,
      );
    }
    return {
      ...checkedShard({ index: (id - min) / step + 1, of: count }),
      from: "SLURM_ARRAY_TASK_ID",
    };
  }
  if (env.JOB_COMPLETION_INDEX !== undefined) {
    const index = read("JOB_COMPLETION_INDEX", "");
    const of = read(
      "JOB_COMPLETIONS",
      "set it to the job's spec.completions in the container's env; or give --shard i/n",
    );
    return {
      ...checkedShard({ index: index + 1, of }),
      from: "JOB_COMPLETION_INDEX",
    };
  }
  return null;
}

/** The first line of a shard's file. */
interface ShardHead {
  readonly sweep: string;
  readonly shard: number;
  readonly of: number;
  readonly cells: number;
  readonly axes: readonly string[];
  /** Of title, axes and all cells: shards with another are of another sweep. */
  readonly grid: string;
}

/**
 * FNV-1a over UTF-16 code units, twice with other offsets: shards are told apart, not protected, and Node's hashes take
 * longer to load than the rest of the module.
 */
function digest(title: string, grid: Grid): string {
  const text = JSON.stringify([title, grid.axes, grid.cells]);
  let [a, b] = [0x811c9dc5, 0x050c5d1f];
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x01000193) ^ (b >>> 15);
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0"))
    .join("");
}

/**
 * A shard's file: JSON lines, first what it is a part of, then its cells.
 *
 * @param title What is swept.
 * @param grid The whole grid.
 * @param shard Which part.
 * @param cells What its cells gave.
 */
export function shardText(
  title: string,
  grid: Grid,
  shard: Shard,
  cells: readonly CellResult[],
): string {
  const head: ShardHead = {
    sweep: title,
    shard: shard.index,
    of: shard.of,
    cells: grid.cells.length,
    axes: grid.axes,
    grid: digest(title, grid),
  };
  const lines = [...cells].sort((a, b) => a.index - b.index)
    .map(({ index, values, error }) => ({
      cell: index,
      at: grid.cells[index],
      values,
      error,
    }));
  return [head, ...lines].map((line) => JSON.stringify(line) + "\n").join("");
}

/** A shard's file. */
export interface ShardFile {
  /** Its name, for messages. */
  readonly name: string;
  /** Its text. */
  readonly text: string;
}

interface ShardRead {
  readonly name: string;
  readonly head: ShardHead;
  readonly results: readonly (CellResult & { readonly at: SweepCell })[];
}

function readShard({ name, text }: ShardFile): ShardRead {
  const lines = text.split("\n");
  if (lines.pop() !== "") {
    throw new Error(`${name}: the last line has no end: the file is cut off`);
  }
  const parsed = lines.map((line, i) => {
    try {
      return JSON.parse(line);
    } catch {
      throw new Error(`${name}:${i + 1}: no JSON: ${line.slice(0, 80)}`);
    }
  });
  const head = parsed[0] as ShardHead | undefined;
  if (
    typeof head?.sweep !== "string" || typeof head.grid !== "string" ||
    !Array.isArray(head.axes) || !Number.isInteger(head.cells)
  ) {
    throw new Error(
      `${name}:1: not the head of a shard: ${(lines[0] ?? "").slice(0, 80)}`,
    );
  }
  const shard = checkedShard({ index: head.shard, of: head.of });
  const results = parsed.slice(1).map((line, i) => {
    const { cell: index, at, values, error } = line ?? {};
    if (
      !Number.isInteger(index) || index < 0 || index >= head.cells ||
      !inShard(index, shard) || typeof at !== "object" || at === null ||
      (typeof values !== "object") || (values === null) !== (error !== null)
    ) {
      throw new Error(
        `${name}:${i + 2}: not a cell of this shard: ${
          lines[i + 1]!.slice(0, 80)
        }`,
      );
    }
    for (const [key, value] of Object.entries({ ...at, ...values })) {
      sweepValue(`${name}:${i + 2}: ${key}`, value);
    }
    return { index, at, values, error };
  });
  // One cell in so many, and the first few have one more.
  const due = Math.ceil((head.cells - shard.index + 1) / shard.of);
  if (new Set(results.map(({ index }) => index)).size !== due) {
    throw new Error(
      `${name}: ${results.length} cells where shard ${shard.index} of ${shard.of} has ${due}`,
    );
  }
  return { name, head, results };
}

/** Shards that were joined. */
export interface MergedSweep {
  /** The rows of all shards that there are. */
  readonly result: SweepResult;
  /** Shards that are missing, from 1. */
  readonly missing: readonly number[];
  /** Of how many. */
  readonly of: number;
}

/**
 * Joins the files of a sweep's shards. With none missing the result is what the sweep gives on one machine.
 *
 * @param files The shards' files, in any order.
 * @throws {Error} A file is no shard, is cut off or stands twice, or belongs to another sweep.
 *
 * @example
 * ```ts
 * import { mergeShards, sweep } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const over = { payload: [1, 2, 3] };
 * const run = ({ payload }: { payload: number }) => 2 * payload;
 * const part = (index: number) => sweep({ over, run, workers: 0, shard: { index, of: 2 } });
 * const files = [await part(1), await part(2)].map(({ text }, i) => ({ name: `part ${i}`, text }));
 *
 * assertEquals(mergeShards(files.slice(1)).missing, [1]);
 * assertEquals(mergeShards(files).result.rows.map(({ value }) => value), [2, 4, 6]);
 * ```
 */
export function mergeShards(files: readonly ShardFile[]): MergedSweep {
  const shards = files.map(readShard);
  const first = shards[0];
  if (first === undefined) throw new Error("there are no shards to join");
  const { sweep, of, cells, axes, grid } = first.head;
  const names = new Map<number, string>();
  for (const { name, head } of shards) {
    if (head.grid !== grid || head.of !== of || head.cells !== cells) {
      throw new Error(
        `${name} is a shard of another sweep or of another number of shards than ${first.name}`,
      );
    }
    const other = names.get(head.shard);
    if (other !== undefined) {
      throw new Error(`${name} and ${other} are both shard ${head.shard}`);
    }
    names.set(head.shard, name);
  }
  const missing = Array.from({ length: of }, (_, i) => i + 1)
    .filter((index) => !names.has(index));
  const results = shards.flatMap((shard) => shard.results);
  const places: SweepCell[] = [];
  for (const { index, at } of results) places[index] = at;
  if (missing.length === 0) {
    // The cells add up to the grid that the heads were made of, or a line was altered.
    const joined = { axes: gridOf(places).axes, cells: places };
    if (digest(sweep, joined) !== grid) {
      throw new Error("the shards' cells are not those of the sweep's grid");
    }
  }
  return {
    result: new SweepResult(sweep, { axes, cells: places }, results),
    missing,
    of,
  };
}
