/**
 * What is wrong with an executed notebook, and where it differs from the
 * committed one.
 *
 * @module
 */

import {
  codeCells,
  hasTag,
  type MimeBundle,
  type Notebook,
  type Output,
} from "./notebook.ts";

/** A fault of one cell. */
export interface CellFault {
  /** The cell's number among all cells, counted from 1. */
  readonly number: number;
  /** The cell's id. */
  readonly id: string;
  /** What is wrong. */
  readonly message: string;
}

/** Cells with this tag show timings, which differ from run to run. */
export const BENCH_TAG = "bench";

/** A picture beside a drawing may take so many bytes. */
const MAX_PNG_BYTES = 100_000;

/**
 * Looks for cells that do not show things the one way that loses nothing,
 * `await show(…)` as the cell's last act: cells that call `show` and have no
 * output, calls that are not awaited, and outputs by other ways. A drawing in
 * HTML must have a picture beside it, for where HTML is not trusted.
 */
export function reviewOutputs(executed: Notebook): CellFault[] {
  return codeCells(executed).flatMap(({ number, cell }) => {
    const calls = showCalls(cell.source);
    const messages: string[] = [];
    if (calls.all > 0 && cell.outputs.length === 0) {
      messages.push("calls show() and has no output");
    }
    if (calls.awaited < calls.all) {
      messages.push("calls show() without await, so its output may be lost");
    }
    for (const output of cell.outputs) {
      if (output.output_type === "execute_result") {
        messages.push(
          "ends in an expression, whose output may be lost: use await show(…)",
        );
      } else if (output.output_type === "stream") {
        const text = JSON.stringify(output.text.slice(0, 60));
        messages.push(
          `prints to ${output.name}, which may be lost: use await show(…): ${text}`,
        );
      } else if (output.output_type === "display_data") {
        messages.push(...pictureFaults(output.data));
      }
    }
    return messages.map((message) => ({ number, id: cell.id, message }));
  });
}

/**
 * Compares the outputs of an executed notebook with those of the committed one.
 * Pictures are left out, since a rasteriser's new version may draw differently,
 * and so are cells tagged {@linkcode BENCH_TAG}.
 */
export function compareOutputs(
  committed: Notebook,
  executed: Notebook,
): CellFault[] {
  const before = new Map(
    codeCells(committed).map(({ cell }) => [cell.id, cell]),
  );
  return codeCells(executed).flatMap(({ number, cell }) => {
    if (hasTag(cell, BENCH_TAG)) return [];
    const message = firstDifference(
      before.get(cell.id)?.outputs ?? [],
      cell.outputs,
    );
    return message === undefined ? [] : [{ number, id: cell.id, message }];
  });
}

/** Whether an output is a drawing: HTML with an SVG in it. */
export function isDrawing(data: MimeBundle): boolean {
  return typeof data["text/html"] === "string" &&
    /<svg[\s>]/.test(data["text/html"]);
}

/** One line for a fault, with the notebook's name. */
export function describeFault(notebook: string, fault: CellFault): string {
  return `${notebook}: cell ${fault.number} (id ${fault.id}): ${fault.message}`;
}

function pictureFaults(data: MimeBundle): string[] {
  const png = data["image/png"];
  if (typeof png !== "string") {
    return isDrawing(data) ? ["shows an SVG without image/png beside it"] : [];
  }
  const { length } = Uint8Array.fromBase64(png);
  if (length <= MAX_PNG_BYTES) return [];
  return [`shows a picture of ${length} bytes; allowed are ${MAX_PNG_BYTES}`];
}

function showCalls(source: string): { all: number; awaited: number } {
  const code = source.replace(/^\s*\/\/.*$/gm, "").replace(
    /\bfunction\s+show\s*\(/g,
    "",
  );
  return {
    all: code.match(/(?<![.\w$])show\s*\(/g)?.length ?? 0,
    awaited: code.match(/\bawait\s+show\s*\(/g)?.length ?? 0,
  };
}

function firstDifference(
  before: Output[],
  after: Output[],
): string | undefined {
  if (before.length !== after.length) {
    return `has ${after.length} outputs; the committed notebook has ${before.length}`;
  }
  for (const [i, output] of after.entries()) {
    const old = comparable(before[i]!);
    const now = comparable(output);
    for (const kind of new Set([...Object.keys(old), ...Object.keys(now)])) {
      if (old[kind] !== now[kind]) {
        return `output ${i + 1}, ${kind}, differs from the committed one: ` +
          around(old[kind], now[kind]);
      }
    }
  }
  return undefined;
}

/** The parts of an output that must not change, as text. */
function comparable(output: Output): Record<string, string> {
  if (output.output_type === "stream") return { [output.name]: output.text };
  if (output.output_type === "error") {
    return { error: `${output.ename}: ${output.evalue}` };
  }
  return Object.fromEntries(
    Object.entries(output.data)
      .filter(([mime]) =>
        !mime.startsWith("image/") || mime === "image/svg+xml"
      )
      .map(([mime, value]) => [mime, withoutPictures(value)]),
  );
}

/** A form as text, with the pictures that HTML embeds cut out. */
function withoutPictures(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/data:image\/[^"')\s]*/g, "data:image");
}

/** Both texts from a little before their first difference on. */
function around(old: string | undefined, now: string | undefined): string {
  if (old === undefined) return "it is new";
  if (now === undefined) return "it is gone";
  let at = 0;
  while (old[at] === now[at]) at++;
  const cut = (text: string) =>
    JSON.stringify(text.slice(Math.max(0, at - 30), at + 40));
  return `${cut(old)} has become ${cut(now)}`;
}
