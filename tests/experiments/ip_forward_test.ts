import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import {
  ipForward,
  type IpForwardOptions,
} from "../../lib/experiments/ip_forward.ts";
import type { Kernel } from "../../lib/kernel.ts";
import { kmemCache } from "../../lib/mm/kmem_cache.ts";
import { Qmempool } from "../../lib/mm/qmempool.ts";
import {
  bulkAllocReuse,
  bulkFreeCompletionQueue,
  bulkFreeInfrastructure,
  flushOnEveryExit,
  ixgbeBulkFree,
} from "../../lib/patches/kmem_cache_bulk.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("net-next-2015-10");
const bulkFree = base.am(
  bulkFreeInfrastructure,
  bulkFreeCompletionQueue,
  ixgbeBulkFree,
);
const all = bulkFree.am(bulkAllocReuse);
const polls = 1920;

// FREE_SLOWPATH, FREE_FASTPATH, ALLOC_SLOWPATH, CPU_PARTIAL_FREE, CPU_PARTIAL_DRAIN, ALLOC_FROM_PARTIAL.
const COUNTERS = [
  "FREE_SLOWPATH",
  "FREE_FASTPATH",
  "ALLOC_SLOWPATH",
  "CPU_PARTIAL_FREE",
  "CPU_PARTIAL_DRAIN",
  "ALLOC_FROM_PARTIAL",
];
const NONE = [0, 0, 0, 0, 0, 0];

/** Packets a poll, lag, kernel, events of 192 packets. Polls of 48 are flushed each, as the table takes it. */
const TABLE: [number, number, string, Kernel, number[]][] = [
  [64, 0, "single", base, [96, 96, 3, 3, 0, 0]],
  [64, 0, "patches 1-3", bulkFree, [3, 3, 3, 3, 0, 0]],
  [64, 1, "single", base, [192, 0, 6, 6, 0, 0]],
  [64, 3, "single", base, [192, 0, 6, 6, 0, 0]],
  [64, 1, "patches 1-3", bulkFree, [6, 0, 6, 6, 3, 3]],
  [64, 3, "patches 1-3", bulkFree, [6, 0, 6, 6, 3, 3]],
  [64, 1, "patches 1-4", all, [6, 0, 0, 6, 3, 3]],
  [64, 3, "patches 1-4", all, [6, 0, 0, 6, 3, 3]],
  [48, 0, "single", base, [128, 64, 4, 4, 0, 0]],
  [48, 0, "patches 1-3, flushed", bulkFree.am(flushOnEveryExit), [
    6,
    2,
    6,
    6,
    2,
    2,
  ]],
  // Without the flush the stack reaches 64 over two polls.
  [48, 0, "patches 1-3", bulkFree, [5, 1, 5, 5, 2, 2]],
  [48, 0, "patches 1-4", all, NONE],
  [48, 1, "patches 1-4", all, NONE],
  [48, 3, "patches 1-4", all, NONE],
];

for (const [perPoll, lag, label, k, expected] of TABLE) {
  Deno.test(`${perPoll} packets a poll, sent ${lag} polls later, ${label}: events per packet`, () => {
    const run = ipForward({ kernel: k, perPoll, lag, polls, warmup: 960 });
    assertEquals([run.packets, run.lost], [perPoll * polls, 0]);
    assertEquals(
      COUNTERS.map((name) => run.slab[name]! * 192 / run.packets),
      expected,
    );
  });
}

Deno.test("exact-64: no head is reused at 64 a poll, none comes from the slab at 48", () => {
  const full = ipForward({ kernel: all, polls });
  assertEquals([full.napi.reused, full.napi.bulkHeads], [0, full.packets]);
  assertEquals(full.napi.fullFrees, polls);
  const partial = ipForward({ kernel: all, perPoll: 48, polls });
  assertEquals([partial.napi.reused, partial.napi.bulkHeads], [
    partial.packets,
    0,
  ]);
});

Deno.test("5.12's half kept turns the exact-64 effect into reuse of half the heads", () => {
  const run = ipForward({ kernel: kernel("6.12"), polls });
  assertEquals(run.napi.reused! * 2, run.packets);
  const kept = ipForward({ kernel: all, rules: { keptWhenFull: 32 }, polls });
  assertEquals(kept.napi.reused! * 2, kept.packets);
});

Deno.test("heads left over fill the stack: 63 a poll behaves like 64 until the missed flush is mended", () => {
  const bug = ipForward({ kernel: all, perPoll: 63, polls });
  assert(bug.napi.reused! < 0.02 * bug.packets);
  const mended = ipForward({
    kernel: all.am(flushOnEveryExit),
    perPoll: 63,
    polls,
  });
  assertEquals(mended.napi.reused, mended.packets);
});

Deno.test("patch 4's cost: polls of n dropped packets allocate the next multiple of 8 and flush the rest unused", () => {
  const k = all.am(flushOnEveryExit);
  for (let perPoll = 1; perPoll <= 63; perPoll++) {
    const run = ipForward({
      kernel: k,
      perPoll,
      drop: true,
      polls: 8,
      warmup: 2,
    });
    const vain = (8 - perPoll % 8) % 8;
    assertEquals(run.napi.unusedFreed, 8 * vain, `${perPoll} a poll`);
    assertEquals(run.napi.bulkHeads, 8 * (perPoll + vain));
  }
});

Deno.test("forwarding 64-byte frames takes no page for the ring, and a block for each 51 heads", () => {
  const run = ipForward({ kernel: base, polls });
  assertEquals([run.rx.allocRxPage, run.rx.copies], [0, run.packets]);
  assertAlmostEquals(
    (run.frags.refills + run.frags.reuses) * 51 / run.packets,
    1,
    0.01,
  );
});

Deno.test("frames over 256 bytes ride in half pages, which 512 buffers get back in time", () => {
  const run = ipForward({ kernel: base, frame: 1514, polls: 64 });
  assertEquals([run.lost, run.rx.copies, run.rx.allocRxPage], [0, 0, 0]);
  assertEquals(run.rx.reuses, run.packets);
});

Deno.test("every poll of 64 leaves net_rx_action by its loop's end, every smaller one early", () => {
  const full = ipForward({ kernel: bulkFree, polls });
  assertEquals([full.softirq.earlyReturns, full.softirq.netRxActions], [
    0,
    polls,
  ]);
  const partial = ipForward({ kernel: bulkFree, perPoll: 63, polls });
  assertEquals(partial.softirq.earlyReturns, polls);
});

Deno.test("SLAB forwards from its array caches: no miss at 64 a poll", () => {
  const run = ipForward({ kernel: bulkFree, allocator: "slab", polls });
  assertEquals([run.slab.ALLOCHIT, run.slab.ALLOCMISS], [run.packets, 0]);
  assertEquals([run.slab.FREEHIT, run.slab.FREEMISS], [run.packets, 0]);
});

Deno.test("a cache of one's own serves: qmempool never asks the slab in the steady state", () => {
  const pool = new Qmempool({
    kmem: kmemCache({ kernel: base, objectSize: 256 }),
  });
  const run = ipForward({ kernel: base, allocator: pool, polls });
  assertEquals([run.slab.kmemAllocs, run.slab.kmemFrees], [0, 0]);
  assertEquals(run.slab.allocShared, run.slab.freeShared);
  pool.check();
});

Deno.test("the same input gives the same counters", () => {
  const options: IpForwardOptions = {
    kernel: all,
    perPoll: 37,
    lag: 2,
    polls: 300,
  };
  assertEquals(ipForward(options), ipForward(options));
});

Deno.test("bad arguments name themselves", () => {
  for (
    const [options, name] of [
      [{ perPoll: 65 }, "perPoll 65"],
      [{ perPoll: 0 }, "perPoll 0"],
      [{ lag: 7 }, "lag 7"],
      [{ frame: 59 }, "frame 59"],
      [{ polls: 0 }, "polls 0"],
      [{ warmup: -1 }, "warmup -1"],
    ] as const
  ) {
    assertThrows(
      () => ipForward({ kernel: base, ...options }),
      RangeError,
      name,
    );
  }
  assertThrows(
    () => ipForward({ kernel: base, drop: 1 as never }),
    TypeError,
    "drop",
  );
  assertThrows(
    () => ipForward({ kernel: base, allocator: "slob" as never }),
    RangeError,
    "slob",
  );
  assertThrows(
    () => ipForward({ kernel: kernel("6.12"), allocator: "slab" }),
    RangeError,
    "slab",
  );
});
