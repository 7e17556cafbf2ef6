import { assertEquals, assertThrows } from "@std/assert";
import type { Kernel } from "../../lib/kernel.ts";
import { IrqFlags } from "../../lib/mm/irq_flags.ts";
import { kmemCache } from "../../lib/mm/kmem_cache.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { PageFragCache } from "../../lib/mm/page_frag_cache.ts";
import { Napi, type NapiOptions } from "../../lib/net/napi.ts";
import {
  bulkAllocReuse,
  bulkFreeInfrastructure,
} from "../../lib/patches/kmem_cache_bulk.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("net-next-2015-10");
const bulkFree = base.am(bulkFreeInfrastructure);

function napiOf(k: Kernel, options: Partial<NapiOptions> = {}): Napi {
  const cache = kmemCache({ kernel: k, objectSize: 256 });
  const napi = new Napi({ kernel: k, cache, ...options });
  napi.inSoftirq.fill(1);
  return napi;
}

const take = (napi: Napi, count: number): number[] =>
  Array.from({ length: count }, () => napi.heads.alloc(0));

const counted = (napi: Napi): Readonly<Record<string, number>> =>
  napi.heads.cache.counters;

Deno.test("without the patch napi_consume_skb is the driver's dev_consume_skb_any: each head goes back by itself", () => {
  const napi = napiOf(base);
  for (const skb of take(napi, 64)) napi.napiConsumeSkb(skb, 64);
  assertEquals(napi.heads.counters.freedSingly, 64);
  assertEquals(napi.stacked, 0);
  napi.check();
});

Deno.test("the 64th head empties the stack in one bulk free: 2 lists instead of 64 frees", () => {
  const napi = napiOf(bulkFree);
  const skbs = take(napi, 128);
  const before = counted(napi).FREE_SLOWPATH!;
  for (const skb of skbs.slice(0, 63)) napi.napiConsumeSkb(skb, 64);
  assertEquals([napi.stacked, counted(napi).FREE_SLOWPATH], [63, before]);
  napi.check();
  napi.napiConsumeSkb(skbs[63]!, 64);
  assertEquals([napi.stacked, napi.counters.fullFrees], [0, 1]);
  assertEquals(counted(napi).FREE_SLOWPATH! - before, 2);
  napi.check();
});

Deno.test("from 5.12 on a full stack gives up its upper half and keeps the older heads", () => {
  const napi = napiOf(kernel("6.12"));
  const skbs = take(napi, 64);
  for (const skb of skbs) napi.napiConsumeSkb(skb, 64);
  assertEquals(
    Array.from(napi.skbCache[0]!.subarray(0, 32)),
    skbs.slice(0, 32).map((skb) => skb / 4),
  );
  assertEquals([napi.stacked, napi.heads.cache.inUse], [32, 32]);
  napi.check();
});

Deno.test("data go at once, the head waits", () => {
  const napi = napiOf(bulkFree);
  const skb = napi.heads.alloc(0);
  napi.napiConsumeSkb(skb, 64);
  assertEquals([napi.heads.inUse, napi.heads.counters.released], [0, 1]);
  assertEquals(napi.heads.cache.inUse, 1);
});

Deno.test("a shared skb only loses a user", () => {
  const napi = napiOf(bulkFree);
  const skb = napi.heads.get(napi.heads.alloc(0));
  napi.napiConsumeSkb(skb, 64);
  assertEquals([napi.heads.users[skb], napi.stacked], [1, 0]);
  napi.napiConsumeSkb(skb, 64);
  assertEquals([napi.heads.users[skb], napi.stacked], [-1, 1]);
});

Deno.test("fclones never reach the stack, so TCP's packets gain nothing", () => {
  const fcloneCache = kmemCache({ kernel: bulkFree, objectSize: 472 });
  const napi = napiOf(bulkFree, { fcloneCache });
  const { heads } = napi;
  const orig = heads.allocFclone(0);
  const clone = heads.clone(orig, 0);
  assertEquals([orig & 3, clone & 3], [1, 2]);
  napi.napiConsumeSkb(clone, 64);
  assertEquals([napi.stacked, fcloneCache.inUse], [0, 1]);
  // The pair's second half was used and is gone: the next clone has a head of its own.
  heads.kfreeSkb(orig, 0);
  assertEquals([napi.stacked, fcloneCache.inUse], [0, 0]);
  assertEquals(heads.counters.fclonesFreed, 1);
});

Deno.test("a second clone of a pair takes a head of its own, and that one is deferred", () => {
  const fcloneCache = kmemCache({ kernel: bulkFree, objectSize: 472 });
  const napi = napiOf(bulkFree, { fcloneCache });
  const orig = napi.heads.allocFclone(0);
  napi.heads.clone(orig, 0);
  const second = napi.heads.clone(orig, 0);
  assertEquals(second & 3, 0);
  napi.napiConsumeSkb(second, 64);
  assertEquals(napi.stacked, 1);
});

Deno.test("a budget of 0 goes to the completion queue; from 4.6 on only where interrupts are off", () => {
  const seed = napiOf(bulkFree);
  seed.napiConsumeSkb(seed.heads.alloc(0), 0);
  assertEquals([seed.completion.length[0], seed.stacked], [1, 0]);
  assertEquals(seed.counters.zeroBudgets, 1);

  const today = napiOf(kernel("6.12"));
  today.napiConsumeSkb(today.heads.alloc(0), 0);
  assertEquals([today.completion.length[0], today.heads.cache.inUse], [0, 0]);
  today.irq.disable(0);
  today.napiConsumeSkb(today.heads.alloc(0), 0);
  assertEquals(today.completion.length[0], 1);
});

Deno.test("netpoll without the budget test: SLAB's bulk free would switch interrupts on in its caller's section", () => {
  for (const [budget, off] of [[64, 0], [0, 1]] as const) {
    const irq = new IrqFlags(8);
    const cache = kmemCache({
      kernel: bulkFree,
      allocator: "slab",
      objectSize: 256,
      irq,
    });
    const napi = new Napi({ kernel: bulkFree, cache, irq });
    napi.inSoftirq[0] = 1;
    const skbs = take(napi, 64);
    irq.disable(0);
    for (const skb of skbs) napi.napiConsumeSkb(skb, budget);
    assertEquals(irq.off[0], off, `budget ${budget}`);
  }
});

Deno.test("a budget in process context: a softirq that comes in between loses its head", () => {
  const napi: Napi = napiOf(kernel("6.12"), {
    onUnprotected: (cpu) => {
      napi.inSoftirq[cpu] = 1;
      napi.napiConsumeSkb(stolen, 64, cpu);
      napi.inSoftirq[cpu] = 0;
    },
  });
  const [first, stolen] = take(napi, 2) as [number, number];
  napi.inSoftirq[0] = 0;
  napi.napiConsumeSkb(first, 64);
  assertEquals(napi.counters.warnings, 1);
  assertEquals([napi.stacked, napi.heads.cache.inUse], [1, 2]);
  assertThrows(() => napi.check(), Error, "2 heads taken");

  const protectedNapi = napiOf(kernel("6.12"), {
    onUnprotected: () => {
      throw new Error("in softirq context nothing comes in between");
    },
  });
  protectedNapi.napiConsumeSkb(protectedNapi.heads.alloc(0), 64);
  assertEquals(protectedNapi.counters.warnings, 0);
});

Deno.test("null is taken by the seed, and only with a budget of 0 since 5.11", () => {
  napiOf(bulkFree).napiConsumeSkb(-1, 64);
  const today = napiOf(kernel("6.12"));
  today.napiConsumeSkb(-1, 0);
  assertThrows(() => today.napiConsumeSkb(-1, 64), Error, "null");
});

Deno.test("patch 4 takes 8 heads at once and hands out the newest first", () => {
  const napi = napiOf(bulkFree.am(bulkAllocReuse));
  const first = napi.napiAllocSkb(256);
  assertEquals([napi.stacked, napi.counters.bulkHeads], [7, 8]);
  assertEquals(first / 4, 7);
  const freed = napi.heads.alloc(0);
  napi.napiConsumeSkb(freed, 64);
  assertEquals(napi.napiAllocSkb(256), freed);
  assertEquals(napi.counters.reused, 1);
  napi.kfreeSkbFlush();
  assertEquals([napi.counters.unusedFreed, napi.stacked], [7, 0]);
  napi.check();
});

Deno.test("heads that were used before do not count as unused when they are flushed", () => {
  const napi = napiOf(bulkFree.am(bulkAllocReuse));
  const skbs = Array.from({ length: 8 }, () => napi.napiAllocSkb(256));
  for (const skb of skbs) napi.napiConsumeSkb(skb, 64);
  napi.kfreeSkbFlush();
  assertEquals([napi.counters.bulkFreed, napi.counters.unusedFreed], [8, 0]);
});

Deno.test("without memory a receive gets nothing, and nothing is lost", () => {
  const k = bulkFree.am(bulkAllocReuse);
  const cache = kmemCache({ kernel: k, objectSize: 256, maxSlabs: 1 });
  const napi = new Napi({ kernel: k, cache });
  const skbs: number[] = [];
  for (let i = 0; i < 40; i++) {
    const skb = napi.napiAllocSkb(256);
    if (skb >= 0) skbs.push(skb);
  }
  assertEquals([skbs.length, napi.heads.counters.noHead], [32, 8]);
  assertEquals(new Set(skbs).size, 32);
  napi.check();
});

Deno.test("data come first and go first: with the skb, and where its head cannot be had", () => {
  const k = bulkFree.am(bulkAllocReuse);
  const pages = new PageAllocator(k, { pages: 4096 });
  const frags = new PageFragCache(pages);
  const cache = kmemCache({ kernel: k, objectSize: 256, maxSlabs: 1 });
  const napi = new Napi({ kernel: k, cache, frags });
  napi.inSoftirq[0] = 1;
  const skbs = Array.from({ length: 32 }, () => napi.napiAllocSkb(256));
  // 256 + 64 bytes and the shared info: 51 to a block.
  assertEquals(frags.size - frags.offset, 32 * 640);
  const held = (): number => pages.refcount[frags.pfn]! - frags.bias;
  assertEquals(held(), 32);
  assertEquals(napi.napiAllocSkb(256), -1);
  assertEquals([held(), napi.heads.counters.noHead], [32, 1]);
  napi.napiConsumeSkb(skbs[0]!, 64);
  assertEquals([held(), napi.stacked], [31, 1]);
});

Deno.test("no data, no skb, and no head is touched", () => {
  const k = bulkFree.am(bulkAllocReuse);
  const dataCache = kmemCache({ kernel: k, objectSize: 1024, maxSlabs: 1 });
  const napi = napiOf(k, { dataCache });
  let skbs = 0;
  while (napi.napiAllocSkb(256) >= 0) skbs++;
  assertEquals([skbs, napi.heads.counters.noData], [32, 1]);
  assertEquals(napi.stacked, 0);
});

Deno.test("requests larger than a page's fragment go the old way: a head by itself, from the stack since 5.12", () => {
  for (
    const [k, bulk] of [[bulkFree.am(bulkAllocReuse), 0], [
      kernel("6.12"),
      1,
    ]] as const
  ) {
    const napi = napiOf(k);
    napi.napiAllocSkb(4096);
    assertEquals([napi.counters.bulkAllocs, napi.heads.inUse], [bulk, 1]);
  }
});

Deno.test("a head that GRO merged away goes to the stack from 5.12 on", () => {
  for (const [name, stacked] of [["4.3", 0], ["6.1", 1]] as const) {
    const napi = napiOf(kernel(name));
    napi.napiSkbFreeStolenHead(napi.heads.alloc(0));
    assertEquals(napi.stacked, stacked, name);
  }
});

Deno.test("a double free and a foreign skb are errors", () => {
  const napi = napiOf(bulkFree);
  const skb = napi.heads.alloc(0);
  napi.napiConsumeSkb(skb, 64);
  assertThrows(() => napi.napiConsumeSkb(skb, 64), Error, "not in use");
  assertThrows(() => napi.napiConsumeSkb(4000, 64), Error, "not in use");
  assertThrows(() => napi.heads.get(skb), Error, "not in use");
});

Deno.test("a what-if sets depth and bulk size; impossible ones are refused", () => {
  const rules = { skbCacheSize: 128, keptWhenFull: 96, bulkAlloc: 32 };
  const napi = napiOf(kernel("6.12"), { rules });
  for (const skb of take(napi, 128)) napi.napiConsumeSkb(skb, 64);
  assertEquals(napi.stacked, 96);
  for (
    const [rule, name] of [
      [{ skbCacheSize: -1 }, "skbCacheSize"],
      [{ keptWhenFull: 64 }, "keptWhenFull"],
      [{ bulkAlloc: 65 }, "bulkAlloc"],
      [{ bulkAlloc: 1.5 }, "bulkAlloc"],
    ] as const
  ) {
    assertThrows(
      () => napiOf(kernel("6.12"), { rules: rule }),
      RangeError,
      name,
    );
  }
});

Deno.test("bad arguments name themselves", () => {
  const napi = napiOf(bulkFree);
  const skb = napi.heads.alloc(0);
  assertThrows(() => napi.napiConsumeSkb(skb, 64, 8), RangeError, "cpu 8");
  assertThrows(() => napi.napiAllocSkb(NaN), RangeError, "length NaN");
  assertThrows(() => napi.napiAllocSkb(70000), RangeError, "length 70000");
  assertThrows(
    () => new Napi({ kernel: base, cache: undefined as never }),
    TypeError,
    "cache",
  );
});

Deno.test("the rules are the kernel's facts, whatever its name and patches", () => {
  const nameless = { ...kernel("6.12"), name: "6.99", patches: [] } as Kernel;
  const cache = kmemCache({ kernel: nameless, objectSize: 256 });
  assertEquals(
    { ...new Napi({ kernel: nameless, cache }).rules },
    { ...kernel("6.12").napi },
  );
});
