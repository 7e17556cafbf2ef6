/** `deno task reproduce`: every thread's tables, published beside simulated, each cell held to its error band. */

import { dirname } from "node:path";
import { parseArgs } from "node:util";
import {
  type BandedCell,
  progress,
  type ReproducedThread,
  reproduceThreads,
  type Thread,
  threads,
} from "../mod.ts";
import { bandText } from "../lib/threads/bands.ts";
import { threadsPage } from "../lib/threads/page.ts";
import { fromUser, save } from "./sweep_output.ts";
import config from "../deno.json" with { type: "json" };

const FORMATS = ["json", "markdown", "csv", "html"] as const;
type Format = typeof FORMATS[number];

/** Standard output, in place of a file's name. */
const STDOUT = "-";

const HELP = `Usage: deno task reproduce [--thread ID]... [--FORMAT [FILE]]...

Reproduces every thread's tables, published beside simulated, on all cores, and
compares each explained cell with its error band. Prints the tables as text if
no format is asked for; a format without FILE goes to standard output, and
nothing else does.

  --all              with ${
  Object.values(threads).flatMap(({ dear = [] }) => dear).join(", ")
}: what the
                     rcvbuf thread has beyond its own tables, 60 s of CPU time
  --thread ID        one thread, or several: ${
  Object.keys(threads).join(",\n                     ")
}
  --json [FILE]      all tables as JSON
  --markdown [FILE]  tables, findings, fitted constants as Markdown
  --csv [FILE]       tables as CSV, a line a cell
  --html [FILE]      one page with tables and figures that needs nothing else
  --help             this text

Exits with 1 if a cell has left its band: the cell is printed on standard error.`;

/** Where the task writes; a test looks in its place. */
export interface ReproduceTarget {
  /** The threads to choose from. */
  readonly threads: Readonly<Record<string, Thread>>;
  /** Standard output. */
  readonly print: (text: string) => void;
  /** Standard error. */
  readonly complain: (text: string) => void;
}

class BadArgument extends Error {}

/** What the arguments ask for. */
interface Request {
  readonly help: boolean;
  readonly all: boolean;
  readonly chosen: readonly Thread[];
  readonly files: readonly (readonly [Format, string])[];
}

/** A format may stand without a file: then standard output is meant. */
function withFiles(args: readonly string[]): string[] {
  const formats: readonly string[] = FORMATS.map((format) => `--${format}`);
  return args.map((arg, i) => {
    const next = args[i + 1];
    return formats.includes(arg) && (next === undefined || /^-./.test(next))
      ? `${arg}=${STDOUT}`
      : arg;
  });
}

function readArguments(
  args: readonly string[],
  known: ReproduceTarget["threads"],
): Request {
  let values;
  try {
    ({ values } = parseArgs({
      args: withFiles(args),
      options: {
        thread: { type: "string", multiple: true },
        json: { type: "string" },
        markdown: { type: "string" },
        csv: { type: "string" },
        html: { type: "string" },
        all: { type: "boolean" },
        help: { type: "boolean" },
      },
      strict: true,
    }));
  } catch (error) {
    throw new BadArgument((error as Error).message);
  }
  const ids = values.thread ?? Object.keys(known);
  for (const id of ids) {
    if (!Object.hasOwn(known, id)) {
      throw new BadArgument(
        `unknown thread "${id}"; known are ${Object.keys(known).join(", ")}`,
      );
    }
  }
  const files = FORMATS.flatMap((format) => {
    const file = values[format];
    return file === undefined ? [] : [[format, file] as const];
  });
  for (const [format, file] of files) checkFile(format, file);
  const printed = files.filter(([, file]) => file === STDOUT);
  if (printed.length > 1) {
    throw new BadArgument(
      `${
        printed.map(([format]) => `--${format}`).join(" and ")
      } exclude each other on standard output: name files`,
    );
  }
  return {
    help: values.help ?? false,
    all: values.all ?? false,
    chosen: Object.values(known).filter(({ id }) => ids.includes(id)),
    files,
  };
}

/** Whether a file can be written is known before anything runs. */
function checkFile(format: Format, file: string): void {
  if (file === STDOUT) return;
  const path = fromUser(file);
  try {
    if (!Deno.statSync(dirname(path)).isDirectory) {
      throw new Error("not in a folder");
    }
  } catch (error) {
    throw new BadArgument(`--${format} ${file}: ${(error as Error).message}`);
  }
  if (statOf(path)?.isDirectory) {
    throw new BadArgument(`--${format} ${file}: a folder stands there`);
  }
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

const underlined = (title: string): string =>
  `${title}\n${"=".repeat(title.length)}\n`;

function fittedLines({ fitted }: Thread): string[] {
  return fitted.map(({ name, value, unit, reason }) =>
    `fitted: ${name} = ${value} ${unit} (${reason})`
  );
}

/** What the bands say, in a line. */
function bandLine({ thread, bands, leftOut }: ReproducedThread): string {
  const { compared, unexplained, outside } = bands;
  const state = outside.length === 0
    ? `${compared} explained cells, each inside its error band`
    : `${outside.length} of ${compared} explained cells OUTSIDE their error band`;
  return `${thread.id}: ${state}; ${unexplained} unexplained, without a band${
    leftOut.length === 0 ? "" : `; left out (--all): ${leftOut.join(", ")}`
  }`;
}

function outsideLine(thread: Thread, cell: BandedCell): string {
  const { table, row, column, published, simulated, error, band } = cell;
  return `outside its band: ${thread.id}, ${table}, ${row}, ${column}: published ${published}, simulated ${simulated}, error ${
    error === null ? "-" : `${error.toFixed(3)} %`
  }, band: ${band === undefined ? "none stated" : bandText(band)}`;
}

const WRITERS: Readonly<
  Record<Format | "text", (results: readonly ReproducedThread[]) => string>
> = {
  json: (results) =>
    JSON.stringify(
      Object.fromEntries(results.map(({ thread, tables }) => [
        thread.id,
        tables,
      ])),
      null,
      2,
    ) + "\n",
  csv: (results) =>
    results.flatMap(({ tables }) =>
      tables.map((table) => `# ${table.title}\n${table.toCSV()}\n`)
    ).join(""),
  markdown: (results) =>
    results.map((result) =>
      [
        `## ${result.thread.title}\n`,
        `${result.thread.question}\n`,
        ...result.tables.map((table) => `${table.toMarkdown()}\n`),
        ...[
          ...result.thread.findings,
          ...fittedLines(result.thread),
          bandLine(result),
        ].map((line) => `- ${line}`),
        "",
      ].join("\n")
    ).join("\n"),
  html: (results) => threadsPage(results, { version: config.version }),
  text: (results) =>
    results.map((result) =>
      [
        underlined(result.thread.title),
        ...result.tables.map((table) => `${table.toText()}\n`),
        ...result.thread.findings.map((finding) => `* ${finding}`),
        ...fittedLines(result.thread),
        bandLine(result),
        "",
      ].join("\n")
    ).join("\n"),
};

/**
 * Runs the task.
 *
 * @param args Its arguments.
 * @param target Threads and where to write.
 * @returns The exit code: 0, 1 where a cell left its band, 2 for bad arguments.
 */
export async function reproduce(
  args: readonly string[],
  { threads, print, complain }: ReproduceTarget,
): Promise<number> {
  let request;
  try {
    request = readArguments(args, threads);
  } catch (error) {
    if (!(error instanceof BadArgument)) throw error;
    complain(`reproduce: ${error.message}\n\n${HELP}`);
    return 2;
  }
  const { help, all, chosen, files } = request;
  if (help) {
    print(`${HELP}\n`);
    return 0;
  }
  const bar = progress(100, "reproducing");
  let shown = 0;
  const results = await reproduceThreads(chosen, {
    all,
    figures: files.some(([format]) => format === "html"),
    async onProgress(share) {
      const steps = Math.round(share * 100);
      // Cells may end while the bar is drawn.
      const more = steps - shown;
      shown = steps;
      await bar.tick(more);
    },
  });
  await bar.done();

  for (const [format, file] of files) {
    const text = WRITERS[format](results);
    if (file === STDOUT) print(text);
    else await save(file, text);
  }
  if (files.length === 0) print(WRITERS.text(results));
  else if (files.every(([, file]) => file !== STDOUT)) {
    print([
      ...results.map(bandLine),
      ...files.map(([format, file]) => `${format}: ${file}`),
      "",
    ].join("\n"));
  }
  const outside = results.flatMap(({ thread, bands }) =>
    bands.outside.map((cell) => outsideLine(thread, cell))
  );
  for (const line of outside) complain(line);
  return outside.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  Deno.exitCode = await reproduce(Deno.args, {
    threads,
    print(text) {
      const bytes = encoder.encode(text);
      for (let at = 0; at < bytes.length;) {
        at += Deno.stdout.writeSync(bytes.subarray(at));
      }
    },
    complain: console.error,
  });
}
