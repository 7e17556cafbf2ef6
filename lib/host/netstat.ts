/**
 * What `netstat -s` prints.
 *
 * @module
 */

import {
  CounterReader,
  HostCounters,
  type UnnamedCounter,
} from "./counters.ts";
import {
  NETSTAT_ICMP,
  NETSTAT_LIKE,
  NETSTAT_SENTENCES,
} from "./netstat_sentences.ts";
import { filledLines, HostFormatError } from "./text.ts";

const SOURCE = "netstat -s";

/**
 * Reads `netstat -s` (net-tools): sentences become the kernel's counters.
 *
 * A sentence that is not known, such as one in another language, is kept in {@linkcode HostCounters.unnamed}.
 *
 * @param text The output.
 * @throws {HostFormatError} A line stands in no section, or holds no number or more than one.
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readNetstat } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const counters = readNetstat(`TcpExt:
 *     560581 packets collapsed in receive queue due to low socket buffer
 *     TCPRcvCoalesce: 22050
 * `);
 * assertEquals(counters.get("TcpExtTCPRcvCollapsed"), 560581);
 * assertEquals(counters.get("TcpExtTCPRcvCoalesce"), 22050);
 * ```
 */
export function readNetstat(text: string): HostCounters {
  const counters = new CounterReader(SOURCE);
  const unnamed: UnnamedCounter[] = [];
  let section = "";
  let histogram: "" | "In" | "Out" = "";
  for (const at of filledLines(SOURCE, text)) {
    const [, title] = /^([A-Z][A-Za-z0-9]*):[ \t]*$/.exec(at.text) ?? [];
    if (title !== undefined) {
      section = title;
      histogram = "";
      continue;
    }
    const indent = /^[ \t]*/.exec(at.text)![0].length;
    const sentence = at.text.trim();
    if (indent === 0 || section === "") {
      throw new HostFormatError(SOURCE, at, "neither a section nor in one");
    }
    if (/^ICMP (?:input|output) histogram:$/.test(sentence)) {
      histogram = sentence.includes("input") ? "In" : "Out";
      continue;
    }
    const numbers = sentence.match(/(?<![\w.,])-?\d+(?:[.,]\d+)*(?!\w)/g);
    if (numbers === null || numbers.length > 1) {
      // "Forwarding is enabled" and the RTO's algorithm: settings, not counters.
      if (/ is [a-z]+$/.test(sentence)) {
        unnamed.push({ line: at.line, section, text: sentence });
        continue;
      }
      throw new HostFormatError(
        SOURCE,
        at,
        `one number must stand there, not ${numbers?.length ?? 0}`,
      );
    }
    if (!/^-?\d+$/.test(numbers[0]!)) {
      throw new HostFormatError(SOURCE, at, "a whole number must stand there");
    }
    const known = NETSTAT_SENTENCES[NETSTAT_LIKE[section] ?? section] ?? {};
    const field = known[sentence.replace(numbers[0]!, "#")];
    const [, key] = /^([A-Za-z][A-Za-z0-9_ ]*): -?\d+$/.exec(sentence) ?? [];
    const inHistogram = histogram !== "" && indent > 4 && key !== undefined;
    const icmp = inHistogram && section === "Icmp"
      ? NETSTAT_ICMP[histogram as "In" | "Out"][key]
      : undefined;
    if (field !== undefined) counters.add(at, section + field, numbers[0]!);
    else if (icmp !== undefined) {
      counters.add(at, `Icmp${histogram}${icmp}`, numbers[0]!);
    } else if (!inHistogram && key !== undefined && !key.includes(" ")) {
      counters.add(at, section + key, numbers[0]!);
    } else unnamed.push({ line: at.line, section, text: sentence });
  }
  return new HostCounters(counters.values, unnamed);
}
