/**
 * Notebook files: nbformat 4.5, read with every fault named and written in the
 * layout that Jupyter itself writes.
 *
 * @module
 */

/** What {@linkcode formatNotebook} writes and {@linkcode parseNotebook} reads. */
export interface Notebook {
  /** The cells, in order. */
  cells: Cell[];
  /** The kernel, the language, and whatever else a front end left. */
  metadata: Record<string, unknown>;
  /** The major version, always 4. */
  nbformat: 4;
  /** The minor version, 5 or later. */
  nbformat_minor: number;
}

/** A cell of any kind. */
export type Cell = CodeCell | TextCell;

/** A cell that is run. */
export interface CodeCell {
  /** Tells the kinds of cell apart. */
  cell_type: "code";
  /** The cell's name, unique in its notebook. */
  id: string;
  /** Tags and the like. */
  metadata: Record<string, unknown>;
  /** The program text. */
  source: string;
  /** The cell's place in the order of runs; `null` if it never ran. */
  execution_count: number | null;
  /** What the last run showed. */
  outputs: Output[];
}

/** A cell that is read. */
export interface TextCell {
  /** Tells the kinds of cell apart. */
  cell_type: "markdown" | "raw";
  /** The cell's name, unique in its notebook. */
  id: string;
  /** Tags and the like. */
  metadata: Record<string, unknown>;
  /** The Markdown. */
  source: string;
  /** Pictures by name, rarely used. */
  attachments?: Record<string, unknown>;
}

/** One thing in several forms, by MIME type; text is joined, JSON is parsed. */
export type MimeBundle = Record<string, unknown>;

/** What a cell showed. */
export type Output =
  | {
    /** Shown by the program. */
    output_type: "display_data";
    /** What was shown. */
    data: MimeBundle;
    /** Sizes and the like, by MIME type. */
    metadata: Record<string, unknown>;
  }
  | {
    /** The value of a cell's last expression. */
    output_type: "execute_result";
    /** What was shown. */
    data: MimeBundle;
    /** Sizes and the like, by MIME type. */
    metadata: Record<string, unknown>;
    /** The cell's place in the order of runs. */
    execution_count: number | null;
  }
  | {
    /** Printed. */
    output_type: "stream";
    /** Where it was printed. */
    name: "stdout" | "stderr";
    /** What was printed. */
    text: string;
  }
  | {
    /** Thrown. */
    output_type: "error";
    /** The error's name. */
    ename: string;
    /** The error's message. */
    evalue: string;
    /** The lines of the stack. */
    traceback: string[];
  };

/** A file is not a notebook that this module can read. */
export class NotebookError extends Error {
  /** The name of the class. */
  override name = "NotebookError";
}

/**
 * Reads a notebook from its JSON text.
 *
 * @param text The file's content.
 * @param name The file's name, for messages.
 * @throws {NotebookError} Naming the first field that is not as nbformat 4.5
 * has it, and its value.
 */
export function parseNotebook(text: string, name: string): Notebook {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new NotebookError(`${name}: not JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
  const check = new Checker(name);
  const file = check.object(json, "the file");
  if (
    file.nbformat !== 4 ||
    check.integer(file.nbformat_minor, "nbformat_minor") < 5
  ) {
    throw new NotebookError(
      `${name}: nbformat ${file.nbformat}.${file.nbformat_minor}; 4.5 or a later 4.x is needed, ` +
        "which saving with Jupyter 6.5 or later writes",
    );
  }
  const ids = new Set<string>();
  const cells = check.array(file.cells, "cells").map((value, i) => {
    const cell = parseCell(check, value, `cells[${i}]`);
    if (ids.has(cell.id)) {
      check.fail(`cells[${i}].id`, cell.id, "an id no other cell has");
    }
    ids.add(cell.id);
    return cell;
  });
  return {
    cells,
    metadata: check.object(file.metadata, "metadata"),
    nbformat: 4,
    nbformat_minor: file.nbformat_minor as number,
  };
}

/**
 * Writes a notebook as Jupyter does: keys sorted, an indent of one space, text
 * as a list of lines, a final newline. Equal notebooks give equal bytes.
 */
export function formatNotebook(notebook: Notebook): string {
  const cells = notebook.cells.map((cell) => ({
    ...cell,
    source: splitLines(cell.source),
    ...(cell.cell_type === "code" &&
      { outputs: cell.outputs.map(splitOutput) }),
  }));
  return JSON.stringify(sortKeys({ ...notebook, cells }), null, 1) + "\n";
}

/** Reads a notebook file; see {@linkcode parseNotebook}. */
export async function readNotebook(path: string): Promise<Notebook> {
  return parseNotebook(await Deno.readTextFile(path), path);
}

/** Writes a notebook file, whole or not at all; see {@linkcode formatNotebook}. */
export function writeNotebook(path: string, notebook: Notebook): Promise<void> {
  return replaceFile(path, formatNotebook(notebook));
}

/** Writes a text file so that no reader finds half of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeTextFile(temporary, text);
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

/** Whether a cell carries a tag, which stands in its metadata. */
export function hasTag(cell: Cell, tag: string): boolean {
  return Array.isArray(cell.metadata.tags) && cell.metadata.tags.includes(tag);
}

/** The code cells, each with its number among all cells, counted from 1. */
export function codeCells(
  notebook: Notebook,
): { number: number; cell: CodeCell }[] {
  return notebook.cells.flatMap((cell, i) =>
    cell.cell_type === "code" ? [{ number: i + 1, cell }] : []
  );
}

function parseCell(check: Checker, value: unknown, at: string): Cell {
  const cell = check.object(value, at);
  const id = check.string(cell.id, `${at}.id`);
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) {
    check.fail(
      `${at}.id`,
      id,
      "1 to 64 letters, digits, hyphens and underscores",
    );
  }
  const common = {
    id,
    metadata: check.object(cell.metadata, `${at}.metadata`),
    source: check.text(cell.source, `${at}.source`),
  };
  const type = cell.cell_type;
  if (type === "code") {
    return {
      cell_type: type,
      ...common,
      execution_count: check.count(
        cell.execution_count,
        `${at}.execution_count`,
      ),
      outputs: check.array(cell.outputs, `${at}.outputs`).map((output, i) =>
        parseOutput(check, output, `${at}.outputs[${i}]`)
      ),
    };
  }
  if (type !== "markdown" && type !== "raw") {
    return check.fail(`${at}.cell_type`, type, '"code", "markdown" or "raw"');
  }
  if (cell.attachments === undefined) return { cell_type: type, ...common };
  const attachments = check.object(cell.attachments, `${at}.attachments`);
  return { cell_type: type, ...common, attachments };
}

function parseOutput(check: Checker, value: unknown, at: string): Output {
  const output = check.object(value, at);
  switch (output.output_type) {
    case "stream":
      if (output.name !== "stdout" && output.name !== "stderr") {
        check.fail(`${at}.name`, output.name, '"stdout" or "stderr"');
      }
      return {
        output_type: "stream",
        name: output.name as "stdout" | "stderr",
        text: check.text(output.text, `${at}.text`),
      };
    case "error":
      return {
        output_type: "error",
        ename: check.string(output.ename, `${at}.ename`),
        evalue: check.string(output.evalue, `${at}.evalue`),
        traceback: check.array(output.traceback, `${at}.traceback`).map(String),
      };
    case "display_data":
    case "execute_result": {
      const shown = {
        data: joinBundle(check.object(output.data, `${at}.data`)),
        metadata: check.object(output.metadata, `${at}.metadata`),
      };
      if (output.output_type === "display_data") {
        return { output_type: "display_data", ...shown };
      }
      const count = check.count(
        output.execution_count,
        `${at}.execution_count`,
      );
      return {
        output_type: "execute_result",
        ...shown,
        execution_count: count,
      };
    }
    default:
      return check.fail(
        `${at}.output_type`,
        output.output_type,
        '"display_data", "execute_result", "stream" or "error"',
      );
  }
}

/** Fails with the place, the value and what is allowed there. */
class Checker {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  fail(at: string, value: unknown, allowed: string): never {
    const shown = (JSON.stringify(value) ?? "undefined").slice(0, 80);
    throw new NotebookError(
      `${this.#name}: ${at} is ${shown}; allowed is ${allowed}`,
    );
  }

  object(value: unknown, at: string): Record<string, unknown> {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.fail(at, value, "an object");
    }
    return value as Record<string, unknown>;
  }

  array(value: unknown, at: string): unknown[] {
    return Array.isArray(value) ? value : this.fail(at, value, "an array");
  }

  string(value: unknown, at: string): string {
    return typeof value === "string" ? value : this.fail(at, value, "a string");
  }

  integer(value: unknown, at: string): number {
    return Number.isInteger(value)
      ? value as number
      : this.fail(at, value, "an integer");
  }

  count(value: unknown, at: string): number | null {
    return value === null ? null : this.integer(value, at);
  }

  text(value: unknown, at: string): string {
    if (typeof value === "string") return value;
    return this.array(value, at).map((line) => this.string(line, at)).join("");
  }
}

function isJson(mime: string): boolean {
  return mime === "application/json" || mime.endsWith("+json");
}

function isSplit(mime: string): boolean {
  return mime.startsWith("text/") || mime === "image/svg+xml" ||
    mime === "application/javascript";
}

function joinBundle(data: MimeBundle): MimeBundle {
  return mapValues(
    data,
    (value, mime) =>
      !isJson(mime) && Array.isArray(value) ? value.join("") : value,
  );
}

function splitOutput(output: Output): Record<string, unknown> {
  if (output.output_type === "stream") {
    return { ...output, text: splitLines(output.text) };
  }
  if (output.output_type === "error") return output;
  const data = mapValues(
    output.data,
    (value, mime) =>
      isSplit(mime) && typeof value === "string" ? splitLines(value) : value,
  );
  return { ...output, data };
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function mapValues(
  record: Record<string, unknown>,
  fn: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, fn(value, key)]),
  );
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) =>
    a < b ? -1 : a > b ? 1 : 0
  );
  return Object.fromEntries(
    entries.map(([key, item]) => [key, sortKeys(item)]),
  );
}
