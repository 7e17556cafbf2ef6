/** `deno task reproduce`: every thread's tables, published beside simulated. */

import process from "node:process";
import { parseArgs } from "node:util";
import { progress, type Table, threads } from "../mod.ts";

const HELP =
  `Usage: deno task reproduce [--thread ID] [--json | --markdown | --csv]

Prints every thread's tables, published beside simulated.

  --thread ID   one thread: ${Object.keys(threads).join(", ")}
  --json        all tables as JSON on standard output, and nothing else
  --markdown    as Markdown
  --csv         as CSV, a line a cell
  --help        this text`;

function fail(message: string): never {
  console.error(`reproduce: ${message}\n\n${HELP}`);
  process.exit(2);
}

const OPTIONS = {
  thread: { type: "string" },
  json: { type: "boolean" },
  markdown: { type: "boolean" },
  csv: { type: "boolean" },
  help: { type: "boolean" },
} as const;

function readArguments() {
  try {
    return parseArgs({ args: Deno.args, options: OPTIONS, strict: true })
      .values;
  } catch (error) {
    fail((error as Error).message);
  }
}

const values = readArguments();
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
if ([values.json, values.markdown, values.csv].filter(Boolean).length > 1) {
  fail("--json, --markdown and --csv exclude each other");
}
if (values.thread !== undefined && !(values.thread in threads)) {
  fail(
    `unknown thread "${values.thread}"; known are ${
      Object.keys(threads).join(", ")
    }`,
  );
}

const chosen = values.thread === undefined
  ? Object.values(threads)
  : [threads[values.thread]!];
const bar = progress(chosen.length * 100, "reproducing");
const done: Record<string, Table[]> = {};
for (const thread of chosen) {
  let shown = 0;
  done[thread.id] = await thread.reproduce({
    async onProgress(share) {
      const steps = Math.round(share * 100);
      // Cells may end while the bar is drawn.
      const more = steps - shown;
      shown = steps;
      await bar.tick(more);
    },
  });
}
await bar.done();

if (values.json) {
  console.log(JSON.stringify(done, null, 2));
} else {
  for (const thread of chosen) {
    const tables = done[thread.id]!;
    if (values.markdown) {
      console.log(`## ${thread.title}\n`);
      for (const table of tables) console.log(`${table.toMarkdown()}\n`);
      for (const finding of thread.findings) console.log(`- ${finding}`);
    } else if (values.csv) {
      for (const table of tables) {
        console.log(`# ${table.title}\n${table.toCSV()}`);
      }
    } else {
      console.log(`${thread.title}\n${"=".repeat(thread.title.length)}\n`);
      for (const table of tables) console.log(`${table.toText()}\n`);
      for (const finding of thread.findings) console.log(`* ${finding}`);
    }
    for (const { name, value, unit, reason } of thread.fitted) {
      if (!values.csv) {
        console.log(`fitted: ${name} = ${value} ${unit} (${reason})`);
      }
    }
  }
}
