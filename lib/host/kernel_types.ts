/**
 * Struct layouts of a user's kernel, and what {@linkcode kernel} takes from them.
 *
 * @module
 */

import type { BuildOptions } from "../kernel.ts";
import { Btf } from "./btf.ts";
import { readPahole } from "./pahole.ts";

/** A member of a struct or union. Those of unnamed structs and unions inside count as the outer one's own. */
export interface StructMember {
  /** Name; members of a named member without a type name of its own are `outer.inner`. */
  name: string;
  /** Byte offset from the outer struct's start; of a bit field, of the byte with its first bit. */
  offset: number;
  /** Bytes; of a bit field the bytes of its type, 0 of a flexible array. */
  size: number;
  /** Elements of an array; absent for anything else. */
  count?: number;
  /** First bit and bits of a bit field; absent for anything else. */
  bits?: { first: number; count: number };
}

/** A struct or union as a kernel build lays it out. */
export interface StructLayout {
  /** Name. */
  name: string;
  /** `sizeof`, bytes. */
  size: number;
  /** Members in order of declaration. */
  members: StructMember[];
}

/** Where struct layouts come from: {@linkcode Btf} or {@linkcode readPahole}. */
export interface KernelTypes {
  /** A struct or union by name; undefined if it is not there. */
  struct(name: string): StructLayout | undefined;
}

/**
 * The build options that struct layouts tell: `skBuff`, `skBuffFclones`, `sharedInfoHeader`, `fragSize` and
 * `maxSkbFrags`. Page size, cache line, CPUs and MAX_TCP_HEADER are no part of type information and stay as they are.
 *
 * @param types The layouts; at least `sk_buff` and `skb_shared_info`.
 * @throws {RangeError} One of the two, or the fragment array in the second, is missing.
 *
 * @example
 * ```ts
 * import { buildFromTypes } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const frags = { name: "frags", offset: 48, size: 272, count: 17 };
 * const types = {
 *   struct: (name: string) =>
 *     name === "sk_buff"
 *       ? { name, size: 240, members: [] }
 *       : { name, size: 320, members: [frags] },
 * };
 * const { skBuff, maxSkbFrags, fragSize } = buildFromTypes(types);
 * assertEquals([skBuff, maxSkbFrags, fragSize], [240, 17, 16]);
 * ```
 */
export function buildFromTypes(types: KernelTypes): BuildOptions {
  const skBuff = types.struct("sk_buff");
  const shared = types.struct("skb_shared_info");
  const frags = shared?.members.find((member) => member.name === "frags");
  if (skBuff === undefined || shared === undefined) {
    throw new RangeError(
      `types: struct ${
        skBuff === undefined ? "sk_buff" : "skb_shared_info"
      } is missing; both sk_buff and skb_shared_info are needed`,
    );
  }
  if (frags?.count === undefined || frags.count < 1) {
    throw new RangeError(
      "types: struct skb_shared_info has no array frags",
    );
  }
  const fclones = types.struct("sk_buff_fclones");
  return {
    skBuff: skBuff.size,
    ...(fclones === undefined ? {} : { skBuffFclones: fclones.size }),
    sharedInfoHeader: frags.offset,
    fragSize: frags.size / frags.count,
    maxSkbFrags: frags.count,
  };
}

/**
 * Build options from a kernel's own type information.
 *
 * @param bytes The file /sys/kernel/btf/vmlinux, or a `.BTF` section.
 * @throws {HostFormatError} The bytes are no BTF, or damaged; the error has the offset.
 * @throws {RangeError} `sk_buff` or `skb_shared_info` is not in it.
 *
 * `kernel("6.18", fromBtf(Deno.readFileSync("/sys/kernel/btf/vmlinux")))` has the sizes of the running kernel.
 *
 * @example Damaged type information says where
 * ```ts
 * import { fromBtf, HostFormatError } from "@truesize/lab";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(() => fromBtf(new Uint8Array(4)), HostFormatError, "byte 0");
 * ```
 */
export function fromBtf(bytes: Uint8Array): BuildOptions {
  return buildFromTypes(new Btf(bytes));
}

/**
 * Build options from what `pahole -C sk_buff,sk_buff_fclones,skb_shared_info` prints.
 *
 * @param text The output.
 * @throws {HostFormatError} A line cannot be read.
 * @throws {RangeError} `sk_buff` or `skb_shared_info` is not in it.
 *
 * @example
 * ```ts
 * import { fromPahole, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const note = (text: string) => `/* ${text} *${"/"}`;
 * const mine = kernel("6.18", fromPahole(`
 * struct sk_buff {
 *   unsigned int truesize; ${note("216 4")}
 *   ${note("size: 232, cachelines: 4, members: 1")}
 * };
 * struct skb_shared_info {
 *   skb_frag_t frags[45]; ${note("48 720")}
 *   ${note("size: 768, cachelines: 12, members: 1")}
 * };
 * `));
 * assertEquals([mine.skb.skBuff, mine.skb.sharedInfo], [232, 768]);
 * ```
 */
export function fromPahole(text: string): BuildOptions {
  return buildFromTypes(readPahole(text));
}
