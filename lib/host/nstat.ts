/**
 * What `nstat` prints.
 *
 * @module
 */

import { CounterReader, HostCounters } from "./counters.ts";
import {
  filledLines,
  HostFormatError,
  type HostLine,
  wordsOf,
} from "./text.ts";

const SOURCE = "nstat";

// A brace, a comma, a name with a number or with an opening brace. Not JSON.parse: it rounds what is above 2^53.
const TOKEN =
  /[ \t]*(?:"([A-Za-z_]\w*)"[ \t]*:[ \t]*(?:(-?\d+)|(\{))|([{},]))/y;

/** `nstat --json`, pretty or not: an object of objects of counters. */
function readJson(lines: readonly HostLine[]): HostCounters {
  const counters = new CounterReader(SOURCE);
  let depth = 0;
  let ended = false;
  for (const at of lines) {
    const text = at.text.trimEnd();
    for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
      const [, name, number, opens, mark] = TOKEN.exec(text) ?? [];
      if (opens !== undefined || mark === "{") depth++;
      else if (mark === "}") depth--;
      else if (number !== undefined && depth === 2) {
        counters.add(at, name!, number);
      } else if (mark !== ",") depth = -1;
      if (depth < 0 || depth > 2 || ended) {
        throw new HostFormatError(
          SOURCE,
          at,
          "not JSON with a block of counters",
        );
      }
      ended = depth === 0;
    }
  }
  if (!ended) {
    throw new HostFormatError(SOURCE, lines.at(-1)!, "the JSON is cut off");
  }
  return new HostCounters(counters.values);
}

/**
 * Reads `nstat`, `nstat -a`, `-z`, `-s` and `--json`. The third column, a rate, is checked and left out.
 *
 * Without `-a` nstat prints what was counted since it last ran, not since boot.
 *
 * @param text The output.
 * @throws {HostFormatError} A line is not a name, a whole number and a rate.
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readNstat } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const counters = readNstat("#kernel\nTcpExtTCPRcvCoalesce            22050              0.0\n");
 * assertEquals(counters.get("TcpExtTCPRcvCoalesce"), 22050);
 * ```
 */
export function readNstat(text: string): HostCounters {
  const lines = filledLines(SOURCE, text);
  if (lines[0]?.text.trimStart().startsWith("{")) return readJson(lines);
  const counters = new CounterReader(SOURCE);
  for (const at of lines) {
    if (at.text.startsWith("#")) continue;
    const [name, value, rate, ...more] = wordsOf(at.text);
    if (
      more.length > 0 || rate === undefined ||
      !/^[A-Za-z][A-Za-z0-9_]*$/.test(name!) || !/^\d+(?:\.\d+)?$/.test(rate)
    ) {
      throw new HostFormatError(SOURCE, at, "not a name, a number and a rate");
    }
    counters.add(at, name!, value!);
  }
  return new HostCounters(counters.values);
}
