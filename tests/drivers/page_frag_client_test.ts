import { assertEquals, assertThrows } from "@std/assert";
import { NvmeTcpHost, NvmeTcpTarget } from "../../lib/drivers/nvme_tcp.ts";
import {
  GveXdpRedirect,
  MtkWedWo,
  type PageFragTeardown,
} from "../../lib/drivers/page_frag_client.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";

const allocator = (release = "6.8"): PageAllocator =>
  new PageAllocator(kernel(release));
const held = ({ counters }: PageAllocator): number =>
  counters.pgalloc - counters.pgfree;

Deno.test("gve: 2,112 bytes a frame of 1,514, 15 a block, reused once all were sent", () => {
  const pages = allocator("6.12");
  const gve = new GveXdpRedirect(pages, { inFlight: 1 });
  gve.run(151);
  assertEquals(gve.requestSize, 256 + 1536 + 320);
  const { refills, reuses } = gve.caches[0]!.counters;
  assertEquals([refills, reuses, gve.counters.requests], [1, 10, 151]);
  gve.stop();
  assertEquals(held(pages), 0);
  pages.check();
});

Deno.test("gve: frames on their way outlive the drain", () => {
  const pages = allocator("6.12");
  const gve = new GveXdpRedirect(pages, { queues: 4, inFlight: 64 });
  gve.run(64);
  assertEquals([held(pages), gve.caches.length], [4 * 2 * 8, 4]);
  gve.stop();
  assertEquals(held(pages), 0);
});

Deno.test("mtk_wed_wo: 21 buffers of 1,504 a block, 13 blocks a ring", () => {
  const pages = allocator();
  const wo = new MtkWedWo(pages);
  wo.start();
  assertEquals([wo.counters.requests, held(pages)], [512, 2 * 13 * 8]);
  wo.run(1000);
  assertEquals(wo.counters.requests, 1512);
  wo.stop();
  assertEquals(held(pages), 0);
  // It can be started again.
  wo.start();
  assertEquals(held(pages), 2 * 13 * 8);
  wo.stop();
  assertEquals(held(pages), 0);
});

Deno.test("nvme host: one PDU a request, the admin queue's and an asynchronous one", () => {
  const pages = allocator();
  const host = new NvmeTcpHost(pages, { queues: 2, headerDigest: true });
  host.start();
  assertEquals(host.requestSize, 76);
  assertEquals(host.counters.requests, 1 + 30 + 2 * 128);
  assertEquals(held(pages), 3 * 8);
  host.stop();
  assertEquals(held(pages), 0);
});

Deno.test("nvme host: requests pin the old blocks over a reset", () => {
  const pages = allocator();
  const host = new NvmeTcpHost(pages, { queues: 2 });
  host.start();
  for (let i = 0; i < 5; i++) {
    host.reset();
    assertEquals(held(pages), (3 + 1) * 8);
  }
  host.stop();
  assertEquals(held(pages), 0);
});

Deno.test("nvme host: without a drain each reset loses the block of the event's PDU", () => {
  const pages = allocator();
  const host = new NvmeTcpHost(pages, { queues: 2, teardown: "none" });
  host.start();
  for (let i = 0; i < 5; i++) host.reset();
  host.stop();
  assertEquals(held(pages), (3 + 5) * 8);
});

Deno.test("nvme target: 144 bytes a command, twice the queue's, and the connect command", () => {
  const pages = allocator("6.12");
  const target = new NvmeTcpTarget(pages, { headerDigest: true });
  assertEquals(target.requestSizes, [76, 28, 28, 28]);
  target.start();
  assertEquals(target.counters.requests, 4 * (1 + 256));
  // 257 commands, 160 bytes all but the first: two blocks.
  assertEquals(held(pages), 16);
  target.stop();
  assertEquals(held(pages), 0);
});

Deno.test("nvme target: the lines by hand do not look for a block, page_frag_cache_drain does", () => {
  const crashes = (release: string): number => {
    const target = new NvmeTcpTarget(allocator(release), { queues: 3 });
    target.stop();
    return target.counters.nullDereferences;
  };
  assertEquals([crashes("6.8"), crashes("6.12")], [3, 0]);
  const host = new NvmeTcpHost(allocator("6.8"));
  host.stop();
  assertEquals(host.counters.nullDereferences, 0);
});

Deno.test("without memory requests fail and nothing leaks", () => {
  for (const release of ["6.8", "6.12"]) {
    const pages = allocator(release);
    pages.failOrders(0);
    const clients = [
      new GveXdpRedirect(pages),
      new MtkWedWo(pages),
      new NvmeTcpHost(pages),
    ];
    for (const client of clients) {
      client.start();
      client.run(10);
      assertEquals(client.counters.requests, 0);
      assertEquals(client.counters.failures > 0, true);
      client.stop();
    }
    assertEquals(held(pages), 0);
  }
});

Deno.test("bad options are named", () => {
  const pages = allocator();
  assertThrows(
    () => new MtkWedWo(pages, { teardown: "page_frag_cache_drain" }),
    RangeError,
    "6.8 has no page_frag_cache_drain",
  );
  assertThrows(
    () => new MtkWedWo(pages, { teardown: "leak" as PageFragTeardown }),
    RangeError,
    'teardown "leak"',
  );
  assertThrows(
    () => new GveXdpRedirect(pages, { frame: 9000 }),
    RangeError,
    "frame 9000",
  );
  assertThrows(
    () => new NvmeTcpHost(pages, { queueSize: 1 }),
    RangeError,
    "queueSize 1",
  );
  assertThrows(
    () => new NvmeTcpTarget(pages, { queues: -1 }),
    RangeError,
    "queues -1",
  );
  for (
    const client of [
      new GveXdpRedirect(pages),
      new MtkWedWo(pages),
      new NvmeTcpHost(pages),
      new NvmeTcpTarget(pages),
    ]
  ) {
    assertThrows(() => client.run(0.5), RangeError, "n 0.5");
    assertEquals(client.teardown, "by hand");
  }
});
