import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  PagePool,
  pagePoolFragSize,
  pagePoolReceive,
} from "../../lib/drivers/page_pool.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";

function newPool(options = {}): PagePool {
  return new PagePool(
    new PageAllocator(kernel("6.8"), { pages: 4096, cpus: 1 }),
    options,
  );
}

Deno.test("pagePoolReceive: half a page behind a small head, or built around", () => {
  const k = kernel("6.8");
  const skb = pagePoolReceive(k, 1514);
  assertEquals([skb.truesize, skb.frags.length], [1280 + 2048, 1]);
  assertEquals(pagePoolReceive(k, 256).truesize, 1280);
  assertEquals(pagePoolReceive(k, 257).truesize, 3328);
  assertEquals(pagePoolReceive(k, 9014).truesize, 1280 + 5 * 2048);
  for (const [fragment, size] of [[2048, 2048], [1984, 1984], [2049, 4096]]) {
    assertEquals(
      pagePoolReceive(k, 1514, { build: true, fragment }).truesize,
      size! + 256,
    );
  }
  // 64 bytes of headroom and 320 of shared info must fit, too.
  assertEquals(pagePoolReceive(k, 1664, { build: true }).truesize, 2304);
  assertThrows(
    () => pagePoolReceive(k, 1665, { build: true }),
    RangeError,
    "1664",
  );
});

Deno.test("a fragment that leaves too little for another gets the rest", () => {
  const k = kernel("6.8");
  assertEquals(pagePoolFragSize(k, 1536), 1536);
  assertEquals(pagePoolFragSize(k, 1536, true), 2560);
  assertEquals(pagePoolFragSize(k, 2048, true), 2048);
  assertEquals(pagePoolFragSize(k, 2049), 4096);
  assertEquals(
    pagePoolReceive(k, 1514, { fragment: 1536, last: true }).truesize,
    1280 + 2560,
  );
});

Deno.test("PagePool cuts pages as pagePoolFragSize says", () => {
  for (const size of [64, 100, 700, 1000, 1365, 1366, 1536, 2047, 2048]) {
    const pool = newPool();
    const first = pool.alloc(size);
    const step = Math.ceil(size / 8) * 8;
    let offset = 0;
    while (pool.size === size && offset + size < 4096) {
      const address = pool.alloc(size);
      if (address - first !== offset + step) break;
      offset += step;
    }
    assertEquals(pool.size, pagePoolFragSize(kernel("6.8"), size, true));
    assertEquals(offset + pool.size, 4096);
  }
  const pool = newPool();
  pool.alloc(2049);
  assertEquals([pool.size, pool.counters.frags], [4096, 0]);
});

Deno.test("a page is recycled when all its fragments have returned", () => {
  const pool = newPool();
  const { counters } = pool;
  const first = pool.alloc(2048);
  const second = pool.alloc(2048);
  const third = pool.alloc(2048);
  assertEquals([second - first, counters.pagesHold], [2048, 64]);
  assert(Math.abs(third - first) >= 4096);
  assertEquals(pool.inflight, 2);
  pool.put(first);
  assertEquals(counters.recycleCached, 0);
  pool.put(second);
  assertEquals([counters.recycleCached, pool.inflight], [1, 1]);
  // The current page waits for the pool, not for its users.
  pool.put(third);
  assertEquals(counters.recycleCached, 1);
});

Deno.test("a current page whose fragments are all back starts again in place", () => {
  const pool = newPool();
  const addresses = [pool.alloc(2048), pool.alloc(2048)];
  for (const address of addresses) pool.put(address);
  assertEquals(pool.alloc(2048), addresses[0]);
  assertEquals(pool.counters.recycleCached, 0);
  for (let i = 0; i < 10_000; i++) pool.put(pool.alloc(1536));
  assertEquals(pool.counters.pagesHold, 64);
});

Deno.test("pages returned from elsewhere go through the ring", () => {
  const pool = newPool({ poolSize: 100 });
  const { counters } = pool;
  const addresses = Array.from({ length: 400 }, () => pool.alloc(4096));
  assertEquals([counters.allocSlow, counters.allocEmpty], [7, 7]);
  for (const address of addresses.slice(0, 150)) pool.put(address, false);
  assertEquals([counters.recycleRing, counters.recycleRingFull], [100, 50]);
  assertEquals(counters.pagesRelease, 50);
  for (const address of addresses.slice(150)) pool.put(address);
  // 48 of the last 64 were still cached.
  assertEquals(counters.recycleCached, 128 - 48);
  assertEquals(counters.recycleCacheFull, 250 - 80);
  for (let i = 0; i < 128; i++) pool.alloc(4096);
  assertEquals(counters.allocRefill, 0);
  pool.alloc(4096);
  assertEquals(counters.allocRefill, 1);
});

Deno.test("pages that others hold and pages without memory are counted", () => {
  const pool = newPool();
  const address = pool.alloc(4096);
  pool.pages.getPage(address / 4096);
  pool.put(address);
  assertEquals(pool.counters.recycleReleasedRef, 1);
  pool.pages.failOrders(0);
  while (pool.alloc(4096) >= 0);
  assertEquals(pool.counters.allocFailed, 1);
  assertEquals(pool.alloc(1000), -1);
});

Deno.test("higher orders come one by one", () => {
  const pool = newPool({ order: 2 });
  const { counters } = pool;
  const addresses = [0, 1, 2, 3, 4].map(() => pool.alloc(6000));
  assertEquals(pool.size, 6000);
  assertEquals([counters.allocSlowHo, counters.allocSlow], [3, 0]);
  assertEquals(addresses[1]! - addresses[0]!, 6000);
  pool.put(addresses[1]!);
  pool.put(addresses[0]!);
  assertEquals(counters.recycleCached, 1);
});

Deno.test("destroy gives everything back, fragments in flight as they return", () => {
  const pool = newPool();
  const { pages, counters } = pool;
  const addresses = Array.from({ length: 11 }, () => pool.alloc(1536));
  for (let i = 0; i < 5; i++) pool.put(addresses[i]!, i % 2 === 0);
  pool.destroy();
  assertEquals(pool.inflight, 4);
  for (let i = 5; i < 11; i++) pool.put(addresses[i]!);
  assertEquals(counters.pagesHold, counters.pagesRelease);
  assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
  pages.check();
  assertThrows(() => pool.alloc(64), Error, "destroyed");
});

Deno.test("bad arguments are named", () => {
  const k = kernel("6.8");
  const pool = newPool({ order: undefined });
  for (const bad of [0, -1, 0.5, NaN, 4097]) {
    assertThrows(() => pool.alloc(bad), RangeError, "size");
    assertThrows(() => pagePoolFragSize(k, bad), RangeError, "size");
  }
  const address = pool.alloc(2048);
  pool.put(address);
  assertThrows(() => pool.put(address), Error, "nothing");
  assertThrows(() => pool.put(-4096), Error, "nothing");
  assertThrows(() => newPool({ order: 4 }), RangeError, "order");
  assertThrows(() => newPool({ poolSize: 0 }), RangeError, "poolSize");
  assertThrows(() => newPool({ cpu: NaN }), RangeError, "cpu");
  assertThrows(() => pagePoolReceive(k, 13), RangeError, "frame");
  assertThrows(
    () => pagePoolReceive(k, 2048 * 17 + 1),
    RangeError,
    "34816",
  );
  assertThrows(
    () => pagePoolReceive(k, 60, { fragment: 10 }),
    RangeError,
    "fragment",
  );
  assertThrows(
    () => pagePoolReceive(k, 60, { build: "yes" as unknown as boolean }),
    TypeError,
    "build",
  );
});
