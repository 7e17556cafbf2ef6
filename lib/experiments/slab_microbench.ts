/**
 * The micro-benchmark behind the slab bulk patches: allocate N objects, then free them in the same order.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { type KmemCache, kmemCache } from "../mm/kmem_cache.ts";
import { MeteredCache } from "../mm/metered_cache.ts";
import { whole } from "../sim/check.ts";
import { slabLayout } from "../mm/slab_layout.ts";
import { type Bill, type Cpu, price, type Work } from "../sim/cpu.ts";

/** What {@linkcode slabMicrobench} takes. An option given as `undefined` is absent. */
export interface SlabMicrobenchOptions {
  /** The kernel. */
  readonly kernel: Kernel;
  /** Allocator, or a cache of one's own; `"slub"` when absent. */
  readonly allocator?: "slub" | "slab" | KmemCache | undefined;
  /** Objects of a round, 1 to 65,536. */
  readonly objects: number;
  /** What goes through the bulk functions; `"none"` when absent. */
  readonly bulk?: "none" | "alloc" | "both" | undefined;
  /** Rounds that are counted, from 1; 32 when absent. */
  readonly rounds?: number | undefined;
  /** Rounds before the counting, from 0; 8 when absent. */
  readonly warmup?: number | undefined;
  /** Objects of each slab that others hold throughout, as with merged caches; SLUB only; 0 when absent. */
  readonly held?: number | undefined;
  /** Bytes of an object; 256 when absent. */
  readonly objectSize?: number | undefined;
  /** CPUs that choose the slab order; the kernel's when absent. */
  readonly cpus?: number | undefined;
  /** The price list. */
  readonly cpu: Cpu;
}

/** What {@linkcode slabMicrobench} found. */
export interface SlabMicrobench {
  /** Nanoseconds an object, its allocation and its free together. */
  readonly ns: number;
  /** The allocator's counters of one round in the steady state. */
  readonly counters: Readonly<Record<string, number>>;
  /** The bill of one object. */
  readonly bill: Bill;
}

/** One round over a cache. */
function round(
  cache: MeteredCache,
  objects: Int32Array,
  bulk: "none" | "alloc" | "both",
): void {
  const count = objects.length;
  if (bulk === "none") {
    for (let i = 0; i < count; i++) objects[i] = cache.alloc();
  } else cache.allocBulk(count, objects);
  if (bulk === "both") cache.freeBulk(count, objects);
  else for (let i = 0; i < count; i++) cache.free(objects[i]!);
}

/** Leaves slabs of which others hold some objects: twice as many as a round needs. */
function partUse(
  cache: MeteredCache,
  options: SlabMicrobenchOptions,
  held: number,
): void {
  const { objects: perSlab } = slabLayout({
    kernel: options.kernel,
    objectSize: cache.objectSize,
    cpus: options.cpus,
  });
  whole("held", held, 0, perSlab - 1);
  const slabs = 2 * Math.ceil(options.objects / (perSlab - held)) + 2;
  const taken = Array.from({ length: slabs * perSlab }, () => cache.alloc());
  taken.forEach((object, i) => {
    if (i % perSlab >= held) cache.free(object);
  });
}

/** What a round costs beside the calls: its loop, and a working set that has outgrown the L1 cache. */
function rest(
  allocator: string,
  bulk: "none" | "alloc" | "both",
  rounds: number,
  objects: number,
): Work[] {
  if (bulk === "both") return [];
  if (allocator === "slab") return [{ operation: "slabRound", count: rounds }];
  if (allocator !== "slub") return [];
  return [
    // A bulk call's price contains its share of the loop.
    { operation: "slubRound", count: bulk === "none" ? rounds : 0 },
    { operation: "slubConflict", count: rounds * objects, size: objects },
  ];
}

/**
 * Runs the micro-benchmark over the allocator's state machine and prices what it counted (slab_bulk_test01 and its
 * twin without bulk, prototype-kernel).
 *
 * @param options Kernel, allocator, objects of a round, price list.
 * @returns Nanoseconds an object, the counters of one round, the bill.
 * @throws {RangeError} An option is out of range, or an operation has no price on this CPU.
 *
 * @example From 34 objects on a slab is left behind, and its frees are slow
 * ```ts
 * import { cpu, kernel, slabMicrobench } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const options = { kernel: kernel("net-next-2015-10"), cpu: cpu("i7-4790K") };
 * assertEquals(slabMicrobench({ ...options, objects: 32 }).counters.FREE_SLOWPATH, 0);
 * assertEquals(slabMicrobench({ ...options, objects: 34 }).counters.FREE_SLOWPATH, 32);
 * assertEquals(slabMicrobench({ ...options, objects: 34, bulk: "both" }).counters.FREE_SLOWPATH, 1);
 * ```
 */
export function slabMicrobench(options: SlabMicrobenchOptions): SlabMicrobench {
  const count = whole("objects", options.objects, 1, 65536);
  const rounds = whole("rounds", options.rounds ?? 32, 1, 2 ** 31);
  const warmup = whole("warmup", options.warmup ?? 8, 0, 2 ** 31);
  const held = whole("held", options.held ?? 0, 0, 65536);
  const bulk = options.bulk ?? "none";
  if (bulk !== "none" && bulk !== "alloc" && bulk !== "both") {
    throw new RangeError(
      `bulk "${String(bulk)}": "none", "alloc" or "both" is allowed`,
    );
  }
  const { kernel, allocator = "slub", cpus } = options;
  const cache = new MeteredCache(
    typeof allocator === "object" ? allocator : kmemCache({
      kernel,
      allocator,
      objectSize: options.objectSize ?? 256,
      cpus,
    }),
  );
  if (held > 0) partUse(cache, options, held);
  const objects = new Int32Array(count);
  for (let i = 0; i < warmup; i++) round(cache, objects, bulk);
  cache.start();
  for (let i = 0; i < rounds; i++) round(cache, objects, bulk);
  const work = [
    ...cache.work(),
    ...rest(cache.allocator, bulk, rounds, count),
  ];
  const bill = price(work, options.cpu, rounds * count);
  const counters = Object.fromEntries(
    Object.entries(cache.counted()).map(([name, n]) => [name, n / rounds]),
  );
  return { ns: bill.ns, counters, bill };
}
