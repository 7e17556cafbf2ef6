/**
 * Price lists of the machines that were measured, calibrated from micro-benchmarks of slab allocators alone. Nothing here
 * was chosen to meet a forwarding figure.
 *
 * @module
 */

import type { Cpu, Price } from "./cpu.ts";

/** Prices in ns at a clock, with the ends of their ranges. */
const nanosecondsAt = (ghz: number) =>
(
  ns: number,
  low: number,
  high: number,
  source: string,
): Price => ({ cycles: ns * ghz, low: low / ns, high: high / ns, source });

const C = "d0ecd894e3d5, i7-4790K 4.0 GHz, 2015-09 (series C)";
const D =
  "linux-mm 2015-09-28 4/7, i7-4790K 4.0 GHz, SLAB (series D); low: e6cdb58d1c83 (4.6)";
const ASSUMED = "assumed";

const i7 = nanosecondsAt(4);

/** A line in (objects, ns at 4 GHz). */
const i7Line = (
  points: readonly (readonly [number, number])[],
  low: number,
  high: number,
  source: string,
): Price => ({
  cycles: points.map(([size, ns]) => [size, ns * 4] as const),
  low,
  high,
  source,
});

/**
 * i7-4790K, 4.0 GHz, in the state of September 2015: SLUB without merging. Sums are well determined by the benchmarks;
 * how a pair divides into its allocation and its free is an assumption, except above 16 objects, where series A (bulk
 * allocation with single frees) tells the halves apart.
 */
const I7_4790K: Cpu = {
  name: "i7-4790K",
  ghz: 4,
  prices: {
    slubRound: i7(3.47, 3.31, 3.47, `${C}; low: series A`),
    slubAllocFast: i7(
      6.3,
      5.9,
      6.3,
      `${C}: half of the line's 12.198 ns a pair; low: June 2015`,
    ),
    slubFreeFast: i7(
      5.9,
      5.3,
      5.9,
      `${C}: half of the line's 12.198 ns a pair; low: June 2015`,
    ),
    slubFreeSlow: i7(
      17.8,
      17.3,
      18.3,
      `${C}: 409.7 ns for each full slab left behind; range: 10 ns of error in slubAllocSlow and put`,
    ),
    slubAllocSlow: i7(30, 20, 40, `${ASSUMED}; moves slubFreeSlow by 0.3 ns`),
    slubPutCpuPartial: i7(6, 0, 12, ASSUMED),
    slubBulkAlloc: i7Line(
      [[0, 4.9], [4, 10.1], [16, 35.96], [32, 78.84]],
      0.83,
      1,
      `${C}, pair halved up to 16 objects, then 2.68 ns each; low: 1.9 ns each`,
    ),
    slubBulkFree: i7Line(
      [[0, 4.9], [4, 10.1], [16, 35.96], [32, 65.88]],
      1,
      1.2,
      `${C}, pair halved up to 16 objects, then 1.87 ns each; high: 2.25 ns each`,
    ),
    slubBulkAllocSlow: i7(22, 18, 26, `${C}: with the slow list and put 42 ns`),
    slubBulkFreeSlow: i7(14, 10, 18, `${C}: with the slow alloc and put 42 ns`),
    slubDrain: i7(
      90,
      0,
      90,
      `${C}; cannot be told from L1 conflicts, hence the low end`,
    ),
    slubNewSlab: i7(
      290,
      99,
      350,
      `${C} at 250 objects; low: an order-1 page alone, linux-mm 2016-04-15`,
    ),
    slubConflict: i7Line(
      [[0, 0], [64, 0], [128, 0.9], [158, 2.3], [250, 2.3]],
      0,
      1,
      `${C}, what is left above the line; objects 256 bytes apart share 128 lines of L1; inferred`,
    ),
    slabRound: i7(4.63, 3.95, 4.63, D),
    slabAlloc: i7(
      12,
      10.9,
      12,
      `${D}: contains 9.44 ns of irq save and restore`,
    ),
    slabFree: i7(
      12,
      10.9,
      12,
      `${D}: contains 9.44 ns of irq save and restore`,
    ),
    slabRefill: i7(45, 38, 53, `${D}: 77 to 105 ns a pair of refill and flush`),
    slabFlush: i7(45, 38, 53, `${D}: 77 to 105 ns a pair of refill and flush`),
    slabBulkAlloc: i7Line([[0, 3.3], [1, 5.2]], 0.75, 1, D),
    slabBulkFree: i7Line([[0, 3.3], [1, 5.2]], 0.75, 1, D),
    napiPush: i7(1, 0.5, 1.5, ASSUMED),
    napiPop: i7(0.7, 0.4, 1, ASSUMED),
  },
};

const A =
  "linux-mm 2015-06-17 V2 4/6 and fbd02630c6e3, i7-4790K, June 2015 (series A, B)";

/** The same machine three months earlier: 8 % faster on SLUB's fast path. */
const I7_4790K_2015_06: Cpu = {
  ...I7_4790K,
  name: "i7-4790K-2015-06",
  prices: {
    ...I7_4790K.prices,
    slubRound: i7(3.31, 3.31, 3.36, A),
    slubAllocFast: i7(5.9, 5.6, 5.9, `${A}: half of 11.2 ns a pair`),
    slubFreeFast: i7(5.3, 5.3, 5.6, `${A}: half of 11.2 ns a pair`),
  },
};

const E = "e6cdb58d1c83, i7-4790K, SLAB of 4.6 (series E)";

/** The same machine with SLAB as rewritten for 4.6. */
const I7_4790K_2016_01: Cpu = {
  ...I7_4790K,
  name: "i7-4790K-2016-01",
  prices: {
    ...I7_4790K.prices,
    slabRound: i7(3.95, 3.95, 3.95, E),
    slabAlloc: i7(10.863, 10.863, 10.863, `${E}: half of 21.726 ns a pair`),
    slabFree: i7(10.863, 10.863, 10.863, `${E}: half of 21.726 ns a pair`),
    slabBulkAlloc: i7Line([[0, 3.7], [1, 5.124]], 1, 1.3, E),
    slabBulkFree: i7Line([[0, 3.7], [1, 5.124]], 1, 1.3, E),
  },
};

const PROTO = "prototype-kernel 279020c, E5-2695, 2014-10 (PREEMPT off)";
const ALF = "prototype-kernel 854b458: alf_queue in bulks of 16";

const e5 = nanosecondsAt(2.5);

/** E5-2695, 2.5 GHz, the machine of qmempool's figures. */
const E5_2695: Cpu = {
  name: "E5-2695",
  ghz: 2.5,
  prices: {
    slubRound: e5(0.36, 0.36, 0.36, `${PROTO}: an empty loop`),
    slubAllocFast: e5(
      9.973,
      9.26,
      10.72,
      `${PROTO}: 19.313 ns a pair, divided as on the i7-4790K`,
    ),
    slubFreeFast: e5(9.34, 8.68, 10.04, `${PROTO}: the same`),
    slubFreeSlow: e5(
      28.7,
      28.7,
      41,
      `${PROTO}: 37.570 ns a pair at 256 objects; high: 818e275, 44.918 ns at 128`,
    ),
    slubAllocSlow: e5(47.5, 32, 63, "the i7-4790K's, by the fast pairs' ratio"),
    slubPutCpuPartial: e5(
      9.5,
      0,
      19,
      "the i7-4790K's, by the fast pairs' ratio",
    ),
    slubDrain: e5(142, 0, 142, "the i7-4790K's, by the fast pairs' ratio"),
    slubNewSlab: e5(459, 157, 554, "the i7-4790K's, by the fast pairs' ratio"),
    qmempoolAlloc: e5(4.63, 4.63, 4.83, `${PROTO}: 9.267 ns a pair, halved`),
    qmempoolFree: e5(4.63, 4.63, 4.83, `${PROTO}: 9.267 ns a pair, halved`),
    qmempoolRefill: e5(
      16 * 1.105 + 15 * 0.754,
      26,
      32,
      `${ALF}: 1.105 ns each from the shared, 0.754 ns to the local queue`,
    ),
    qmempoolDrain: e5(
      16 * 1.105 + 15 * 0.754,
      26,
      32,
      `${ALF}: 0.754 ns each from the local, 1.105 ns to the shared queue`,
    ),
  },
};

const CPUS: readonly Cpu[] = [
  I7_4790K,
  I7_4790K_2015_06,
  I7_4790K_2016_01,
  E5_2695,
];

/**
 * Names of the CPUs that {@linkcode cpu} knows.
 *
 * @example
 * ```ts
 * import { cpus } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(cpus.length > 0);
 * ```
 */
export const cpus: readonly string[] = Object.freeze(
  CPUS.map(({ name }) => name),
);

/** What {@linkcode cpu} takes beside the name. An option given as `undefined` is absent. */
export interface CpuOptions {
  /** Clock, GHz, above 0 to 10; the measured machine's when absent. Prices are cycles and stay. */
  readonly ghz?: number | undefined;
  /** Prices to replace or add. */
  readonly prices?: Cpu["prices"] | undefined;
}

/**
 * A CPU's price list by name.
 *
 * @param name `"i7-4790K"` (September 2015), `"i7-4790K-2015-06"`, `"i7-4790K-2016-01"` or `"E5-2695"`.
 * @param options Another clock, other prices.
 * @returns The CPU.
 * @throws {RangeError} The name is unknown, or the clock out of range.
 *
 * @example The thread's machine ran at 4.2 GHz
 * ```ts
 * import { cpu, price } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const work = [{ operation: "slubAllocFast" as const, count: 1000 }];
 * assertEquals(price(work, cpu("i7-4790K")).ns, 6300);
 * assertEquals(Math.round(price(work, cpu("i7-4790K", { ghz: 4.2 })).ns), 6000);
 * ```
 */
export function cpu(name: string, options: CpuOptions = {}): Cpu {
  const found = CPUS.find((candidate) => candidate.name === name);
  if (found === undefined) {
    throw new RangeError(`cpu "${name}": known are ${cpus.join(", ")}`);
  }
  const ghz = options.ghz ?? found.ghz;
  if (!(ghz > 0 && ghz <= 10)) {
    throw new RangeError(`ghz ${ghz}: a number above 0, up to 10, is allowed`);
  }
  return Object.freeze({
    ...found,
    ghz,
    prices: Object.freeze({ ...found.prices, ...options.prices }),
  });
}
