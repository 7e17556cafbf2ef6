import { assertEquals } from "@std/assert";
import { Slub } from "../../lib/mm/slub.ts";
import { slabViews } from "../../lib/mm/slub_view.ts";
import { kernel } from "../../lib/releases/mod.ts";

Deno.test("slabViews: every slab once, with the slots where they are", () => {
  const cache = new Slub({
    kernel: kernel("4.3"),
    objectSize: 256,
    cpus: 2,
  });
  const objects = Array.from({ length: 16 * 4 + 2 }, () => cache.alloc(0));
  // Slab 1 goes to CPU 1's list, slab 4 is CPU 0's and has a remote free, 0, 2 and 3 stay full.
  cache.free(objects[16]!, 1);
  cache.free(objects[18]!, 1);
  cache.free(objects[64]!, 1);
  const [cpuSlab, partial, ...full] = slabViews(cache);
  assertEquals(
    [cpuSlab!.slab, cpuSlab!.place, cpuSlab!.cpu, cpuSlab!.inuse],
    [4, "cpu slab", 0, 15],
  );
  assertEquals(cpuSlab!.freelist, [0]);
  assertEquals(cpuSlab!.cpuFreelist, [
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
  ]);
  assertEquals(
    cpuSlab!.held.map((held) => held ? 1 : 0).join(""),
    "0100000000000000",
  );
  assertEquals(
    [partial!.slab, partial!.place, partial!.cpu, partial!.frozen],
    [1, "cpu partial", 1, true],
  );
  assertEquals(partial!.freelist, [2, 0]);
  assertEquals(full.map(({ slab, place }) => [slab, place]), [
    [0, "full"],
    [2, "full"],
    [3, "full"],
  ]);
  cache.flush();
  assertEquals(
    slabViews(cache).map(({ slab, place, frozen }) => [slab, place, frozen]),
    [
      [4, "node partial", false],
      [1, "node partial", false],
      [0, "full", false],
      [2, "full", false],
      [3, "full", false],
    ],
  );
});
