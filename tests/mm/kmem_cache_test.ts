import { assertEquals, assertThrows } from "@std/assert";
import { IrqFlags } from "../../lib/mm/irq_flags.ts";
import {
  type KmemCache,
  kmemCache,
  type KmemCacheOptions,
} from "../../lib/mm/kmem_cache.ts";
import { Qmempool } from "../../lib/mm/qmempool.ts";
import { SLUB_STAT_NAMES } from "../../lib/mm/slub_stats.ts";
import { kernel } from "../../lib/releases/mod.ts";

const SEED = kernel("net-next-2015-10");
const make = (options: Partial<KmemCacheOptions> = {}): KmemCache =>
  kmemCache({ kernel: SEED, objectSize: 256, ...options });

for (const allocator of ["slub", "slab"] as const) {
  Deno.test(`${allocator}: double frees and foreign pointers are errors, and change nothing`, () => {
    const cache = make({ allocator });
    const [a, b, c] = [cache.alloc(), cache.alloc(), cache.alloc()];
    cache.free(a);
    assertThrows(
      () => cache.free(a),
      Error,
      `object ${a}: not handed out, a double free`,
    );
    for (const foreign of [-1, 1.5, NaN, 1e6, 2 ** 40, Infinity]) {
      assertThrows(
        () => cache.free(foreign),
        Error,
        `object ${foreign}: no object of this cache`,
      );
    }
    // Two slots on there is an object that was never given out.
    assertThrows(() => cache.free(c + 2), Error, "not handed out");
    const before = { ...cache.counters };
    for (
      const [array, why] of [
        [[b, c, a], `objects[2]: object ${a}: not handed out, a double free`],
        [[b, c, b], `objects[2]: object ${b}: given twice in one call`],
        [[b, 123_456], "objects[1]: object 123456: no object of this cache"],
        [[b, -7], "objects[1]: object -7: no object of this cache"],
      ] as const
    ) {
      const objects = Int32Array.from(array);
      assertThrows(() => cache.freeBulk(objects.length, objects), Error, why);
      assertEquals([...objects], [...array]);
    }
    assertEquals({ ...cache.counters }, before);
    assertEquals(cache.inUse, 2);
    cache.check();
    cache.freeBulk(2, Int32Array.of(b, c));
    assertEquals(cache.inUse, 0);
  });

  Deno.test(`${allocator}: arguments out of range are named with what is allowed`, () => {
    const cache = make({ allocator, cpus: 2 });
    const array = new Int32Array(4);
    for (const cpu of [2, -1, 0.5, NaN]) {
      assertThrows(() => cache.alloc(cpu), RangeError, `cpu ${cpu}`);
      const object = cache.alloc();
      cache.alloc();
      assertThrows(() => cache.free(object, cpu), RangeError, `cpu ${cpu}`);
      assertThrows(() => cache.allocBulk(1, array, cpu), RangeError, "cpu");
      assertThrows(() => cache.freeBulk(1, array, cpu), RangeError, "cpu");
    }
    for (const count of [5, -1, 0.5, NaN]) {
      assertThrows(
        () => cache.allocBulk(count, array),
        RangeError,
        `count ${count}: a whole number from 0 to 4 is allowed`,
      );
      assertThrows(() => cache.freeBulk(count, array), RangeError, "count");
    }
    assertThrows(
      () => cache.allocBulk(1, [0] as unknown as Int32Array),
      TypeError,
      "out: an Int32Array is allowed",
    );
    assertThrows(
      () => cache.freeBulk(1, [0] as unknown as Int32Array),
      TypeError,
      "objects: an Int32Array is allowed",
    );
    assertEquals(cache.inUse, 8);
    cache.check();
  });
}

Deno.test("kmemCache: options are checked before anything is made", () => {
  const bad = (options: object, type: typeof RangeError, text: string): void =>
    void assertThrows(() => make(options), type, text);
  bad({ allocator: "slob" }, RangeError, '"slub" or "slab" is allowed');
  bad({ objectSize: 0 }, RangeError, "objectSize");
  bad({ objectSize: 1.5 }, RangeError, "objectSize");
  bad({ objectSize: 2 ** 23 }, RangeError, "objectSize");
  bad({ align: 3 }, RangeError, "align");
  bad({ cpus: 0 }, RangeError, "cpus 0");
  bad({ cpus: 4097 }, RangeError, "cpus 4097");
  bad({ maxSlabs: -1 }, RangeError, "maxSlabs -1");
  bad({ minPartial: 0.5 }, RangeError, "minPartial 0.5");
  bad({ cpuPartial: NaN }, RangeError, "cpuPartial NaN");
  bad({ flags: ["SLAB_POISON"] }, RangeError, "is not modelled");
  bad({ flags: ["SLAB_NONE"] }, RangeError, "unknown flag");
  bad({ irq: new IrqFlags(1), cpus: 2 }, RangeError, "irq");
  bad({ onNewSlab: 1 }, TypeError, "onNewSlab");
  bad(
    { allocator: "slab", kernel: kernel("6.12") },
    RangeError,
    "kernel 6.12 has no SLAB",
  );
  // An option that is undefined is absent.
  const absent = make({
    allocator: undefined,
    cpus: undefined,
    flags: undefined,
    pages: undefined,
    minPartial: undefined,
    cpuPartial: undefined,
    maxSlabs: undefined,
  });
  assertEquals([absent.allocator, absent.cpus], ["slub", SEED.build.cpus]);
});

Deno.test("kmemCache: the sysfs knobs of a cache", () => {
  const cache = kmemCache({
    kernel: SEED,
    objectSize: 256,
    cpus: 2,
    minPartial: 0,
    cpuPartial: 0,
  });
  const objects = Array.from({ length: 65 }, () => cache.alloc());
  for (const object of objects.slice(0, 64)) cache.free(object);
  cache.check();
  // Nothing stays on the CPU's list, and the node keeps no empty slab.
  assertEquals(
    [cache.cpuPartialSlabs(), cache.nrPartial, cache.slabs],
    [0, 0, 1],
  );
  assertEquals(cache.counters.FREE_REMOVE_PARTIAL, 4);
});

Deno.test("kmemCache: counters are the kernel's, enumerable and live", () => {
  const cache = kmemCache({ kernel: SEED, objectSize: 256 });
  assertEquals(Object.keys(cache.counters), [...SLUB_STAT_NAMES]);
  assertEquals(SLUB_STAT_NAMES.length, 26);
  const snapshot = { ...cache.counters };
  cache.alloc();
  assertEquals(snapshot.ALLOC_SLOWPATH, 0);
  assertEquals(cache.counters.ALLOC_SLOWPATH, 1);
});

Deno.test("KmemCache: an allocator of one's own stands in for the kernel's", () => {
  // Never reuses an object; each has a slab of its own.
  let next = 0;
  const held = new Set<number>();
  const own: KmemCache = {
    allocator: "bump",
    objectSize: 256,
    slabSize: 256,
    cpus: 1,
    counters: {},
    get slabs(): number {
      return held.size;
    },
    get inUse(): number {
      return held.size;
    },
    alloc(): number {
      held.add(next);
      return next++;
    },
    free(object: number): void {
      if (!held.delete(object)) throw new Error(`object ${object}`);
    },
    allocBulk(count: number, out: Int32Array): number {
      for (let i = 0; i < count; i++) out[i] = this.alloc();
      return count;
    },
    freeBulk(count: number, objects: Int32Array): void {
      for (let i = 0; i < count; i++) this.free(objects[i]!);
    },
    shrink(): void {},
    check(): void {},
  };
  const pool = new Qmempool({ kmem: own });
  const objects = Array.from({ length: 200 }, () => pool.alloc());
  for (const object of objects) pool.free(object);
  pool.check();
  pool.shrink();
  assertEquals(own.inUse, 0);
});
