/**
 * Which patch of a series changed an outcome.
 *
 * @module
 */

import type { Kernel, Patch } from "../kernel.ts";
import { kernelArgument } from "../sim/check.ts";

/** What a predicate may answer: anything that is equal or not. */
export type PatchOutcome = boolean | number | string;

/** What is known of the patch that was found, applied to the base without the others. */
export type Alone =
  | { readonly applies: true; readonly outcome: PatchOutcome }
  | { readonly applies: false; readonly reason: string };

/**
 * What {@linkcode bisect} found.
 *
 * @example
 * ```ts
 * import { bisect, Bisection, bulkFreeCompletionQueue, bulkFreeInfrastructure, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const series = [bulkFreeInfrastructure, bulkFreeCompletionQueue];
 * const found: Bisection = bisect(series, (k) => k.napi.netTxDefers, { kernel: kernel("net-next-2015-10") });
 * assertEquals([found.index, found.asked.length], [1, 3]);
 * ```
 */
export class Bisection {
  /** The patch with which the outcome changes; null where it does not. */
  readonly patch: Patch | null;
  /** Its place in the series, from 0; -1 where there is none. */
  readonly index: number;
  /** Outcome of the kernel right before it, or of the base. */
  readonly before: PatchOutcome;
  /** Outcome with it, or with all patches. */
  readonly after: PatchOutcome;
  /** The kernels that were asked, in the order of asking: how many patches, and the outcome. */
  readonly asked: readonly {
    readonly patches: number;
    readonly outcome: PatchOutcome;
  }[];
  /** What the patch does without the others; null where there is none. */
  readonly alone: Alone | null;

  /** See {@linkcode bisect}. */
  constructor(found: Omit<Bisection, "toString">) {
    this.patch = found.patch;
    this.index = found.index;
    this.before = found.before;
    this.after = found.after;
    this.asked = found.asked;
    this.alone = found.alone;
    Object.freeze(this);
  }

  /** The finding, in a sentence or two. */
  toString(): string {
    const { patch, index, before, after, alone } = this;
    const [was, is] = [JSON.stringify(before), JSON.stringify(after)];
    if (patch === null || alone === null) {
      return `no patch changes the outcome: it is ${was} before and after all of them`;
    }
    const named = patchName(patch, index);
    const subject = patch.subject === undefined ? "" : ` (${patch.subject})`;
    const without = !alone.applies
      ? `Without the patches before it, it does not apply: ${alone.reason}`
      : Object.is(alone.outcome, after)
      ? "It does so alone, too"
      : `Alone it does not: ${
        JSON.stringify(alone.outcome)
      }; it needs patches before it`;
    return `${named}${subject} changes the outcome from ${was} to ${is}. ${without}.`;
  }
}

function patchName(patch: Patch, index: number): string {
  return patch.name === "" ? `patch ${index + 1}` : patch.name;
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Finds the patch of a series that changed an outcome, by binary search.
 *
 * The patches are applied in order. Where the outcome changes more than once, the patch that is found is one of those
 * that change it.
 *
 * @param patches The series, in order.
 * @param predicate Asks a kernel: whatever it answers, a change of it is looked for. It runs about log2(n) + 3 times.
 * @param options The kernel that the series is written against.
 * @returns The patch, or none where the outcome is the same before and after; and what the patch does alone.
 * @throws {TypeError} A patch is none, the predicate is no function or answers with an object.
 * @throws {Error} A patch does not apply after those before it, or the predicate threw; the cause says why.
 *
 * @example Which of the bulk patches makes the driver free heads in bulk?
 * ```ts
 * import { bisect, ipForward, kernel, patches } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const series = ["bulkFreeInfrastructure", "bulkFreeCompletionQueue", "ixgbeBulkFree", "bulkAllocReuse"]
 *   .map((name) => patches[name]!);
 * const found = bisect(series, (kernel) => ipForward({ kernel, polls: 64 }).napi.bulkFreed! > 0, {
 *   kernel: kernel("net-next-2015-10"),
 * });
 * assertEquals([found.patch!.name, found.index], ["ixgbeBulkFree", 2]);
 * assertEquals(found.alone, {
 *   applies: false,
 *   reason: "patch ixgbeBulkFree does not apply to net-next-2015-10: it uses what bulkFreeInfrastructure adds: apply that first",
 * });
 * ```
 */
export function bisect(
  patches: readonly Patch[],
  predicate: (kernel: Kernel) => PatchOutcome,
  options: {
    /** The base. */
    readonly kernel: Kernel;
  },
): Bisection {
  if (!Array.isArray(patches) || patches.length === 0) {
    throw new TypeError(
      `bisect(): patches must be a list of at least one, got ${
        String(patches)
      }`,
    );
  }
  if (typeof predicate !== "function") {
    throw new TypeError(
      `bisect(): predicate must be a function of a kernel, got ${
        String(predicate)
      }`,
    );
  }
  kernelArgument(options?.kernel, "bisect");
  const kernels = [options.kernel];
  patches.forEach((patch, i) => {
    try {
      kernels.push(kernels[i]!.am(patch));
    } catch (cause) {
      throw new Error(
        `bisect(): ${
          typeof patch === "function" ? patchName(patch, i) : `patch ${i + 1}`
        } does not apply after the ${i} before it: ${message(cause)}`,
        { cause },
      );
    }
  });

  const ask = (kernel: Kernel, where: string): PatchOutcome => {
    let outcome: unknown;
    try {
      outcome = predicate(kernel);
    } catch (cause) {
      throw new Error(
        `bisect(): predicate threw on ${where}: ${message(cause)}`,
        {
          cause,
        },
      );
    }
    if (!["boolean", "number", "string"].includes(typeof outcome)) {
      throw new TypeError(
        `bisect(): predicate must answer with a boolean, number or string, got ${
          outcome instanceof Promise ? "a promise" : typeof outcome
        } on ${where}`,
      );
    }
    return outcome as PatchOutcome;
  };
  const asked: { patches: number; outcome: PatchOutcome }[] = [];
  const after = (count: number): PatchOutcome => {
    const outcome = ask(
      kernels[count]!,
      count === 0 ? "the base" : `the base with ${count} patches`,
    );
    asked.push({ patches: count, outcome });
    return outcome;
  };

  let low = 0;
  let high = patches.length;
  const first = after(low);
  let last = after(high);
  if (Object.is(first, last)) {
    return new Bisection({
      patch: null,
      index: -1,
      before: first,
      after: last,
      asked,
      alone: null,
    });
  }
  let previous = first;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const outcome = after(middle);
    if (Object.is(outcome, first)) {
      low = middle;
      previous = outcome;
    } else {
      high = middle;
      last = outcome;
    }
  }
  const patch = patches[low]!;
  return new Bisection({
    patch,
    index: low,
    before: previous,
    after: last,
    asked,
    alone: low === 0
      ? { applies: true, outcome: last }
      : aloneOn(options.kernel, patch, ask),
  });
}

function aloneOn(
  base: Kernel,
  patch: Patch,
  ask: (kernel: Kernel, where: string) => PatchOutcome,
): Alone {
  let kernel: Kernel;
  try {
    kernel = base.am(patch);
  } catch (error) {
    return { applies: false, reason: message(error) };
  }
  return {
    applies: true,
    outcome: ask(kernel, "the base with that patch alone"),
  };
}
