import { assertThrows } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { PAGE_FREE, PAGE_PCP, PAGE_USED } from "../../lib/mm/zone.ts";
import { kernel } from "../../lib/releases/mod.ts";

/** What a broken allocator of 64 pages, pfn 0 in use, is told. */
const BROKEN: [string, (pages: PageAllocator) => void][] = [
  ["pfn 0 belongs to no block", (p) => p.zone.kind[0] = 0],
  ["block of order 2 at pfn 1 is not aligned", (p) => {
    p.zone.kind[1] = PAGE_USED | 2;
  }],
  ["leaves the zone", (p) => p.zone.kind[0] = PAGE_USED | 7],
  ["is a head as well", (p) => p.zone.kind[33] = PAGE_FREE],
  ["pfn 40 is no head and has 1 references", (p) => p.refcount[40] = 1],
  ["pfn 0 has -1 references", (p) => p.refcount[0] = -1],
  ["pfn 32 is not handed out and has 3 references", (p) => p.refcount[32] = 3],
  ["pfn 32 is not handed out and is pfmemalloc", (p) => {
    p.zone.kind[32]! |= 0x80;
  }],
  ["free buddies of order 4 at pfn 32 stand apart", (p) => {
    p.zone.kind[32] = PAGE_FREE | 4;
    p.zone.kind[48] = PAGE_FREE | 4;
  }],
  ["free list 0 holds 1, nr_free says 2", (p) => p.zone.nrFree[0] = 2],
  ["a free block of order 5 is in no list", (p) => {
    p.zone.unlink(32);
    p.zone.nrFree[5] = 0;
  }],
  ["63 pages are free, NR_FREE_PAGES says 64", (p) => p.zone.freePages++],
  ["prev of pfn 32 is 5", (p) => p.zone.prev[32] = 5],
  ["holds pfn 0 of kind", (p) => p.zone.linkAfter(p.zone.lists + 5, 0)],
  ["1 blocks of order 0 are marked per-CPU, lists hold 0", (p) => {
    p.zone.kind[0] = PAGE_PCP;
    p.refcount[0] = 0;
    p.counters.pgfree++;
  }],
  ["per-CPU lists of CPU 0 hold 0 pages, count says 1", (p) => {
    p.pcp[0]!.count = 1;
  }],
  ["1 pages are handed out, pgalloc - pgfree says 2", (p) => {
    p.counters.pgalloc++;
  }],
];

for (const [message, damage] of BROKEN) {
  Deno.test(`check names what is broken: ${message}`, () => {
    const pages = new PageAllocator(kernel("4.3"), {
      pages: 64,
      cpus: 1,
      minFreeKbytes: 0,
    });
    pages.alloc(Gfp.GFP_KERNEL, 0);
    pages.check();
    damage(pages);
    assertThrows(() => pages.check(), Error, message);
  });
}
