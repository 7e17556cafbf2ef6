import { assertEquals, assertThrows } from "@std/assert";
import { Slab } from "../../lib/mm/slab.ts";
import { Slub } from "../../lib/mm/slub.ts";
import { ALLOCATED } from "../../lib/mm/slub_slabs.ts";
import { slabViews } from "../../lib/mm/slub_view.ts";
import { kernel } from "../../lib/releases/mod.ts";

const SEED = kernel("net-next-2015-10");

/** Slab 3 is CPU 0's, 2 is CPU 1's, 1 is on CPU 0's partial list, 0 on the node's. */
function slub(): Slub {
  const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 2 });
  for (let i = 0; i < 49; i++) cache.alloc(0);
  cache.free(0, 0);
  // More free objects than half the limit, so that an allocation takes this slab alone.
  for (let object = 32; object < 40; object++) cache.free(object, 0);
  cache.flush(0);
  cache.alloc(0);
  cache.alloc(1);
  cache.free(16, 0);
  assertEquals(slabViews(cache).map(({ slab, place }) => [slab, place]), [
    [3, "cpu slab"],
    [1, "cpu partial"],
    [2, "cpu slab"],
    [0, "node partial"],
  ]);
  return cache;
}

const SLUB_DAMAGE: Record<string, [(cache: Slub) => void, string]> = {
  "an object is free twice": [(c) => {
    c.table.next[17] = c.table.freelist[1]!;
    c.table.freelist[1] = 17;
    c.table.next[16] = 17;
  }, "free twice"],
  "an object is on no list": [(c) => {
    c.table.next[18] = -1;
  }, "object 18 is on no list"],
  "an object is held and free": [(c) => {
    c.table.next[c.table.freelist[1]!] = ALLOCATED;
  }, "held and free"],
  "inuse is wrong": [(c) => {
    c.table.inuse[1]!++;
  }, "inuse"],
  "a slab forgot where it is": [(c) => {
    c.table.place[1] = 1;
  }, "says full"],
  "a slab is not frozen": [(c) => {
    c.table.frozen[1] = 0;
  }, "frozen is 0"],
  "the node counts wrongly": [(c) => {
    c.node.nrPartial++;
  }, "nr_partial"],
  "a CPU has another's slab": [(c) => {
    c.perCpu[1]!.slab = c.perCpu[0]!.slab;
  }, "in two places"],
  "slabs are counted wrongly": [(c) => {
    c.table.nr++;
  }, "counted"],
  "a counter is wrong": [(c) => {
    c.perCpu[1]!.ALLOC_SLAB++;
  }, "counters say"],
};

Deno.test("check() of SLUB notices each kind of damage", () => {
  slub().check();
  for (const [what, [damage, message]] of Object.entries(SLUB_DAMAGE)) {
    const cache = slub();
    damage(cache);
    assertThrows(() => cache.check(), Error, message, what);
  }
});

const SLAB_DAMAGE: Record<string, [(cache: Slab) => void, string]> = {
  "an object is in two arrays": [(c) => {
    c.arrays.sharedEntries[0] = c.arrays.entries[0]!;
    c.arrays.sharedAvail = 1;
  }, "in two arrays"],
  "an array is too long": [(c) => {
    c.arrays.avail[0] = c.arrays.limit + 1;
  }, "overflows"],
  "an object was lost from an array": [(c) => {
    c.arrays.avail[0]!--;
  }, "is in no array"],
  "a slab counts wrongly": [(c) => {
    c.node.active[0]!--;
  }, "slab 0"],
  "the node counts wrongly": [(c) => {
    c.node.freeObjects++;
  }, "free, says"],
  "slabs are counted wrongly": [(c) => {
    c.node.nr++;
  }, "are on lists"],
};

Deno.test("check() of SLAB notices each kind of damage", () => {
  const make = (): Slab => {
    const cache = new Slab({ kernel: SEED, objectSize: 256, cpus: 2 });
    for (let i = 0; i < 20; i++) cache.alloc();
    return cache;
  };
  make().check();
  for (const [what, [damage, message]] of Object.entries(SLAB_DAMAGE)) {
    const cache = make();
    damage(cache);
    assertThrows(() => cache.check(), Error, message, what);
  }
});
