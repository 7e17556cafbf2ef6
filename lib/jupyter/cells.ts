/**
 * Type-checks the code of notebooks, which `deno check` itself skips.
 *
 * @module
 */

import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  codeCells,
  type Notebook,
  readNotebook,
  replaceFile,
} from "./notebook.ts";

/** Where a line of the extracted code comes from. */
export interface LineOrigin {
  /** The cell's number among all cells, counted from 1. */
  readonly number: number;
  /** The cell's id. */
  readonly id: string;
  /** The line in the cell, counted from 1. */
  readonly line: number;
}

/** The code of a notebook as one module. */
export interface ExtractedCells {
  /** The module's text. */
  readonly text: string;
  /** The origin of each line; `undefined` for lines of no cell. */
  readonly origins: readonly (LineOrigin | undefined)[];
}

/** What a type check found. */
export interface CheckResult {
  /** Whether all is well. */
  readonly ok: boolean;
  /** The messages, which name notebooks and cells; empty if all is well. */
  readonly messages: string;
}

/**
 * Writes a notebook's code cells one after the other, each under a comment that
 * names it.
 */
export function extractCells(notebook: Notebook): ExtractedCells {
  const lines: string[] = [];
  const origins: (LineOrigin | undefined)[] = [];
  const add = (line: string, origin?: LineOrigin) => {
    lines.push(line);
    origins.push(origin);
  };
  for (const { number, cell } of codeCells(notebook)) {
    add(`// cell ${number} (id ${cell.id})`);
    cell.source.split("\n").forEach((line, i) =>
      add(line, { number, id: cell.id, line: i + 1 })
    );
  }
  add("export {};");
  return { text: lines.join("\n") + "\n", origins };
}

/**
 * Type-checks notebooks together: writes each one's cells to the folder and runs
 * `deno check` there. A name may be declared, and imported, only once in a
 * notebook, though the kernel would allow more.
 *
 * @param paths The notebooks' files.
 * @param folder Where to write; a `deno.json` above it decides what names mean.
 */
export async function checkNotebooks(
  paths: readonly string[],
  folder: string,
): Promise<CheckResult> {
  if (paths.length === 0) return { ok: true, messages: "" };
  await Deno.mkdir(folder, { recursive: true });
  const extracted = await Promise.all(paths.map(async (path) => {
    const name = basename(path);
    const { text, origins } = extractCells(await readNotebook(path));
    const file = join(folder, name.replace(/\.ipynb$/, ".ts"));
    await replaceFile(file, text);
    return { name, origins, file, url: pathToFileURL(file).href };
  }));
  const { success, messages: raw } = await checkModules(
    extracted.map(({ url }) => url),
    findConfig(folder),
  );
  if (success) return { ok: true, messages: "" };
  let messages = raw;
  for (const { name, origins, url } of extracted) {
    const place = new RegExp(`${RegExp.escape(url)}:(\\d+):(\\d+)`, "g");
    messages = messages.replace(place, (_, line: string, column: string) => {
      const origin = origins[Number(line) - 1];
      if (origin === undefined) return `${name}:${line}:${column}`;
      return `${name}: cell ${origin.number} (id ${origin.id}), line ${origin.line}:${column}`;
    });
  }
  return { ok: false, messages };
}

/**
 * Checks modules through one outside the project that imports them all: of a
 * folder that `deno.json` excludes, `deno check` would check nothing, silently.
 */
async function checkModules(
  urls: readonly string[],
  config: string,
): Promise<{ success: boolean; messages: string }> {
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(
      entry,
      urls.map((url) => `import "${url}";\n`).join(""),
    );
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--config", config, entry],
      env: { NO_COLOR: "1" },
      stdout: "null",
      stderr: "piped",
    }).output();
    return { success, messages: new TextDecoder().decode(stderr).trim() };
  } finally {
    await Deno.remove(entry);
  }
}

/** The `deno.json` in the folder or the nearest above it. */
function findConfig(folder: string): string {
  for (let at = resolve(folder);; at = dirname(at)) {
    const path = join(at, "deno.json");
    try {
      if (Deno.statSync(path).isFile) return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    if (at === dirname(at)) {
      throw new Error(`no deno.json in ${folder} or above it`);
    }
  }
}
