/** The releases by name, and how to get a {@linkcode Kernel} of one. @module */

import type { BuildOptions, Kernel } from "../kernel.ts";
import { linux_3_12 } from "./linux_3_12.ts";
import { linux_3_13 } from "./linux_3_13.ts";
import { linux_3_14 } from "./linux_3_14.ts";
import { linux_4_3 } from "./linux_4_3.ts";
import { linux_4_6 } from "./linux_4_6.ts";
import { linux_5_12 } from "./linux_5_12.ts";
import { linux_6_1 } from "./linux_6_1.ts";
import { linux_6_12 } from "./linux_6_12.ts";
import { linux_6_18 } from "./linux_6_18.ts";
import { linux_6_8 } from "./linux_6_8.ts";
import { net_next_2013_10 } from "./net_next_2013_10.ts";
import { net_next_2015_10 } from "./net_next_2015_10.ts";
import { kernelOf, type Release } from "./release.ts";

const RELEASES: readonly Release[] = [
  linux_3_12,
  net_next_2013_10,
  linux_3_13,
  linux_3_14,
  linux_4_3,
  net_next_2015_10,
  linux_4_6,
  linux_5_12,
  linux_6_1,
  linux_6_8,
  linux_6_12,
  linux_6_18,
];

/**
 * Names of the releases that {@linkcode kernel} knows, oldest first.
 *
 * @example
 * ```ts
 * import { releases } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([releases[0], releases.at(-1)], ["3.12", "6.18"]);
 * ```
 */
export const releases: readonly string[] = Object.freeze(
  RELEASES.map((release) => release.name),
);

/**
 * A kernel release as a value: its sizes, constants and rules, for a build.
 *
 * @param name Release: `"3.12"`, `"net-next-2013-10"`, `"3.13"`, `"3.14"`, `"4.3"`, `"net-next-2015-10"`, `"4.6"`, `"5.12"`,
 *   `"6.1"` (6.1.192), `"6.8"`, `"6.12"` or `"6.18"`.
 * @param build Build options that move sizes; absent ones take the release's defaults (x86-64, 4 KiB pages).
 * @returns An immutable kernel; patches are applied with {@linkcode Kernel.am}.
 * @throws {RangeError} The release is unknown (the message lists those known), or a build option is out of range.
 * @throws {TypeError} The name is no string, or a build option is of the wrong type or unknown.
 *
 * @example A small head grows with MAX_TCP_HEADER
 * ```ts
 * import { kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("6.18").skb.smallHead, 576);
 * assertEquals(kernel("6.18", { maxTcpHeader: 320 }).skb.smallHead, 640);
 * ```
 */
export function kernel(name: string, build?: BuildOptions): Kernel {
  if (typeof name !== "string") {
    throw new TypeError(`kernel(): name must be a string, got ${typeof name}`);
  }
  const release = RELEASES.find((candidate) => candidate.name === name);
  if (release === undefined) {
    throw new RangeError(
      `kernel(): unknown release "${name}"; known are ${releases.join(", ")}`,
    );
  }
  return kernelOf(release, build);
}
