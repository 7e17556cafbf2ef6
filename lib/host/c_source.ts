/**
 * What a C file defines and initialises, with lines.
 *
 * @module
 */

/** A `#if` line above a definition. */
export interface Condition {
  /** What is tested. */
  readonly test: string;
  /** Whether the definition stands where it holds, or where it does not. */
  readonly holds: boolean;
}

/** One place that gives a name a value. */
export interface Definition {
  /** The line, from 1. */
  readonly line: number;
  /** What stands behind the name. */
  readonly text: string;
  /** Parameters of a macro; null without parentheses. */
  readonly params: readonly string[] | null;
  /** Which element of an array is assigned; null otherwise. */
  readonly element: number | null;
  /** Whether it stands in a function: an assignment, or a variable of its own. */
  readonly inFunction: boolean;
  /** The `#if` lines above it. */
  readonly conditions: readonly Condition[];
}

/** The text without comments and strings, with continued lines joined, on the same line numbers. */
function plain(source: string): string {
  const bare = source.replace(
    /#\s*include[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (piece) => {
      if (piece.startsWith('"')) return '""';
      return piece.startsWith("/") ? ` ${piece.replace(/[^\n]/g, "")}` : piece;
    },
  );
  // The lines that a continued one swallows stay as empty ones behind it.
  return bare.replace(
    /(?:[^\n]*\\\r?\n)+[^\n]*/g,
    (piece) =>
      piece.replace(/\\\r?\n/g, " ") +
      "\n".repeat(piece.split("\n").length - 1),
  );
}

/** Where an initialiser that begins at `from` ends: at a `;`, `,` or closing brace outside of parentheses. */
function initialiser(text: string, from: number): string {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const c = text[at]!;
    if ("({[".includes(c)) depth++;
    else if (")}]".includes(c)) {
      if (depth === 0) return text.slice(from, at).trim();
      depth--;
    } else if ((c === ";" || c === ",") && depth === 0) {
      return text.slice(from, at).trim();
    }
  }
  return text.slice(from).trim();
}

/** Where function bodies begin and end. The kernel's style has their braces alone on a line, at its start. */
function functionBodies(text: string): [number, number][] {
  return [...text.matchAll(/\)[^;{}]*\n\{[\s\S]*?\n\}/g)].map((
    { index, 0: body },
  ) => [index, index + body.length]);
}

/** A C file's names. */
export class CSource {
  /** What it includes, in order: `linux/skbuff.h`. */
  readonly includes: readonly string[];
  readonly #text: string;
  readonly #conditions: readonly (readonly Condition[])[];
  readonly #defines = new Map<string, Definition[]>();
  readonly #bodies: readonly (readonly [number, number])[];

  /**
   * Reads a file.
   *
   * @param source Its text.
   */
  constructor(source: string) {
    this.#text = plain(source);
    this.#bodies = functionBodies(this.#text);
    const includes: string[] = [];
    const conditions: (readonly Condition[])[] = [];
    let open: Condition[] = [];
    for (const [i, line] of this.#text.split("\n").entries()) {
      const directive = /^\s*#\s*(\w+)\s*(.*)$/.exec(line);
      conditions.push(open);
      if (directive === null) continue;
      const [, word, rest] = directive as unknown as [string, string, string];
      const last = open.at(-1);
      switch (word) {
        case "if":
        case "ifdef":
        case "ifndef":
          open = [...open, {
            test: word === "if" ? rest.trim() : `defined(${rest.trim()})`,
            holds: word !== "ifndef",
          }];
          break;
        case "else":
          if (last) open = [...open.slice(0, -1), flipped(last)];
          break;
        case "elif":
          // Both tests stay: the ones before failed, this one holds.
          if (last) {
            open = [...open.slice(0, -1), { test: rest.trim(), holds: true }];
          }
          break;
        case "endif":
          open = open.slice(0, -1);
          break;
        case "include": {
          const path = /^[<"]([^>"]+)[>"]/.exec(rest)?.[1];
          if (path) includes.push(path);
          break;
        }
        case "define": {
          const parts = /^(\w+)(?:\(([^)]*)\))?(.*)$/.exec(rest);
          if (parts) this.#define(parts, i + 1, open);
        }
      }
    }
    this.includes = includes;
    this.#conditions = conditions;
  }

  #define(
    [, name, params, text]: RegExpExecArray,
    line: number,
    conditions: readonly Condition[],
  ): void {
    const list = this.#defines.get(name!) ?? [];
    this.#defines.set(name!, list);
    list.push({
      line,
      text: text!.trim(),
      params: params === undefined
        ? null
        : params.split(",").map((each) => each.trim()),
      element: null,
      inFunction: false,
      conditions,
    });
  }

  /** The defines of a name. */
  defines(name: string): readonly Definition[] {
    return this.#defines.get(name) ?? [];
  }

  /** Where a name is initialised or assigned: variables, members, elements, enumerators. */
  initialisers(name: string): Definition[] {
    const found: Definition[] = [];
    // Attributes such as __read_mostly may stand before the sign.
    const at = new RegExp(
      `\\b${name}\\s*((?:\\[[^\\]]*\\])*)(?:\\s+__\\w+(?:\\([^)]*\\))?)*\\s*=(?!=)`,
      "g",
    );
    for (const match of this.#text.matchAll(at)) {
      const line = this.#text.slice(0, match.index).split("\n").length;
      const index = /^\[\s*(\d+)\s*\]$/.exec(match[1]!);
      const text = initialiser(this.#text, match.index + match[0].length);
      found.push({
        line,
        text: text.replace(/\s+/g, " "),
        params: null,
        // In `name[3] = { … }` the number is the length.
        element: index && !text.startsWith("{") ? Number(index[1]) : null,
        inFunction: this.#bodies.some(([from, to]) =>
          match.index > from && match.index < to
        ),
        conditions: this.#conditions[line - 1] ?? [],
      });
    }
    return found;
  }

  /** Whether a name stands before a parameter list or behind `struct`: code or a layout, no constant. */
  describes(name: string): boolean {
    return new RegExp(
      `\\b(?:struct\\s+${name}\\b|${name}\\s*\\()|\\btypedef\\b[^;]*\\b${name}\\s*;`,
    ).test(this.#text);
  }
}

function flipped({ test, holds }: Condition): Condition {
  return { test, holds: !holds };
}
