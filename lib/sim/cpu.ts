/**
 * What an event costs: a CPU as a price list in cycles, and how counted events become cycles and nanoseconds.
 *
 * @module
 */

import { type Table, table } from "../table.ts";

/**
 * Operations that have a price, and what one of them is.
 *
 * @example
 * ```ts
 * import { OPERATIONS } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(OPERATIONS.slubAllocFast, "SLUB alloc, fast path");
 * ```
 */
export const OPERATIONS = {
  /** The loop around a round of a micro-benchmark. */
  slubRound: "loop of one round, SLUB",
  /** `kmem_cache_alloc` from the CPU's freelist. */
  slubAllocFast: "SLUB alloc, fast path",
  /** `kmem_cache_alloc` that finds it empty and takes a slab from a partial list. */
  slubAllocSlow: "SLUB alloc, slow path",
  /** `kmem_cache_free` to the cpu slab. */
  slubFreeFast: "SLUB free, fast path",
  /** `kmem_cache_free` to any other slab. */
  slubFreeSlow: "SLUB free, slow path",
  /** A slab's way onto the CPU's partial list. */
  slubPutCpuPartial: "slab onto the CPU's partial list",
  /** A call of `kmem_cache_alloc_bulk`, by objects. */
  slubBulkAlloc: "SLUB bulk alloc, a call",
  /** Each time that it enters the slow path. */
  slubBulkAllocSlow: "slow path in SLUB bulk alloc",
  /** A call of `kmem_cache_free_bulk`, by objects. */
  slubBulkFree: "SLUB bulk free, a call",
  /** Each detached freelist that goes to another slab than the CPU's. */
  slubBulkFreeSlow: "slow detached freelist",
  /** A drain of the CPU's partial list, and the later way back from the node. */
  slubDrain: "drain to the node and back",
  /** A slab from the page allocator, and its later end. */
  slubNewSlab: "new slab, built and discarded",
  /** What a working set larger than the L1 cache's share costs an object. */
  slubConflict: "L1 conflicts, an object",
  /** The loop around a round of a micro-benchmark. */
  slabRound: "loop of one round, SLAB",
  /** `kmem_cache_alloc` from the array cache. */
  slabAlloc: "SLAB alloc",
  /** `kmem_cache_free` to the array cache. */
  slabFree: "SLAB free",
  /** A refill of the array cache from the shared one. */
  slabRefill: "SLAB refill",
  /** A flush of the array cache to the shared one. */
  slabFlush: "SLAB flush",
  /** A call of `kmem_cache_alloc_bulk`, by objects. */
  slabBulkAlloc: "SLAB bulk alloc, a call",
  /** A call of `kmem_cache_free_bulk`, by objects. */
  slabBulkFree: "SLAB bulk free, a call",
  /** A head put on the NAPI stack. */
  napiPush: "head pushed on skb_cache",
  /** A head taken from it. */
  napiPop: "head popped from skb_cache",
  /** An element from the CPU's local queue. */
  qmempoolAlloc: "qmempool alloc, local queue",
  /** An element to the CPU's local queue. */
  qmempoolFree: "qmempool free, local queue",
  /** 16 elements from the shared queue, 15 of them to the local one. */
  qmempoolRefill: "qmempool refill from the shared queue",
  /** 15 elements from the local queue and one more to the shared one. */
  qmempoolDrain: "qmempool drain to the shared queue",
} as const;

/** A key of {@linkcode OPERATIONS}. */
export type Operation = keyof typeof OPERATIONS;

/** A price in cycles, its range where sources differ, and where it comes from. */
export interface Price {
  /**
   * Cycles of one operation. For calls that handle several objects: points (objects, cycles) of a line that goes on
   * with the slope of its last piece.
   */
  readonly cycles:
    | number
    | readonly (readonly [size: number, cycles: number])[];
  /** Share of the price at the low end of the range, at most 1. */
  readonly low: number;
  /** Share of the price at the high end, at least 1. */
  readonly high: number;
  /** Where it comes from. */
  readonly source: string;
}

/** A CPU: its clock and what operations cost on it. */
export interface Cpu {
  /** Name, for example `i7-4790K`. */
  readonly name: string;
  /** Clock, GHz. */
  readonly ghz: number;
  /** Prices; an operation without one cannot be priced on this CPU. */
  readonly prices: { readonly [K in Operation]?: Price };
}

/** Operations of one kind that were counted. */
export interface Work {
  /** Which operation. */
  readonly operation: Operation;
  /** How many. */
  readonly count: number;
  /** Objects of each, or the working set, where the price depends on it; 1 when absent. */
  readonly size?: number | undefined;
}

/** What operations of one kind cost. */
export interface BillRow {
  /** Which operation. */
  readonly operation: Operation;
  /** How many. */
  readonly count: number;
  /** Cycles of all. */
  readonly cycles: number;
  /** Cycles at the low end of the price's range. */
  readonly low: number;
  /** Cycles at the high end. */
  readonly high: number;
  /** Nanoseconds of all at the CPU's clock. */
  readonly ns: number;
}

/** What work costs on a CPU. */
export interface Bill {
  /** The CPU. */
  readonly cpu: Cpu;
  /** By operation, in the order of the work. */
  readonly rows: readonly BillRow[];
  /** Cycles of all. */
  readonly cycles: number;
  /** Cycles with every price at the low end of its range. */
  readonly low: number;
  /** Cycles with every price at the high end. */
  readonly high: number;
  /** Nanoseconds at the CPU's clock. */
  readonly ns: number;
  /** Nanoseconds, low and high. */
  readonly interval: readonly [low: number, high: number];
}

/** Cycles of one operation on `size` objects. */
function cyclesOf(price: Price, size: number): number {
  const { cycles } = price;
  if (typeof cycles === "number") return cycles;
  let i = 1;
  while (i < cycles.length - 1 && size > cycles[i]![0]) i++;
  const [x0, y0] = cycles[i - 1]!;
  const [x1, y1] = cycles[i]!;
  return y0 + (y1 - y0) * (size - x0) / (x1 - x0);
}

/**
 * Prices work: counters times prices.
 *
 * @param work Counted operations.
 * @param cpu The CPU.
 * @param per Divides every figure, so that the bill is of one packet or object; 1 when absent.
 * @returns Cycles and nanoseconds by operation, with the interval that the prices' ranges give.
 * @throws {RangeError} A count is negative or no number, `per` is not above 0, or an operation has no price on this CPU.
 *
 * @example A slow free costs three times a fast one
 * ```ts
 * import { cpu, price } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const bill = price([{ operation: "slubFreeFast", count: 3 }, { operation: "slubFreeSlow", count: 1 }], cpu("i7-4790K"));
 * assertEquals(bill.rows.map(({ ns }) => Number(ns.toFixed(1))), [17.7, 17.8]);
 * ```
 */
export function price(work: readonly Work[], cpu: Cpu, per = 1): Bill {
  if (!(per > 0 && Number.isFinite(per))) {
    throw new RangeError(`per ${per}: a number above 0 is allowed`);
  }
  const rows = work.map(({ operation, count, size }) => {
    const entry = cpu.prices[operation];
    if (entry === undefined) {
      throw new RangeError(
        `operation "${operation}": ${cpu.name} has prices for ${
          Object.keys(cpu.prices).join(", ")
        }`,
      );
    }
    if (!(count >= 0 && Number.isFinite(count))) {
      throw new RangeError(
        `count ${count} of "${operation}": a number from 0 is allowed`,
      );
    }
    const cycles = count * cyclesOf(entry, size ?? 1) / per;
    return {
      operation,
      count: count / per,
      cycles,
      low: cycles * entry.low,
      high: cycles * entry.high,
      ns: cycles / cpu.ghz,
    };
  });
  const sum = (key: "cycles" | "low" | "high"): number =>
    rows.reduce((total, row) => total + row[key], 0);
  const [cycles, low, high] = [sum("cycles"), sum("low"), sum("high")];
  return {
    cpu,
    rows,
    cycles,
    low,
    high,
    ns: cycles / cpu.ghz,
    interval: [low / cpu.ghz, high / cpu.ghz],
  };
}

/**
 * A bill as a table: count, cycles, nanoseconds, and the interval, by operation.
 *
 * @param bill The bill.
 * @param id The table's id.
 * @param title The table's title.
 * @returns The table; every cell but the counts is priced.
 *
 * @example
 * ```ts
 * import { billTable, cpu, price } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const bill = price([{ operation: "slubAllocFast", count: 2 }], cpu("i7-4790K"));
 * assertEquals(billTable(bill, "bill", "Two allocations").columns.length, 5);
 * ```
 */
export function billTable(bill: Bill, id: string, title: string): Table {
  const { ghz } = bill.cpu;
  const cells = (
    count: number | null,
    row: Pick<BillRow, "cycles" | "low" | "high" | "ns">,
  ) => [
    { published: null, simulated: count, kind: "exact" as const, unit: "" },
    ...[row.cycles, row.ns, row.low / ghz, row.high / ghz].map((value, i) => ({
      published: null,
      simulated: value,
      kind: "priced" as const,
      unit: i === 0 ? "cycles" : "ns",
    })),
  ];
  return table({
    id,
    title,
    unit: "",
    columns: ["count", "cycles", "ns", "ns, low", "ns, high"],
    rows: [
      ...bill.rows.map((row) => ({
        label: OPERATIONS[row.operation],
        cells: cells(row.count, row),
      })),
      { label: "all", cells: cells(null, bill) },
    ],
  });
}
