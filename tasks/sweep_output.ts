/** Where tasks write, and in which form sweeps and merges do. */

import { extname, resolve } from "node:path";
import type { SweepResult } from "../mod.ts";

type Writer = (
  result: SweepResult,
) => string | Uint8Array | Promise<Uint8Array>;

const WRITERS: Readonly<Record<string, Writer>> = {
  ".csv": (result) => result.toCSV(),
  ".jsonl": (result) => result.toJSONLines(),
  ".parquet": (result) => result.toParquet(),
};

/** The endings that choose a form, for a help text. */
export const FORMATS = ".csv, .jsonl or .parquet";

/**
 * What writes the form that a file's ending names.
 *
 * @throws {RangeError} The ending names none.
 */
export function written(out: string): Writer {
  const writer = WRITERS[extname(out)];
  if (writer === undefined) {
    throw new RangeError(`--out "${out}": a name in ${FORMATS} is allowed`);
  }
  return writer;
}

/** A path as the user means it: from where the task was started, which deno task leaves for the project's folder. */
export function fromUser(path: string): string {
  return resolve(Deno.env.get("INIT_CWD") ?? Deno.cwd(), path);
}

/** Writes a whole file or none: a task that is killed leaves nothing that looks like a result. */
export async function save(
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const whole = fromUser(path);
  const part = `${whole}.part`;
  if (typeof content === "string") await Deno.writeTextFile(part, content);
  else await Deno.writeFile(part, content);
  await Deno.rename(part, whole);
}
