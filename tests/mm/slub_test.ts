import { assertEquals, assertThrows } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { Slub } from "../../lib/mm/slub.ts";
import type { SlubStat } from "../../lib/mm/slub_stats.ts";
import { kernel } from "../../lib/releases/mod.ts";

const SEED = kernel("net-next-2015-10");

/** The counters that moved, by name. */
function moved(cache: Slub, before: Record<string, number>): object {
  return Object.fromEntries(
    Object.entries(cache.counters)
      .map(([name, value]) => [name, value - (before[name] ?? 0)])
      .filter(([, difference]) => difference !== 0),
  );
}

Deno.test("SLUB: objects freed on another CPU return to their slab, and refill it", () => {
  const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 2 });
  const objects = Array.from({ length: 16 }, () => cache.alloc(0));
  let before = { ...cache.counters };
  for (const object of objects.slice(0, 4)) cache.free(object, 1);
  // The slab is CPU 0's, hence frozen.
  assertEquals(moved(cache, before), { FREE_SLOWPATH: 4, FREE_FROZEN: 4 });
  assertEquals(cache.countersOf(1).FREE_SLOWPATH, 4);
  assertEquals(cache.countersOf(0).FREE_SLOWPATH, 0);
  before = { ...cache.counters };
  // The newest free object comes first, and no slab has changed hands.
  assertEquals(cache.alloc(0), objects[3]);
  assertEquals(moved(cache, before), { ALLOC_SLOWPATH: 1, ALLOC_REFILL: 1 });
  cache.check();
});

Deno.test("SLUB: a full slab goes to the partial list of the CPU that frees to it", () => {
  const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 2 });
  const objects = Array.from({ length: 17 }, () => cache.alloc(0));
  cache.free(objects[0]!, 1);
  assertEquals([cache.cpuPartialSlabs(0), cache.cpuPartialSlabs(1)], [0, 1]);
  assertEquals(cache.alloc(1), objects[0]);
  assertEquals(cache.countersOf(1).CPU_PARTIAL_ALLOC, 1);
  cache.check();
});

for (
  const [release, order] of [
    // One by one the CPU's objects turn round; spliced they keep their order.
    ["net-next-2015-10", [15, 14, 13]],
    ["6.1", [13, 14, 15]],
  ] as const
) {
  Deno.test(`SLUB ${release}: a flushed CPU gives its objects back to the slab`, () => {
    const cache = new Slub({
      kernel: kernel(release),
      objectSize: 256,
      cpus: 2,
    });
    const objects = Array.from({ length: 13 }, () => cache.alloc(0));
    let before = { ...cache.counters };
    cache.flush(0);
    assertEquals(moved(cache, before), {
      CPUSLAB_FLUSH: 1,
      DEACTIVATE_TO_HEAD: 1,
    });
    assertEquals([cache.nrPartial, cache.inUse], [1, 13]);
    cache.check();
    before = { ...cache.counters };
    assertEquals([0, 1, 2].map(() => cache.alloc(1)), [...order]);
    assertEquals(moved(cache, before), {
      ALLOC_SLOWPATH: 1,
      ALLOC_FASTPATH: 2,
      ALLOC_FROM_PARTIAL: 1,
    });
    // Freed to by the other CPU: to the tail. Without a free object: to no list.
    cache.free(objects[0]!, 0);
    cache.flush(1);
    assertEquals(cache.counters.DEACTIVATE_TO_TAIL, 1);
    assertEquals(cache.counters.DEACTIVATE_REMOTE_FREES, 1);
    cache.alloc(1);
    cache.flush(1);
    assertEquals(cache.counters.DEACTIVATE_FULL, 1);
    assertEquals(cache.nrPartial, 0);
    cache.check();
  });
}

Deno.test("SLUB: without CPU partial lists a free puts the slab on the node's list", () => {
  const cache = new Slub({
    kernel: SEED,
    objectSize: 256,
    cpus: 2,
    cpuPartialLists: false,
  });
  const objects = Array.from({ length: 32 }, () => cache.alloc());
  const before = { ...cache.counters };
  for (const object of objects.slice(0, 16)) cache.free(object);
  assertEquals(moved(cache, before), {
    FREE_SLOWPATH: 16,
    FREE_ADD_PARTIAL: 1,
  });
  assertEquals(cache.nrPartial, 1);
  cache.check();
});

Deno.test("SLUB: an allocation takes more than one slab from the node, half the limit for later", () => {
  const taken = ["net-next-2015-10", "6.1", "6.12"].map((release) => {
    const cache = new Slub({
      kernel: kernel(release),
      objectSize: 256,
      cpus: 2,
    });
    const objects = Array.from({ length: 20 * 16 }, () => cache.alloc(0));
    // One free object in each of 19 slabs.
    for (let slab = 0; slab < 19; slab++) cache.free(objects[slab * 16]!, 0);
    cache.flush(0);
    const before = { ...cache.counters };
    cache.alloc(1);
    cache.check();
    const { ALLOC_FROM_PARTIAL, CPU_PARTIAL_NODE } = cache.counters;
    assertEquals(ALLOC_FROM_PARTIAL - before.ALLOC_FROM_PARTIAL, 1);
    return CPU_PARTIAL_NODE - before.CPU_PARTIAL_NODE;
  });
  // 7 objects exceed half of 13; 4 slabs exceed half of 7.
  assertEquals(taken, [6, 4, 4]);
});

Deno.test("SLUB: slabs are blocks of pages; a smaller order serves where the usual one is short", () => {
  const pages = new PageAllocator(SEED, { pages: 4096, cpus: 8 });
  const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 8, pages });
  const objects: number[] = [];
  for (let i = 0; i < 32; i++) objects.push(cache.alloc());
  assertEquals([...pages.counters.allocations.slice(0, 2)], [0, 1]);
  pages.failOrders(1);
  for (let i = 0; i < 20; i++) objects.push(cache.alloc());
  assertEquals(cache.counters.ORDER_FALLBACK, 2);
  assertEquals(cache.slabs, 3);
  cache.check();
  pages.failOrders(0);
  for (let i = 0; i < 12; i++) objects.push(cache.alloc());
  assertEquals(cache.alloc(), -1);
  assertEquals(cache.events.failures, 1);
  cache.check();
  for (const object of objects) cache.free(object);
  cache.shrink();
  cache.check();
  assertEquals(cache.slabs, 0);
  pages.failOrders();
  pages.check();
  assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
});

Deno.test("SLUB: shrinking gives empty slabs back uncounted and puts the fullest first", () => {
  const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 2 });
  const objects = Array.from({ length: 16 * 6 }, () => cache.alloc());
  const free = [1, 5, 16, 2, 16];
  free.forEach((count, slab) => {
    for (let i = 0; i < count; i++) cache.free(objects[slab * 16 + i]!);
  });
  const before = { ...cache.counters };
  cache.shrink();
  cache.check();
  assertEquals(cache.counters.FREE_SLAB, before.FREE_SLAB);
  assertEquals([cache.slabs, cache.nrPartial], [4, 3]);
  const order: number[] = [];
  for (let s = cache.node.head; s >= 0; s = cache.table.after[s]!) {
    order.push(s);
  }
  assertEquals(order, [0, 3, 1]);
});

Deno.test("SLUB: what an interrupt does while a slab is made is kept, the cpu slab is flushed", () => {
  let entered = 0;
  const cache: Slub = new Slub({
    kernel: SEED,
    objectSize: 256,
    cpus: 1,
    gfp: Gfp.GFP_KERNEL,
    onNewSlab: (cpu) => {
      if (entered++ > 0) return;
      assertEquals(cache.irq.off[cpu], 0);
      cache.alloc(cpu);
    },
  });
  cache.alloc();
  assertEquals(cache.irq.off[0], 0);
  assertEquals([entered, cache.counters.CPUSLAB_FLUSH], [2, 1]);
  assertEquals([cache.slabs, cache.nrPartial, cache.inUse], [2, 1, 2]);
  cache.check();
  // GFP_ATOMIC keeps interrupts off up to 5.14: nothing can come in between.
  new Slub({
    kernel: SEED,
    objectSize: 256,
    onNewSlab: () => {
      throw new Error("interrupts were on");
    },
  }).alloc();
});

Deno.test("SLUB: per-CPU counters add up to the sum", () => {
  const cache = new Slub({ kernel: SEED, objectSize: 256, cpus: 4 });
  for (let i = 0; i < 200; i++) {
    const object = cache.alloc(i % 4);
    if (i % 3 !== 0) cache.free(object, (i + 1) % 4);
  }
  for (const name of Object.keys(cache.counters) as SlubStat[]) {
    const sum = [0, 1, 2, 3].reduce((s, i) => s + cache.countersOf(i)[name], 0);
    assertEquals(sum, cache.counters[name], name);
  }
  assertThrows(() => cache.countersOf(4), RangeError, "cpu 4");
});

Deno.test("SLUB: tid moves with each operation, by the number of CPUs with CONFIG_PREEMPT", () => {
  const tid = (preempt: boolean): number[] => {
    const cache = new Slub({
      kernel: SEED,
      objectSize: 256,
      cpus: 6,
      preempt,
    });
    cache.free(cache.alloc(5), 5);
    cache.free(cache.alloc(5), 5);
    return cache.perCpu.map(({ tid }) => tid);
  };
  assertEquals(tid(false), [0, 1, 2, 3, 4, 9]);
  assertEquals(tid(true), [0, 1, 2, 3, 4, 37]);
});
