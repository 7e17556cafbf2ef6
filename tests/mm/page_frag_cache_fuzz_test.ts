import { assertEquals } from "@std/assert";
import { randomLcg } from "d3-random";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { PageFragCache } from "../../lib/mm/page_frag_cache.ts";
import { kernel, releases } from "../../lib/releases/mod.ts";
import { FragLedger } from "./frag_ledger.ts";

const OPERATIONS = 1_000_000;
const PAGES = 2048;

for (const name of releases) {
  Deno.test(`${name}: a million random operations on page_frag_cache keep bytes, references and counters right`, () => {
    const random = randomLcg(0.42);
    const below = (n: number): number => Math.floor(random() * n);
    const pages = new PageAllocator(kernel(name), {
      pages: PAGES,
      minFreeKbytes: 128,
    });
    const cache = new PageFragCache(pages);
    const { counters } = cache;
    const ledger = new FragLedger(pages);
    const facts = pages.kernel.pageFragCache;
    const refuses = facts.tooLarge.startsWith("null");
    let calls = 0;
    let capacity = 0;
    let started = -1;
    let nulls = 0;
    for (let i = 0; i < OPERATIONS; i++) {
      if (i % 20_000 === 0) {
        const minOrder = below(4);
        pages.failPageAlloc({ minOrder, probability: below(3) / 2, seed: i });
        if (below(4) === 0) {
          cache.drain();
          started = -1;
        }
      }
      // Phases in which the heap grows and phases in which it shrinks, now and then to nothing.
      const grows = below(100) < (Math.floor(i / 5000) % 2 === 0 ? 56 : 42);
      if (grows && ledger.addresses.length < 3000) {
        const large = refuses && below(20) === 0;
        const size = 1 + below(large ? 40_000 : below(4) === 0 ? 4096 : 800);
        const align = facts.align === "none" ? 1 : 1 << below(9);
        const { reuses } = counters;
        calls++;
        const address = cache.alloc(size, Gfp.GFP_ATOMIC, align);
        if (cache.pfn < 0) started = -1;
        if (address < 0) {
          nulls++;
          continue;
        }
        if (cache.pfn !== started || counters.reuses !== reuses) {
          capacity += cache.size;
          started = cache.pfn;
        }
        assertEquals(address % align, 0);
        ledger.take(address, size, cache.pfn);
      } else if (ledger.addresses.length > 0) {
        cache.free(ledger.give(below(ledger.addresses.length)));
      }
      if (i % 50_000 === 0) {
        ledger.checkRefcounts(cache.pfn, cache.bias);
        pages.check();
      }
    }
    assertEquals(
      [counters.corruptions, counters.useAfterFrees, counters.endlessLoops],
      [0, 0, 0],
    );
    assertEquals(calls, counters.frags + counters.failures + counters.refusals);
    assertEquals(nulls, counters.failures + counters.refusals);
    assertEquals(counters.refusals > 0, refuses);
    assertEquals(counters.failures > 0 && counters.reuses > 0, true);
    while (ledger.addresses.length > 0) cache.free(ledger.give(0));
    assertEquals(cache.bias, pages.refcount[cache.pfn] ?? 0);
    cache.drain();
    pages.drainPcp();
    assertEquals(pages.freePages(), PAGES);
    pages.check();
    assertEquals(capacity, ledger.bytes + counters.wastedBytes);
  });
}
