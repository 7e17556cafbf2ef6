/** `deno task coverage`: which lines of lib/ the tests run. */

import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HELP = `Usage: deno task coverage [--at-least PERCENT] [TESTS …]

Runs the tests and prints how much of lib/ they ran: in all, and each file
below the bound. Left out: doc tests, each of which would write a profile of
every module; fuzz tests, which repeat for minutes what others run once; and
tests whose code runs in another process, where it is not counted.

  --at-least PERCENT   the bound, for the exit code too; 90 by default
  --help               this text
  TESTS                files or folders with tests; all by default`;

const LEFT_OUT = [
  "**/*_fuzz_test.ts",
  "**/tasks/*_test.ts",
  "**/jupyter/executor_test.ts",
  "**/jupyter/task_test.ts",
  "**/notebooks_test.ts",
  "**/notebooks_browser_test.ts",
  "**/docs_test.ts",
  "**/readme_test.ts",
  "**/startup_test.ts",
];

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Lines of one file. */
export interface FileLines {
  /** Its path from the project's folder. */
  readonly file: string;
  /** Lines with code. */
  readonly lines: number;
  /** Lines that ran. */
  readonly ran: number;
}

/**
 * Reads an lcov report.
 *
 * @param text The report.
 * @param root The folder that the files' paths are given from.
 */
export function readLcov(text: string, root: string): FileLines[] {
  const files: FileLines[] = [];
  let counts = new Map<number, number>();
  let file = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("SF:")) {
      file = relative(root, line.slice(3));
      counts = new Map();
    } else if (line.startsWith("DA:")) {
      const [at, count] = line.slice(3).split(",").map(Number);
      counts.set(at!, count!);
    } else if (line === "end_of_record") {
      const ran = [...counts.values()].filter((count) => count > 0).length;
      files.push({ file, lines: counts.size, ran });
    }
  }
  return files;
}

function percent({ lines, ran }: { lines: number; ran: number }): number {
  return lines === 0 ? 100 : 100 * ran / lines;
}

/** All files together. */
export function total(files: readonly FileLines[]): FileLines {
  const sum = (key: "lines" | "ran") =>
    files.reduce((all, each) => all + each[key], 0);
  return { file: "lib/", lines: sum("lines"), ran: sum("ran") };
}

/** The report: the files below the bound, the lowest first, and all together. */
export function report(files: readonly FileLines[], atLeast: number): string {
  const line = (each: FileLines) =>
    `${percent(each).toFixed(1).padStart(6)} %  ${
      `${each.ran} of ${each.lines}`.padStart(15)
    }  ${each.file}`;
  const below = files.filter((each) => percent(each) < atLeast)
    .sort((a, b) => percent(a) - percent(b));
  return [
    ...(below.length === 0
      ? [`no file below ${atLeast} %`]
      : [`below ${atLeast} %:`, ...below.map(line)]),
    "",
    `${line(total(files))} (${files.length} files)`,
  ].join("\n");
}

async function deno(args: readonly string[]): Promise<string> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (!success) {
    throw new Error(`deno ${args[0]} failed:\n${text.trimEnd()}`);
  }
  return text;
}

/** Runs tests and gives their lcov report. Profiles of their own: a test may itself measure coverage. */
async function measured(tests: readonly string[]): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "coverage-" });
  try {
    await deno([
      "test",
      "-A",
      `--coverage=${folder}`,
      `--ignore=${LEFT_OUT.join(",")}`,
      ...tests,
    ]);
    return await deno(["coverage", "--lcov", "--include=/lib/", folder]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function main(): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({
      args: Deno.args,
      strict: true,
      allowPositionals: true,
      options: {
        "at-least": { type: "string", default: "90" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`coverage: ${error.message}\n\n${HELP}`);
    return 2;
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const atLeast = Number(values["at-least"]);
  if (!(atLeast >= 0 && atLeast <= 100)) {
    console.error(
      `coverage: --at-least ${values["at-least"]}: 0 to 100 is allowed`,
    );
    return 2;
  }
  const tests = positionals.length > 0 ? positionals : ["tests"];
  let lcov;
  try {
    lcov = await measured(tests);
  } catch (error) {
    console.error((error as Error).message);
    return 1;
  }
  const files = readLcov(lcov, ROOT);
  console.log(report(files, atLeast));
  return percent(total(files)) >= atLeast ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
