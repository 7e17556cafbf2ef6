/**
 * `deno task ok`: every gate, with a summary.
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkNotebooks } from "../lib/jupyter/cells.ts";

const HELP =
  `Runs every gate: format, lint, types, notebooks' types, doc comments, tests.

  deno task ok [--fast]

  --fast   leave out the tests that start a kernel or a browser
  --help   print this text
`;

/**
 * What starts kernels or browsers, and so takes long. Globs, since with several
 * folders to test Deno honours plain paths for the first alone.
 */
const SLOW_TESTS = [
  "**/jupyter/executor_test.ts",
  "**/jupyter/task_test.ts",
  "**/notebooks_test.ts",
  "**/notebooks_browser_test.ts",
];

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Outcome {
  readonly ok: boolean;
  /** What was printed, shown only on failure. */
  readonly output: string;
  /** A few words for the summary. */
  readonly note?: string;
}

interface Gate {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

function deno(name: string, ...args: string[]): Gate {
  return { name, run: () => runDeno(args) };
}

async function runDeno(args: readonly string[]): Promise<Outcome> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) =>
    new TextDecoder().decode(bytes)
  );
  return { ok: success, output: `${out}${err}` };
}

async function runTests(fast: boolean): Promise<Outcome> {
  const left = fast ? [`--ignore=${SLOW_TESTS.join(",")}`] : [];
  const outcome = await runDeno(["task", "test", ...left]);
  const summary = outcome.output.match(/^(?:ok|FAILED) \| (.*?) \([^()]*\)$/gm)
    ?.at(-1);
  return summary === undefined ? outcome : { ...outcome, note: summary };
}

async function checkCells(): Promise<Outcome> {
  const folder = join(ROOT, "notebooks");
  const paths = [...Deno.readDirSync(folder)]
    .filter((entry) => entry.isFile && entry.name.endsWith(".ipynb"))
    .map((entry) => join(folder, entry.name));
  const { ok, messages } = await checkNotebooks(paths, join(folder, ".cells"));
  return { ok, output: messages, note: `${paths.length} notebooks` };
}

function gates(fast: boolean): Gate[] {
  return [
    deno("format", "fmt", "--check"),
    deno("lint", "lint"),
    deno(
      "types",
      "check",
      "mod.ts",
      "engine.ts",
      "lib",
      "tests",
      "bench",
      "tasks",
      "sweeps",
    ),
    { name: "notebooks", run: checkCells },
    deno(
      "doc comments",
      "doc",
      "--lint",
      "mod.ts",
      "engine.ts",
      "lib/jupyter/mod.ts",
    ),
    { name: fast ? "fast tests" : "tests", run: () => runTests(fast) },
  ];
}

async function runGates(fast: boolean): Promise<number> {
  let failed = 0;
  for (const { name, run } of gates(fast)) {
    const start = performance.now();
    const { ok, output, note } = await run();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    if (!ok) {
      failed++;
      console.log(output.trim());
    }
    const line = `${ok ? "ok    " : "FAILED"} ${seconds.padStart(6)} s  ${
      name.padEnd(14)
    }`;
    console.log(`${line}${note ?? ""}`.trimEnd());
  }
  console.log(failed === 0 ? "all gates passed" : `${failed} gates failed`);
  return failed === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  let values: { fast: boolean; help: boolean };
  try {
    ({ values } = parseArgs({
      args: Deno.args,
      strict: true,
      options: {
        fast: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\nTry: deno task ok --help`);
    return 2;
  }
  if (!values.help) return await runGates(values.fast);
  console.log(HELP.trimEnd());
  return 0;
}

if (import.meta.main) Deno.exit(await main());
