import { assert, assertEquals, assertThrows } from "@std/assert";
import { slabMicrobench } from "../../lib/experiments/slab_microbench.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { cpu } from "../../lib/sim/cpus.ts";
import {
  CLEAN_NS,
  CLEAN_SERIES,
  ROUNDS,
} from "../../lib/threads/kmem_cache_bulk_published.ts";

const k = kernel("net-next-2015-10");
const i7 = cpu("i7-4790K");

/** Largest error that each series is held to, and from how many objects on. */
const BANDS = [[0.05, 1], [0.05, 1], [0.05, 1], [0.15, 1], [0.05, 1], [
  0.15,
  1,
]] as const;

CLEAN_SERIES.forEach((series, column) => {
  const [band, from] = BANDS[column]!;
  Deno.test(`${series.title}: within ${band * 100} % from ${from} objects on`, () => {
    assertEquals(series.held, 0);
    ROUNDS.forEach((objects, i) => {
      if (objects < from) return;
      const { ns } = slabMicrobench({
        kernel: kernel(series.release, { cpus: 8 }),
        allocator: series.allocator,
        bulk: series.bulk,
        objects,
        cpu: cpu(series.cpu),
      });
      const published = CLEAN_NS[i]![column]!;
      assert(
        Math.abs(ns / published - 1) <= band,
        `${objects} objects: ${ns} ns, published ${published}`,
      );
    });
  });
});

Deno.test("counters are those of one round: 34 objects leave one slab behind", () => {
  const { counters } = slabMicrobench({ kernel: k, objects: 34, cpu: i7 });
  assertEquals(
    [
      counters.ALLOC_FASTPATH,
      counters.ALLOC_SLOWPATH,
      counters.FREE_SLOWPATH,
      counters.FREE_FASTPATH,
      counters.CPU_PARTIAL_FREE,
    ],
    [33, 1, 32, 2, 1],
  );
});

Deno.test("objects that others hold bring the step down to what a slab has left", () => {
  const slow = (objects: number, held: number): number =>
    slabMicrobench({ kernel: k, objects, held, cpu: i7 }).counters
      .FREE_SLOWPATH!;
  assertEquals([slow(29, 3), slow(31, 3), slow(31, 0)], [0, 29, 0]);
});

Deno.test("4.3 frees every foreign object of a bulk by itself, the seed a list", () => {
  const slow = (release: string): number =>
    slabMicrobench({
      kernel: kernel(release, { cpus: 8 }),
      objects: 64,
      bulk: "both",
      cpu: i7,
    }).counters.FREE_SLOWPATH!;
  assertEquals([slow("4.3"), slow("net-next-2015-10")], [32, 1]);
});

Deno.test("the bill adds up to the figure", () => {
  const { bill, ns } = slabMicrobench({ kernel: k, objects: 128, cpu: i7 });
  const sum = bill.rows.reduce((total, row) => total + row.ns, 0);
  assert(
    Math.abs(sum - ns) < 1e-9 && bill.interval[0] < ns && ns < bill.interval[1],
  );
});

Deno.test("bad arguments name themselves", () => {
  const run = (options: Record<string, unknown>) => () =>
    slabMicrobench({ kernel: k, objects: 4, cpu: i7, ...options });
  assertThrows(run({ objects: 0 }), RangeError, "objects 0");
  assertThrows(run({ objects: 1.5 }), RangeError, "objects 1.5");
  assertThrows(run({ bulk: "half" }), RangeError, "half");
  assertThrows(run({ held: 32 }), RangeError, "held 32");
  assertThrows(run({ rounds: 0 }), RangeError, "rounds 0");
  assertThrows(
    run({ cpu: cpu("E5-2695"), bulk: "both" }),
    RangeError,
    "E5-2695",
  );
});
