/**
 * Two kernels under one workload: the first counter that diverges, what follows, and which facts it comes from.
 *
 * @module
 */

import type { Fact, Kernel, KernelValues } from "../kernel.ts";
import { kernelArgument, whole } from "../sim/check.ts";
import { Table } from "../table.ts";
import { type Counters, flatCounters, type Workload } from "./workload.ts";

/** A counter that is not the same on both kernels. */
export interface Divergence {
  /** The counter. */
  readonly name: string;
  /** The first step after which it differs. */
  readonly step: number;
  /** Its value after that step, on the first kernel and on the second. */
  readonly values: readonly [number, number];
  /** Its values after the whole run. */
  readonly end: readonly [number, number];
}

/** A fact that is not the same in both kernels. */
export interface FactDifference {
  /** Group and name, for example `skb.smallHead`. */
  readonly name: string;
  /** Its value in the first kernel and in the second. */
  readonly values: readonly [unknown, unknown];
  /** Kernel file, in the second kernel's record. */
  readonly file: string;
  /** Function, macro or struct. */
  readonly symbol: string;
  /** The release or patch that the second kernel has it from. */
  readonly release: string;
}

const ABSENT = 0;

/** Runs of both kernels, each length once. */
class Runs {
  readonly #seen = new Map<
    number,
    readonly [Map<string, number>, Map<string, number>]
  >();

  constructor(
    readonly a: Kernel,
    readonly b: Kernel,
    readonly workload: Workload,
  ) {}

  at(
    steps: number,
  ): readonly [Map<string, number>, Map<string, number>] {
    let pair = this.#seen.get(steps);
    if (pair === undefined) {
      pair = [this.of(this.a, steps), this.of(this.b, steps)];
      this.#seen.set(steps, pair);
    }
    return pair;
  }

  of(kernel: Kernel, steps: number): Map<string, number> {
    return flatCounters(this.workload.run(kernel, steps));
  }

  values(name: string, steps: number): readonly [number, number] {
    const [a, b] = this.at(steps);
    return [a.get(name) ?? ABSENT, b.get(name) ?? ABSENT];
  }

  differs(name: string, steps: number): boolean {
    const [a, b] = this.values(name, steps);
    return !Object.is(a, b);
  }

  /** Names in the order in which the workload reports them, those of the first kernel in front. */
  differing(steps: number): string[] {
    const [a, b] = this.at(steps);
    return [...new Set([...a.keys(), ...b.keys()])]
      .filter((name) => this.differs(name, steps));
  }

  /** The least number of steps in (from, to] that `holds`, which it does at `to`. */
  static least(
    from: number,
    to: number,
    holds: (steps: number) => boolean,
  ): number {
    let [low, high] = [from, to];
    while (high - low > 1) {
      const middle = low + Math.floor((high - low) / 2);
      if (holds(middle)) high = middle;
      else low = middle;
    }
    return high;
  }
}

function divergences(runs: Runs): Divergence[] {
  const { steps } = runs.workload;
  const found = new Map<string, number>();
  let before = 0;
  // Doubling, so that what happens early is found without long runs; then the gap is halved.
  for (let at = 1; before < steps; at = Math.min(2 * at, steps)) {
    for (const name of runs.differing(at)) {
      if (found.has(name)) continue;
      found.set(
        name,
        Runs.least(before, at, (middle) => runs.differs(name, middle)),
      );
    }
    before = at;
  }
  return Array.from(found, ([name, step]) => ({
    name,
    step,
    values: runs.values(name, step),
    end: runs.values(name, steps),
    // Stable, so that the workload's order decides within a step.
  })).sort((one, other) => one.step - other.step);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function factDifferences(a: Kernel, b: Kernel): FactDifference[] {
  const before = new Map(
    a.provenance().map(({ name, value }) => [name, value]),
  );
  return b.provenance()
    .filter(({ name, value }) => !same(before.get(name), value))
    .map(({ name, value, file, symbol, release }) => ({
      name,
      values: [before.get(name), value] as const,
      file,
      symbol,
      release,
    }));
}

/** A kernel with some facts of another. */
function withFacts(
  kernel: Kernel,
  facts: readonly FactDifference[],
): Kernel {
  const changes: Record<string, Record<string, Fact<unknown>>> = {};
  for (const { name, values, file, symbol, release } of facts) {
    const [group, key] = name.split(".") as [keyof KernelValues, string];
    (changes[group] ??= {})[key] = {
      value: values[1],
      file,
      symbol,
      origin: release,
    };
  }
  return kernel.with("facts of another kernel", changes);
}

/**
 * The least facts of the second kernel that give the first one its counter: all of them, less whatever can be left out,
 * in halves, quarters and so on down to single facts.
 */
function causes(
  runs: Runs,
  { name, step, values: [, wanted] }: Divergence,
  all: readonly FactDifference[],
): FactDifference[] {
  const gives = (facts: readonly FactDifference[]): boolean => {
    try {
      const counters = runs.of(withFacts(runs.a, facts), step);
      return (counters.get(name) ?? ABSENT) === wanted;
    } catch {
      // Half of one kernel and half of another need not run at all.
      return false;
    }
  };
  let kept = [...all];
  if (!gives(kept)) return [];
  const leaveOut = (chunk: number): void => {
    for (let end = kept.length; end > 0; end -= chunk) {
      const without = kept.filter((_, i) => i >= end || i < end - chunk);
      if (without.length > 0 && gives(without)) kept = without;
    }
  };
  for (let chunk = kept.length >> 1; chunk > 1; chunk >>= 1) leaveOut(chunk);
  // Once more after each success: what was needed may not be any more.
  for (let before = Infinity; kept.length < before;) {
    before = kept.length;
    leaveOut(1);
  }
  return kept;
}

function kernelName({ name, patches }: Kernel): string {
  return [name, ...patches].join(" + ");
}

/**
 * How two kernels differ under a workload.
 *
 * @example
 * ```ts
 * import { compare, Comparison, kernel, workloads } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const fill = workloads.udpFill({ path: "veth", payload: 100, rcvbuf: 212992 });
 * const between: Comparison = compare(kernel("6.1"), kernel("6.18"), fill);
 * assertEquals(between.first?.step, 1);
 * assertEquals(between.causes.map(({ name }) => name), ["skb.smallHead"]);
 * ```
 */
export class Comparison {
  /** The workload. */
  readonly workload: Workload;
  /** The kernels' names with their patches. */
  readonly kernels: readonly [string, string];
  /** The first counter that diverges; null where none does. */
  readonly first: Divergence | null;
  /** The others, in the order in which they diverge. */
  readonly follows: readonly Divergence[];
  /** The fewest facts of the second kernel that, put into the first, give it the counter's value; none can be left out. */
  readonly causes: readonly FactDifference[];
  /** All facts that differ. */
  readonly facts: readonly FactDifference[];
  /** Build options that differ, which no exchange tries. */
  readonly build: readonly string[];

  /** See {@linkcode compare}. */
  constructor(a: Kernel, b: Kernel, workload: Workload) {
    const runs = new Runs(a, b, workload);
    const [first = null, ...follows] = divergences(runs);
    this.workload = workload;
    this.kernels = [kernelName(a), kernelName(b)];
    this.first = first;
    this.follows = follows;
    this.facts = factDifferences(a, b);
    this.build = (Object.keys(a.build) as (keyof Kernel["build"])[])
      .filter((key) => a.build[key] !== b.build[key]);
    this.causes = first === null ? [] : causes(runs, first, this.facts);
    Object.freeze(this);
  }

  /** Every counter that diverges: at which step, and where both end. */
  toTable(): Table {
    const { kind = "exact", name, unit, steps } = this.workload;
    const [a, b] = this.kernels;
    const cell = (simulated: number) => ({ published: null, simulated, kind });
    const all = this.first === null ? [] : [this.first, ...this.follows];
    return new Table({
      id: "compare",
      title: `${name}, ${steps} ${unit}s: ${a} against ${b}`,
      unit: "",
      columns: [`first ${unit}`, `A: ${a}`, `B: ${b}`],
      rows: all.map(({ name, step, end }) => ({
        label: name,
        cells: [cell(step), cell(end[0]), cell(end[1])],
      })),
    });
  }

  /** The finding, in lines. */
  toString(): string {
    const { name, unit, steps } = this.workload;
    const [a, b] = this.kernels;
    if (this.first === null) {
      return `${name}: ${a} and ${b} count the same over ${steps} ${unit}s`;
    }
    const { name: counter, step, values } = this.first;
    const lines = [
      `${name}: ${a} and ${b} first differ after ${unit} ${step}: ${counter} is ${
        values[0]
      } and ${values[1]}`,
    ];
    this.causes.forEach(({ name, values, symbol, file, release }, i) =>
      lines.push(
        `${i === 0 ? "because of" : "together with"} ${name}, ${
          JSON.stringify(values[0])
        } and ${JSON.stringify(values[1])} (${symbol}, ${file}; ${release})`,
      )
    );
    if (this.causes.length === 0) {
      lines.push(
        this.build.length > 0
          ? `because of the build: ${this.build.join(", ")}`
          : "because of nothing that the kernels' facts say",
      );
    }
    for (const { name, step, end } of this.follows) {
      lines.push(
        `then ${name}, from ${unit} ${step} on: ${end[0]} and ${
          end[1]
        } at the end`,
      );
    }
    return lines.join("\n");
  }

  /** What Jupyter shows: the finding, and the table. */
  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return {
      "text/plain": `${this}\n`,
      "text/markdown": `${
        String(this).split("\n").slice(0, 1 + Math.max(1, this.causes.length))
          .map((line) => `- ${line.replace(/[\\*_`<>[\]]/g, "\\$&")}`)
          .join("\n")
      }\n\n${this.first === null ? "" : this.toTable().toMarkdown()}`,
    };
  }
}

/**
 * Runs two kernels through one workload and says which counter diverges first, which follow and when, and which facts of
 * the releases or patches the first divergence comes from.
 *
 * A counter's first step is found by doubling and halving, in runs from the start: exact for counters that, once apart,
 * stay apart; one that meets again in between may be found at a later parting. Causes are found by putting facts of the
 * second kernel into the first and leaving out what makes no difference.
 *
 * @param a A kernel.
 * @param b Another one.
 * @param workload One of {@linkcode workloads} or your own; a plain function of a kernel counts as one step.
 * @returns The comparison.
 * @throws {TypeError} A kernel is none, or the workload returns something else than counters.
 * @throws {RangeError} The workload's steps are out of range.
 *
 * @example Why a socket takes fewer datagrams
 * ```ts
 * import { compare, kernel, workloads } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const fill = workloads.udpFill({ path: "veth", payload: 100, rcvbuf: 212992 });
 * const { first, causes, follows } = compare(kernel("6.1"), kernel("6.18"), fill);
 * assertEquals([first!.name, first!.step, first!.values], ["truesize", 1, [768, 832]]);
 * assertEquals(causes.map(({ name }) => name), ["skb.smallHead"]);
 * assertEquals(follows.map(({ name, step }) => [name, step]).at(-1), ["RcvbufErrors", 257]);
 * ```
 */
export function compare(
  a: Kernel,
  b: Kernel,
  workload: Workload | ((kernel: Kernel) => Counters),
): Comparison {
  kernelArgument(a, "compare");
  kernelArgument(b, "compare");
  const asked = typeof workload === "function"
    ? {
      name: workload.name || "workload",
      unit: "run",
      steps: 1,
      run: (kernel: Kernel) => workload(kernel),
    }
    : workload;
  if (typeof asked?.run !== "function") {
    throw new TypeError(
      `compare(): workload must be { name, unit, steps, run } or a function of a kernel, got ${
        String(workload)
      }`,
    );
  }
  whole("workload.steps", asked.steps, 1, Number.MAX_SAFE_INTEGER, "compare");
  return new Comparison(a, b, asked);
}
