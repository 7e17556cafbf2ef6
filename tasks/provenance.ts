/** `deno task provenance`: every number of a release with its source, and a check against a kernel tree. */

import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  checkTree,
  kernel,
  type ProvenanceRow,
  releases,
  type TreeCheck,
  type TreeVerdict,
} from "../mod.ts";
import { fromUser } from "./sweep_output.ts";

const HELP =
  `Usage: deno task provenance [--release NAME] [--tree FOLDER] [--json]

Prints every number and rule of a release with its file, function and origin.

  --release NAME   ${releases.join(", ")};
                   the last one by default
  --tree FOLDER    a kernel tree: looks the numbers up there that are defines
                   or initialisers, and prints what it says instead; exit code
                   1 if a number differs
  --json           as JSON on standard output, and nothing else
  --help           this text`;

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The facts, a group a paragraph. */
function factsText(rows: readonly ProvenanceRow[]): string {
  const lines: string[] = [];
  let group = "";
  for (const { name, value, file, symbol, release, origin } of rows) {
    const own = name.split(".")[0]!;
    if (own !== group) lines.push("", own);
    group = own;
    lines.push(
      `  ${name.slice(own.length + 1)} = ${valueText(value)}`,
      `      ${file}: ${symbol} (${release}: ${origin})`,
    );
  }
  return lines.slice(1).join("\n");
}

const VERDICTS: readonly TreeVerdict[] = [
  "differs",
  "not found",
  "not constant",
  "code",
  "same",
];

/** The checks by verdict, what differs first. */
function checksText(checks: readonly TreeCheck[]): string {
  const line = ({ name, value, found, where, text }: TreeCheck): string =>
    `  ${name} = ${value}${
      found === null || found === value ? "" : `, the tree has ${found}`
    }  ${where}  ${text}`;
  const groups = VERDICTS.map((verdict) => ({
    verdict,
    lines: checks.filter((each) => each.verdict === verdict).map(line),
  }));
  return [
    ...groups.filter(({ lines }) => lines.length > 0)
      .map(({ verdict, lines }) => `${verdict}\n${lines.join("\n")}\n`),
    groups.map(({ verdict, lines }) => `${lines.length} ${verdict}`).join(", "),
  ].join("\n");
}

/** A folder of the user's as a tree; a file that is not there is no error. */
function treeAt(folder: string) {
  const path = fromUser(folder);
  if (!Deno.statSync(path).isDirectory) throw new Deno.errors.NotADirectory();
  const orNothing = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  };
  return {
    read: (file: string) =>
      orNothing(() => Deno.readTextFileSync(join(path, file))),
    list: (at: string) =>
      orNothing(() =>
        [...Deno.readDirSync(join(path, at))].map(({ name }) => name).sort()
      ) ?? [],
  };
}

function fail(message: string): number {
  console.error(`provenance: ${message}\n\n${HELP}`);
  return 2;
}

function main(): number {
  let values;
  try {
    ({ values } = parseArgs({
      args: Deno.args,
      strict: true,
      options: {
        release: { type: "string", default: releases.at(-1)! },
        tree: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return fail(error.message);
  }
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (!releases.includes(values.release)) {
    return fail(
      `--release "${values.release}": ${releases.join(", ")} are known`,
    );
  }
  const chosen = kernel(values.release);
  if (values.tree === undefined) {
    const rows = chosen.provenance();
    console.log(values.json ? JSON.stringify(rows, null, 2) : factsText(rows));
    return 0;
  }
  let files;
  try {
    files = treeAt(values.tree);
  } catch {
    return fail(`--tree "${values.tree}": no folder of that name`);
  }
  const checks = checkTree(chosen, files);
  console.log(
    values.json ? JSON.stringify(checks, null, 2) : checksText(checks),
  );
  if (checks.every(({ verdict }) => verdict === "not found")) {
    return fail(`--tree "${values.tree}": not one of the release's files`);
  }
  return checks.some(({ verdict }) => verdict === "differs") ? 1 : 0;
}

if (import.meta.main) Deno.exit(main());
