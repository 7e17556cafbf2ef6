/**
 * How a patch of a mailing-list thread is written down: what it fits, what it changes, and where it was posted.
 *
 * @module
 */

import type { FactChanges, Kernel, Patch } from "../kernel.ts";

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
  /** The facts that change, each with its source. */
  readonly changes: FactChanges;
}

/**
 * A {@linkcode Patch} that knows what it applies to.
 *
 * @param definition The patch.
 * @returns A function from kernel to kernel. On a kernel that it does not fit it throws
 *   `Error("patch NAME does not apply to KERNEL: reason")`.
 * @throws {TypeError} A text of the definition is missing or empty.
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
  const patch = (kernel: Kernel): Kernel => {
    const reason = fits(kernel);
    if (reason !== undefined) {
      throw new Error(
        `patch ${name} does not apply to ${kernel.name}: ${reason}`,
      );
    }
    return kernel.with(name, changes);
  };
  Object.defineProperty(patch, "name", { value: name });
  return Object.freeze(Object.assign(patch, { subject, date, thread }));
}
