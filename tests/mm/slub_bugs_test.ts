import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Kernel } from "../../lib/kernel.ts";
import { Gfp } from "../../lib/mm/gfp.ts";
import { IrqFlags } from "../../lib/mm/irq_flags.ts";
import { Slab } from "../../lib/mm/slab.ts";
import { Slub } from "../../lib/mm/slub.ts";
import { InFlightFree } from "../../lib/mm/slub_in_flight.ts";
import {
  slabBulkErrorPath,
  slabBulkSlab,
  slubBulkStats,
  slubBulkTidBump,
  slubDeactivationTid,
  slubDetachedFreelist,
  slubFreelistSupport,
  slubPartialInSlabs,
} from "../../lib/patches/slab_bulk.ts";
import { kernel } from "../../lib/releases/mod.ts";

const SEED = kernel("net-next-2015-10");

Deno.test("a failed SLAB bulk allocation leaves interrupts off, until its error path is mended", () => {
  const off = (release: Kernel): number => {
    const cache = new Slab({ kernel: release, objectSize: 256, maxSlabs: 1 });
    assertEquals(cache.allocBulk(17, new Int32Array(17)), 0);
    assertEquals([cache.inUse, cache.events.failures], [0, 1]);
    cache.check();
    return cache.irq.off[0]!;
  };
  const v4_3 = kernel("4.3");
  assertEquals(off(v4_3), 0);
  assertEquals(off(v4_3.am(slabBulkSlab)), 1);
  assertEquals(off(v4_3.am(slabBulkSlab, slabBulkErrorPath)), 0);
  assertEquals(off(SEED), 1);
  assertEquals(off(SEED.am(slabBulkErrorPath)), 0);
  assertEquals(off(kernel("4.6")), 0);
});

/**
 * A free on the fast path is overtaken by an allocation that lets the cpu slab go and, waiting for pages, lets the free
 * finish. Returns whether the free went through, and the cache.
 */
function overtake(
  release: Kernel,
  bulk: boolean,
): { went: boolean; cache: Slub } {
  let free: InFlightFree | undefined;
  let went = true;
  const cache: Slub = new Slub({
    kernel: release,
    objectSize: 256,
    cpus: 2,
    gfp: Gfp.GFP_KERNEL,
    onNewSlab: () => {
      const overtaken = free;
      free = undefined;
      if (overtaken !== undefined) went = overtaken.commit();
    },
  });
  const objects = new Int32Array(16);
  cache.allocBulk(16, objects);
  // The cpu slab is full, its freelist is empty: the free expects to find both so.
  free = new InFlightFree(cache, objects[3]!);
  if (bulk) cache.allocBulk(1, new Int32Array(1));
  else cache.alloc();
  return { went, cache };
}

Deno.test("a fast free overtaken by a slow path that leaves tid alone loses its object", () => {
  for (const release of [SEED, kernel("4.6")]) {
    for (const bulk of [true, false]) {
      const { went, cache } = overtake(release, bulk);
      assert(went, "the exchange did not notice");
      assertThrows(() => cache.check(), Error, "object 3 is on no list");
    }
  }
});

Deno.test("a free in flight: what is read is checked, and it ends once", () => {
  const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 2 });
  const object = cache.alloc();
  assertThrows(() => new InFlightFree(cache, object, 2), RangeError, "cpu 2");
  assertThrows(() => new InFlightFree(cache, 99), Error, "no object");
  const free = new InFlightFree(cache, object);
  assert(free.commit());
  assertEquals([cache.counters.FREE_FASTPATH, cache.inUse], [1, 0]);
  assertThrows(() => free.commit(), Error, "committed before");
  // To another CPU's slab it is slow from the start, so that nothing is exchanged.
  const slow = new InFlightFree(cache, cache.alloc(0), 1);
  assert(slow.commit());
  assertEquals(cache.counters.FREE_SLOWPATH, 1);
  cache.check();
});

Deno.test("the tid patch for bulk allocation mends bulk allocation only, the one of 6.0 both", () => {
  const mended = (release: Kernel, bulk: boolean): boolean => {
    const { went, cache } = overtake(release, bulk);
    if (went) return false;
    cache.check();
    assertEquals(cache.counters.CMPXCHG_DOUBLE_CPU_FAIL, 1);
    return true;
  };
  assertEquals(mended(SEED.am(slubBulkTidBump), true), true);
  assertEquals(mended(SEED.am(slubBulkTidBump), false), false);
  assertEquals(mended(SEED.am(slubDeactivationTid), true), true);
  assertEquals(mended(SEED.am(slubDeactivationTid), false), true);
  assertEquals(mended(kernel("5.12"), true), true);
  assertEquals(mended(kernel("5.12"), false), false);
  assertEquals(mended(kernel("6.12"), false), true);
});

Deno.test("14 slabs of free objects sit on one CPU while the limit says 13 objects; counting slabs ends that", () => {
  const freeOnCpu = (release: Kernel): number[] => {
    const cache = new Slub({ kernel: release, objectSize: 256, cpus: 2 });
    const objects = Array.from({ length: 16 * 16 }, () => cache.alloc());
    for (const object of objects.slice(0, 14 * 16)) cache.free(object);
    cache.check();
    let free = 0;
    const { link, objects: sizes, inuse } = cache.table;
    for (let s = cache.perCpu[0]!.partial; s >= 0; s = link[s]!) {
      free += sizes[s]! - inuse[s]!;
    }
    return [cache.limits.cpuPartial, cache.cpuPartialSlabs(), free];
  };
  assertEquals(freeOnCpu(SEED), [13, 14, 224]);
  // 52 objects are 7 slabs here, and never more.
  assertEquals(freeOnCpu(SEED.am(slubPartialInSlabs)), [52, 7, 112]);
});

Deno.test("a bulk free drains the CPU's list at every slab, single frees of the same objects do not", () => {
  const drains = (bulk: boolean): number => {
    const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 8 });
    const objects = new Int32Array(129);
    for (let i = 0; i < 129; i++) objects[i] = cache.alloc();
    if (bulk) cache.freeBulk(129, objects);
    else for (const object of objects) cache.free(object);
    return cache.counters.CPU_PARTIAL_DRAIN;
  };
  assertEquals([drains(false), drains(true)], [0, 3]);
});

Deno.test("a workload that moves to bulk calls vanishes from the statistics, until they count objects", () => {
  const counted = (release: Kernel): number[] => {
    const cache = new Slub({ kernel: release, objectSize: 256, cpus: 8 });
    const objects = new Int32Array(30);
    cache.alloc();
    for (let i = 0; i < 100; i++) {
      cache.allocBulk(30, objects);
      cache.freeBulk(30, objects);
    }
    const { ALLOC_FASTPATH, FREE_FASTPATH } = cache.counters;
    return [ALLOC_FASTPATH, FREE_FASTPATH];
  };
  assertEquals(counted(SEED), [0, 100]);
  assertEquals(counted(SEED.am(slubBulkStats)), [3000, 3000]);
  assertEquals(counted(kernel("6.1")), [0, 100]);
  assertEquals(counted(kernel("6.12")), [3000, 3000]);
});

Deno.test("where a cache is merged with another user's, bulk runs start within a slab and leave the fast path", () => {
  // The other user replaces five objects of its own between the runs.
  const slow = (merged: boolean): number => {
    const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 8 });
    const others = new Slub({ kernel: SEED, objectSize: 256, cpus: 8 });
    const other = merged ? cache : others;
    const objects = new Int32Array(32);
    const theirs = Array.from({ length: 5 }, () => other.alloc());
    let runs = 0;
    for (let i = 0; i < 20; i++) {
      const before = cache.counters.FREE_SLOWPATH;
      cache.allocBulk(32, objects);
      cache.freeBulk(32, objects);
      if (cache.counters.FREE_SLOWPATH > before) runs++;
      for (const [at, object] of theirs.entries()) {
        theirs[at] = other.alloc();
        other.free(object);
      }
    }
    cache.check();
    return runs;
  };
  assertEquals([slow(false), slow(true)], [0, 20]);
});

Deno.test("4.3's bulk free, and SLAB's, switch interrupts on where the caller had switched them off", () => {
  const after = (make: (irq: IrqFlags) => Slub | Slab): number => {
    const irq = new IrqFlags(8);
    const cache = make(irq);
    const object = cache.alloc();
    irq.disable(0);
    cache.freeBulk(1, Int32Array.of(object));
    return irq.off[0]!;
  };
  const v4_3 = kernel("4.3");
  const size = { objectSize: 256 };
  assertEquals(after((irq) => new Slub({ kernel: v4_3, irq, ...size })), 0);
  const detached = v4_3.am(slubFreelistSupport, slubDetachedFreelist);
  assertEquals(after((irq) => new Slub({ kernel: detached, irq, ...size })), 1);
  assertEquals(after((irq) => new Slab({ kernel: v4_3, irq, ...size })), 1);
  const slab = v4_3.am(slabBulkSlab);
  assertEquals(after((irq) => new Slab({ kernel: slab, irq, ...size })), 0);
});
