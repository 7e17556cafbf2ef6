/**
 * What `pahole` prints of structs.
 *
 * @module
 */

import type {
  KernelTypes,
  StructLayout,
  StructMember,
} from "./kernel_types.ts";
import { HostFormatError, type HostLine, linesOf, wholeWord } from "./text.ts";

const SOURCE = "pahole";

/**
 * Structs that `pahole` printed.
 *
 * @example
 * ```ts
 * import { PaholeTypes } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const types = new PaholeTypes(new Map([["sk_buff", { name: "sk_buff", size: 232, members: [] }]]), []);
 * assertEquals([types.names, types.struct("sk_buff")?.size], [["sk_buff"], 232]);
 * ```
 */
export class PaholeTypes implements KernelTypes {
  /** Messages of the tool between the structs, and rows of `--sizes` that repeat a name: the first one counts. */
  readonly messages: readonly HostLine[];
  readonly #structs: ReadonlyMap<string, StructLayout>;

  /**
   * Structs as read.
   *
   * @param structs By name.
   * @param messages Messages.
   */
  constructor(
    structs: ReadonlyMap<string, StructLayout>,
    messages: readonly HostLine[],
  ) {
    this.#structs = structs;
    this.messages = messages;
  }

  /** Names, in the order printed. */
  get names(): string[] {
    return [...this.#structs.keys()];
  }

  /**
   * A struct or union by name; undefined if it was not printed. First bits of bit fields are as pahole counts them;
   * old releases count from the other end.
   */
  struct(name: string): StructLayout | undefined {
    return this.#structs.get(name);
  }
}

/** A struct or union whose closing brace has not come yet. */
interface Open {
  readonly at: HostLine;
  /** Type name; empty for one without. */
  readonly name: string;
  /** Whether it is a union. */
  readonly union: boolean;
  readonly members: StructMember[];
  size: number;
}

const OPENING = /^(struct|union)(?:[ \t]+([A-Za-z_]\w*))?[ \t]*\{$/;
const SIZE = /^\/\* size: (\d+), cachelines: \d+, members: \d+.*\*\/$/;
const SIZES_ROW = /^([A-Za-z_]\w*)\t(\d+)\t\d+$/;
const MESSAGE =
  /^(?:BTF: idx: \d+, Unknown kind \d+|pahole: .*|libbpf: .*|die__process\w*: .*)$/;
const MOST_NESTED = 64;

// A member of a union whose offset was not printed (pahole 1.9): that of the union, once it is known.
const AS_UNION = -1;

/** A line's declaration and the offset, first bit and size that its comment gives. */
function placed(
  at: HostLine,
  text: string,
): { declaration: string; offset: number; bit: number; size: number } | null {
  const comment = text.lastIndexOf("/*");
  const match = comment < 0
    ? null
    : /^\/\*[ \t]+(?:(\d+)(?::[ \t]*(\d+))?[ \t]+)?(\d+)[ \t]+\*\/$/.exec(
      text.slice(comment),
    );
  if (match === null) return null;
  const [, offset, bit, size] = match;
  return {
    declaration: text.slice(0, comment).trimEnd(),
    offset: offset === undefined
      ? AS_UNION
      : wholeWord(SOURCE, at, "offset", offset),
    bit: wholeWord(SOURCE, at, "bit", bit ?? "0", 63),
    size: wholeWord(SOURCE, at, "size", size),
  };
}

function declared(
  at: HostLine,
  text: string,
): { name: string; count?: number; bits?: number } {
  const declaration = text.replace(/[ \t]*__attribute__\(\([^;]*\)\)/, "");
  const pointer = /\(\*+[ \t]*([A-Za-z_]\w*)/.exec(declaration);
  const plain = /([A-Za-z_]\w*)?((?:\[\d*\])*)(?::(\d+))?;$/.exec(declaration);
  if (plain === null) {
    throw new HostFormatError(SOURCE, at, "not a member's declaration");
  }
  const [, name, arrays, bits] = plain;
  if (pointer !== null) return { name: pointer[1]! };
  if (name === undefined) {
    throw new HostFormatError(SOURCE, at, "a member without a name");
  }
  const count = [...arrays!.matchAll(/\[(\d*)\]/g)].reduce(
    (product, [, n]) => product * Number(n),
    1,
  );
  return {
    name,
    ...(arrays === "" ? {} : { count }),
    ...(bits === undefined ? {} : { bits: Number(bits) }),
  };
}

class PaholeReader {
  readonly structs = new Map<string, StructLayout>();
  readonly messages: HostLine[] = [];
  readonly #open: Open[] = [];
  #comment: HostLine | undefined;

  #member(at: HostLine, text: string): void {
    const place = placed(at, text);
    const outer = this.#open.at(-1)!;
    if (place === null || (place.offset === AS_UNION && !outer.union)) {
      // A bit field of no bits and no name only moves the next one.
      if (/^[A-Za-z_][\w \t]*:0;$/.test(text)) return;
      throw new HostFormatError(
        SOURCE,
        at,
        "a member must end in its offset and size",
      );
    }
    const { declaration, offset, bit, size } = place;
    const { bits, ...named } = declared(at, declaration);
    outer.members.push({
      ...named,
      offset: offset + (bit >> 3),
      size,
      ...(bits === undefined ? {} : { bits: { first: bit & 7, count: bits } }),
    });
  }

  #close(at: HostLine, text: string): void {
    const inner = this.#open.pop()!;
    const outer = this.#open.at(-1);
    if (outer === undefined) {
      if (!/^\}(?: __attribute__\(\(.*\)\))?;$/.test(text)) {
        throw new HostFormatError(SOURCE, at, "not a struct's end");
      }
      if (inner.size < 0) {
        throw new HostFormatError(
          SOURCE,
          inner.at,
          `struct ${inner.name} has no line with its size`,
        );
      }
      for (const member of inner.members) {
        if (member.offset === AS_UNION) member.offset = 0;
      }
      this.#keep(at, inner.name, inner.size, inner.members);
      return;
    }
    const place = placed(at, text);
    if (place === null || (place.offset === AS_UNION && !outer.union)) {
      throw new HostFormatError(
        SOURCE,
        at,
        "an inner struct must end in its offset and size",
      );
    }
    const { declaration, offset, size } = place;
    for (const member of inner.members) {
      if (member.offset === AS_UNION) member.offset = offset;
    }
    if (/^\}[ \t]*(?:__attribute__\(\(.*\)\))?;$/.test(declaration)) {
      outer.members.push(...inner.members);
      return;
    }
    const { name, count } = declared(at, declaration.slice(1));
    outer.members.push(
      { name, ...(count === undefined ? {} : { count }), offset, size },
      ...inner.members.map((member) => ({
        ...member,
        name: `${name}.${member.name}`,
      })),
    );
  }

  #keep(
    at: HostLine,
    name: string,
    size: number,
    members: StructMember[],
  ): void {
    if (this.structs.has(name)) {
      throw new HostFormatError(SOURCE, at, `${name} stands there twice`);
    }
    for (const member of members) {
      // A bit field's size is its type's; the type may reach further than the field.
      if (member.offset + (member.bits ? 1 : member.size) > size) {
        throw new HostFormatError(
          SOURCE,
          at,
          `${name}.${member.name} ends behind the struct's ${size} bytes`,
        );
      }
    }
    this.structs.set(name, { name, size, members });
  }

  line(at: HostLine): void {
    const text = at.text.trim();
    if (this.#comment !== undefined) {
      if (text.endsWith("*/")) this.#comment = undefined;
      return;
    }
    if (text === "") return;
    const outer = this.#open.at(-1);
    // -E writes a member's typedefs before its body.
    const opening = OPENING.exec(
      text.replace(/^\/\* typedef [^*]*\*\/[ \t]*/, ""),
    );
    if (opening !== null) {
      const [, keyword, type] = opening;
      if (outer === undefined && type === undefined) {
        throw new HostFormatError(SOURCE, at, "a struct without a name");
      }
      if (this.#open.length > MOST_NESTED) {
        throw new HostFormatError(SOURCE, at, "structs nested too deep");
      }
      this.#open.push({
        at,
        name: type ?? "",
        union: keyword === "union",
        members: [],
        size: -1,
      });
      return;
    }
    if (outer === undefined) {
      const [, name, size] = SIZES_ROW.exec(at.text) ?? [];
      if (name !== undefined && this.structs.has(name)) {
        // Another type of this name, private to some file.
        this.messages.push(at);
      } else if (name !== undefined) {
        this.#keep(at, name, wholeWord(SOURCE, at, "size", size), []);
      } else if (MESSAGE.test(text)) this.messages.push(at);
      else throw new HostFormatError(SOURCE, at, "not in a struct");
      return;
    }
    const [, size] = SIZE.exec(text) ?? [];
    if (size !== undefined) {
      if (outer.size >= 0) {
        throw new HostFormatError(SOURCE, at, "a second size");
      }
      outer.size = wholeWord(SOURCE, at, "size", size);
    } else if (text.startsWith("}")) this.#close(at, text);
    else if (text.startsWith("/*") && !text.startsWith("/* typedef ")) {
      if (!text.includes("*/")) this.#comment = at;
      else if (!text.endsWith("*/")) {
        throw new HostFormatError(SOURCE, at, "text behind a comment");
      }
    } else this.#member(at, text);
  }

  end(): PaholeTypes {
    const open = this.#open.at(-1);
    if (open !== undefined) {
      throw new HostFormatError(SOURCE, open.at, "a struct without its end");
    }
    if (this.#comment !== undefined) {
      throw new HostFormatError(SOURCE, this.#comment, "comment not closed");
    }
    return new PaholeTypes(this.structs, this.messages);
  }
}

/**
 * Reads `pahole -C NAME,…` (with or without `-E`) and `pahole --sizes`, of pahole 1.9 to 1.30.
 *
 * @param text The output.
 * @returns Structs by name; `--sizes` gives them without members.
 * @throws {HostFormatError} A line cannot be read, a struct has no size line or end, or a member lies outside.
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readPahole } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readPahole("sk_buff\t232\t0\n").struct("sk_buff")?.size, 232);
 * ```
 */
export function readPahole(text: string): PaholeTypes {
  const reader = new PaholeReader();
  for (const at of linesOf(SOURCE, text)) reader.line(at);
  return reader.end();
}
