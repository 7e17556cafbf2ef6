/**
 * /proc/slabinfo.
 *
 * @module
 */

import {
  filledLines,
  HostFormatError,
  type HostLine,
  wholeWord,
  wordsOf,
} from "./text.ts";

const SOURCE = "slabinfo";

/** A cache of /proc/slabinfo (mm/slab_common.c: cache_show). */
export interface SlabinfoRow {
  /** Line number. */
  line: number;
  /** Cache. */
  name: string;
  /** Objects in use. SLUB counts those on per-CPU slabs as in use. */
  activeObjects: number;
  /** Objects in all slabs. */
  objects: number;
  /** Bytes of an object with what stands around it (SLUB's `size`). */
  objectSize: number;
  /** Objects in a slab. */
  objectsPerSlab: number;
  /** Pages of a slab. */
  pagesPerSlab: number;
  /** SLAB's limit, batch and shared factor; zeros with SLUB. */
  tunables: { limit: number; batchcount: number; sharedfactor: number };
  /** Slabs that hold objects. */
  activeSlabs: number;
  /** Slabs. */
  slabs: number;
  /** Objects in SLAB's shared arrays. */
  sharedAvailable: number;
  /** Further groups (SLAB with debugging: `globalstat`, `cpustat`), as printed; absent if there are none. */
  other?: string;
}

// The numbers of the three groups, in order.
const BEFORE = 5;
const TUNABLES = 3;
const SLABDATA = 3;

/** The numbers of one group: `: name 1 2 3`, which starts at word `from`. */
function group(
  at: HostLine,
  words: readonly string[],
  from: number,
  name: string,
  count: number,
): number[] {
  if (words[from] !== ":" || words[from + 1] !== name) {
    throw new HostFormatError(SOURCE, at, `": ${name}" is missing`);
  }
  return words.slice(from + 2, from + 2 + count).concat(
    Array(count).fill(undefined),
  ).slice(0, count).map((word) => wholeWord(SOURCE, at, name, word));
}

function row(at: HostLine): SlabinfoRow {
  const words = wordsOf(at.text);
  const first = words.indexOf(":");
  // A cache's name may hold blanks; its numbers may not.
  const name = words.slice(0, Math.max(0, first - BEFORE)).join(" ");
  if (name === "") {
    throw new HostFormatError(
      SOURCE,
      at,
      `a name, ${BEFORE} numbers and ":" must stand there`,
    );
  }
  const counts = words.slice(first - BEFORE, first).map((word) =>
    wholeWord(SOURCE, at, name, word)
  );
  const tunables = group(at, words, first, "tunables", TUNABLES);
  const second = first + 2 + TUNABLES;
  const slabdata = group(at, words, second, "slabdata", SLABDATA);
  const other = words.slice(second + 2 + SLABDATA);
  if (other.length > 0 && other[0] !== ":") {
    throw new HostFormatError(SOURCE, at, "slabdata has three numbers");
  }
  return {
    line: at.line,
    name,
    activeObjects: counts[0]!,
    objects: counts[1]!,
    objectSize: counts[2]!,
    objectsPerSlab: counts[3]!,
    pagesPerSlab: counts[4]!,
    tunables: {
      limit: tunables[0]!,
      batchcount: tunables[1]!,
      sharedfactor: tunables[2]!,
    },
    activeSlabs: slabdata[0]!,
    slabs: slabdata[1]!,
    sharedAvailable: slabdata[2]!,
    ...(other.length === 0 ? {} : { other: other.join(" ") }),
  };
}

/**
 * Reads /proc/slabinfo, version 2.0 and 2.1, of SLAB or SLUB.
 *
 * @param text The file's text (readable by root).
 * @throws {HostFormatError} The version is unknown, a line cannot be read, or a cache stands there twice.
 * @throws {TypeError} `text` is no string.
 *
 * @example Memory in small heads
 * ```ts
 * import { readSlabinfo } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [heads] = readSlabinfo(`slabinfo - version: 2.1
 * skbuff_small_head    448    448    576   28    4 : tunables    0    0    0 : slabdata     16     16      0
 * `);
 * assertEquals(heads!.slabs * heads!.pagesPerSlab * 4096, 262144);
 * ```
 */
export function readSlabinfo(text: string): SlabinfoRow[] {
  const rows: SlabinfoRow[] = [];
  const names = new Set<string>();
  let version = "";
  for (const at of filledLines(SOURCE, text)) {
    if (version === "") {
      [, version = ""] = /^slabinfo - version: (\d\.\d)(?: \(statistics\))?$/
        .exec(at.text.trimEnd()) ?? [];
      if (version !== "2.0" && version !== "2.1") {
        throw new HostFormatError(
          SOURCE,
          at,
          "the first line must give version 2.0 or 2.1",
        );
      }
      continue;
    }
    if (at.text.startsWith("#")) {
      if (!wordsOf(at.text).join(" ").startsWith("# name <active_objs>")) {
        throw new HostFormatError(SOURCE, at, "unknown columns");
      }
      continue;
    }
    const cache = row(at);
    if (names.has(cache.name)) {
      throw new HostFormatError(SOURCE, at, `${cache.name} stands there twice`);
    }
    names.add(cache.name);
    rows.push(cache);
  }
  return rows;
}
