/** Damage to what hosts print: cut off, reordered, of another locale, with huge numbers, with binary in between. */

import { randomLcg } from "d3-random";

/** Draws whole numbers from 0 to below `n`. */
export type Draw = (n: number) => number;

export function drawing(seed: number): Draw {
  const random = randomLcg(seed);
  return (n) => Math.floor(random() * n);
}

const pick = <T>(draw: Draw, list: readonly T[]): T => list[draw(list.length)]!;

const ODD = [
  "\0",
  "\x1b[1m",
  "\ufffd",
  "\u00a0",
  "é",
  "😀",
  "\r",
  "\t",
  "\v",
  "-",
  "(",
  ")",
  '"',
  ":",
  "=",
  ",",
  "/*",
  "*/",
  "{",
  "}",
  "__proto__",
  "[fixed]",
  " ".repeat(3000),
  "9".repeat(300),
];
const HUGE = [
  "4294967296",
  "9007199254740993",
  "18446744073709551615",
  "18446744073709551616",
  "99999999999999999999999",
  "9".repeat(400),
  "1e400",
  "0x10",
  "-1",
  "1.5",
];

function withLines(text: string, change: (lines: string[]) => void): string {
  const lines = text.split("\n");
  change(lines);
  return lines.join("\n");
}

/** Replaces one number of the text, drawn. */
function withNumber(
  text: string,
  draw: Draw,
  change: (digits: string) => string,
): string {
  const from = draw(text.length + 1);
  const match = /\d+/.exec(text.slice(from));
  if (match === null) return text;
  const at = from + match.index;
  return text.slice(0, at) + change(match[0]) +
    text.slice(at + match[0].length);
}

const thousands = (digits: string, mark: string): string =>
  digits.replace(/\B(?=(?:\d{3})+$)/g, mark);

type Mutation = (text: string, draw: Draw, other: string) => string;

const MUTATIONS: readonly Mutation[] = [
  // Cut off, at either end or inside.
  (text, draw) => text.slice(0, draw(text.length + 1)),
  (text, draw) => text.slice(draw(text.length + 1)),
  (text, draw) => {
    const at = draw(text.length + 1);
    return text.slice(0, at) + text.slice(at + 1 + draw(60));
  },
  // Reordered, left out, repeated, run together.
  (text, draw) =>
    withLines(text, (lines) => {
      for (let i = lines.length - 1; i > 0; i--) {
        const j = draw(i + 1);
        [lines[i], lines[j]] = [lines[j]!, lines[i]!];
      }
    }),
  (text, draw) =>
    withLines(text, (lines) => {
      const i = draw(lines.length), j = draw(lines.length);
      [lines[i], lines[j]] = [lines[j]!, lines[i]!];
    }),
  (text, draw) =>
    withLines(text, (lines) => lines.splice(draw(lines.length), 1)),
  (text, draw) =>
    withLines(text, (lines) => {
      const i = draw(lines.length);
      lines.splice(draw(lines.length), 0, lines[i]!);
    }),
  (text, draw) =>
    withLines(text, (lines) => {
      const i = draw(lines.length);
      lines.splice(i, 2, `${lines[i]}${lines[i + 1] ?? ""}`);
    }),
  // Line ends, blanks, case.
  (text) => text.replaceAll("\n", "\r\n"),
  (text) => text.replaceAll("\n", "\r"),
  (text) => text.replaceAll("\t", "        "),
  (text) => text.replace(/^[ \t]+/gm, ""),
  (text) => text.toUpperCase(),
  // Other locales.
  (text) => text.replace(/(\d)\.(\d)/g, "$1,$2"),
  (text) => text.replace(/\d{4,15}/g, (n) => thousands(n, ",")),
  (text) => text.replace(/\d{4,15}/g, (n) => thousands(n, ".")),
  (text) => text.replace(/\d/g, (n) => String.fromCodePoint(0x660 + Number(n))),
  // Numbers.
  (text, draw) => withNumber(text, draw, () => pick(draw, HUGE)),
  (text, draw) => withNumber(text, draw, (n) => n + n),
  (text, draw) => withNumber(text, draw, () => ""),
  // Single characters, and binary.
  (text, draw) => {
    const at = draw(text.length + 1);
    return text.slice(0, at) + String.fromCharCode(32 + draw(95)) +
      text.slice(at + 1);
  },
  (text, draw) => {
    const at = draw(text.length + 1);
    return text.slice(0, at) + pick(draw, ODD) + text.slice(at);
  },
  (text, draw) => {
    const at = draw(text.length + 1);
    const noise = Array.from({ length: 1 + draw(40) }, () => draw(256));
    return text.slice(0, at) + String.fromCharCode(...noise) + text.slice(at);
  },
  // Another program's output in the middle or at the end.
  (text, draw, other) => {
    const at = draw(text.length + 1), from = draw(other.length + 1);
    return text.slice(0, at) + other.slice(from, from + 400) + text.slice(at);
  },
  (text, draw, other) =>
    text.slice(0, draw(text.length + 1)) +
    other.slice(draw(other.length + 1)),
];

/** One to three mutations of a text; `others` are what may get mixed in. */
export function mutated(
  text: string,
  draw: Draw,
  others: readonly string[],
): string {
  let out = text;
  for (let n = draw(3); n >= 0; n--) {
    out = pick(draw, MUTATIONS)(out, draw, pick(draw, others));
  }
  return out;
}

const EXTREMES = [0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff];

/** One to four mutations of a file. */
export function mutatedBytes(
  file: Uint8Array,
  draw: Draw,
  other: Uint8Array,
): Uint8Array {
  let out = file.slice();
  for (let n = draw(4); n >= 0; n--) {
    const at = draw(out.length + 1);
    switch (draw(6)) {
      case 0:
        out = out.slice(0, at);
        break;
      case 1:
        if (at < out.length) out[at] = draw(256);
        break;
      case 2:
        if (at < out.length) out[at]! ^= 1 << draw(8);
        break;
      case 3: {
        const word = at & ~3;
        if (word + 4 <= out.length) {
          new DataView(out.buffer).setUint32(
            word,
            pick(draw, EXTREMES),
            draw(2) === 0,
          );
        }
        break;
      }
      case 4: {
        const cut = out.slice(at + 1 + draw(16));
        const longer = new Uint8Array(at + cut.length);
        longer.set(out.subarray(0, at));
        longer.set(cut, at);
        out = longer;
        break;
      }
      default: {
        const piece = other.subarray(draw(other.length)).subarray(0, 64);
        const longer = new Uint8Array(out.length + piece.length);
        longer.set(out.subarray(0, at));
        longer.set(piece, at);
        longer.set(out.subarray(at), at + piece.length);
        out = longer;
      }
    }
  }
  return out;
}
