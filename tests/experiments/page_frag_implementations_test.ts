import { assertEquals, assertThrows } from "@std/assert";
import {
  PAGE_FRAG_IMPLEMENTATIONS,
  type PageFragImplementation,
  pageFragImplementation,
} from "../../lib/experiments/page_frag_implementations.ts";
import { vhostPageFrag } from "../../lib/patches/vhost_net_page_frag.ts";
import { patches } from "../../lib/patches/mod.ts";
import { kernel } from "../../lib/releases/mod.ts";

const before = kernel("6.8");
const after = before.am(
  patches.pageFragAlignArgument!,
  patches.pageFragGfpBits!,
  patches.pageFragCacheDrain!,
  vhostPageFrag,
);
const run = (
  implementation: PageFragImplementation,
  options = {},
  k = before,
) => pageFragImplementation({ kernel: k, implementation, ...options });

Deno.test("1,048,576 fragments, one in flight: only vhost_net's own takes a block every 42", () => {
  const blocks = PAGE_FRAG_IMPLEMENTATIONS.map((name) => {
    const { order3Allocations, reuses } = run(name);
    return [order3Allocations, reuses];
  });
  // skb_page_frag_refill starts its block again at every call that finds nobody else at it.
  assertEquals(blocks, [[1, 24_966], [1, 1_048_575], [24_967, 0]]);
});

Deno.test("the series makes vhost_net's the cache's", () => {
  for (const inFlight of [1, 41, 64]) {
    const options = { fragments: 42_000, inFlight };
    assertEquals(
      run("vhost_net", options, after),
      run("page_frag_cache", options, after),
    );
  }
});

Deno.test("with 42 in flight all three take a block every 42 fragments", () => {
  for (const name of PAGE_FRAG_IMPLEMENTATIONS) {
    const result = run(name, { fragments: 42_000, inFlight: 42 });
    assertEquals([result.order3Allocations, result.reuses], [1000, 0], name);
    assertEquals(result.wastedBytes, 999 * 512);
    assertEquals(result.pagesHeldMax, 16);
  }
});

Deno.test("a bias saves one atomic operation a fragment", () => {
  const operations = (name: PageFragImplementation) =>
    run(name, { fragments: 42_000, inFlight: 64 }).refcountOperations;
  assertEquals(operations("vhost_net"), 1000 + 999 + 42_000);
  assertEquals(operations("page_frag_cache"), 1000 + 999 + 42_000);
  assertEquals(operations("skb_page_frag_refill"), 2 * 42_000 + 999);
});

Deno.test("bad arguments are named", () => {
  assertThrows(() => run("slob" as "vhost_net"), RangeError, '"slob"');
  assertThrows(() => run("vhost_net", { size: 0 }), RangeError, "size");
  assertThrows(
    () => run("vhost_net", { fragments: 0 }),
    RangeError,
    "fragments",
  );
  assertThrows(() => run("vhost_net", { inFlight: 0 }), RangeError, "inFlight");
  assertThrows(
    () => run("vhost_net", {}, kernel("4.3")),
    RangeError,
    "4.3",
  );
});
