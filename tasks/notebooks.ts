/**
 * `deno task notebooks`: executes the notebooks with the Deno kernel alone.
 *
 * @module
 */

import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CellError, executeNotebook } from "../lib/jupyter/executor.ts";
import { KernelDiedError } from "../lib/jupyter/kernel.ts";
import {
  NotebookError,
  readNotebook,
  writeNotebook,
} from "../lib/jupyter/notebook.ts";
import {
  compareOutputs,
  describeFault,
  reviewOutputs,
} from "../lib/jupyter/review.ts";

const HELP =
  `Executes notebooks with the Deno kernel alone; Jupyter is not needed.

  deno task notebooks [NAME…] [--write] [--check]

NAME is a notebook of notebooks/ with or without .ipynb, or a path to one; by
default all of notebooks/ are executed. The executed notebooks are written to
notebooks/.executed/.

  --write  also write the outputs into the notebooks themselves
  --check  fail if an output differs from the committed one; pictures, and
           cells tagged "bench", are not compared
  --help   print this text
`;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "notebooks");
const EXECUTED = join(FOLDER, ".executed");

interface Options {
  readonly paths: readonly string[];
  readonly write: boolean;
  readonly check: boolean;
}

/** A wrong command line, to be said without a stack. */
class UsageError extends Error {}

function parseOptions(args: string[]): Options | "help" {
  const { values, positionals } = parseStrictly(args);
  if (values.help) return "help";
  if (values.write && values.check) {
    throw new UsageError(
      "--write and --check exclude each other: the one changes what the other compares with",
    );
  }
  const all = committedNotebooks();
  const paths = positionals.length === 0
    ? all
    : positionals.map((name) => findNotebook(name, all));
  if (paths.length === 0) {
    throw new UsageError("there are no notebooks in notebooks/");
  }
  return { paths, write: values.write, check: values.check };
}

function parseStrictly(args: string[]) {
  try {
    return parseArgs({
      args,
      strict: true,
      allowPositionals: true,
      options: {
        write: { type: "boolean", default: false },
        check: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

function committedNotebooks(): string[] {
  return [...Deno.readDirSync(FOLDER)]
    .filter((entry) => entry.isFile && entry.name.endsWith(".ipynb"))
    .map((entry) => join(FOLDER, entry.name))
    .sort();
}

function findNotebook(name: string, all: readonly string[]): string {
  const named = all.find((path) =>
    basename(path) === name || basename(path, ".ipynb") === name
  );
  if (named !== undefined) return named;
  if (name.endsWith(".ipynb") && isFile(name)) return name;
  const known = all.map((path) => basename(path, ".ipynb")).join(", ") ||
    "none yet";
  throw new UsageError(
    `no notebook ${JSON.stringify(name)}; notebooks/ has: ${known}`,
  );
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Executes one notebook; returns what is wrong with it, a line each. */
async function execute(path: string, options: Options): Promise<string[]> {
  const name = relative(ROOT, path);
  const committed = await readNotebook(path);
  const executed = await executeNotebook(committed, {
    name,
    cwd: dirname(path),
  });
  await writeNotebook(join(EXECUTED, basename(path)), executed);
  const faults = reviewOutputs(executed);
  if (options.check) faults.push(...compareOutputs(committed, executed));
  if (options.write && faults.length === 0) await writeNotebook(path, executed);
  return faults.map((fault) => describeFault(name, fault));
}

async function run(options: Options): Promise<number> {
  await Deno.mkdir(EXECUTED, { recursive: true });
  let failed = 0;
  for (const path of options.paths) {
    const start = performance.now();
    const faults = await execute(path, options).catch(expectedFailure);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.error(
      `${faults.length === 0 ? "ok    " : "FAILED"} ${seconds.padStart(5)} s  ${
        basename(path)
      }`,
    );
    for (const fault of faults) console.error(fault);
    if (faults.length > 0) failed++;
  }
  if (failed > 0) {
    console.error(`${failed} of ${options.paths.length} notebooks failed`);
  }
  return failed === 0 ? 0 : 1;
}

function expectedFailure(error: unknown): string[] {
  const expected = error instanceof CellError ||
    error instanceof KernelDiedError ||
    error instanceof NotebookError;
  if (!expected) throw error;
  return [error.message];
}

async function main(): Promise<number> {
  try {
    const options = parseOptions(Deno.args);
    if (options !== "help") return await run(options);
    console.log(HELP.trimEnd());
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nTry: deno task notebooks --help`);
    return 2;
  }
}

if (import.meta.main) Deno.exit(await main());
