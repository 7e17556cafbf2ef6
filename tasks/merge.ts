/** `deno task merge SHARD...`: the shards of a sweep as one file. */

import process from "node:process";
import { type MergedSweep, mergeShards } from "../mod.ts";
import { readArguments } from "./arguments.ts";
import { FORMATS, fromUser, save, written } from "./sweep_output.ts";

const HELP =
  `Usage: deno task merge [--out FILE] [--partial] NAME.shard-*-of-*.jsonl

Joins what deno task sweep --shard wrote into what one machine would have
written. Missing shards are named, and nothing is written without them.

  --out FILE   where to write: ${FORMATS}; CSV on standard output if
               absent
  --partial    write the rows that there are, although shards are missing
  --help       this text`;

function fail(message: string, code = 2): never {
  console.error(`merge: ${message}`);
  process.exit(code);
}

/** "2, 4 to 7". */
function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => from === to ? `${from}` : `${from} to ${to}`)
    .join(", ");
}

const { values, positionals: paths } = readArguments("merge", HELP, {
  allowPositionals: true,
  options: {
    out: { type: "string" },
    partial: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const { out } = values;
let merged: MergedSweep;
try {
  if (out !== undefined) written(out);
  merged = mergeShards(
    await Promise.all(
      paths.map(async (name) => ({
        name,
        text: await Deno.readTextFile(fromUser(name)),
      })),
    ),
  );
} catch (error) {
  fail((error as Error).message);
}
const { result, missing, of } = merged;
if (missing.length > 0) {
  const message = `of ${of} shards ${missing.length} ${
    missing.length === 1 ? "is" : "are"
  } missing: ${ranges(missing)}`;
  if (!values.partial) fail(`${message}; nothing was written`, 1);
  console.error(`merge: ${message}`);
}
if (out === undefined) console.log(result.toCSV().trimEnd());
else await save(out, await written(out)(result));
if (result.failed > 0) {
  console.error(
    `merge: ${result.failed} of ${result.rows.length} cells failed`,
  );
}
