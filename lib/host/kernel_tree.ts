/**
 * A release's numbers against the kernel tree that somebody has.
 *
 * @module
 */

import type { Kernel, ProvenanceRow } from "../kernel.ts";
import { alignUp } from "../sim/align.ts";
import { evaluate, type Names, NotConstant } from "./c_expression.ts";
import { CSource, type Definition } from "./c_source.ts";

/** Files of a kernel tree, as far as a check asks for them. */
export interface TreeFiles {
  /** The text of a file by its path in the tree, `mm/slub.c`; undefined if there is none. */
  read(path: string): string | undefined;
  /** The names of the files in a folder of the tree; only asked where a name is not in its file. */
  list?(folder: string): readonly string[];
}

/**
 * What a check found: the number, another number, an expression that only a running kernel knows, code (a rule to be read,
 * no number), or nothing of that name.
 */
export type TreeVerdict =
  | "same"
  | "differs"
  | "not constant"
  | "code"
  | "not found";

/** One number of a release beside what a tree says. */
export interface TreeCheck {
  /** The fact, with the element where it is one of an array: `tcp.rmem[1]`. */
  readonly name: string;
  /** What the release's record says. */
  readonly value: number;
  /** What the tree says; null without a verdict. */
  readonly found: number | null;
  /** The verdict. */
  readonly verdict: TreeVerdict;
  /** `file:line` of what was read; the file alone where nothing was. */
  readonly where: string;
  /** The text that was evaluated, or why there is no number. */
  readonly text: string;
}

const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  asm: [
    "arch/x86/include/asm/",
    "arch/x86/include/uapi/asm/",
    "include/asm-generic/",
    "include/uapi/asm-generic/",
  ],
  "": ["include/", "include/uapi/"],
};

/** Deep enough for any chain of includes that a size hangs on; the rest of the tree is not read. */
const MOST_FILES = 600;

/** Sizes that every 64-bit build has, bytes. */
const SIZES: Readonly<Record<string, number>> = {
  "char": 1,
  "short": 2,
  "int": 4,
  "unsigned int": 4,
  "u16": 2,
  "u32": 4,
  "long": 8,
  "unsigned long": 8,
  "void *": 8,
  "struct page *": 8,
  "struct virtio_net_hdr_mrg_rxbuf": 12,
};

function constant(number: number): bigint {
  return BigInt(number);
}

/** Reads a tree's files once each and gives its names values, for one build. */
class Tree {
  readonly #files: TreeFiles;
  readonly #kernel: Kernel;
  readonly #sources = new Map<string, CSource | null>();
  readonly #values = new Map<string, bigint | NotConstant>();
  readonly #given: Readonly<Record<string, number>>;

  constructor(files: TreeFiles, kernel: Kernel) {
    this.#files = files;
    this.#kernel = kernel;
    const { pageSize, cacheLine, maxSkbFrags, maxTcpHeader, maxHeader } =
      kernel.build;
    // What a configuration decides comes from the release's build.
    this.#given = {
      PAGE_SIZE: pageSize,
      PAGE_SHIFT: Math.log2(pageSize),
      PAGE_MASK: -pageSize,
      L1_CACHE_BYTES: cacheLine,
      SMP_CACHE_BYTES: cacheLine,
      MAX_SKB_FRAGS: maxSkbFrags,
      MAX_TCP_HEADER: maxTcpHeader,
      MAX_HEADER: maxHeader,
    };
  }

  source(path: string): CSource | null {
    let source = this.#sources.get(path);
    if (source === undefined) {
      const text = this.#files.read(path);
      source = text === undefined ? null : new CSource(text);
      this.#sources.set(path, source);
    }
    return source;
  }

  /** The file and those that it includes, the nearest first. */
  *#reach(path: string): Generator<[string, CSource]> {
    const seen = new Set([path]);
    for (const at of seen) {
      const source = this.source(at);
      if (source === null) continue;
      yield [at, source];
      for (const include of source.includes) {
        if (seen.size >= MOST_FILES) break;
        for (const candidate of included(include, at)) seen.add(candidate);
      }
    }
  }

  names(path: string, params: ReadonlyMap<string, bigint> = new Map()): Names {
    return {
      value: (name) => params.get(name) ?? this.#value(name, path),
      call: (name, args) => this.#call(name, args, path, params),
      sizeOf: (type) => this.#sizeOf(type.replace(/\s+/g, " ").trim()),
    };
  }

  #sizeOf(type: string): bigint {
    const { skBuff, skBuffFclones, fragSize } = this.#kernel.build;
    const known = {
      ...SIZES,
      "struct sk_buff": skBuff,
      "struct sk_buff_fclones": skBuffFclones,
      "skb_frag_t": fragSize,
      "struct skb_shared_info": this.#kernel.build.sharedInfoHeader +
        this.#kernel.build.maxSkbFrags * fragSize,
    }[type];
    if (known === undefined) throw new NotConstant(`sizeof(${type})`);
    return constant(known);
  }

  #value(name: string, path: string): bigint {
    const given = this.#given[name];
    if (given !== undefined) return constant(given);
    const key = `${path}: ${name}`;
    const cached = this.#values.get(key);
    if (cached instanceof NotConstant) throw cached;
    if (cached !== undefined) return cached;
    // A name that stands for itself is not looked up for ever.
    this.#values.set(key, new NotConstant(`${name} stands for itself`));
    try {
      const value = this.#lookUp(name, path);
      this.#values.set(key, value);
      return value;
    } catch (error) {
      if (error instanceof NotConstant) this.#values.set(key, error);
      throw error;
    }
  }

  #lookUp(name: string, path: string): bigint {
    if (name.startsWith("CONFIG_")) {
      throw new NotConstant(`${name} depends on the configuration`);
    }
    let problem: NotConstant | null = null;
    for (const [at, source] of this.#reach(path)) {
      for (const definition of this.standing(definitionsOf(source, name), at)) {
        const { params, element, inFunction } = definition;
        // A function's variable of that name is another thing.
        if (params !== null || element !== null || inFunction) continue;
        try {
          return evaluate(definition.text, this.names(at));
        } catch (error) {
          if (!(error instanceof NotConstant)) throw error;
          problem ??= error;
        }
      }
    }
    throw problem ?? new NotConstant(`${name} is not defined`);
  }

  #call(
    name: string,
    args: readonly string[],
    path: string,
    params: ReadonlyMap<string, bigint>,
  ): bigint | null {
    const names = this.names(path, params);
    const value = (i: number): bigint => evaluate(args[i] ?? "", names);
    const number = (i: number): number => Number(value(i));
    switch (name) {
      case "max":
        return constant(Math.max(number(0), number(1)));
      case "min":
        return constant(Math.min(number(0), number(1)));
      case "max_t":
        return constant(Math.max(number(1), number(2)));
      case "min_t":
        return constant(Math.min(number(1), number(2)));
      case "ALIGN":
        return constant(alignUp(number(0), number(1)));
      case "__ALIGN_MASK":
        return (value(0) + value(1)) & ~value(1);
      case "get_order":
        return constant(
          Math.max(
            0,
            Math.ceil(Math.log2(number(0) / this.#kernel.build.pageSize)),
          ),
        );
      case "is_power_of_2":
        return constant(Number.isInteger(Math.log2(number(0))) ? 1 : 0);
      case "ilog2":
        return constant(Math.floor(Math.log2(number(0))));
      case "IS_ENABLED":
      case "defined":
        throw new NotConstant(
          `${name}(${args[0]}) depends on the configuration`,
        );
    }
    for (const [at, source] of this.#reach(path)) {
      for (const { params: parameters, text } of source.defines(name)) {
        if (parameters === null) continue;
        const bound = new Map(parameters.map((each, i) => [each, value(i)]));
        return evaluate(text, this.names(at, bound));
      }
    }
    return null;
  }

  /** The definitions whose `#if` lines do not rule them out. */
  standing(
    definitions: readonly Definition[],
    path: string,
  ): readonly Definition[] {
    return definitions.filter(({ conditions }) =>
      conditions.every(({ test, holds }) => {
        try {
          return (evaluate(test, this.names(path)) !== 0n) === holds;
        } catch (error) {
          if (!(error instanceof NotConstant)) throw error;
          return true;
        }
      })
    );
  }

  /** Other files of the same folder that give the name a value. */
  elsewhere(name: string, path: string): string[] {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    return (this.#files.list?.(folder) ?? [])
      .filter((file) => /\.[ch]$/.test(file))
      .map((file) => folder + file)
      .filter((file) => file !== path)
      .filter((file) => {
        const text = this.#files.read(file);
        return text?.includes(name) &&
          definitionsOf(this.source(file)!, name).length > 0;
      });
  }
}

/** Where an include of a file may lie. */
function included(include: string, from: string): string[] {
  const folder = from.slice(0, from.lastIndexOf("/") + 1);
  const parts = include.split("/");
  const above = parts[0] === "asm" ? FOLDERS.asm! : FOLDERS[""]!;
  const rest = parts[0] === "asm" ? parts.slice(1).join("/") : include;
  return [
    ...(include.includes("/") ? [] : [folder + include]),
    ...above.map((each) => each + rest),
  ];
}

function definitionsOf(source: CSource, name: string): Definition[] {
  return [...source.defines(name), ...source.initialisers(name)];
}

/** The elements of a brace list. */
function elements(text: string): string[] | null {
  const list = /^\{(.*)\}$/s.exec(text);
  return list === null
    ? null
    : list[1]!.split(",").map((each) => each.trim()).filter((each) =>
      each !== ""
    );
}

/** One number that a record gives, and the expression over kernel names that should have its value. */
interface Claim {
  readonly name: string;
  readonly value: number;
  readonly expression: string;
  readonly element: number | null;
}

/**
 * What of a fact can be looked up: its number, or each number of its list. A symbol may be an expression
 * (`MAX_ORDER - 1`), a list of names for a list of numbers, or both behind the function that they stand in (`tcp_init: …`).
 */
function claims({ name, value, symbol: where }: ProvenanceRow): Claim[] {
  const symbol = where.slice(where.lastIndexOf(": ") + 1).trim();
  if (typeof value === "number") {
    return [{ name, value, expression: symbol, element: null }];
  }
  if (!Array.isArray(value)) return [];
  const symbols = symbol.split(/\s*,\s*/);
  return value.filter((each) => typeof each === "number").map((each, i) => ({
    name: `${name}[${i}]`,
    value: each,
    expression: symbols.length === value.length ? symbols[i]! : symbol,
    element: symbols.length === value.length ? null : i,
  }));
}

/** What a definition says of a claim: its text for the claim's element, or null if it is of another one. */
function textFor(
  { text, params, element }: Definition,
  claim: Claim,
): string | null {
  if (params !== null) return null;
  if (claim.element === null) return element === null ? text : null;
  const list = elements(text);
  if (list !== null) return list[claim.element] ?? null;
  return element === claim.element ? text : null;
}

function checkClaim(tree: Tree, file: string, claim: Claim): TreeCheck {
  const base = { name: claim.name, value: claim.value, found: null };
  const source = tree.source(file);
  if (source === null) {
    const text = "the tree has no such file";
    return { ...base, verdict: "not found", where: file, text };
  }
  const checked = (at: string, text: string, line?: number): TreeCheck => {
    const where = line === undefined ? at : `${at}:${line}`;
    try {
      const found = Number(evaluate(text, tree.names(at)));
      const verdict = found === claim.value ? "same" : "differs";
      return { ...base, found, verdict, where, text };
    } catch (error) {
      if (!(error instanceof NotConstant)) throw error;
      return {
        ...base,
        verdict: "not constant",
        where,
        text: `${text}: ${error.message}`,
      };
    }
  };
  const { expression } = claim;
  if (!/^\w+$/.test(expression)) {
    const struct = /^(?:struct|union|enum)\s/.test(expression);
    return struct
      ? { ...base, verdict: "code", where: file, text: expression }
      : checked(file, expression);
  }
  const of = (path: string, from: CSource): TreeCheck[] =>
    tree.standing(definitionsOf(from, expression), path)
      .flatMap((definition) => {
        const text = textFor(definition, claim);
        return text === null ? [] : [checked(path, text, definition.line)];
      });
  const own = of(file, source);
  // A macro with parameters, or one value where the record has a list, is a rule to be read.
  const isCode = own.length === 0 && (source.describes(expression) ||
    definitionsOf(source, expression).length > 0);
  const moved = own.length > 0 || isCode
    ? []
    : tree.elsewhere(expression, file).flatMap((path) =>
      of(path, tree.source(path)!)
    );
  // Branches of the configuration may give it several values: the record's is one of them, or none is.
  const order: readonly TreeVerdict[] = ["same", "differs", "not constant"];
  for (const verdict of order) {
    const match = [...own, ...moved].find((each) => each.verdict === verdict);
    if (match !== undefined) return match;
  }
  return isCode
    ? { ...base, verdict: "code", where: file, text: `${expression} is code` }
    : {
      ...base,
      verdict: "not found",
      where: file,
      text: `no define or initialiser of ${expression}`,
    };
}

/**
 * Checks every number of a kernel that is a define or an initialiser against a kernel tree.
 *
 * Expressions of constants are evaluated: arithmetic, shifts, other defines (also those of included headers), macros with
 * parameters. What the configuration decides (page size, cache line, MAX_SKB_FRAGS, struct sizes) is taken from the
 * kernel's build. Numbers that stand within code are reported as such.
 *
 * @param kernel The kernel.
 * @param files The tree.
 * @returns One entry a number, in the order of {@linkcode Kernel.provenance}.
 *
 * @example A tree with a number of its own
 * ```ts
 * import { checkTree, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const tree: Record<string, string> = { "mm/slub.c": "#define MIN_PARTIAL 5\n#define MAX_PARTIAL (MIN_PARTIAL << 2)\n" };
 * const checks = checkTree(kernel("6.1"), { read: (path) => tree[path] });
 * const [min, max] = checks.filter(({ name }) => name.startsWith("slub.minPartial"));
 * assertEquals([min!.verdict, max!.verdict, max!.found, max!.where], ["same", "differs", 20, "mm/slub.c:2"]);
 * ```
 */
export function checkTree(kernel: Kernel, files: TreeFiles): TreeCheck[] {
  const tree = new Tree(files, kernel);
  return kernel.provenance().flatMap((row) =>
    claims(row).map((claim) => checkClaim(tree, row.file, claim))
  );
}
