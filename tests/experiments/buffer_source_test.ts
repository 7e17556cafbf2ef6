import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  BUFFER_SOURCES,
  bufferSource,
  type BufferSourceKind,
  cutBlock,
} from "../../lib/experiments/buffer_source.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { randomLcg } from "d3-random";

const pagesOf = (name = "6.8") =>
  new PageAllocator(kernel(name), { pages: 4096, cpus: 1 });
const cut = (kind: BufferSourceKind, size: number, name = "6.8") =>
  cutBlock(bufferSource(kind, pagesOf(name)), size);

Deno.test("where 1,984 bytes lie in a block under each allocator", () => {
  const offsets = (kind: BufferSourceKind, name = "6.8") =>
    cut(kind, 1984, name).buffers.map(({ offset }) => offset);
  const up = Array.from({ length: 16 }, (_, i) => 1984 * i);
  assertEquals(offsets("vhost_net"), up);
  assertEquals(offsets("vhost_net", "6.12"), up.map((at) => 30784 - at));
  assertEquals(offsets("vhost_net", "6.18"), up);
  assertEquals(offsets("skb_page_frag_refill"), up);
  assertEquals(offsets("page_pool"), [0, 1984]);
  const kmalloc = cut("kmalloc", 1984);
  assertEquals(
    kmalloc.buffers.map(({ offset }) => offset),
    Array.from({ length: kmalloc.size / 2048 }, (_, i) => 2048 * i),
  );
});

Deno.test("a driver's fragments are rounded to a cache line in 6.x", () => {
  const [first, second] = cut("page_frag_cache", 1500).buffers;
  assertEquals(first!.offset - second!.offset, 1536);
  const [a, b] = cut("page_frag_cache", 1500, "4.3").buffers;
  assertEquals(a!.offset - b!.offset, 1500);
});

Deno.test("random buffers from every source: apart from each other, and all pages back", () => {
  for (const kind of BUFFER_SOURCES) {
    const pages = pagesOf();
    pages.failPageAlloc({ minOrder: 0, probability: 0.2, seed: 3 });
    const source = bufferSource(kind, pages);
    const taken = new Uint8Array(4096 * 4096);
    const held: [number, number][] = [];
    const random = randomLcg(0.9);
    let failed = 0;
    for (let i = 0; i < 20_000; i++) {
      if (random() < 0.5 && held.length < 1000) {
        const size = 1 + Math.floor(random() * 4096);
        const address = source.alloc(size);
        if (address < 0) {
          failed++;
          continue;
        }
        const range = taken.subarray(address, address + size);
        assertEquals([range.length, range.indexOf(1)], [size, -1], kind);
        range.fill(1);
        held.push([address, size]);
      } else if (held.length > 0) {
        const at = Math.floor(random() * held.length);
        const [address, size] = held[at]!;
        held[at] = held.at(-1)!;
        held.pop();
        taken.fill(0, address, address + size);
        source.free(address);
      }
    }
    assert(failed > 0, kind);
    source.drain();
    for (const [address] of held) source.free(address);
    source.drain();
    pages.drainPcp();
    pages.check();
    assertEquals(pages.freePages(), 4096, kind);
  }
});

Deno.test("bad arguments are named", () => {
  assertThrows(
    () => bufferSource("slob" as "kmalloc", pagesOf()),
    RangeError,
    '"slob"',
  );
  for (const kind of BUFFER_SOURCES) {
    const source = bufferSource(kind, pagesOf());
    assertThrows(() => source.alloc(0), RangeError, "", kind);
    assertThrows(() => source.free(4096), Error, "", kind);
  }
  assertThrows(
    () => bufferSource("kmalloc", pagesOf()).alloc(4097),
    RangeError,
    "size",
  );
  assertThrows(
    () =>
      bufferSource("skb_page_frag_refill", pagesOf("4.3"), {
        highOrderAllocDisable: true,
      }),
    RangeError,
    "highOrderAllocDisable",
  );
  const empty = pagesOf();
  empty.failOrders(0);
  assertThrows(
    () => cutBlock(bufferSource("kmalloc", empty), 100),
    Error,
    "no memory",
  );
});
