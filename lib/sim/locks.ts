/**
 * What pages and locks cost when CPUs compete for them.
 *
 * @module
 */

import { whole } from "./check.ts";

const SOURCE = "linux-mm 2016-04-15, 4.6-rc1";

/** Cycles of a page's allocation and free by order, one CPU. */
const BY_ORDER = [272, 395, 433, 503, 682, 910, 1384, 2335, 4108, 8398];
/** The same by number of CPUs at it, from 1 to 8: order 0 lives on per-CPU lists, order 3 takes the zone's lock. */
const ORDER_0 = [274, 283, 284, 288, 417, 503, 567, 620];
const ORDER_3 = [524, 2131, 3885, 4520, 5604, 7125, 7883, 9364];

/** An order's cost, and how it is known. */
export interface PageCost {
  /** Cycles of an allocation and a free. */
  readonly cycles: number;
  /** Whether it was measured, or follows from those measured. */
  readonly known: "measured" | "interpolated";
  /** Where the measurements come from. */
  readonly source: string;
}

/**
 * What a page costs from the page allocator and back, while CPUs do the same (the zone's lock, mm/page_alloc.c of 4.6).
 *
 * @param order Page order, 0 to 9 on one CPU, 0 to 3 on several.
 * @param cpus CPUs at it, 1 to 8.
 * @returns Cycles on each. Orders 1 and 2 on several CPUs stand between orders 0 and 3 as they do on one.
 * @throws {RangeError} `order` or `cpus` is out of range.
 *
 * @example Eight CPUs that refill page fragments wait for each other
 * ```ts
 * import { pageCost } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(pageCost(3, 1).cycles, 524);
 * assertEquals(pageCost(3, 8).cycles, 9364);
 * ```
 */
export function pageCost(order: number, cpus = 1): PageCost {
  const orders = cpus === 1 ? BY_ORDER.length - 1 : 3;
  whole("cpus", cpus, 1, 8);
  if (!Number.isInteger(order) || order < 0 || order > orders) {
    throw new RangeError(
      `order ${order}: a whole number from 0 to ${orders} is allowed with ${cpus} CPUs`,
    );
  }
  const [single, shared] = [ORDER_0[cpus - 1]!, ORDER_3[cpus - 1]!];
  if (order === 0) return { cycles: single, known: "measured", source: SOURCE };
  if (order === 3) return { cycles: shared, known: "measured", source: SOURCE };
  if (cpus === 1) {
    return { cycles: BY_ORDER[order]!, known: "measured", source: SOURCE };
  }
  const part = (BY_ORDER[order]! - BY_ORDER[0]!) /
    (BY_ORDER[3]! - BY_ORDER[0]!);
  return {
    cycles: single + part * (shared - single),
    known: "interpolated",
    source: SOURCE,
  };
}

/** Cycles that one taking of a contended lock occupies it, and the range of the measurements behind it. */
export interface LockHold {
  /** Cycles. */
  readonly cycles: number;
  /** The least. */
  readonly low: number;
  /** The most. */
  readonly high: number;
}

/**
 * How long one taking occupies a contended lock, from the zone's lock: with N CPUs at order 3 a pair takes N times this,
 * twice, because all the others are served in between.
 *
 * @returns Cycles, mean and range over 2 to 8 CPUs.
 *
 * @example
 * ```ts
 * import { lockHold } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const { low, cycles, high } = lockHold();
 * assert(low < cycles && cycles < high);
 * ```
 */
export function lockHold(): LockHold {
  const each = ORDER_3.slice(1).map((cycles, i) => cycles / (i + 2) / 2);
  return {
    cycles: each.reduce((a, b) => a + b, 0) / each.length,
    low: Math.min(...each),
    high: Math.max(...each),
  };
}

/**
 * The least time between packets that a lock allows: a node's `list_lock`, which nobody has measured alone, taken to
 * behave as the zone's lock does. An inference.
 *
 * @param takings Times that a packet takes the lock, 0 or more.
 * @param cpus CPUs that do so, 1 to 8. One CPU never waits.
 * @returns Cycles between two packets of one CPU, mean and range; a CPU that needs longer for other work is not bound.
 * @throws {RangeError} An argument is out of range.
 *
 * @example
 * ```ts
 * import { lockBound } from "@truesize/lab";
 * import { assert, assertEquals } from "@std/assert";
 *
 * assertEquals(lockBound(1, 1).cycles, 0);
 * assert(lockBound(1, 4).cycles > lockBound(1, 2).cycles);
 * ```
 */
export function lockBound(takings: number, cpus: number): LockHold {
  if (!(takings >= 0 && Number.isFinite(takings))) {
    throw new RangeError(`takings ${takings}: a number from 0 is allowed`);
  }
  whole("cpus", cpus, 1, 8);
  const factor = cpus === 1 ? 0 : takings * cpus;
  const { cycles, low, high } = lockHold();
  return { cycles: factor * cycles, low: factor * low, high: factor * high };
}
