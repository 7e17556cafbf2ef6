/**
 * What `nstat` prints.
 *
 * @module
 */

import { CounterReader, HostCounters } from "./counters.ts";
import { filledLines, HostFormatError, wordsOf } from "./text.ts";

const SOURCE = "nstat";

function readJson(text: string): HostCounters {
  const at = { line: 1, text: text.trim() };
  let parsed: unknown;
  try {
    // Counters above 2^53 keep their digits only as text.
    parsed = JSON.parse(text.replace(/:\s*(-?\d+)(?=\s*[,}])/g, ':"$1"'));
  } catch {
    throw new HostFormatError(SOURCE, at, "not JSON");
  }
  const counters = new CounterReader(SOURCE);
  const blocks = Object.values(parsed as Record<string, unknown>);
  for (const block of blocks) {
    if (typeof block !== "object" || block === null) {
      throw new HostFormatError(SOURCE, at, "JSON without a block of counters");
    }
    for (const [name, value] of Object.entries(block)) {
      counters.add(at, name, String(value));
    }
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
  if (lines[0]?.text.trimStart().startsWith("{")) return readJson(text);
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
