/**
 * How a patch of a mailing-list thread is written down: what it fits, what it changes, and where it was posted.
 *
 * @module
 */

import type { Fact, FactChanges, Kernel, Patch } from "../kernel.ts";

/** A patch as {@linkcode definePatch} takes it. */
export interface PatchDefinition {
  /** Name, recorded in `kernel.patches`. */
  readonly name: string;
  /** Subject line of the message. */
  readonly subject: string;
  /** Date of the message, ISO 8601. */
  readonly date: string;
  /** Thread it belongs to: a key of `threads`. */
  readonly thread: string;
  /** Why the patch does not apply to a kernel; `undefined` where it does. */
  readonly fits: (kernel: Kernel) => string | undefined;
  /** The facts that change, each with its source and a value of the type that the fact has. */
  readonly changes: FactChanges;
}

/** What a value is, by the only types that facts have. */
function typeName(value: unknown): string {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}

/** Which change names no fact of this kernel, or gives it no possible value; null where none. */
function faultOf(kernel: Kernel, changes: FactChanges): string | null {
  const groups = kernel as unknown as Record<string, Record<string, unknown>>;
  for (const [group, facts] of Object.entries(changes)) {
    const known = Object.keys(kernel).filter((key) =>
      !["name", "build", "patches"].includes(key)
    );
    if (!known.includes(group)) {
      return `changes.${group} is no group of facts; there are ${
        known.join(", ")
      }`;
    }
    for (const [key, fact] of Object.entries(facts ?? {})) {
      const place = `changes.${group}.${key}`;
      if (!Object.hasOwn(groups[group]!, key)) {
        return `${place} is no fact; ${group} has ${
          Object.keys(groups[group]!).join(", ")
        }`;
      }
      const { value, file, symbol, origin } = (fact ?? {}) as Partial<
        Fact<unknown>
      >;
      for (const [name, text] of Object.entries({ file, symbol, origin })) {
        if (typeof text !== "string" || text === "") {
          return `${place}.${name} must say where the value is from, got ${
            String(text)
          }`;
        }
      }
      const resolved = typeof value === "function"
        ? value(kernel.build)
        : value;
      const [is, was] = [typeName(resolved), typeName(groups[group]![key])];
      if (is !== was) {
        return `${place}.value must be a ${was} as ${
          JSON.stringify(groups[group]![key])
        } is, got ${is} ${String(resolved)}`;
      }
      if (is === "number" && !Number.isFinite(resolved)) {
        return `${place}.value must be finite, got ${String(resolved)}`;
      }
    }
  }
  return null;
}

/** Runs a part of a user's patch; what it throws is reported as the patch's own. */
function ofPatch<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    const text = cause instanceof Error
      ? `${cause.name}: ${cause.message}`
      : String(cause);
    throw new Error(`${what} threw ${text}`, { cause });
  }
}

/**
 * A {@linkcode Patch} that knows what it applies to.
 *
 * @param definition The patch.
 * @returns A function from kernel to kernel. On a kernel that it does not fit, or that has it already, it throws
 *   `Error("patch NAME does not apply to KERNEL: reason")`; where `fits` throws or answers neither a reason nor
 *   undefined, or `changes` names what is no fact, an error that says so of the patch.
 * @throws {TypeError} A text of the definition is missing or empty, or `changes` is no object.
 *
 * @example A patch of one's own: no high-order attempts
 * ```ts
 * import { definePatch, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const singlePages = definePatch({
 *   name: "singlePages",
 *   subject: "[RFC] net: cut fragments from single pages",
 *   date: "2013-10-12",
 *   thread: "skb-page-frag-refill",
 *   fits: () => undefined,
 *   changes: {
 *     skbPageFrag: {
 *       maxSize: { value: 4096, file: "net/core/sock.c", symbol: "SKB_FRAG_PAGE_ORDER", origin: "what if" },
 *     },
 *   },
 * });
 * assertEquals(kernel("6.12").am(singlePages).skbPageFrag.maxSize, 4096);
 * ```
 */
export function definePatch(definition: PatchDefinition): Patch {
  const { name, subject, date, thread, fits, changes } = definition;
  for (const [key, text] of Object.entries({ name, subject, date, thread })) {
    if (typeof text !== "string" || text === "") {
      throw new TypeError(
        `definePatch(): ${key} must be a text, got ${String(text)}`,
      );
    }
  }
  if (typeof fits !== "function") {
    throw new TypeError(
      `definePatch(): fits must be a function of a kernel, got ${typeof fits}`,
    );
  }
  if (typeof changes !== "object" || changes === null) {
    throw new TypeError(
      `definePatch(): changes must be facts by group, got ${String(changes)}`,
    );
  }
  const patch = (kernel: Kernel): Kernel => {
    const reason = kernel.patches.includes(name)
      ? "it is applied already"
      : ofPatch(
        `patch ${name}: fits(kernel ${kernel.name})`,
        () => fits(kernel),
      );
    if (reason !== undefined && typeof reason !== "string") {
      throw new TypeError(
        `patch ${name}: fits must answer why it does not apply, or undefined, got ${
          String(reason)
        }`,
      );
    }
    if (reason !== undefined) {
      throw new Error(
        `patch ${name} does not apply to ${kernel.name}: ${reason}`,
      );
    }
    const fault = ofPatch(
      `patch ${name}: changes`,
      () => faultOf(kernel, changes),
    );
    if (fault !== null) throw new TypeError(`patch ${name}: ${fault}`);
    return kernel.with(name, changes);
  };
  Object.defineProperty(patch, "name", { value: name });
  return Object.freeze(Object.assign(patch, { subject, date, thread }));
}
