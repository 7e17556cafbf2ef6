/**
 * /proc/net/sockstat and /proc/net/sockstat6.
 *
 * @module
 */

import {
  emptyRecord,
  filledLines,
  HostFormatError,
  wholeWord,
  wordsOf,
} from "./text.ts";

const SOURCE = "sockstat";

/**
 * Reads /proc/net/sockstat or /proc/net/sockstat6 (net/ipv4/proc.c: sockstat_seq_show): by protocol, names and
 * numbers. `mem` is in pages, `memory` of FRAG in bytes, the rest counts sockets.
 *
 * @param text The file's text.
 * @returns For example `{ TCP: { inuse: 4, orphan: 0, tw: 2, alloc: 7, mem: 54 }, … }`.
 * @throws {HostFormatError} A line is not a protocol and pairs of a name and a whole number.
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readSockstat } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { TCP } = readSockstat("sockets: used 30\nTCP: inuse 4 orphan 0 tw 2 alloc 7 mem 54\n");
 * assertEquals(TCP?.mem, 54);
 * ```
 */
export function readSockstat(
  text: string,
): Record<string, Record<string, number>> {
  const protocols = emptyRecord<Record<string, number>>();
  for (const at of filledLines(SOURCE, text)) {
    const [, name, rest] = /^([A-Za-z][A-Za-z0-9]*):[ \t]+(.*)$/.exec(
      at.text,
    ) ?? [];
    if (name === undefined) {
      throw new HostFormatError(SOURCE, at, "not a protocol's line");
    }
    if (Object.hasOwn(protocols, name)) {
      throw new HostFormatError(SOURCE, at, `${name} stands there twice`);
    }
    const words = wordsOf(rest!);
    const values = emptyRecord<number>();
    for (let i = 0; i < words.length; i += 2) {
      const key = words[i]!;
      if (!/^[a-z_]+$/.test(key) || Object.hasOwn(values, key)) {
        throw new HostFormatError(
          SOURCE,
          at,
          `${JSON.stringify(key)} is no name, or stands there twice`,
        );
      }
      values[key] = wholeWord(SOURCE, at, `${name} ${key}`, words[i + 1]);
    }
    protocols[name] = values;
  }
  return protocols;
}
