import { assert, assertEquals } from "@std/assert";
import { randomLcg } from "d3-random";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";

const PAGES = 16_384 + 77;
const CPUS = 4;
const REQUESTS = [
  Gfp.GFP_ATOMIC | Gfp.__GFP_COMP,
  Gfp.GFP_KERNEL | Gfp.__GFP_COMP | Gfp.__GFP_NORETRY,
  Gfp.GFP_ATOMIC | Gfp.__GFP_COLD,
  Gfp.GFP_ATOMIC | Gfp.__GFP_MEMALLOC,
];

for (const name of ["3.12", "4.3", "6.1", "6.8", "6.18"]) {
  Deno.test(`page allocator ${name}: a million operations of all orders on four CPUs lose no page`, () => {
    const pages = new PageAllocator(kernel(name), { pages: PAGES, cpus: CPUS });
    const random = randomLcg(0.42);
    const held = new Int32Array(PAGES);
    const owner = new Uint8Array(PAGES);
    let count = 0, failed = 0;
    for (let i = 0; i < 1_000_000; i++) {
      const draw = Math.floor(random() * 2 ** 30);
      const cpu = draw & 3;
      // The pressure comes and goes: phases in which more is taken than freed, and the other way round.
      const taking = (draw >> 2 & 15) < ((i >> 15 & 1) === 0 ? 9 : 6);
      if (taking || count === 0) {
        // Orders 0 to 10, each half as frequent as the one before; a third of them order 3.
        const order = (draw >> 6) % 3 === 0
          ? 3
          : Math.min(Math.clz32(draw >> 8) - 10, 10);
        const pfn = pages.alloc(REQUESTS[draw >> 24 & 3]!, order, cpu);
        if (pfn < 0) {
          failed++;
          continue;
        }
        if (owner.subarray(pfn, pfn + (1 << order)).includes(1)) {
          throw new Error(`pfn ${pfn} was handed out twice`);
        }
        owner.fill(1, pfn, pfn + (1 << order));
        held[count++] = pfn;
      } else {
        const at = (draw >> 6) % count;
        const pfn = held[at]!;
        held[at] = held[--count]!;
        owner.fill(0, pfn, pfn + (1 << pages.orderOf(pfn)));
        if (draw >> 24 & 1) pages.free(pfn, cpu);
        else assert(pages.putPage(pfn, cpu));
      }
      if (i % 62_500 === 0) pages.check();
    }
    pages.check();
    assert(failed > 1000, `only ${failed} requests failed`);
    assert(pages.counters.pfmemalloc > 0);
    while (count > 0) pages.free(held[--count]!, count & 3);
    pages.drainPcp();
    pages.check();
    assertEquals(pages.freePages(), PAGES);
    assertEquals(pages.buddyInfo(), [1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 16]);
    const { allocations, frees, failures, pgalloc, pgfree } = pages.counters;
    assertEquals(Array.from(allocations), Array.from(frees));
    assertEquals(pgalloc, pgfree);
    assertEquals(failures.reduce((sum, n) => sum + n, 0), failed);
    const { pcpHits, pcpRefills, pcpRefilled, pcpFrees, pcpDrained } =
      pages.counters;
    assert(pcpHits > 0 && pcpRefills > 0);
    assertEquals(
      pcpRefilled + pcpFrees - pcpDrained,
      listed(pages),
      "what went to a per-CPU list and did not go back was handed out",
    );
  });
}

/** Blocks that per-CPU lists handed out. */
function listed(pages: PageAllocator): number {
  const { allocations } = pages.counters;
  let sum = 0;
  for (let order = 0; order <= pages.kernel.page.pcpMaxOrder; order++) {
    sum += allocations[order]!;
  }
  return sum;
}
