/**
 * /proc/net/snmp, /proc/net/netstat and /proc/net/snmp6.
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

const SOURCE = "/proc/net";

function section(at: HostLine): [string, string[]] {
  const [, name, rest] = /^([A-Za-z][A-Za-z0-9]*):(?:[ \t]+(.*))?$/.exec(
    at.text,
  ) ?? [];
  if (name === undefined) {
    throw new HostFormatError(SOURCE, at, "not a section's line");
  }
  return [name, wordsOf(rest ?? "")];
}

/**
 * Reads /proc/net/snmp or /proc/net/netstat (net/ipv4/proc.c: pairs of lines, names and values), or /proc/net/snmp6
 * (net/ipv6/proc.c: a name and a value a line); one of them or several together.
 *
 * @param text The file's text.
 * @throws {HostFormatError} A line cannot be read, or has not as many values as its section has names.
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readProcNet } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const counters = readProcNet("Udp: InDatagrams NoPorts\nUdp: 6440 0\n");
 * assertEquals(counters.get("UdpInDatagrams"), 6440);
 * ```
 */
export function readProcNet(text: string): HostCounters {
  const counters = new CounterReader(SOURCE);
  let names: { at: HostLine; section: string; words: string[] } | undefined;
  for (const at of filledLines(SOURCE, text)) {
    const [, name6, value6] = /^([A-Za-z][A-Za-z0-9]*)[ \t]+(-?\d+)[ \t]*$/
      .exec(at.text) ?? [];
    if (name6 !== undefined && names === undefined) {
      counters.add(at, name6, value6!);
      continue;
    }
    const [name, words] = section(at);
    if (names === undefined) {
      const bad = words.find((word) => !/^[A-Za-z][A-Za-z0-9_]*$/.test(word));
      if (bad !== undefined) {
        throw new HostFormatError(
          SOURCE,
          at,
          `${JSON.stringify(bad)} is no counter's name`,
        );
      }
      names = { at, section: name, words };
      continue;
    }
    if (names.section !== name) {
      throw new HostFormatError(
        SOURCE,
        at,
        `values of ${names.section} must follow line ${names.at.line}`,
      );
    }
    if (names.words.length !== words.length) {
      throw new HostFormatError(
        SOURCE,
        at,
        `${words.length} values for ${names.words.length} names`,
      );
    }
    const fields = names.words;
    fields.forEach((field, i) => counters.add(at, name + field, words[i]!));
    names = undefined;
  }
  if (names !== undefined) {
    throw new HostFormatError(
      SOURCE,
      names.at,
      `the values of ${names.section} are missing`,
    );
  }
  return new HostCounters(counters.values);
}
