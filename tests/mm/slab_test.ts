import { assert, assertEquals, assertThrows } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { Slab } from "../../lib/mm/slab.ts";
import type { SlabLayoutOptions } from "../../lib/mm/slab_layout.ts";
import { slabGeometry } from "../../lib/mm/slab_order.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { section, tables } from "./slab_tables.ts";

const SEED = kernel("net-next-2015-10");
const heads = (cpus = 8): Slab =>
  new Slab({ kernel: SEED, objectSize: 256, cpus });

function round(cache: Slab, objects: Int32Array, bulk: boolean): void {
  if (bulk) {
    cache.allocBulk(objects.length, objects);
    cache.freeBulk(objects.length, objects);
  } else {
    for (let i = 0; i < objects.length; i++) objects[i] = cache.alloc();
    for (let i = 0; i < objects.length; i++) cache.free(objects[i]!);
  }
}

Deno.test("SLAB counts what the worked trace counts, row by row, singly and in bulk", () => {
  let checked = 0, agreeing = 0;
  const { rows } = tables(section("## SLAB"))[0]!;
  for (const row of rows) {
    const [n, first, steady, end] = Object.values(row) as [
      string,
      string,
      string,
      string,
    ];
    for (const bulk of [false, true]) {
      const cache = heads();
      const c = cache.counters;
      const objects = new Int32Array(Number(n));
      round(cache, objects, bulk);
      const [misses, flushes] = first.split(" / ").map(Number);
      const one = [c.ALLOCMISS, c.GROWN, c.FREEMISS];
      const two: number[][] = [];
      for (let i = 0; i < 3; i++) {
        const before = { ...c };
        round(cache, objects, bulk);
        two.push([
          c.ALLOCHIT - before.ALLOCHIT,
          c.ALLOCMISS - before.ALLOCMISS,
          c.FREEHIT - before.FREEHIT,
          c.FREEMISS - before.FREEMISS,
        ]);
      }
      cache.check();
      const state = [cache.avail(), cache.sharedAvail, cache.slabs];
      const wanted = steady.split("/").map(Number);
      checked++;
      assertEquals(one, [misses!, misses!, flushes!], `N ${n}, round 1`);
      assertEquals(two, [wanted, wanted, wanted], `N ${n}, later rounds`);
      assertEquals(state, end.split(", ").map(Number), `N ${n}, at the end`);
      agreeing++;
    }
  }
  console.log(
    `${rows.length} rows of the table, ${checked} rows checked / ${agreeing} agreeing`,
  );
  assertEquals(rows.length, 8);
});

Deno.test("SLAB: array sizes and slab orders by size", () => {
  const of = (objectSize: number, cpus = 8): number[] => {
    const g = slabGeometry({ kernel: SEED, objectSize, cpus });
    return [g.limit, g.batchcount, g.shared];
  };
  assertEquals(of(256), [120, 60, 480]);
  assertEquals(of(264), [54, 27, 216]);
  assertEquals(of(1032), [24, 12, 96]);
  assertEquals(of(4096), [24, 12, 96]);
  assertEquals(of(4104), [8, 4, 0]);
  assertEquals(of(131_080), [1, 1, 0]);
  assertEquals(of(256, 1), [120, 60, 0]);
  const { order, objects, index } = slabGeometry({
    kernel: SEED,
    objectSize: 256,
  });
  assertEquals([order, objects, index], [0, 16, "off-slab"]);
  assertEquals(slabGeometry({ kernel: SEED, objectSize: 8 }).slabSize, 16);
  const inside = slabGeometry({ kernel: SEED, objectSize: 64 });
  assertEquals([inside.objects, inside.index], [63, "on-slab"]);
  assertThrows(
    () => slabGeometry({ kernel: kernel("6.8"), objectSize: 256 }),
    RangeError,
    'kernel 6.8 has no SLAB; "slub" is allowed',
  );
});

Deno.test("SLAB: an array not used before refills with 16 objects at most, then with 60", () => {
  const cache = heads();
  // 37 whole slabs, so that nothing is left in the array.
  const objects = Array.from({ length: 592 }, () => cache.alloc(1));
  for (const object of objects) cache.free(object, 1);
  assertEquals([cache.avail(1), cache.sharedAvail], [112, 480]);
  cache.alloc(0);
  assertEquals([cache.avail(0), cache.sharedAvail], [15, 464]);
  for (let i = 0; i < 16; i++) cache.alloc(0);
  assertEquals([cache.avail(0), cache.sharedAvail], [59, 404]);
  cache.check();
});

Deno.test("SLAB: beyond the shared array objects return to their slabs, and slabs over the limit are destroyed", () => {
  const cache = heads();
  const objects = Array.from({ length: 2048 }, () => cache.alloc());
  assertEquals([cache.slabs, cache.counters.ACTIVE], [128, 2048]);
  for (const object of objects) cache.free(object);
  cache.check();
  const kept = cache.avail() + cache.sharedAvail;
  assert(cache.node.freeObjects <= cache.geometry.freeLimit);
  assertEquals(cache.slabs * 16, kept + cache.node.freeObjects);
  assertEquals(cache.counters.GROWN - cache.events.slabsDestroyed, cache.slabs);
  assert(cache.events.slabsDestroyed > 50, "slabs were destroyed");
  assertEquals(cache.counters.HIGH, 2048);
  cache.shrink();
  cache.check();
  assertEquals([cache.slabs, cache.counters.ACTIVE], [0, 0]);
});

Deno.test("SLAB 4.3 looks at its limit when a slab empties, 6.1 after the batch", () => {
  // Five slabs empty while few objects are free; then 26 more are freed, one of each slab.
  const slabs = ["4.3", "6.1"].map((release) => {
    const cache = new Slab({
      kernel: kernel(release),
      objectSize: 2048,
      cpus: 1,
    });
    const objects = Array.from({ length: 100 }, () => cache.alloc());
    assertEquals([cache.slabs, cache.geometry.freeLimit], [50, 26]);
    objects.sort((a, b) => a - b);
    for (const object of objects.slice(0, 10)) cache.free(object);
    for (let i = 10; i < 90; i += 2) cache.free(objects[i]!);
    cache.check();
    return [cache.slabs, cache.node.freeObjects];
  });
  assertEquals(slabs, [[50, 36], [45, 26]]);
});

Deno.test("SLAB: slabs are pages, and go back to the page allocator", () => {
  const pages = new PageAllocator(SEED, { pages: 4096, cpus: 2 });
  const cache = new Slab({ kernel: SEED, objectSize: 256, cpus: 2, pages });
  const objects = new Int32Array(160);
  assertEquals(cache.allocBulk(160, objects), 160);
  assertEquals(pages.counters.allocations[0], 10);
  cache.freeBulk(160, objects);
  cache.shrink();
  assertEquals(pages.counters.frees[0], 10);
  pages.check();
});

Deno.test("SLAB: flags count in each form that slabLayout takes", () => {
  const objects = (flags: SlabLayoutOptions["flags"]): number =>
    slabGeometry({ kernel: SEED, objectSize: 700, flags }).objects;
  assertEquals(objects(undefined), 11);
  for (
    const flags of [
      ["SLAB_RECLAIM_ACCOUNT"],
      "SLAB_PANIC | SLAB_RECLAIM_ACCOUNT",
      { reclaimAccount: true },
    ]
  ) assertEquals(objects(flags), 5);
});

Deno.test("SLAB: interrupts that come while a slab is made may fill the array", () => {
  let entered = 0;
  const cache: Slab = new Slab({
    kernel: SEED,
    objectSize: 256,
    cpus: 1,
    gfp: Gfp.GFP_KERNEL,
    onNewSlab: (cpu) => {
      if (entered++ > 0) return;
      assertEquals(cache.irq.off[cpu], 0);
      cache.free(cache.alloc(cpu), cpu);
    },
  });
  cache.alloc();
  cache.check();
  assertEquals([entered, cache.slabs, cache.avail()], [2, 2, 15]);
});
