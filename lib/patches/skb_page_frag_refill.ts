/**
 * The three versions of "net: refactor sk_page_frag_refill()" (Eric Dumazet, October 2013): a fragment refill without a
 * socket, with a test that the request has room. The first version lost the last buffer of each block; the third was
 * applied.
 *
 * @module
 */

import type {
  Fact,
  FactChanges,
  Kernel,
  Patch,
  SkbPageFragFacts,
} from "../kernel.ts";
import { definePatch } from "./define_patch.ts";

const THREAD = "skb-page-frag-refill";
const VERSIONS = [
  "skbPageFragRefillV1",
  "skbPageFragRefillV2",
  "skbPageFragRefillV3",
];

function fits(version: number): (kernel: Kernel) => string | undefined {
  return (kernel) => {
    const applied = VERSIONS.findIndex((name) => kernel.patches.includes(name));
    if (applied >= 0) {
      return applied < version - 1
        ? `v${version} replaces v${applied + 1}: apply it to the base`
        : `v${applied + 1} has replaced v${version}`;
    }
    return kernel.skbPageFrag.name === "" ? undefined : "already merged";
  };
}

function changes(
  version: number,
  name: SkbPageFragFacts["name"],
  test: SkbPageFragFacts["fits"],
): FactChanges {
  const fact = <T>(value: T, symbol: string): Fact<T> => ({
    value,
    file: "net/core/sock.c",
    symbol,
    origin: `version ${version} as posted`,
  });
  return {
    skbPageFrag: {
      name: fact(name, name),
      fits: fact(test, name),
      minimum: fact(32, "sk_page_frag_refill"),
    },
  };
}

/**
 * Version 1: splits `page_frag_refill` out of `sk_page_frag_refill`, asks for at least 32 bytes, and tests for room with
 * `<`, so that a request that would end exactly with the block takes a new one. The author found it within hours.
 *
 * @example Fifteen buffers of 2 KiB from 32 KiB instead of sixteen
 * ```ts
 * import { buffersPerBlock, kernel, skbPageFragRefillV1, skbPageFragRefillV2 } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("net-next-2013-10");
 * assertEquals(buffersPerBlock({ kernel: base.am(skbPageFragRefillV1), size: 2048 }).count, 15);
 * assertEquals(buffersPerBlock({ kernel: base.am(skbPageFragRefillV2), size: 2048 }).count, 16);
 * ```
 */
export const skbPageFragRefillV1: Patch = definePatch({
  name: "skbPageFragRefillV1",
  subject: "[PATCH net-next] net: refactor sk_page_frag_refill()",
  date: "2013-10-12",
  thread: THREAD,
  fits: fits(1),
  changes: changes(1, "page_frag_refill", "offset + sz < size"),
});

/**
 * Version 2: version 1 with the test put right (`<=`).
 *
 * @example
 * ```ts
 * import { buffersPerBlock, kernel, skbPageFragRefillV2 } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const patched = kernel("net-next-2013-10").am(skbPageFragRefillV2);
 * assertEquals(buffersPerBlock({ kernel: patched, size: 2048 }).count, 16);
 * ```
 */
export const skbPageFragRefillV2: Patch = definePatch({
  name: "skbPageFragRefillV2",
  subject: "[PATCH v2 net-next] net: refactor sk_page_frag_refill()",
  date: "2013-10-12",
  thread: THREAD,
  fits: fits(2),
  changes: changes(2, "page_frag_refill", "offset + sz <= size"),
});

/**
 * Version 3: version 2 under the name `skb_page_frag_refill`, as it was merged for 3.13.
 *
 * @example
 * ```ts
 * import { kernel, skbPageFragRefillV3 } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("net-next-2013-10").am(skbPageFragRefillV3).skbPageFrag.name, "skb_page_frag_refill");
 * ```
 */
export const skbPageFragRefillV3: Patch = definePatch({
  name: "skbPageFragRefillV3",
  subject: "[PATCH v3 net-next] net: refactor sk_page_frag_refill()",
  date: "2013-10-17",
  thread: THREAD,
  fits: fits(3),
  changes: changes(3, "skb_page_frag_refill", "offset + sz <= size"),
});
