import { assertEquals, assertThrows } from "@std/assert";
import { AlfQueue } from "../../lib/mm/alf_queue.ts";
import { kmemCache } from "../../lib/mm/kmem_cache.ts";
import { Qmempool, type QmempoolOptions } from "../../lib/mm/qmempool.ts";
import type { Slub } from "../../lib/mm/slub.ts";
import { kernel } from "../../lib/releases/mod.ts";

const slub = (maxSlabs?: number): Slub =>
  kmemCache({ kernel: kernel("3.12"), objectSize: 256, cpus: 2, maxSlabs });

const pool = (options: Partial<QmempoolOptions> = {}): Qmempool =>
  new Qmempool({ kmem: slub(), sharedq: 64, ...options });

Deno.test("qmempool: the first allocation takes 33 objects from the slab cache, the next 16 from the shared queue", () => {
  const p = pool();
  p.alloc();
  const c = p.counters;
  assertEquals([c.kmemAllocs, p.sharedq.length, c.allocSlab], [33, 32, 1]);
  assertEquals(p.localq[0]!.length, 0);
  p.alloc();
  assertEquals([c.allocShared, p.sharedq.length, p.localq[0]!.length], [
    1,
    16,
    15,
  ]);
  for (let i = 0; i < 15; i++) p.alloc();
  assertEquals([c.allocLocal, c.kmemAllocs, c.cmpxchg], [15, 33, 4]);
  p.check();
});

Deno.test("qmempool: a full local queue gives 15 old objects and the new one to the shared queue", () => {
  const p = pool({ localq: 32 });
  const objects = Array.from({ length: 33 }, () => p.alloc());
  for (const object of objects) p.free(object);
  assertEquals([p.counters.freeLocal, p.counters.freeShared], [32, 1]);
  assertEquals([p.localq[0]!.length, p.sharedq.length], [17, 16]);
  // The new one first, then the oldest of the local queue.
  assertEquals(p.sharedq.at(0), objects[32]);
  assertEquals(p.sharedq.at(1), objects[0]);
  assertEquals(p.localq[0]!.at(0), objects[15]);
  p.check();
});

Deno.test("qmempool: a full shared queue gives 48 objects to the slab cache", () => {
  const p = pool({ localq: 16, sharedq: 32 });
  const objects = Array.from({ length: 200 }, () => p.alloc());
  const queued = p.localq[0]!.length + p.sharedq.length;
  let freed = 0;
  for (const object of objects) {
    p.free(object);
    freed++;
    if (p.counters.freeSlab > 0) break;
  }
  assertEquals(p.counters.kmemFrees, 48);
  assertEquals(p.sharedq.length, 0);
  assertEquals(p.localq[0]!.length, queued + freed - 48);
  p.check();
});

Deno.test("qmempool: a refill that runs out of memory loses an object, mended it does not", () => {
  const lost = (mended: boolean): number[] => {
    // 32 objects in all: the first refill gets 1, 16, and 15 of 16.
    const p = pool({ kmem: slub(2), mended });
    p.alloc();
    p.check();
    return [p.counters.leaked, p.sharedq.length, p.counters.kmemAllocs];
  };
  assertEquals(lost(false), [1, 30, 32]);
  assertEquals(lost(true), [0, 31, 32]);
});

Deno.test("qmempool: without memory an allocation fails and is counted", () => {
  const p = pool({ kmem: slub(0) });
  assertEquals([p.alloc(), p.counters.failures], [-1, 1]);
  assertEquals(p.allocBulk(3, new Int32Array(3)), 0);
  p.check();
});

Deno.test("qmempool: arguments", () => {
  assertThrows(() => pool({ localq: 8 }), RangeError, "localq 8");
  assertThrows(() => pool({ localq: 24 }), RangeError, "a power of two");
  assertThrows(() => pool({ sharedq: 16 }), RangeError, "sharedq 16");
  assertThrows(() => pool({ prealloc: 65 }), RangeError, "prealloc 65");
  assertThrows(
    () => pool({ kmem: {} as unknown as Slub }),
    TypeError,
    "kmem",
  );
  const p = pool({ prealloc: 32 });
  assertEquals([p.sharedq.length, p.counters.kmemAllocs], [32, 32]);
  assertThrows(() => p.alloc(2), RangeError, "cpu 2");
  const object = p.alloc();
  p.free(object);
  assertThrows(() => p.free(object), Error, "not handed out by this pool");
  assertThrows(() => p.free(NaN), Error, "object NaN");
  const twice = p.alloc();
  assertThrows(
    () => p.freeBulk(2, Int32Array.of(twice, twice)),
    Error,
    "given twice in one call",
  );
  assertEquals(p.inUse, 1);
  p.free(twice);
  p.shrink();
  assertEquals([p.kmem.inUse, p.slabs], [0, 0]);
  p.check();
});

Deno.test("alf_queue: first in, first out; all or none in, as many as there are out", () => {
  const queue = new AlfQueue(4);
  const array = Int32Array.of(1, 2, 3);
  assertEquals(queue.enqueue(array, 3), 3);
  assertEquals(queue.enqueue(array, 2), 0);
  assertEquals([queue.push(4), queue.push(5), queue.length], [true, false, 4]);
  assertEquals([queue.at(0), queue.at(3), queue.at(4)], [1, 4, -1]);
  assertEquals(queue.shift(), 1);
  const out = new Int32Array(5);
  assertEquals(queue.dequeue(out, 1, 8), 3);
  assertEquals([...out], [0, 2, 3, 4, 0]);
  assertEquals(queue.shift(), -1);
  assertThrows(() => new AlfQueue(3), RangeError, "a power of two");
});
