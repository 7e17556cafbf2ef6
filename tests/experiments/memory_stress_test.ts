import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  BUFFER_SOURCES,
  type BufferSourceKind,
} from "../../lib/experiments/buffer_source.ts";
import {
  memoryStress,
  type MemoryStressOptions,
} from "../../lib/experiments/memory_stress.ts";
import { Gfp } from "../../lib/mm/gfp.ts";
import { kernel } from "../../lib/releases/mod.ts";

const stress = (
  name: string,
  source: BufferSourceKind,
  options: Omit<MemoryStressOptions, "kernel" | "source"> = {},
) => memoryStress({ kernel: kernel(name), source, ...options });
const fragmented = { shortage: "fragmented" as const };
const reserve = { shortage: "reserve" as const };

Deno.test("fragmented: 3.12 and 3.14 go down to order 2, 4.3 and later to single pages", () => {
  // 40 polls of 64 buffers: 2,560 of 1,536 bytes, 10 to an order-2 block, 2 to a page, 21 to an order-3 block.
  const blocks = (name: string, source: BufferSourceKind) =>
    stress(name, source, fragmented).blocks;
  assertEquals(blocks("3.12", "page_frag_cache"), [0, 0, 254, 0]);
  assertEquals(blocks("3.14", "skb_page_frag_refill"), [0, 0, 254, 0]);
  for (const name of ["4.3", "6.8", "6.18"]) {
    assertEquals(blocks(name, "page_frag_cache"), [1270, 0, 0, 0]);
    assertEquals(blocks(name, "skb_page_frag_refill"), [1270, 0, 0, 0]);
  }
  assertEquals(blocks("6.8", "vhost_net"), [1270, 0, 0, 0]);
  assertEquals(stress("6.8", "page_frag_cache").blocks, [0, 0, 0, 121]);
});

Deno.test("nobody's ring runs dry for want of large blocks", () => {
  for (const source of BUFFER_SOURCES) {
    for (const brokenOrder of [1, 3]) {
      const run = stress("6.8", source, { ...fragmented, brokenOrder });
      assertEquals([run.failed, run.warnings], [0, 0], source);
      assert(run.filled.every((count) => count === 256));
    }
  }
});

Deno.test("kmalloc lives on the empty slabs that it keeps, then on the smallest ones; page_pool asks for no more than a page", () => {
  const slab = (burst: number) =>
    stress("6.8", "kmalloc", { ...fragmented, brokenOrder: 1, burst }).blocks;
  // A poll of 64 empties four slabs of 16 objects; min_partial lets SLUB keep five.
  assertEquals(slab(64), [0, 0, 0, 0]);
  const [single, , , large] = slab(256);
  assert(single > 0 && large === 0);
  assertEquals(stress("6.8", "page_pool", fragmented).highOrderFailures, 0);
});

Deno.test("without reserve the ring drains and fills again as memory comes back", () => {
  for (const source of BUFFER_SOURCES) {
    const run = stress("6.8", source, reserve);
    const [from, to] = run.shortage;
    const least = Math.min(...run.filled.subarray(from, to));
    // What these two were given back they keep.
    if (source === "page_pool" || source === "kmalloc") {
      assertEquals([run.failed, least], [0, 256], source);
      continue;
    }
    assertEquals(least, 0, source);
    assert(run.failed > 40 && run.warnings === run.failed, source);
    assert(run.pollsToFull > 0 && run.pollsToFull < 20, source);
    assertEquals(run.filled.at(-1), 256);
  }
  const all = stress("6.8", "kmalloc", { ...reserve, burst: 256 });
  assert(all.failed > 40);
});

Deno.test("a failure warns, unless the caller asked for silence as 6.12's wrappers do", () => {
  const warnings = (gfp: number) =>
    stress("6.12", "page_frag_cache", { ...reserve, gfp }).warnings;
  assert(warnings(Gfp.GFP_ATOMIC) > 40);
  assertEquals(warnings(Gfp.GFP_ATOMIC | Gfp.__GFP_NOWARN), 0);
});

Deno.test("no large block: who waits for reclaim", () => {
  const stalls = (name: string, source: BufferSourceKind) => {
    const run = stress(name, source, { ...fragmented, gfp: Gfp.GFP_KERNEL });
    return run.allocstall / run.highOrderFailures;
  };
  assertEquals(stalls("3.13", "skb_page_frag_refill"), 1);
  assertEquals(stalls("4.3", "skb_page_frag_refill"), 0);
  assertEquals(stalls("6.8", "page_frag_cache"), 1);
  assertEquals(stalls("6.12", "page_frag_cache"), 0);
  assertEquals(stalls("6.8", "vhost_net"), 0);
});

Deno.test("high_order_alloc_disable spares the attempts, and costs single pages at all times", () => {
  const off = stress("6.8", "skb_page_frag_refill", fragmented);
  const on = stress("6.8", "skb_page_frag_refill", {
    ...fragmented,
    highOrderAllocDisable: true,
  });
  assert(off.highOrderFailures > 1000 && on.highOrderFailures === 0);
  assertEquals([on.kswapdWakeups, on.pollsToOrder3], [0, -1]);
  // Two buffers a page; without the sysctl the last large block still serves 20.
  assertEquals([on.blocks[0], off.blocks[0]], [1280, 1270]);
  assert(on.order0[0]! > 0 && off.order0[0] === 0);
});

Deno.test("one buffer in flight: a single page that always comes back is never given up", () => {
  // The cache starts its page again and again, long after large blocks are there; vhost_net's own refill did not.
  const alone = { ...fragmented, ring: 1, burst: 1, size: 768, polls: 1000 };
  assertEquals(stress("6.12", "page_frag_cache", alone).pollsToOrder3, -1);
  assertEquals(stress("6.18", "page_frag_cache", alone).pollsToOrder3, -1);
  assertEquals(stress("6.12", "vhost_net", alone).pollsToOrder3, -1);
  const own = stress("6.8", "vhost_net", alone).pollsToOrder3;
  assert(own >= 0 && own < 30, String(own));
});

Deno.test("everything comes back", () => {
  for (const name of ["3.12", "4.3", "6.8", "6.18"]) {
    for (const source of BUFFER_SOURCES) {
      if (source === "skb_page_frag_refill" && name === "3.12") continue;
      if (source === "vhost_net" && name < "5") continue;
      for (const shortage of ["none", "fragmented", "reserve"] as const) {
        const run = stress(name, source, { shortage, size: 2000 });
        assertEquals(run.pagesLeft, 0, `${name} ${source} ${shortage}`);
        assertEquals(run.live.at(-1), 256 * 2000);
      }
    }
  }
});

Deno.test("bad arguments are named", () => {
  const bad = (options: Record<string, unknown>, name: string) =>
    assertThrows(
      () => stress("6.8", "kmalloc", options),
      RangeError,
      name,
    );
  bad({ shortage: "some" }, "shortage");
  bad({ size: 4097 }, "size");
  bad({ ring: 0 }, "ring");
  bad({ burst: 257 }, "burst");
  bad({ polls: 3 }, "polls");
  bad({ recovery: 81 }, "recovery");
  bad({ brokenOrder: 4 }, "brokenOrder");
  assertThrows(
    () => stress("6.8", "slob" as "kmalloc"),
    RangeError,
    '"slob"',
  );
  assertThrows(
    () => stress("3.12", "skb_page_frag_refill"),
    RangeError,
    "any room",
  );
  assertThrows(() => stress("4.3", "vhost_net"), RangeError, "4.3");
});
