/**
 * Lines and words of what a host printed, and the one error of every reader.
 *
 * @module
 */

/**
 * Where a reader stopped: what it cannot read, with the line (or byte) and its text.
 *
 * @example
 * ```ts
 * import { HostFormatError } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new HostFormatError("ss", { line: 3, text: "?" }, "no socket");
 * assertEquals([error.line, error.message], [3, "ss: line 3: no socket: \"?\""]);
 * ```
 */
export class HostFormatError extends Error {
  /** Which output was being read, for example `ss`. */
  readonly source: string;
  /** Line, counted from 1; 0 in binary input. */
  readonly line: number;
  /** Byte offset in binary input; -1 in text. */
  readonly offset: number;
  /** The line's text; empty in binary input. */
  readonly text: string;

  /**
   * An error in one line or at one byte.
   *
   * @param source Which output was being read.
   * @param at Line number and text, or byte offset.
   * @param problem What is wrong with it.
   */
  constructor(source: string, at: HostLine | number, problem: string) {
    const binary = typeof at === "number";
    super(
      binary
        ? `${source}: byte ${at}: ${problem}`
        : `${source}: line ${at.line}: ${problem}: ${
          JSON.stringify(clipped(at.text))
        }`,
    );
    this.name = "HostFormatError";
    this.source = source;
    this.line = binary ? 0 : at.line;
    this.offset = binary ? at : -1;
    this.text = binary ? "" : at.text;
  }
}

/** One line of an output. */
export interface HostLine {
  /** Line number, counted from 1. */
  readonly line: number;
  /** Text without its line end. */
  readonly text: string;
}

const MOST_SHOWN = 160;

function clipped(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

// deno-lint-ignore no-control-regex
const UNPRINTABLE = /[\x00-\x08\x0b-\x1f\x7f\ufffd]/;

/**
 * The lines of an output, empty ones included; `\r\n` ends a line as `\n` does.
 *
 * @param source Which output, for messages.
 * @param text The output.
 * @throws {HostFormatError} A line holds control characters: binary data, or a terminal's colours.
 * @throws {TypeError} `text` is no string.
 */
export function linesOf(source: string, text: string): HostLine[] {
  if (typeof text !== "string") {
    throw new TypeError(`${source}: text must be a string, got ${typeof text}`);
  }
  const lines = text.replace(/^\ufeff/, "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((raw, i) => {
    const line = {
      line: i + 1,
      text: raw.endsWith("\r") ? raw.slice(0, -1) : raw,
    };
    if (UNPRINTABLE.test(line.text)) {
      throw new HostFormatError(source, line, "not text");
    }
    return line;
  });
}

/** The lines that are not blank. */
export function filledLines(source: string, text: string): HostLine[] {
  return linesOf(source, text).filter((line) => line.text.trim() !== "");
}

/** An empty table for names that come from the input: none of them, `__proto__` included, is special. */
export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null);
}

/** The words of a line: what stands between blanks. */
export function wordsOf(text: string): string[] {
  return text.split(/[ \t]+/).filter((word) => word !== "");
}

/**
 * A whole number as the kernel prints it.
 *
 * @param source Which output.
 * @param at The line.
 * @param what What the number is, for the message.
 * @param word The word.
 * @param most Greatest value; 2^53 - 1 if not given.
 * @throws {HostFormatError} It is no decimal number from 0 to `most`.
 */
export function wholeWord(
  source: string,
  at: HostLine,
  what: string,
  word: string | undefined,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (word === undefined || !/^\d{1,20}$/.test(word)) {
    throw new HostFormatError(
      source,
      at,
      `${what} must be a whole number, got ${JSON.stringify(word ?? "")}`,
    );
  }
  const value = Number(word);
  if (value > most) {
    throw new HostFormatError(
      source,
      at,
      `${what} ${word} is above ${most}`,
    );
  }
  return value;
}

/** A decimal fraction with a point, as C prints it: `0.018`, `12`, `1.5e+06`. */
export function decimalWord(
  source: string,
  at: HostLine,
  what: string,
  word: string,
): number {
  if (!/^\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,2})?$/.test(word)) {
    throw new HostFormatError(
      source,
      at,
      `${what} must be a number, got ${JSON.stringify(word)}`,
    );
  }
  return Number(word);
}
