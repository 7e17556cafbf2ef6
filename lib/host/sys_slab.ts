/**
 * Listings of /sys/kernel/slab (SLUB).
 *
 * @module
 */

import {
  emptyRecord,
  filledLines,
  HostFormatError,
  type HostLine,
} from "./text.ts";

const SOURCE = "/sys/kernel/slab";

/** What /sys/kernel/slab says (mm/slub.c: slab_attrs). */
export interface SysSlab {
  /**
   * Attributes by cache: the first word of each file as a number, for example `object_size`, `slab_size`, `order`,
   * `objs_per_slab`, `min_partial`, `cpu_partial`; bytes, pages' order and counts as the kernel's file has them.
   */
  caches: Record<string, Record<string, number>>;
  /** What files hold beyond a number, by `cache/file`: `objects`' nodes, `ctor`, `alloc_calls`. */
  texts: Record<string, string>;
  /** Aliases: merged caches and the cache that serves them. */
  aliases: Record<string, string>;
}

// `grep -r . /sys/kernel/slab`, with or without the folder's path.
const VALUE = /^(?:\S*?\/)??([^/\s]+)\/([a-z_]+):(.*)$/;
// `ls -l`, and `find -printf '%p -> %l'`.
const LINK = /(?:^|[ \t]|\/)([^/\s]+) -> (?:\S*\/)?([^/\s]+)$/;
const LISTED = /^(?:total \d+$|d[rwxst-]{9}[ .+@]|\/sys\/kernel\/slab\/?:$)/;

function number(at: HostLine, cache: string, file: string, word: string) {
  const value = Number(word);
  if (!Number.isSafeInteger(value)) {
    throw new HostFormatError(
      SOURCE,
      at,
      `${cache}/${file} is above 2^53`,
    );
  }
  return value;
}

/**
 * Reads a listing of /sys/kernel/slab: `grep -r . /sys/kernel/slab` (lines `…/cache/file:value`), `ls -l
 * /sys/kernel/slab` (aliases), or both together.
 *
 * @param text The listing.
 * @throws {HostFormatError} A line is neither a value nor a link, or gives a file a second time.
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readSysSlab } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const slab = readSysSlab(`/sys/kernel/slab/skbuff_small_head/object_size:576
 * /sys/kernel/slab/skbuff_small_head/order:2
 * lrwxrwxrwx 1 root root 0 Dec  1 02:25 skbuff_fclone_cache -> :0000512
 * `);
 * assertEquals(slab.caches["skbuff_small_head"]?.["object_size"], 576);
 * assertEquals(slab.aliases["skbuff_fclone_cache"], ":0000512");
 * ```
 */
export function readSysSlab(text: string): SysSlab {
  const slab: SysSlab = {
    caches: emptyRecord(),
    texts: emptyRecord(),
    aliases: emptyRecord(),
  };
  for (const at of filledLines(SOURCE, text)) {
    const [, alias, target] = LINK.exec(at.text) ?? [];
    if (alias !== undefined) {
      if ((slab.aliases[alias] ?? target) !== target) {
        throw new HostFormatError(SOURCE, at, `${alias} points elsewhere too`);
      }
      slab.aliases[alias] = target!;
      continue;
    }
    if (LISTED.test(at.text)) continue;
    const [, cache, file, value] = VALUE.exec(at.text) ?? [];
    if (cache === undefined) {
      throw new HostFormatError(
        SOURCE,
        at,
        "neither cache/file:value nor a link",
      );
    }
    const values = slab.caches[cache] ??= emptyRecord();
    const key = `${cache}/${file}`;
    const [, digits, more] = /^(\d{1,20})(?:[ \t]+(.*))?$/.exec(
      value!.trim(),
    ) ?? [];
    const isText = digits === undefined;
    // Files of several lines (alloc_calls, ctor) come as several lines with one name.
    if (Object.hasOwn(values, file!) || (!isText && key in slab.texts)) {
      throw new HostFormatError(SOURCE, at, `${key} stands there twice`);
    }
    if (isText) {
      slab.texts[key] = key in slab.texts
        ? `${slab.texts[key]}\n${value}`
        : value!;
    } else {
      values[file!] = number(at, cache, file!, digits);
      if (more !== undefined) slab.texts[key] = more;
    }
  }
  return slab;
}
