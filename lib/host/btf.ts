/**
 * BTF: the kernel's own type information (Documentation/bpf/btf.rst).
 *
 * @module
 */

import type {
  KernelTypes,
  StructLayout,
  StructMember,
} from "./kernel_types.ts";
import { HostFormatError } from "./text.ts";

const SOURCE = "BTF";
const MAGIC = 0xeb9f;
const HEADER = 24;
const TYPE = 12;

const INT = 1;
const PTR = 2;
const ARRAY = 3;
const STRUCT = 4;
const UNION = 5;
const ENUM = 6;
const FLOAT = 16;
const ENUM64 = 19;
const LAST_KIND = 19;
// Types that stand for another one: typedef, volatile, const, restrict, type tag.
const NAMES_ANOTHER = [8, 9, 10, 11, 18];

// Bytes behind a type's first twelve, by kind: fixed ones, and those of each of its vlen entries.
const FIXED = [0, 4, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 4, 0, 0];
const EACH = [0, 0, 0, 0, 12, 12, 8, 0, 0, 0, 0, 0, 0, 8, 0, 12, 0, 0, 0, 12];

// Deeper nesting of types than any compiler emits is a damaged file.
const MOST_NESTED = 64;
const MOST_MEMBERS = 100_000;

/**
 * Type information as /sys/kernel/btf/vmlinux holds it, in either byte order.
 *
 * `new Btf(Deno.readFileSync("/sys/kernel/btf/vmlinux")).struct("tcp_sock")?.size` is the size on the machine it runs on.
 *
 * @example A file with a header, no types and one empty string
 * ```ts
 * import { Btf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const bytes = new Uint8Array(25);
 * const header = new DataView(bytes.buffer);
 * header.setUint16(0, 0xeb9f, true);
 * header.setUint8(2, 1);
 * header.setUint32(4, 24, true);
 * header.setUint32(20, 1, true);
 * assertEquals(new Btf(bytes).struct("sk_buff"), undefined);
 * ```
 */
export class Btf implements KernelTypes {
  /** Number of types. */
  readonly types: number;
  readonly #view: DataView;
  readonly #bytes: Uint8Array;
  readonly #little: boolean;
  readonly #strings: number;
  readonly #stringsEnd: number;
  /** Offset of each type; type 0 is void. */
  readonly #at: Int32Array;
  readonly #structs = new Map<string, number>();
  #pointer = 8;

  /**
   * Reads the header, walks all types and remembers where each stands.
   *
   * @param bytes Raw BTF.
   * @throws {HostFormatError} It is no BTF, or a part reaches outside of the bytes.
   * @throws {TypeError} It is no Uint8Array.
   */
  constructor(bytes: Uint8Array) {
    if (!(bytes instanceof Uint8Array)) {
      throw new TypeError(`BTF: bytes must be a Uint8Array, got ${bytes}`);
    }
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (bytes.length < HEADER) {
      throw new HostFormatError(SOURCE, 0, "shorter than a header");
    }
    this.#little = this.#view.getUint16(0, true) === MAGIC;
    if (!this.#little && this.#view.getUint16(0, false) !== MAGIC) {
      throw new HostFormatError(SOURCE, 0, "no BTF: the magic is missing");
    }
    if (bytes[2] !== 1) {
      throw new HostFormatError(SOURCE, 2, `version ${bytes[2]}, not 1`);
    }
    const header = this.#u32(4);
    const typesAt = header + this.#u32(8), typesEnd = typesAt + this.#u32(12);
    this.#strings = header + this.#u32(16);
    this.#stringsEnd = this.#strings + this.#u32(20);
    if (header < HEADER || typesEnd > bytes.length) {
      throw new HostFormatError(SOURCE, 8, "types reach past the end");
    }
    if (
      this.#stringsEnd > bytes.length || this.#stringsEnd <= this.#strings ||
      bytes[this.#strings] !== 0 || bytes[this.#stringsEnd - 1] !== 0
    ) {
      throw new HostFormatError(SOURCE, 16, "strings reach past the end");
    }
    this.#at = this.#walk(typesAt, typesEnd);
    this.types = this.#at.length - 1;
    this.#index();
  }

  #u32(at: number): number {
    return this.#view.getUint32(at, this.#little);
  }

  #walk(from: number, end: number): Int32Array {
    let offsets = new Int32Array(1024);
    let count = 1;
    for (let at = from; at < end; count++) {
      const kind = at + TYPE <= end ? this.#kind(at) : 0;
      if (kind < 1 || kind > LAST_KIND) {
        throw new HostFormatError(
          SOURCE,
          at,
          at + TYPE <= end ? `unknown kind ${kind}` : "a type is cut off",
        );
      }
      if (count === offsets.length) {
        const longer = new Int32Array(2 * count);
        longer.set(offsets);
        offsets = longer;
      }
      offsets[count] = at;
      const vlen = this.#u32(at + 4) & 0xffff;
      at += TYPE + FIXED[kind]! + EACH[kind]! * vlen;
      if (at > end) {
        throw new HostFormatError(
          SOURCE,
          offsets[count]!,
          "a type reaches past the end",
        );
      }
    }
    return offsets.slice(0, count);
  }

  #kind(at: number): number {
    return (this.#u32(at + 4) >>> 24) & 0x1f;
  }

  #name(offset: number, from: number): string {
    const start = this.#strings + offset;
    if (start >= this.#stringsEnd) {
      throw new HostFormatError(SOURCE, from, "a name outside of the strings");
    }
    return new TextDecoder().decode(
      this.#bytes.subarray(start, this.#bytes.indexOf(0, start)),
    );
  }

  #index(): void {
    for (let id = 1; id < this.#at.length; id++) {
      const at = this.#at[id]!;
      const kind = this.#kind(at);
      if (kind !== STRUCT && kind !== UNION && kind !== INT) continue;
      const name = this.#name(this.#u32(at), at);
      // BTF does not say how long a pointer is; a long is as long.
      if (kind === INT) {
        if (name === "long unsigned int" || name === "unsigned long") {
          this.#pointer = this.#u32(at + 8) === 4 ? 4 : 8;
        }
      } else if (name !== "" && !this.#structs.has(name)) {
        this.#structs.set(name, id);
      }
    }
  }

  /** Offset of a type behind its typedefs and qualifiers. */
  #resolved(id: number, from: number): number {
    for (let depth = 0; depth < MOST_NESTED; depth++) {
      const at = this.#at[id];
      if (id < 1 || at === undefined) {
        throw new HostFormatError(SOURCE, from, `there is no type ${id}`);
      }
      if (!NAMES_ANOTHER.includes(this.#kind(at))) return at;
      id = this.#u32(at + 8);
    }
    throw new HostFormatError(SOURCE, from, "a type that names itself");
  }

  /** Elements and bytes of a type. */
  #extent(id: number, from: number): { size: number; count?: number } {
    let count = 1, isArray = false;
    for (let depth = 0; depth < MOST_NESTED; depth++) {
      const at = this.#resolved(id, from);
      const kind = this.#kind(at);
      if (kind === ARRAY) {
        count *= this.#u32(at + TYPE + 8);
        isArray = true;
        id = this.#u32(at + TYPE);
        continue;
      }
      const sized = kind === INT || kind === STRUCT || kind === UNION ||
        kind === ENUM || kind === FLOAT || kind === ENUM64;
      if (!sized && kind !== PTR) {
        throw new HostFormatError(SOURCE, from, "a member without a size");
      }
      const size = count * (sized ? this.#u32(at + 8) : this.#pointer);
      return isArray ? { size, count } : { size };
    }
    throw new HostFormatError(SOURCE, from, "an array of itself");
  }

  #members(
    at: number,
    base: number,
    prefix: string,
    depth: number,
    into: StructMember[],
  ): void {
    const info = this.#u32(at + 4);
    const hasBits = info >>> 31 === 1;
    for (let i = 0; i < (info & 0xffff); i++) {
      const member = at + TYPE + 12 * i;
      const type = this.#u32(member + 4);
      const place = this.#u32(member + 8);
      const bits = hasBits ? place >>> 24 : 0;
      const bit = hasBits ? place & 0xffffff : place;
      const name = this.#name(this.#u32(member), member);
      const offset = base + (bit >>> 3);
      // A typedef of an unnamed struct has a name: it is no part of the outer one.
      const body = this.#at[type] ?? 0;
      const kind = type > 0 && body > 0 ? this.#kind(body) : 0;
      const unnamedBody = (kind === STRUCT || kind === UNION) &&
        this.#u32(body) === 0;
      if (name !== "") {
        into.push({
          name: prefix + name,
          offset,
          ...this.#extent(type, member),
          ...(bits > 0 ? { bits: { first: bit & 7, count: bits } } : {}),
        });
      }
      if (unnamedBody) {
        if (depth > MOST_NESTED || into.length > MOST_MEMBERS) {
          throw new HostFormatError(SOURCE, member, "structs nested too deep");
        }
        const inner = name === "" ? prefix : `${prefix}${name}.`;
        this.#members(body, offset, inner, depth + 1, into);
      }
    }
  }

  /**
   * A struct or union by name.
   *
   * @param name Name without the keyword.
   * @returns Its layout; undefined if there is none of this name.
   * @throws {HostFormatError} A member's type is damaged.
   */
  struct(name: string): StructLayout | undefined {
    const id = this.#structs.get(name);
    if (id === undefined) return undefined;
    const at = this.#at[id]!;
    const members: StructMember[] = [];
    this.#members(at, 0, "", 0, members);
    return { name, size: this.#u32(at + 8), members };
  }
}
