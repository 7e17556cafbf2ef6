/** `deno task coverage`: which lines of lib/ the tests run. */

import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, refuse } from "./arguments.ts";

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

async function deno(
  args: readonly string[],
): Promise<{ success: boolean; text: string }> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  return { success, text: new TextDecoder().decode(stdout) };
}

/**
 * Runs tests and gives their lcov report, and what they printed if one failed. Profiles of their own: a test may itself
 * measure coverage.
 */
async function measured(
  tests: readonly string[],
): Promise<{ lcov: string; failure: string | null }> {
  const folder = await Deno.makeTempDir({ prefix: "coverage-" });
  try {
    const ran = await deno([
      "test",
      "-A",
      `--coverage=${folder}`,
      `--ignore=${LEFT_OUT.join(",")}`,
      ...tests,
    ]);
    const read = await deno([
      "coverage",
      "--lcov",
      "--include=/lib/",
      folder,
    ]);
    return {
      lcov: read.success ? read.text : "",
      failure: ran.success ? null : ran.text.trimEnd(),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function main(): Promise<number> {
  const { values, positionals } = readArguments("coverage", HELP, {
    allowPositionals: true,
    options: {
      "at-least": { type: "string", default: "90" },
      help: { type: "boolean" },
    },
  });
  const atLeast = Number(values["at-least"]);
  if (!(atLeast >= 0 && atLeast <= 100)) {
    refuse(
      "coverage",
      HELP,
      `--at-least ${values["at-least"]}: 0 to 100 is allowed`,
    );
  }
  const tests = positionals.length > 0 ? positionals : ["tests"];
  const { lcov, failure } = await measured(tests);
  const files = readLcov(lcov, ROOT);
  if (files.length > 0) console.log(report(files, atLeast));
  if (failure !== null) console.error(`${failure}\n\ncoverage: a test failed`);
  const enough = percent(total(files)) >= atLeast;
  return failure === null && files.length > 0 && enough ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
