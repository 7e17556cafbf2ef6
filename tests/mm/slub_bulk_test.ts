import { assertEquals, assertThrows } from "@std/assert";
import { Slub } from "../../lib/mm/slub.ts";
import { kernel } from "../../lib/releases/mod.ts";

/** Slabs 0 to 3, all handed out; the cpu slab is a fifth one. */
function fullSlabs(release: string): { cache: Slub; slabs: number[][] } {
  const cache = new Slub({
    kernel: kernel(release),
    objectSize: 256,
    cpus: 2,
  });
  const objects = Array.from({ length: 65 }, () => cache.alloc());
  const slabs = [0, 1, 2, 3].map((slab) =>
    objects.slice(slab * 16, slab * 16 + 16)
  );
  return { cache, slabs };
}

// FREE_SLOWPATH and FREE_FROZEN for 8 objects of each of 2, 3, 4 slabs in turn.
const INTERLEAVED: Record<string, [number, number][]> = {
  "net-next-2015-10": [[4, 2], [11, 8], [32, 28]],
  "6.1": [[4, 2], [12, 9], [32, 28]],
  "6.12": [[4, 0], [12, 0], [32, 0]],
};

for (const [release, rows] of Object.entries(INTERLEAVED)) {
  Deno.test(`SLUB ${release}: objects of 2, 3 and 4 slabs in turn defeat the look-ahead of 3`, () => {
    rows.forEach(([slow, frozen], i) => {
      const { cache, slabs } = fullSlabs(release);
      const mixed = i + 2;
      const array = Int32Array.from(
        { length: 8 * mixed },
        (_, at) => slabs[at % mixed]![Math.floor(at / mixed)]!,
      );
      cache.freeBulk(array.length, array);
      cache.check();
      const { FREE_SLOWPATH, FREE_FROZEN, CPU_PARTIAL_FREE } = cache.counters;
      assertEquals([FREE_SLOWPATH, FREE_FROZEN], [slow, frozen]);
      assertEquals(CPU_PARTIAL_FREE, mixed);
      assertEquals(cache.events.detachedFreelists, slow);
    });
  });
}

Deno.test("SLUB: the last object is freed first, the lowest index is allocated first", () => {
  for (const release of ["net-next-2015-10", "6.12"]) {
    const cache = new Slub({ kernel: kernel(release), objectSize: 256 });
    const objects = new Int32Array(8);
    cache.allocBulk(8, objects);
    const before = [...objects];
    cache.freeBulk(8, objects);
    assertEquals(before.map(() => cache.alloc()), before);
  }
});

Deno.test("SLUB: the caller's array is left alone, overwritten with nulls, or reordered", () => {
  const after = (release: string): number[] => {
    const { cache, slabs } = fullSlabs(release);
    const array = Int32Array.of(slabs[0]![0]!, slabs[1]![0]!, slabs[0]![1]!);
    cache.freeBulk(3, array);
    return [...array];
  };
  assertEquals(after("4.3"), [0, 16, 1]);
  assertEquals(after("net-next-2015-10"), [-1, -1, -1]);
  assertEquals(after("6.12"), [16, 0, 1]);
});

Deno.test("SLUB: nulls and empty arrays are taken, skipped, warned of, or a BUG", () => {
  const cache = (release: string): Slub =>
    new Slub({ kernel: kernel(release), objectSize: 256 });
  const withNull = (c: Slub): void => {
    const array = Int32Array.of(c.alloc(), -1, c.alloc());
    c.freeBulk(3, array);
    c.check();
    assertEquals([c.inUse, c.events.bulkFreeObjects], [0, 2]);
  };
  for (const release of ["net-next-2015-10", "4.6", "5.12"]) {
    withNull(cache(release));
  }
  for (const release of ["4.3", "6.1", "6.12"]) {
    const c = cache(release);
    assertThrows(() => withNull(c), Error, "objects[1] is null");
    assertEquals(c.inUse, 2);
    c.check();
  }
  const none = new Int32Array(0);
  assertThrows(
    () => cache("net-next-2015-10").freeBulk(0, none),
    Error,
    "kernel BUG",
  );
  const warns = cache("4.6");
  warns.freeBulk(0, none);
  assertEquals(warns.events.warnings, 1);
  for (const release of ["4.3", "6.12"]) {
    const c = cache(release);
    c.freeBulk(0, none);
    assertEquals(c.allocBulk(0, none), 0);
    assertEquals([c.events.warnings, c.counters.FREE_FASTPATH], [0, 0]);
  }
});

Deno.test("SLUB 4.3 frees in bulk object by object: no statistic for the cpu slab, a slow free for each other one", () => {
  const cache = new Slub({
    kernel: kernel("4.3"),
    objectSize: 256,
    cpus: 8,
  });
  const objects = new Int32Array(64);
  assertEquals(cache.allocBulk(64, objects), 64);
  const before = { ...cache.counters };
  const disables = cache.irq.disables;
  cache.freeBulk(64, objects);
  cache.check();
  const { FREE_FASTPATH, FREE_SLOWPATH, FREE_FROZEN } = cache.counters;
  assertEquals([FREE_FASTPATH, FREE_SLOWPATH, FREE_FROZEN], [0, 32, 31]);
  assertEquals(before.ALLOC_FASTPATH + before.ALLOC_SLOWPATH, 0);
  // Once for the call, once again after each slow free.
  assertEquals(cache.irq.disables - disables, 33);
});

Deno.test("SLUB: how bulk allocation enters its slow path", () => {
  const flags = (release: string): number[] => {
    const cache = new Slub({
      kernel: kernel(release),
      objectSize: 256,
      cpus: 8,
    });
    cache.allocBulk(64, new Int32Array(64));
    return [cache.irq.disables, cache.irq.saves, cache.irq.off[0]!];
  };
  // Two slow allocations: each costs 4.3 one more pair of each kind, 4.4 none.
  assertEquals(flags("4.3"), [3, 2, 0]);
  assertEquals(flags("4.6"), [1, 0, 0]);
  assertEquals(flags("3.12"), [0, 2, 0]);
});

Deno.test("SLUB: a bulk allocation gets all or none", () => {
  for (
    const release of ["3.12", "4.3", "net-next-2015-10", "4.6", "6.1", "6.12"]
  ) {
    const cache = new Slub({
      kernel: kernel(release),
      objectSize: 256,
      cpus: 2,
      maxSlabs: 3,
    });
    const out = new Int32Array(64);
    assertEquals(cache.allocBulk(49, out), 0, release);
    assertEquals([cache.inUse, cache.events.failures], [0, 1]);
    assertEquals(cache.irq.off[0], 0);
    cache.check();
    assertEquals(cache.allocBulk(48, out), 48);
    assertEquals(new Set(out.subarray(0, 48)).size, 48);
    cache.check();
  }
});
