import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { IxgbeTxRing } from "../../lib/drivers/ixgbe_tx.ts";
import type { Kernel } from "../../lib/kernel.ts";
import { kmemCache } from "../../lib/mm/kmem_cache.ts";
import { Napi } from "../../lib/net/napi.ts";
import {
  bulkFreeInfrastructure,
  ixgbeBulkFree,
} from "../../lib/patches/kmem_cache_bulk.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("net-next-2015-10");

function ringOf(k: Kernel, options = {}): IxgbeTxRing {
  const cache = kmemCache({ kernel: k, objectSize: 256 });
  return new IxgbeTxRing(new Napi({ kernel: k, cache }), options);
}

function send(ring: IxgbeTxRing, packets: number, frags = 0): number {
  let sent = 0;
  for (let i = 0; i < packets; i++) {
    const skb = ring.napi.heads.alloc(0);
    if (ring.xmitFrame(skb, 1514, frags)) sent++;
    else ring.napi.heads.kfreeSkb(skb, 0);
  }
  return sent;
}

Deno.test("cleaning stops at the first packet that the hardware has not sent", () => {
  const ring = ringOf(base);
  send(ring, 10);
  assertEquals(ring.complete(4), 4);
  assert(ring.cleanTxIrq(64));
  assertEquals([ring.napi.heads.inUse, ring.nextToClean], [6, 4]);
  assertEquals([ring.counters.packets, ring.counters.bytes], [4, 4 * 1514]);
  assertEquals(ring.complete(100), 6);
  ring.cleanTxIrq(64);
  assertEquals([ring.napi.heads.inUse, ring.descUnused], [0, 511]);
});

Deno.test("one cleaning frees at most 256 packets and says so", () => {
  const ring = ringOf(base);
  send(ring, 400);
  ring.complete(400);
  assertFalse(ring.cleanTxIrq(64));
  assertEquals([ring.counters.packets, ring.counters.limited], [256, 1]);
  assert(ring.cleanTxIrq(64));
  assertEquals(ring.counters.packets, 400);
});

Deno.test("the queue stops when 21 descriptors are no longer free, and wakes at 42", () => {
  const ring = ringOf(base);
  assertEquals([ring.descNeeded, ring.count], [21, 512]);
  assertEquals(send(ring, 600), 508);
  assertEquals([ring.descUnused, ring.stopped], [3, true]);
  assertEquals([ring.counters.txBusy, ring.counters.stops], [92, 1]);
  ring.complete(38);
  ring.cleanTxIrq(64);
  assertEquals([ring.descUnused, ring.stopped], [41, true]);
  ring.complete(1);
  ring.cleanTxIrq(64);
  assertEquals([ring.stopped, ring.counters.restartQueue], [false, 1]);
});

Deno.test("a packet takes a descriptor for each 16 KiB of its head and for each fragment, round the ring's end too", () => {
  const ring = ringOf(base, { count: 64 });
  for (let round = 0; round < 50; round++) {
    assertEquals(send(ring, 5, 6), 5);
    assertEquals(ring.descUnused, 63 - 35);
    ring.complete(3);
    ring.cleanTxIrq(64);
    assertEquals(ring.descUnused, 63 - 14);
    ring.complete(2);
    ring.cleanTxIrq(64);
    assertEquals([ring.descUnused, ring.napi.heads.inUse], [63, 0]);
  }
  ring.xmitFrame(ring.napi.heads.alloc(0), 16385);
  assertEquals(ring.descUnused, 61);
});

Deno.test("patch 3 sends cleaned heads to the stack; before it each is freed, and 3.12 calls it a drop", () => {
  const run = (k: Kernel) => {
    const ring = ringOf(k);
    ring.napi.inSoftirq[0] = 1;
    send(ring, 30);
    ring.complete(30);
    ring.cleanTxIrq(64);
    const { consumed, dropped } = ring.napi.heads.counters;
    return [ring.napi.stacked, consumed, dropped];
  };
  assertEquals(run(base), [0, 30, 0]);
  assertEquals(run(base.am(bulkFreeInfrastructure)), [0, 30, 0]);
  assertEquals(run(base.am(bulkFreeInfrastructure, ixgbeBulkFree)), [
    30,
    30,
    0,
  ]);
  assertEquals(run(kernel("3.12")), [0, 0, 30]);
});

Deno.test("bad arguments name themselves", () => {
  const ring = ringOf(base);
  const skb = ring.napi.heads.alloc(0);
  assertThrows(() => ring.xmitFrame(skb, 0), RangeError, "length 0");
  assertThrows(() => ring.xmitFrame(skb, 60, 18), RangeError, "frags 18");
  assertThrows(() => ringOf(base, { count: 32 }), RangeError, "count 32");
  assertThrows(
    () => ringOf(base, { workLimit: 0 }),
    RangeError,
    "workLimit 0",
  );
});
