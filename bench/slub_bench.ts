/** Slab allocators: objects taken and freed, singly and in bulk, in each of the places that a free can land. */
import { kmemCache } from "../lib/mm/kmem_cache.ts";
import type { Slab } from "../lib/mm/slab.ts";
import type { Slub } from "../lib/mm/slub.ts";
import { Qmempool } from "../lib/mm/qmempool.ts";
import { kernel } from "../lib/releases/mod.ts";

const ROUNDS = 1000;
const SIZES = [16, 64, 250];
const objects = new Int32Array(256);

// The cache is an argument, so that the loop holds it in a register as a driver's would.
function slubPairs(cache: Slub): void {
  for (let i = 0; i < 64 * ROUNDS; i++) cache.free(cache.alloc());
}

function slabPairs(cache: Slab): void {
  for (let i = 0; i < 64 * ROUNDS; i++) cache.free(cache.alloc());
}

// 64,000 pairs an iteration.
Deno.bench("empty loop", { group: "one at a time", baseline: true }, () => {
  for (let i = 0; i < 64 * ROUNDS; i++) objects[i & 63]! += i;
});

for (const release of ["4.3", "6.1", "6.12"]) {
  const cache = kmemCache({
    kernel: kernel(release),
    objectSize: 256,
    cpus: 8,
  });
  Deno.bench(
    `slub ${release}`,
    { group: "one at a time" },
    () => slubPairs(cache),
  );
}
{
  const cache = kmemCache({
    kernel: kernel("4.3"),
    allocator: "slab",
    objectSize: 256,
    cpus: 8,
  });
  Deno.bench("slab 4.3", { group: "one at a time" }, () => slabPairs(cache));
  const pool = new Qmempool({
    kmem: kmemCache({ kernel: kernel("3.12"), objectSize: 256, cpus: 8 }),
  });
  Deno.bench("qmempool", { group: "one at a time" }, () => {
    for (let i = 0; i < 64 * ROUNDS; i++) pool.free(pool.alloc());
  });
}

// A thousand rounds of n objects an iteration: divide by 1,000 n for a pair.
for (const n of SIZES) {
  for (const allocator of ["slub", "slab"] as const) {
    const group = `${allocator} net-next-2015-10, ${n} at a time`;
    const make = (): ReturnType<typeof kmemCache> =>
      kmemCache({
        kernel: kernel("net-next-2015-10"),
        allocator,
        objectSize: 256,
        cpus: 8,
      });
    const single = make();
    Deno.bench(`single calls, ${n}`, { group, baseline: true }, () => {
      for (let round = 0; round < ROUNDS; round++) {
        for (let i = 0; i < n; i++) objects[i] = single.alloc();
        for (let i = 0; i < n; i++) single.free(objects[i]!);
      }
    });
    const bulk = make();
    Deno.bench(`bulk calls, ${n}`, { group }, () => {
      for (let round = 0; round < ROUNDS; round++) {
        bulk.allocBulk(n, objects);
        bulk.freeBulk(n, objects);
      }
    });
  }
}

// Taken on one CPU, freed on another: every free is slow.
for (const release of ["net-next-2015-10", "6.12"]) {
  const cache = kmemCache({
    kernel: kernel(release),
    objectSize: 256,
    cpus: 8,
  });
  Deno.bench(`slub ${release}`, {
    group: "64 at a time, freed on another CPU",
    baseline: release === "net-next-2015-10",
  }, () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < 64; i++) objects[i] = cache.alloc(0);
      for (let i = 0; i < 64; i++) cache.free(objects[i]!, 1);
    }
  });
}
