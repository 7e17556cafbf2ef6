import { assert, assertEquals, assertThrows } from "@std/assert";
import { BigRing } from "../../lib/drivers/virtio_big_ring.ts";
import { virtioBig } from "../../lib/drivers/virtio_net.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { fuzzRing } from "./ring_fuzz.ts";

const pagesOf = (name: string, pages = 16384) =>
  new PageAllocator(kernel(name), { pages, cpus: 1 });

Deno.test("18 pages wait for every packet: 256 chains with indirect descriptors, 13 without", () => {
  const memory = (options = {}) =>
    new BigRing(pagesOf("4.3"), options).memory();
  assertEquals(memory().blockBytes, 256 * 73_728);
  assertEquals(memory({ indirect: false }).blocks, 13 * 18);
});

Deno.test("receive charges what virtioBig builds", () => {
  const frames = [13, 14, 128, 129, 640, 641, 1514, 3760, 3761, 4080, 4081];
  frames.push(9014, 65226, 17 * 4096 - 16, 17 * 4096 - 15, 18 * 4096 - 16);
  frames.push(18 * 4096 - 15);
  for (const name of ["3.12", "3.13", "4.3", "6.1", "6.8"]) {
    for (const frame of frames) {
      const ring = new BigRing(pagesOf(name));
      const skb = virtioBig(kernel(name), frame);
      assertEquals(ring.receive(frame), skb?.truesize ?? 0, `${name} ${frame}`);
    }
  }
});

Deno.test("a full-size frame takes one page from the allocator with the list, 18 without", () => {
  const perFrame = (recycles: boolean) => {
    const ring = new BigRing(pagesOf("4.3"), { recycles });
    const { counters } = ring.pages;
    const before = counters.pgalloc;
    // Whole turns of the ring: a refill comes every 129 frames.
    for (let i = 0; i < 12_900; i++) {
      ring.receive(1514);
      ring.consume();
    }
    return (counters.pgalloc - before) / 12_900;
  };
  assertEquals([perFrame(true), perFrame(false)], [1, 18]);
});

Deno.test("a small frame takes none, a 64 KiB packet 16", () => {
  const ring = new BigRing(pagesOf("6.8"));
  const { counters } = ring.pages;
  const before = counters.pgalloc;
  for (let i = 0; i < 33; i++) ring.receive(60);
  assertEquals(counters.pgalloc, before);
  for (let i = 0; i < 33; i++) ring.receive(65226);
  assertEquals(counters.pgalloc - before, 33 * 16);
});

Deno.test("3.12 drops every packet and loses no page", () => {
  const ring = new BigRing(pagesOf("3.12"));
  for (let i = 0; i < 1000; i++) assertEquals(ring.receive(1514), 0);
  assertEquals([ring.counters.drops, ring.held.packets], [1000, 0]);
  ring.close();
  assertEquals(ring.pages.counters.pgalloc, ring.pages.counters.pgfree);
});

Deno.test("random frames, frees and failures: pages come out even", () => {
  for (const recycles of [true, false]) {
    const pages = pagesOf("6.8", 8192);
    const ring = new BigRing(pages, { size: 64, recycles });
    pages.failPageAlloc({ minOrder: 0, probability: 0.08, seed: 5 });
    fuzzRing(pages, ring, {
      seed: 0.2,
      runs: 20_000,
      longest: 74_000,
      burst: 2,
    }, () => {
      const { oom, missed, drops, packets } = ring.counters;
      assert(oom > 0 && missed > 0 && drops > 0 && packets > 100);
    });
  }
});

Deno.test("bad arguments are named", () => {
  const bad = (options: Record<string, unknown>, name: string) =>
    assertThrows(() => new BigRing(pagesOf("6.8"), options), Error, name);
  bad({ size: 31 }, "size");
  bad({ indirect: 1 }, "indirect");
  bad({ recycles: 0 }, "recycles");
  const ring = new BigRing(pagesOf("6.8"), { size: undefined });
  assertThrows(() => ring.receive(-1), RangeError, "frame");
  assertThrows(() => ring.consume(-1), RangeError, "packets");
});
