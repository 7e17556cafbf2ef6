import { assert, assertEquals } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { PageFragCache } from "../../lib/mm/page_frag_cache.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { type Rig, rig, steps, variant } from "./page_frag_cache_rig.ts";

const { GFP_ATOMIC, GFP_KERNEL } = Gfp;
const ALL = ["3.12", "4.3", "6.1", "6.8", "6.12", "6.18"];
const UP = ["3.12", "6.18"];
const DOWN = ["4.3", "6.1", "6.8", "6.12"];

Deno.test("9000 bytes: three from 32 KiB, then 3.12 to 6.12 take a fresh block", () => {
  for (const name of ["3.12", ...DOWN]) {
    const { cache } = rig(name);
    const found = steps(0, 1, 4).map(() =>
      cache.alloc(9000, GFP_ATOMIC) - cache.base
    );
    assertEquals(
      found,
      UP.includes(name) ? [0, 9000, 18000, 0] : [23768, 14768, 5768, 23768],
    );
    assertEquals(cache.counters.refills, 2);
  }
});

Deno.test("6.18: the fourth 9000 bytes are refused although order 3 is there; a small request unblocks it", () => {
  const { cache } = rig("6.18");
  const found = steps(0, 1, 4).map(() => cache.alloc(9000, GFP_ATOMIC));
  assertEquals(found.map((address) => address - cache.base), [
    0,
    9000,
    18000,
    -1 - cache.base,
  ]);
  assertEquals(cache.alloc(9000, GFP_ATOMIC), -1);
  assertEquals([cache.counters.refills, cache.counters.refusals], [1, 2]);
  const old = cache.pfn;
  cache.alloc(4096, GFP_ATOMIC);
  assertEquals(cache.pfn, old);
  cache.alloc(4096, GFP_ATOMIC);
  assert(cache.pfn !== old);
  assertEquals(cache.alloc(9000, GFP_ATOMIC), cache.base + 4096);
});

Deno.test("3.12: 9000 bytes with single pages only would start the page again for ever", () => {
  const { cache } = rig("3.12", true);
  assertEquals(cache.alloc(9000, GFP_ATOMIC), -1);
  assertEquals(cache.alloc(5000, GFP_ATOMIC), -1);
  assertEquals([cache.counters.endlessLoops, cache.counters.refills], [2, 1]);
  assertEquals(cache.counters.reuses, 0);
  assertEquals(cache.alloc(4096, GFP_ATOMIC), cache.base);
});

Deno.test("3.12: 40000 bytes loop even on a large block", () => {
  const { cache } = rig("3.12");
  assertEquals(cache.alloc(40000, GFP_ATOMIC), -1);
  assertEquals(cache.counters.endlessLoops, 1);
});

Deno.test("4.3: 9000 bytes with single pages only lie 4904 bytes before the page, and the offset wraps to 60632", () => {
  const { pages, cache } = rig("4.3", true);
  const address = cache.alloc(9000, GFP_ATOMIC);
  assertEquals(address, cache.base - 4904);
  assertEquals(cache.offset, 60632);
  assertEquals(cache.counters.corruptions, 1);
  assertEquals([pages.refcount[cache.pfn], cache.bias], [4096, 4095]);
});

Deno.test("4.3: after that the next 1000 bytes lie beyond the page, until the offset is back in it", () => {
  const { cache } = rig("4.3", true);
  cache.alloc(9000, GFP_ATOMIC);
  assertEquals(cache.alloc(1000, GFP_ATOMIC), cache.base + 59632);
  assertEquals(cache.counters.corruptions, 2);
  assertEquals(cache.alloc(56000, GFP_ATOMIC), cache.base + 3632);
  assertEquals(cache.counters.corruptions, 3);
  assertEquals(cache.alloc(632, GFP_ATOMIC), cache.base + 3000);
  assertEquals(cache.counters.corruptions, 3);
});

Deno.test("5.10 to 5.19 underflow too", () => {
  const { cache } = rig(variant("6.1", { tooLarge: "underflows" }), true);
  assertEquals(cache.alloc(9000, GFP_ATOMIC), cache.base - 4904);
  assertEquals([cache.offset, cache.counters.corruptions], [60632, 1]);
});

Deno.test("4.3: with 64 KiB pages the offset keeps 32 bits and does not come back as a large one", () => {
  const pages = new PageAllocator(kernel("4.3", { pageSize: 65536 }), {
    pages: 256,
  });
  const cache = new PageFragCache(pages);
  assertEquals(cache.alloc(70000, GFP_ATOMIC), cache.base - 4464);
  assertEquals(cache.alloc(1000, GFP_ATOMIC), cache.base + 64536);
  assertEquals([cache.counters.corruptions, cache.counters.refills], [1, 2]);
  assertEquals(cache.counters.wastedBytes, 0);
});

/** A corrupt fragment of 4.3 whose address lies in the page two before the cache's, which is held or not. */
function corrupt(
  victimHeld: boolean,
): Rig & { address: number; victim: number } {
  const { pages, cache } = rig("4.3", true);
  const held = steps(0, 1, 16).map(() => pages.alloc(GFP_KERNEL, 0));
  const pfn = held.find((at) => held.includes(at - 2))!;
  if (!victimHeld) pages.free(pfn - 2);
  pages.free(pfn);
  const address = cache.alloc(9000, GFP_ATOMIC);
  assertEquals(cache.pfn, pfn);
  return { pages, cache, address, victim: pfn - 2 };
}

Deno.test("4.3: freeing a corrupt fragment frees somebody else's page", () => {
  const { pages, cache, address, victim } = corrupt(true);
  cache.free(address);
  assertEquals(pages.refcount[victim], 0);
  assertEquals(pages.refcount[cache.pfn], 4096);
  assertEquals(cache.counters.corruptions, 1);
});

Deno.test("4.3: freeing a corrupt fragment that lies in free memory is one more corruption", () => {
  const { pages, cache, address, victim } = corrupt(false);
  cache.free(address);
  assertEquals(pages.refcount[victim], 0);
  assertEquals(cache.counters.corruptions, 2);
  pages.check();
});

Deno.test("6.1 to 6.12: 9000 bytes with single pages only are refused, and the page is kept", () => {
  for (const name of ["6.1", "6.8", "6.12"]) {
    const { pages, cache } = rig(name, true);
    assertEquals(cache.alloc(9000, GFP_ATOMIC), -1);
    assertEquals(cache.alloc(9000, GFP_ATOMIC), -1);
    assertEquals([pages.refcount[cache.pfn], cache.bias], [32769, 32769]);
    assertEquals([cache.counters.refusals, cache.counters.refills], [2, 1]);
    assertEquals(cache.alloc(1000, GFP_ATOMIC), cache.base + 3096);
  }
});

Deno.test("6.8: a refusal leaves the old offset, although the references are started again", () => {
  const { pages, cache } = rig("6.8", true);
  cache.free(cache.alloc(1000, GFP_ATOMIC));
  assertEquals(cache.alloc(9000, GFP_ATOMIC), -1);
  assertEquals([pages.refcount[cache.pfn], cache.bias], [32769, 32769]);
  assertEquals(cache.offset, 3096);
  assertEquals(cache.counters.reuses, 0);
});

Deno.test("6.18: 9000 bytes with single pages only are refused, and the page is kept", () => {
  const { cache } = rig("6.18", true);
  assertEquals(cache.alloc(9000, GFP_ATOMIC), -1);
  assertEquals([cache.counters.refusals, cache.counters.refills], [1, 1]);
  assertEquals(cache.alloc(1000, GFP_ATOMIC), cache.base);
});

Deno.test("4.3: 32768 fragments of a byte spend all references, and the last user frees the block under the cache", () => {
  const { pages, cache } = rig("4.3");
  const held = steps(0, 1, 32768).map(() => cache.alloc(1, GFP_ATOMIC));
  assertEquals([cache.bias, pages.refcount[cache.pfn]], [0, 32768]);
  for (const address of held) cache.free(address);
  assertEquals(pages.counters.frees[3], 1);
  cache.alloc(1, GFP_ATOMIC);
  assertEquals(cache.counters.useAfterFrees, 1);
  pages.check();
});

Deno.test("5.1 on: 32768 fragments of a byte leave the cache a reference", () => {
  const { pages, cache } = rig("6.1");
  const held = steps(0, 1, 32768).map(() => cache.alloc(1, GFP_ATOMIC));
  for (const address of held) cache.free(address);
  assertEquals(pages.refcount[cache.pfn], 1);
  cache.alloc(1, GFP_ATOMIC);
  assertEquals([cache.counters.useAfterFrees, cache.counters.reuses], [0, 1]);
});

Deno.test("3.12 sets the refcount and loses a speculative reference; 4.3 adds and keeps it", () => {
  for (const [name, refcount] of [["3.12", 32768], ["4.3", 32769]] as const) {
    const pages = new PageAllocator(kernel(name), { pages: 4096 });
    const cache = new PageFragCache(pages, {
      speculate: (pfn) => pages.getPage(pfn),
    });
    cache.alloc(1920, GFP_ATOMIC);
    assertEquals(pages.refcount[cache.pfn], refcount);
  }
});

/** A cache whose first block comes from the reserve, used up and with all fragments back, memory free again. */
function afterPressure(name: string): Rig {
  const { pages, cache } = rig(name);
  const hold = pages.pressure(4);
  const held = steps(0, 1, 2).map(() =>
    cache.alloc(1920, GFP_ATOMIC | Gfp.__GFP_MEMALLOC)
  );
  assertEquals(cache.pfmemalloc, true);
  while (cache.offset >= 1920 && cache.offset + 1920 <= cache.size) {
    held.push(cache.alloc(1920, GFP_ATOMIC | Gfp.__GFP_MEMALLOC));
  }
  for (const address of held) cache.free(address);
  hold.release();
  return { pages, cache };
}

Deno.test("up to 5.9 a block from the reserve is recycled for ever", () => {
  for (const name of ["3.12", "4.3"]) {
    const { cache } = afterPressure(name);
    const { pfn } = cache;
    for (let i = 0; i < 100; i++) cache.free(cache.alloc(1920, GFP_ATOMIC));
    assertEquals([cache.pfn, cache.pfmemalloc], [pfn, true]);
    assertEquals(cache.counters.pfmemallocDrops, 0);
  }
});

Deno.test("from 5.10 on a block from the reserve is given back at the next wrap", () => {
  for (const name of ["6.1", "6.8", "6.12", "6.18"]) {
    const { cache } = afterPressure(name);
    cache.alloc(1920, GFP_ATOMIC);
    assertEquals(cache.pfmemalloc, false);
    assertEquals(
      [cache.counters.pfmemallocDrops, cache.counters.refills],
      [1, 2],
    );
  }
});

Deno.test("5.10 to 6.12: over a page from the reserve, dropping and taking it never ends", () => {
  for (const name of ["6.1", "6.12"]) {
    const { pages, cache } = rig(name);
    const hold = pages.pressure(4);
    assertEquals(cache.alloc(9000, GFP_ATOMIC | Gfp.__GFP_MEMALLOC), -1);
    assertEquals(cache.counters.endlessLoops, 1);
    assertEquals(cache.pfn, -1);
    hold.release();
    pages.check();
  }
});

Deno.test("a fragment held out of every 17 makes a fresh block every 17; none held, never", () => {
  for (const name of ALL) {
    for (const keep of [true, false]) {
      const { cache } = rig(name);
      for (let i = 0; i < 17 * 20; i++) {
        const address = cache.alloc(1920, GFP_ATOMIC);
        if (!keep || i % 17 > 0) cache.free(address);
      }
      assertEquals(cache.counters.refills, keep ? 20 : 1);
    }
  }
});

Deno.test("up to 5.10 a held 704-byte packet may pin 32 KiB", () => {
  const { pages, cache } = rig("4.3");
  // One small fragment is kept of each block, the other ones are freed.
  for (let block = 0; block < 10; block++) {
    cache.alloc(448, GFP_ATOMIC);
    const rest = steps(0, 1, 72).map(() => cache.alloc(448, GFP_ATOMIC));
    for (const address of rest) cache.free(address);
  }
  assertEquals(cache.counters.refills, 10);
  assertEquals(pages.counters.frees[3], 0);
});
