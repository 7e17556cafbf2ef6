/**
 * How the `kmem_cache` bulk thread is modelled: the kernels of its steps, their slab work priced, and the two constants
 * that turn it into packets a second.
 *
 * @module
 */

import { type IpForward, ipForward } from "../experiments/ip_forward.ts";
import type { Kernel } from "../kernel.ts";
import {
  bulkAllocReuse,
  bulkFreeCompletionQueue,
  bulkFreeInfrastructure,
  ixgbeBulkFree,
} from "../patches/kmem_cache_bulk.ts";
import { kernel } from "../releases/mod.ts";
import { type Bill, type Cpu, price } from "../sim/cpu.ts";
import { cpu } from "../sim/cpus.ts";
import { FORWARDING, type ForwardingRun } from "./kmem_cache_bulk_published.ts";

/**
 * What slab work costs inside a full packet path, as a multiple of what it costs in a micro-benchmark: caches and
 * predictors are colder. 1.4 ± 0.25 covers the thread's two SLUB steps and qmempool's two gains; 1.5 is the middle of
 * what the thread's own steps ask for, 1.63 and 1.37.
 *
 * @example
 * ```ts
 * import { SLAB_WORK_FACTOR } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(SLAB_WORK_FACTOR, 1.5);
 * ```
 */
export const SLAB_WORK_FACTOR = 1.5;

/** The clock of the thread's machine, GHz, turbo off. */
const FORWARDING_GHZ = 4.2;

/**
 * Packets a second as nanoseconds a packet, and back.
 *
 * @example
 * ```ts
 * import { nsOf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(nsOf(2_000_000), 500);
 * ```
 */
export const nsOf = (pps: number): number => 1e9 / pps;

/** The steps of the thread. */
export const FORWARDING_STATES = [
  "base",
  "patches 1-3",
  "patches 1-4",
] as const;

/**
 * The kernel of a step of the thread.
 *
 * @example
 * ```ts
 * import { forwardingKernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(forwardingKernel("patches 1-3").patches, ["bulkFreeInfrastructure", "bulkFreeCompletionQueue", "ixgbeBulkFree"]);
 * ```
 */
export function forwardingKernel(state: ForwardingRun["state"]): Kernel {
  const base = kernel("net-next-2015-10");
  if (state === "base") return base;
  const bulkFree = base.am(
    bulkFreeInfrastructure,
    bulkFreeCompletionQueue,
    ixgbeBulkFree,
  );
  return state === "patches 1-3" ? bulkFree : bulkFree.am(bulkAllocReuse);
}

/**
 * The thread's machine.
 *
 * @example
 * ```ts
 * import { forwardingCpu } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(forwardingCpu().ghz > 3);
 * ```
 */
export function forwardingCpu(): Cpu {
  return cpu("i7-4790K", { ghz: FORWARDING_GHZ });
}

/** A forwarding run and the bill of one packet. */
export interface PricedForward {
  /** The counters. */
  readonly run: IpForward;
  /** Slab and stack work of one packet, without the factor. */
  readonly bill: Bill;
}

/**
 * Forwards on a kernel, 64 packets a poll, sent one poll later, and prices a packet's slab work.
 *
 * @example
 * ```ts
 * import { forwardingKernel, pricedForward } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const { run, bill } = pricedForward(forwardingKernel("base"));
 * assert(run.packets > 0 && bill.ns > 0);
 * ```
 */
export function pricedForward(
  kernel: Kernel,
  allocator: "slub" | "slab" = "slub",
): PricedForward {
  const run = ipForward({ kernel, allocator });
  return { run, bill: price(run.work, forwardingCpu(), run.packets) };
}

/**
 * Every run of the thread, with what a packet takes: a base that no patch touches, and `k` times its slab work.
 *
 * @example Without k the patches are worth two thirds of what was measured
 * ```ts
 * import { ForwardingModel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const saved = (k: number): string => {
 *   const model = new ForwardingModel(k);
 *   return (model.ns("base", "slub") - model.ns("patches 1-3", "slub")).toFixed(1);
 * };
 * assertEquals([saved(1), saved(1.5)], ["12.4", "18.6"]);
 * ```
 */
export class ForwardingModel {
  /** `k`: what slab work costs here, as a multiple of the micro-benchmarks'. */
  readonly factor: number;
  readonly #runs: Map<string, PricedForward> = new Map();

  /**
   * Nothing has run yet.
   *
   * @param factor `k`, 0 or more.
   * @throws {RangeError} It is negative or no number.
   */
  constructor(factor: number = SLAB_WORK_FACTOR) {
    if (!(factor >= 0 && Number.isFinite(factor))) {
      throw new RangeError(`factor ${factor}: a number from 0 is allowed`);
    }
    this.factor = factor;
  }

  /** The run of a state on an allocator; run once. */
  of(
    state: ForwardingRun["state"],
    allocator: "slub" | "slab",
  ): PricedForward {
    const key = `${state} ${allocator}`;
    let run = this.#runs.get(key);
    if (run === undefined) {
      run = pricedForward(forwardingKernel(state), allocator);
      this.#runs.set(key, run);
    }
    return run;
  }

  /** Nanoseconds of a packet that are no slab work: what makes the unpatched kernel's figure come out. */
  get base(): number {
    const { pps } = FORWARDING[0]!;
    return nsOf(pps) - this.factor * this.of("base", "slub").bill.ns;
  }

  /** Nanoseconds of a packet. */
  ns(state: ForwardingRun["state"], allocator: "slub" | "slab"): number {
    return this.base + this.factor * this.of(state, allocator).bill.ns;
  }
}
