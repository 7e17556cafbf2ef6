/**
 * /proc/buddyinfo.
 *
 * @module
 */

import { filledLines, HostFormatError, wholeWord, wordsOf } from "./text.ts";

const SOURCE = "buddyinfo";

/** Free blocks of one zone (mm/vmstat.c: frag_show_print). */
export interface BuddyinfoZone {
  /** Line number. */
  line: number;
  /** NUMA node. */
  node: number;
  /** Zone, for example `Normal`. */
  zone: string;
  /** Free blocks by order: `free[3]` blocks of 8 pages. */
  free: number[];
}

/**
 * Reads /proc/buddyinfo.
 *
 * @param text The file's text.
 * @throws {HostFormatError} A line is not a zone with its counts, or zones have different numbers of orders.
 * @throws {TypeError} `text` is no string.
 *
 * @example Free blocks that a 32 KiB page-frag refill can take
 * ```ts
 * import { readBuddyinfo } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [zone] = readBuddyinfo("Node 0, zone   Normal  10078   6756   4578   2839   1612    578    595    655    345    125    876 \n");
 * assertEquals(zone!.free[3], 2839);
 * ```
 */
export function readBuddyinfo(text: string): BuddyinfoZone[] {
  const zones: BuddyinfoZone[] = [];
  for (const at of filledLines(SOURCE, text)) {
    const [, node, zone, rest] =
      /^Node (\d+), zone[ \t]+([A-Za-z][A-Za-z0-9]*)[ \t]+(.*)$/.exec(
        at.text,
      ) ?? [];
    if (zone === undefined) {
      throw new HostFormatError(SOURCE, at, "not a zone's line");
    }
    const free = wordsOf(rest!).map((word, order) =>
      wholeWord(SOURCE, at, `order ${order}`, word)
    );
    const orders = zones[0]?.free.length ?? free.length;
    if (free.length === 0 || free.length !== orders) {
      throw new HostFormatError(
        SOURCE,
        at,
        `${free.length} orders where there must be ${orders || "some"}`,
      );
    }
    const id = wholeWord(SOURCE, at, "node", node, 1023);
    if (zones.some((other) => other.node === id && other.zone === zone)) {
      throw new HostFormatError(SOURCE, at, "the zone stands there twice");
    }
    zones.push({ line: at.line, node: id, zone, free });
  }
  return zones;
}
