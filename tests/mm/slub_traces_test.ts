import { assertEquals } from "@std/assert";
import { Slub } from "../../lib/mm/slub.ts";
import type { SlubStat } from "../../lib/mm/slub_stats.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { section, tables } from "./slab_tables.ts";

const COLUMNS: Record<string, SlubStat> = {
  AF: "ALLOC_FASTPATH",
  AS: "ALLOC_SLOWPATH",
  AR: "ALLOC_REFILL",
  ASLAB: "ALLOC_SLAB",
  AFP: "ALLOC_FROM_PARTIAL",
  BYP: "DEACTIVATE_BYPASS",
  CPA: "CPU_PARTIAL_ALLOC",
  CPN: "CPU_PARTIAL_NODE",
  FF: "FREE_FASTPATH",
  FS: "FREE_SLOWPATH",
  FZ: "FREE_FROZEN",
  CPF: "CPU_PARTIAL_FREE",
  CPD: "CPU_PARTIAL_DRAIN",
  FAP: "FREE_ADD_PARTIAL",
  DE: "DEACTIVATE_EMPTY",
  FSL: "FREE_SLAB",
};
const ZERO: SlubStat[] = [
  "FREE_REMOVE_PARTIAL",
  "CPUSLAB_FLUSH",
  "DEACTIVATE_FULL",
  "DEACTIVATE_TO_HEAD",
  "DEACTIVATE_TO_TAIL",
  "DEACTIVATE_REMOTE_FREES",
  "ALLOC_NODE_MISMATCH",
  "ORDER_FALLBACK",
  "CMPXCHG_DOUBLE_CPU_FAIL",
  "CMPXCHG_DOUBLE_FAIL",
];

/** The releases that a heading speaks of. */
function releasesOf(heading: string): string[] {
  if (heading.startsWith("4.x")) return ["net-next-2015-10", "4.6", "5.12"];
  if (heading.startsWith("v5.16")) return ["6.1"];
  return ["6.8", "6.12", "6.18"];
}

/** Takes N, gives them back in the order in which they were taken. */
function round(cache: Slub, objects: Int32Array, bulk: boolean): void {
  const n = objects.length;
  if (bulk) {
    assertEquals(cache.allocBulk(n, objects), n);
    cache.freeBulk(n, objects);
  } else {
    for (let i = 0; i < n; i++) objects[i] = cache.alloc();
    for (let i = 0; i < n; i++) cache.free(objects[i]!);
  }
}

function state(cache: Slub): Record<string, number> {
  return {
    ...cache.counters,
    slabs: cache.slabs,
    "cpu-partial": cache.cpuPartialSlabs(),
    "node-partial": cache.nrPartial,
  };
}

Deno.test("SLUB counts what the worked traces count, row by row", () => {
  let rows = 0, agreeing = 0;
  const wrong: string[] = [];
  const traces = tables(section("## 7. Worked traces"));
  for (const { heading, rows: lines } of traces) {
    const perSlab = Number(/(\d+) objects\/slab/.exec(heading)![1]);
    const bulk = heading.endsWith("bulk");
    for (const release of releasesOf(heading)) {
      // Two CPUs give 16 objects to a slab, eight give 32.
      const cpus = perSlab === 16 ? 2 : 8;
      for (const line of lines) {
        const objects = new Int32Array(Number(line.N));
        // Round 1, round 2, and a fifth one: "2+" stands for every later round.
        for (const at of line.round === "1" ? [1] : [2, 5]) {
          const fresh = new Slub({
            kernel: kernel(release),
            objectSize: 256,
            cpus,
          });
          assertEquals(fresh.layout.objects, perSlab);
          for (let i = 1; i < at; i++) round(fresh, objects, bulk);
          const before = state(fresh);
          round(fresh, objects, bulk);
          const after = state(fresh);
          fresh.check();
          const difference = Object.entries(line).filter(([column, value]) => {
            if (column === "N" || column === "round") return false;
            const name = COLUMNS[column] ?? column;
            const got = name in fresh.counters
              ? after[name]! - before[name]!
              : after[name];
            return got !== Number(value);
          }).map(([column]) => column);
          difference.push(...ZERO.filter((name) => after[name] !== 0));
          rows++;
          if (difference.length === 0) agreeing++;
          else {
            wrong.push(
              `${release}, ${heading}, N ${line.N}, round ${at}: ${difference}`,
            );
          }
        }
      }
    }
  }
  const table = traces.reduce((sum, { rows }) => sum + rows.length, 0);
  console.log(
    `${table} rows of the table, ${rows} rows checked / ${agreeing} agreeing`,
  );
  assertEquals(wrong, []);
  assertEquals(table, 176);
});

for (
  const [release, frozen, drains] of [
    ["net-next-2015-10", true, 1],
    ["6.1", true, 2],
    ["6.12", false, 2],
  ] as const
) {
  Deno.test(`SLUB ${release}: a slab that empties on the node's list is given back, one on a CPU's list is kept`, () => {
    const cache = new Slub({
      kernel: kernel(release),
      objectSize: 256,
      cpus: 2,
    });
    const c = cache.counters;
    const objects = Array.from({ length: 320 }, () => cache.alloc());
    assertEquals([
      c.ALLOC_SLOWPATH,
      c.ALLOC_SLAB,
      c.ALLOC_FASTPATH,
      c.DEACTIVATE_BYPASS,
    ], [20, 20, 300, 19]);
    for (let slab = 0; slab < 19; slab++) cache.free(objects[slab * 16]!);
    assertEquals([
      c.FREE_SLOWPATH,
      c.CPU_PARTIAL_FREE,
      c.FREE_ADD_PARTIAL,
      c.CPU_PARTIAL_DRAIN,
      cache.cpuPartialSlabs(),
      cache.nrPartial,
    ], [19, 19, 14, drains, 5, 14]);
    let before = { ...c };
    for (let i = 1; i < 16; i++) cache.free(objects[i]!);
    assertEquals([
      c.FREE_SLOWPATH - before.FREE_SLOWPATH,
      c.FREE_REMOVE_PARTIAL,
      c.FREE_SLAB,
      c.FREE_FROZEN,
      cache.nrPartial,
    ], [15, 1, 1, 0, 13]);
    before = { ...c };
    for (let i = 1; i < 16; i++) cache.free(objects[18 * 16 + i]!);
    assertEquals([
      c.FREE_SLOWPATH - before.FREE_SLOWPATH,
      c.FREE_FROZEN,
      c.FREE_SLAB,
      cache.slabs,
    ], [15, frozen ? 15 : 0, 1, 19]);
    cache.check();
  });
}
