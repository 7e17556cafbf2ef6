/** `deno task sweep FILE.ts`: a sweep's cells on all cores, or those of one shard. */

import { basename, dirname, extname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import {
  defineSweep,
  type NamedShard,
  parseShard,
  shardFromEnvironment,
  sweep,
  type SweepDefinition,
  type SweepResult,
} from "../mod.ts";
import { readArguments } from "./arguments.ts";
import { FORMATS, fromUser, save, written } from "./sweep_output.ts";

const HELP =
  `Usage: deno task sweep FILE.ts [--out FILE] [--workers N] [--shard i/n]

Runs the sweep that FILE.ts exports (defineSweep): every cell of its grid, on
all cores. A cell that fails keeps its row, with its error in it, and makes the
exit code 1.

  --out FILE     where to write: ${FORMATS}; CSV on standard
                 output if absent
  --workers N    workers; one a core if absent
  --shard i/n    only part i of n, written beside FILE as
                 NAME.shard-i-of-n.jsonl; taken from the environment of a Slurm
                 array's task (SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _MAX) or of a
                 pod of a Kubernetes indexed job (JOB_COMPLETION_INDEX, and
                 JOB_COMPLETIONS, which its manifest has to set)
  --help         this text

deno task merge joins the shards' files.`;

function fail(message: string): never {
  console.error(`sweep: ${message}\nTry: deno task sweep --help`);
  process.exit(2);
}

function attempt<T>(what: () => T): T {
  try {
    return what();
  } catch (error) {
    fail((error as Error).message);
  }
}

async function imported(file: string): Promise<SweepDefinition> {
  const module = pathToFileURL(fromUser(file)).href;
  try {
    const exported = (await import(module)).default;
    return defineSweep({ ...exported, module, name: "default" });
  } catch (error) {
    fail(`${file} gives no sweep: ${(error as Error).message}`);
  }
}

/** The shard's file stands beside the one that the merged sweep will be. */
function shardPath(out: string, { index, of }: NamedShard): string {
  const stem = basename(out, extname(out));
  const digits = String(of).length;
  return join(
    dirname(out),
    `${stem}.shard-${String(index).padStart(digits, "0")}-of-${of}.jsonl`,
  );
}

function report(result: SweepResult): void {
  if (result.failed === 0) return;
  const first = result.rows.find(({ error }) => error !== null)!;
  console.error(
    `sweep: ${result.failed} of ${result.rows.length} cells failed; the first: ${
      JSON.stringify(first)
    }`,
  );
  process.exitCode = 1;
}

const { values, positionals: [file, ...more] } = readArguments("sweep", HELP, {
  allowPositionals: true,
  options: {
    out: { type: "string" },
    workers: { type: "string" },
    shard: { type: "string" },
    help: { type: "boolean" },
  },
});
if (file === undefined || more.length > 0) fail("one FILE.ts is needed");
if (values.workers !== undefined && !/^\d+$/.test(values.workers)) {
  fail(`--workers "${values.workers}": a whole number is allowed`);
}
const shard: NamedShard | null = attempt(() =>
  values.shard !== undefined
    ? { ...parseShard(values.shard), from: "--shard" }
    : shardFromEnvironment(Deno.env.toObject())
);
const { out } = values;
if (out !== undefined) attempt(() => written(out));

const definition = await imported(file);
const options = {
  ...definition,
  workers: values.workers === undefined ? undefined : Number(values.workers),
};
if (shard === null) {
  const result = await sweep(options);
  if (out === undefined) console.log(result.toCSV().trimEnd());
  else await save(out, await written(out)(result));
  report(result);
} else {
  const path = shardPath(out ?? basename(file, extname(file)), shard);
  const { result, text } = await sweep({ ...options, shard });
  await save(path, text);
  console.error(
    `sweep: shard ${shard.index} of ${shard.of} (${shard.from}), ${result.rows.length} cells: ${path}`,
  );
  report(result);
}
