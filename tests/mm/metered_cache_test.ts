import { assertAlmostEquals, assertEquals } from "@std/assert";
import { type KmemCache, kmemCache } from "../../lib/mm/kmem_cache.ts";
import { MeteredCache } from "../../lib/mm/metered_cache.ts";
import { Qmempool } from "../../lib/mm/qmempool.ts";
import { kernel } from "../../lib/releases/mod.ts";

const cacheOf = (release: string, allocator: "slub" | "slab" = "slub") =>
  kmemCache({ kernel: kernel(release), allocator, objectSize: 256, cpus: 8 });

/** Work of one round of `count` in the steady state, as a record. */
function roundOf(
  cache: KmemCache,
  count: number,
  bulkAlloc: boolean,
  bulkFree: boolean,
): Record<string, number> {
  const metered = new MeteredCache(cache);
  const objects = new Int32Array(count);
  const round = (): void => {
    if (bulkAlloc) metered.allocBulk(count, objects);
    else for (let i = 0; i < count; i++) objects[i] = metered.alloc();
    if (bulkFree) metered.freeBulk(count, objects);
    else for (const object of objects) metered.free(object);
  };
  for (let i = 0; i < 4; i++) round();
  metered.start();
  round();
  metered.check();
  return Object.fromEntries(
    metered.work().map(({ operation, count }) => [operation, count]),
  );
}

for (const release of ["net-next-2015-10", "6.1", "6.12"]) {
  Deno.test(`${release}: work does not depend on how the release counts`, () => {
    assertEquals(roundOf(cacheOf(release), 64, false, false), {
      slubAllocFast: 63,
      slubAllocSlow: 1,
      slubFreeFast: 32,
      slubFreeSlow: 32,
      slubPutCpuPartial: 1,
    });
    assertEquals(roundOf(cacheOf(release), 64, true, true), {
      slubBulkAlloc: 1,
      slubBulkAllocSlow: 1,
      slubBulkFree: 1,
      slubBulkFreeSlow: 1,
      slubPutCpuPartial: 1,
    });
    assertEquals(roundOf(cacheOf(release), 64, false, true), {
      slubAllocFast: 63,
      slubAllocSlow: 1,
      slubBulkFree: 1,
      slubBulkFreeSlow: 1,
      slubPutCpuPartial: 1,
    });
  });
}

Deno.test("the bulk free of 4.3 is as slow as single frees: an operation for each foreign object", () => {
  assertEquals(roundOf(cacheOf("4.3"), 64, false, true), {
    slubAllocFast: 63,
    slubAllocSlow: 1,
    slubBulkFree: 1,
    slubFreeSlow: 32,
    slubPutCpuPartial: 1,
  });
});

Deno.test("slow frees that came singly and in bulk are divided, and none is lost", () => {
  const metered = new MeteredCache(cacheOf("net-next-2015-10"));
  const objects = Int32Array.from({ length: 96 }, () => metered.alloc());
  metered.start();
  for (let i = 0; i < 32; i++) metered.free(objects[i]!);
  metered.freeBulk(64, objects.subarray(32));
  const work = Object.fromEntries(
    metered.work().map(({ operation, count }) => [operation, count]),
  );
  // 32 single frees and one of two lists were slow: 33 of 34.
  assertEquals(metered.counted().FREE_SLOWPATH, 33);
  assertEquals(work.slubFreeSlow! + work.slubBulkFreeSlow!, 33);
  assertEquals(work.slubFreeSlow! + work.slubFreeFast!, 32);
  assertAlmostEquals(work.slubFreeSlow!, 33 * 32 / 34, 1e-9);
});

Deno.test("SLAB's misses are refills and flushes", () => {
  const seed = "net-next-2015-10";
  assertEquals(roundOf(cacheOf(seed, "slab"), 250, false, false), {
    slabAlloc: 250,
    slabRefill: 3,
    slabFree: 250,
    slabFlush: 3,
  });
  assertEquals(roundOf(cacheOf(seed, "slab"), 34, true, true), {
    slabBulkAlloc: 1,
    slabBulkFree: 1,
  });
});

Deno.test("qmempool's work is that of its queues", () => {
  const pool = new Qmempool({ kmem: cacheOf("4.3") });
  assertEquals(roundOf(pool, 256, false, false), {
    qmempoolAlloc: 256,
    qmempoolRefill: 15,
    qmempoolFree: 256,
    qmempoolDrain: 15,
  });
});

Deno.test("counting starts anew, and the cache is the one given", () => {
  const cache = cacheOf("4.3");
  const metered = new MeteredCache(cache);
  const object = metered.alloc();
  assertEquals([metered.inUse, cache.inUse, metered.slabs], [1, 1, 1]);
  metered.start();
  metered.free(object);
  metered.shrink();
  assertEquals(metered.work(), [{ operation: "slubFreeFast", count: 1 }]);
  assertEquals(metered.counted().FREE_FASTPATH, 1);
  assertEquals([metered.slabs, metered.allocator], [0, "slub"]);
  assertEquals([metered.objectSize, metered.slabSize, metered.cpus], [
    256,
    256,
    8,
  ]);
});
