import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import type { Kernel, Patch } from "../../lib/kernel.ts";
import { kmemCache } from "../../lib/mm/kmem_cache.ts";
import * as series from "../../lib/patches/slab_bulk.ts";
import { kernel } from "../../lib/releases/mod.ts";

const V4_3 = kernel("4.3", { cpus: 8 });

/** The cover letter's patches in its order. */
const COVER: readonly Patch[] = [
  series.slubDanglingIfdef,
  series.slabBulkSlab,
  series.slubFreelistSupport,
  series.slubDetachedFreelist,
  series.slubDetachedFreelistFix,
  series.assumeAligned,
  series.slabAssumeAligned,
  series.compoundHead,
];

Deno.test("the cover letter's patches turn 4.3's slab rules into the thread's kernel's", () => {
  assertEquals(V4_3.am(...COVER).slub, kernel("net-next-2015-10").slub);
  assertNotEquals(V4_3.slub, kernel("net-next-2015-10").slub);
});

/** What a bulk round of 64 does in both allocators. */
function behaviour(release: Kernel): unknown {
  return (["slub", "slab"] as const).map((allocator) => {
    const cache = kmemCache({ kernel: release, allocator, objectSize: 256 });
    const objects = new Int32Array(64);
    for (let i = 0; i < 3; i++) {
      cache.allocBulk(64, objects);
      cache.freeBulk(64, objects);
    }
    return [
      { ...cache.counters },
      cache.irq.saves,
      cache.irq.disables,
      { ...cache.events },
    ];
  });
}

Deno.test("applied one by one, only bulk for SLAB and the detached freelists change anything", () => {
  let base = V4_3;
  const changed: string[] = [];
  for (const patch of COVER) {
    const patched = base.am(patch);
    if (
      JSON.stringify(behaviour(patched)) !== JSON.stringify(behaviour(base))
    ) changed.push(patch.name);
    base = patched;
  }
  assertEquals(changed, ["slabBulkSlab", "slubDetachedFreelist"]);
  assertEquals(base.patches, COVER.map((patch) => patch.name));
});

Deno.test("patches refuse kernels that have them, that lack what they need, or had them already", () => {
  const refused = (base: Kernel, patch: Patch, why: string): void =>
    void assertThrows(() => base.am(patch), Error, why);
  refused(V4_3, series.slubDetachedFreelist, "apply that first");
  refused(V4_3, series.slubDetachedFreelistFix, "apply that first");
  refused(V4_3, series.slabAssumeAligned, "apply that first");
  refused(V4_3, series.slabBulkErrorPath, "apply that first");
  refused(
    V4_3.am(series.slabBulkSlab),
    series.slabBulkSlab,
    "it is applied already",
  );
  refused(kernel("net-next-2015-10"), series.slabBulkSlab, "already merged");
  refused(kernel("6.1"), series.slubFreelistSupport, "already merged");
  refused(kernel("6.12"), series.slabBulkSlab, "SLAB is gone");
  refused(kernel("6.12"), series.slubPartialInSlabs, "already merged");
  refused(kernel("6.12"), series.slubBulkStats, "already merged");
  refused(kernel("6.1"), series.slubDeactivationTid, "already merged");
  for (
    const patch of [
      ...COVER.slice(0, 4),
      series.slubBulkIrqOff,
      series.slubBulkTidBump,
      series.slubBulkStats,
    ]
  ) refused(kernel("3.12"), patch, "no bulk functions yet");
});

Deno.test("each patch says where it came from", () => {
  for (const [name, patch] of Object.entries(series)) {
    assertEquals(patch.name, name);
    assertEquals(patch.thread, "kmem-cache-bulk");
    assertEquals(/^20\d\d-\d\d-\d\d$/.test(patch.date ?? ""), true, name);
  }
});

Deno.test("a later patch brings a rule of a later kernel", () => {
  const { slub } = V4_3.am(
    ...COVER,
    series.slubBulkIrqOff,
    series.slubPartialInSlabs,
  );
  assertEquals(slub.bulkAlloc, "irq off");
  assertEquals(
    V4_3.am(series.slubPartialInSlabs).slub.cpuPartial,
    kernel("6.1").slub.cpuPartial,
  );
});

/** Names of the facts in which two groups differ. */
function differences(a: object, b: object): string[] {
  const other = b as Record<string, unknown>;
  return Object.entries(a).filter(([name, value]) =>
    String(other[name]) !== String(value)
  )
    .map(([name]) => name);
}

Deno.test("the patches that came after lead from the thread's kernel to 4.6, but for what is no patch here", () => {
  const later = kernel("net-next-2015-10").am(
    series.slabBulkErrorPath,
    series.slubBulkIrqOff,
  ).slub;
  const merged = kernel("4.6").slub;
  assertEquals(differences(merged, later), ["bulkFreeOfNone", "slabIndex"]);
});

Deno.test("a patched fact says which patch brought it", () => {
  const rows = V4_3.am(...COVER).provenance().filter(({ release }) =>
    COVER.some((patch) => patch.name === release)
  );
  assertEquals(rows.map(({ name, release }) => [name, release]).sort(), [
    ["slub.bulkFree", "slubDetachedFreelist"],
    ["slub.bulkFreeOfNone", "slubDetachedFreelist"],
    ["slub.bulkFreeOfNull", "slubDetachedFreelist"],
    ["slub.slabBulk", "slabBulkSlab"],
  ]);
});
