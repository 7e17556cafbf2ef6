import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  bufferSource,
  type BufferSourceKind,
  cutBlock,
} from "../../lib/experiments/buffer_source.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { netdevAllocSkb } from "../../lib/net/skbuff.ts";
import {
  mixedLifetimes,
  type MixedLifetimesOptions,
} from "../../lib/experiments/mixed_lifetimes.ts";
import { kernel } from "../../lib/releases/mod.ts";

const run = (
  short: BufferSourceKind,
  long: BufferSourceKind,
  options: Partial<MixedLifetimesOptions> = {},
) => mixedLifetimes({ kernel: kernel("6.8"), short, long, ...options });

Deno.test("one survivor in sixteen buffers pins every block of a shared cache", () => {
  for (const kind of ["page_frag_cache", "skb_page_frag_refill"] as const) {
    const shared = run(kind, kind);
    // 1,024 survivors, 1,024 blocks.
    assertEquals(shared.pinned, 1024 * 32768);
    assertEquals(shared.pinnedLive, 1024 * 1920);
    assert(shared.ratio > 15);
    const own = run(kind, kind, { shared: false });
    assert(own.ratio < 1.1 && own.pinned < shared.pinned / 15);
  }
});

Deno.test("the fewer survive, the more each pins, up to a block", () => {
  const ratio = (every: number) => {
    const { pinned, pinnedLive } = run("page_frag_cache", "page_frag_cache", {
      every,
      longLive: 256,
    });
    return pinned / pinnedLive;
  };
  const ratios = [2, 4, 8, 16, 32].map(ratio);
  for (let i = 1; i < 4; i++) assert(ratios[i]! > ratios[i - 1]! * 1.5);
  // A block holds 16 buffers: beyond that a survivor cannot pin more than one.
  assert(ratios[4]! <= 32768 / 1920 && ratios[4]! > 17);
});

Deno.test("what one held packet pins of its charge: 46.5, 42.7 and 15.1 times", () => {
  const k = kernel("3.12");
  const ratios = [64, 128, 1518].map((length) => {
    const { truesize, headSize } = netdevAllocSkb(k, length);
    const block = cutBlock(
      bufferSource("page_frag_cache", new PageAllocator(k)),
      headSize,
    );
    return Math.round(10 * block.size / truesize) / 10;
  });
  assertEquals(ratios, [46.5, 42.7, 15.1]);
});

Deno.test("what kmalloc and page_pool hold stays near what is in use", () => {
  assert(run("kmalloc", "kmalloc").ratio < 1.2);
  assert(run("page_frag_cache", "kmalloc").ratio < 1.2);
  assert(run("page_frag_cache", "page_pool").ratio < 1.3);
  // A page of two buffers is pinned by one survivor.
  const pool = run("page_pool", "page_pool");
  assert(pool.ratio > 2 && pool.ratio < 2.3);
});

Deno.test("columns agree with the totals, nothing leaks, and memory can run out", () => {
  for (
    const [short, long, shared] of [
      ["page_frag_cache", "page_frag_cache", true],
      ["page_frag_cache", "page_frag_cache", false],
      ["kmalloc", "kmalloc", true],
      ["page_pool", "kmalloc", false],
      ["vhost_net", "vhost_net", true],
    ] as const
  ) {
    const result = run(short, long, { shared });
    assertEquals(result.held.length, 4096);
    assertEquals(Math.max(...result.held), result.heldMax);
    assertEquals(result.live.at(-1), 1024 * 1920 + 64 * 2048);
    assertEquals([result.failed, result.pagesLeft], [0, 0], short);
  }
  const tight = run("page_frag_cache", "page_frag_cache", { pages: 2048 });
  assert(tight.failed > 0);
  assertEquals(tight.pagesLeft, 0);
});

Deno.test("bad arguments are named", () => {
  const bad = (options: Record<string, unknown>, name: string) =>
    assertThrows(() => run("kmalloc", "kmalloc", options), RangeError, name);
  bad({ shortSize: 0 }, "shortSize");
  bad({ longSize: 4097 }, "longSize");
  bad({ shortLive: 0 }, "shortLive");
  bad({ longLive: 0 }, "longLive");
  bad({ every: 1 }, "every");
  bad({ rounds: 0 }, "rounds");
  assertThrows(
    () => run("kmalloc", "page_pool", { shared: true }),
    RangeError,
    "no blocks in common",
  );
});
