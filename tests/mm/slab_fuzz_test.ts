import { assert, assertEquals } from "@std/assert";
import { randomLcg } from "d3-random";
import { type KmemCache, kmemCache } from "../../lib/mm/kmem_cache.ts";
import { Qmempool } from "../../lib/mm/qmempool.ts";
import { Slub } from "../../lib/mm/slub.ts";
import { kernel } from "../../lib/releases/mod.ts";

const OPERATIONS = 1_000_000;
const BULK = 64;

/** Runs mixed operations and keeps a ledger of its own; returns objects taken and given. */
function fuzz(cache: KmemCache, cpus: number, seed: number): number[] {
  const random = randomLcg(seed);
  const held: number[] = [];
  const owned = new Set<number>();
  const bulk = new Int32Array(BULK);
  let operations = 0, taken = 0, given = 0, failed = 0;
  const take = (object: number): void => {
    if (owned.has(object)) throw new Error(`object ${object} handed out twice`);
    owned.add(object);
    held.push(object);
    taken++;
  };
  const pick = (draw: number): number => {
    // Newest first, oldest first, or any: what stacks, queues and tables of connections do.
    const how = draw % 3;
    const at = how === 0 ? held.length - 1 : how === 1 ? 0 : draw % held.length;
    const object = held[at]!;
    held[at] = held[held.length - 1]!;
    held.pop();
    owned.delete(object);
    given++;
    return object;
  };
  while (operations < OPERATIONS) {
    const draw = Math.floor(random() * 2 ** 30);
    const cpu = draw % cpus;
    // The pressure comes and goes, so that lists fill and empty.
    const up = (operations >> 13 & 1) === 0;
    const taking = (draw >> 3 & 15) < (up ? 10 : 6);
    const many = (draw >> 7 & 15) === 0 ? 2 + (draw >> 11) % (BULK - 1) : 1;
    if (taking) {
      if (many > 1) {
        const got = cache.allocBulk(many, bulk, cpu);
        if (got === 0) failed++;
        for (let i = 0; i < got; i++) take(bulk[i]!);
      } else {
        const object = cache.alloc(cpu);
        if (object < 0) failed++;
        else take(object);
      }
    } else if (held.length >= many) {
      if (many > 1) {
        for (let i = 0; i < many; i++) bulk[i] = pick((draw >> 4) + i);
        cache.freeBulk(many, bulk, cpu);
      } else {
        cache.free(pick(draw >> 4), cpu);
      }
    }
    operations++;
    if ((draw >> 8 & 0xfff) === 0) {
      cache.check();
      assertEquals(cache.inUse, held.length);
    }
    if ((draw >> 8 & 0x3fff) === 1) cache.shrink();
  }
  cache.check();
  assertEquals(cache.inUse, held.length);
  assertEquals(taken - given, held.length);
  for (const object of held) cache.free(object);
  cache.shrink();
  cache.check();
  assertEquals([cache.inUse, cache.slabs], [0, 0]);
  return [taken, given, failed];
}

for (
  const [release, allocator] of [
    ["3.12", "slub"],
    ["4.3", "slub"],
    ["net-next-2015-10", "slub"],
    ["6.1", "slub"],
    ["6.12", "slub"],
    ["4.3", "slab"],
    ["net-next-2015-10", "slab"],
    ["6.1", "slab"],
  ] as const
) {
  for (const cpus of [1, 2, 8]) {
    Deno.test(`fuzz ${allocator} ${release}: a million operations on ${cpus} CPU(s) lose and double no object`, () => {
      const cache = kmemCache({
        kernel: kernel(release),
        allocator,
        objectSize: 256,
        cpus,
        maxSlabs: 200,
      });
      const [taken, given, failed] = fuzz(cache, cpus, 0.1 + cpus / 100);
      assert(taken! > 300_000 && given! > 300_000, "both happen");
      assert(failed! > 0, "memory ran out now and then");
      if (cache instanceof Slub && cache.rules.bulkAlloc === "single calls") {
        const c = cache.counters;
        // Every single call is one of the four; a failed one counts as slow.
        assert(c.ALLOC_FASTPATH + c.ALLOC_SLOWPATH >= taken!);
        assert(c.FREE_FASTPATH + c.FREE_SLOWPATH >= given!);
      }
    });
  }
}

Deno.test("fuzz qmempool over SLUB: a million operations on 8 CPUs lose and double no object", () => {
  const kmem = kmemCache({ kernel: kernel("3.12"), objectSize: 256, cpus: 8 });
  const pool = new Qmempool({ kmem });
  fuzz(pool, 8, 0.7);
  assertEquals(pool.counters.leaked, 0);
  assert(pool.counters.freeSlab > 0 && pool.counters.allocShared > 0);
});
