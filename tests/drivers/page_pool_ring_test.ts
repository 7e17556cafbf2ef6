import { assert, assertEquals, assertThrows } from "@std/assert";
import { pagePoolReceive } from "../../lib/drivers/page_pool.ts";
import { PagePoolRing } from "../../lib/drivers/page_pool_ring.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { fuzzRing } from "./ring_fuzz.ts";

const pagesOf = () =>
  new PageAllocator(kernel("6.8"), { pages: 8192, cpus: 1 });

Deno.test("a full ring lies two buffers to a page, and a page each above half of one", () => {
  assertEquals(new PagePoolRing(pagesOf()).memory(), {
    buffers: 256,
    bytes: 128 * 4096,
    blocks: 128,
    blockBytes: 128 * 4096,
  });
  const whole = new PagePoolRing(pagesOf(), { fragment: 2049 }).memory();
  assertEquals([whole.blocks, whole.bytes], [256, 256 * 4096]);
  // 1,920 and what is left of the page, 2,176.
  const built = new PagePoolRing(pagesOf(), { fragment: 1920, build: true });
  assertEquals(built.memory().bytes, 128 * 4096);
});

Deno.test("receive charges what pagePoolReceive builds", () => {
  const k = kernel("6.8");
  for (const frame of [14, 256, 257, 1514, 2048, 2049, 9014, 17 * 2048]) {
    assertEquals(
      new PagePoolRing(pagesOf()).receive(frame),
      pagePoolReceive(k, frame).truesize,
      String(frame),
    );
  }
  const ring = new PagePoolRing(pagesOf(), { fragment: 1920, build: true });
  for (const last of [false, true]) {
    const options = { fragment: 1920, build: true, last };
    assertEquals(
      ring.receive(1514),
      pagePoolReceive(k, 1514, options).truesize,
    );
  }
  // The first of a page holds 1,536 bytes, the second 1,792.
  assertEquals([1536, 1537, 1537].map((frame) => ring.receive(frame)), [
    1920 + 256,
    2176 + 256,
    1920 + 2176 + 256,
  ]);
});

Deno.test("with the stack keeping up no page is allocated again", () => {
  const ring = new PagePoolRing(pagesOf());
  const { counters } = ring.pages;
  ring.receive(1514);
  ring.consume();
  const before = counters.pgalloc;
  for (let i = 0; i < 10_000; i++) {
    ring.receive(1514);
    ring.consume();
  }
  assertEquals(counters.pgalloc, before);
});

Deno.test("packets that wait keep a page each from the pool at most", () => {
  const ring = new PagePoolRing(pagesOf());
  const { counters } = ring.pages;
  for (let i = 0; i < 64; i++) ring.receive(1514);
  const before = counters.pgalloc - counters.pgfree;
  assertEquals(ring.held.packets, 64);
  for (let i = 0; i < 6400; i++) {
    ring.receive(1514);
    ring.consume();
  }
  const held = counters.pgalloc - counters.pgfree;
  assert(held - before <= 64, `${held - before} pages more`);
});

Deno.test("random frames and frees: references and pages come out even", () => {
  for (const options of [{}, { fragment: 1920, build: true }, { order: 1 }]) {
    const pages = pagesOf();
    pages.failPageAlloc({ minOrder: 0, probability: 0.3, seed: 5 });
    const ring = new PagePoolRing(pages, { size: 64, ...options });
    fuzzRing(pages, ring, {
      seed: 0.7,
      runs: 50_000,
      longest: 66_000,
      burst: 3,
    }, () => {
      const { missed, drops, oom, packets } = ring.counters;
      assert(missed > 0 && drops > 0 && oom > 0 && packets > 10_000);
    });
  }
});

Deno.test("bad arguments are named", () => {
  const bad = (options: Record<string, unknown>, name: string) =>
    assertThrows(() => new PagePoolRing(pagesOf(), options), Error, name);
  bad({ size: 0 }, "size");
  bad({ fragment: 447 }, "fragment");
  bad({ fragment: 4097 }, "fragment");
  bad({ headSize: 13 }, "headSize");
  bad({ build: 1 }, "build");
  const ring = new PagePoolRing(pagesOf(), { size: undefined });
  for (const frame of [-1, 0.5, NaN]) {
    assertThrows(() => ring.receive(frame), RangeError, "frame");
  }
  assertThrows(() => ring.consume(-1), RangeError, "packets");
});
