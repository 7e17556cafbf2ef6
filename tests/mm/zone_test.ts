import { assertEquals } from "@std/assert";
import { PageCounters } from "../../lib/mm/page_counters.ts";
import { PAGE_USED, Zone } from "../../lib/mm/zone.ts";

/** A zone of one block of order 10 unless told otherwise. */
function zoneOf(pages = 1024): Zone {
  return new Zone(pages, 10, 0, new PageCounters(11));
}

/** Takes a block and marks it as the allocator does. */
function take(zone: Zone, order: number): number {
  const pfn = zone.rmqueue(order);
  if (pfn >= 0) zone.kind[pfn] = PAGE_USED | order;
  return pfn;
}

/** First pages of the free blocks of an order, front of the list first. */
function list(zone: Zone, order: number): number[] {
  const pfns: number[] = [];
  const head = zone.lists + order;
  for (let at = zone.next[head]!; at !== head; at = zone.next[at]!) {
    pfns.push(at);
  }
  return pfns;
}

/** All lists, empty ones left out. */
function lists(zone: Zone): Record<number, number[]> {
  const all: Record<number, number[]> = {};
  for (let o = 0; o <= 10; o++) {
    if (list(zone, o).length > 0) all[o] = list(zone, o);
  }
  return all;
}

Deno.test("zone: a split keeps the low half and frees the high ones", () => {
  const zone = zoneOf();
  assertEquals(take(zone, 3), 0);
  assertEquals(lists(zone), {
    3: [8],
    4: [16],
    5: [32],
    6: [64],
    7: [128],
    8: [256],
    9: [512],
  });
  assertEquals(zone.counters.splits, 7);
  assertEquals(zone.freePages, 1016);

  assertEquals(take(zone, 0), 8);
  assertEquals([list(zone, 0), list(zone, 1), list(zone, 2), list(zone, 3)], [
    [9],
    [10],
    [12],
    [],
  ]);

  assertEquals(take(zone, 3), 16);
  assertEquals(list(zone, 3), [24]);
  assertEquals(list(zone, 4), []);
});

Deno.test("zone: a freed page joins its buddies until one is in use", () => {
  const zone = zoneOf();
  take(zone, 3);
  const page = take(zone, 0);
  take(zone, 3);
  zone.freeOnePage(page, 0);
  assertEquals([list(zone, 0), list(zone, 1), list(zone, 2)], [[], [], []]);
  assertEquals(new Set(list(zone, 3)), new Set([8, 24]));
  assertEquals(zone.counters.merges, 3);
});

Deno.test("zone: everything freed is one block again", () => {
  const zone = zoneOf();
  const blocks = [take(zone, 3), take(zone, 0), take(zone, 3)];
  for (const [i, order] of [[1, 0], [0, 3], [2, 3]] as const) {
    zone.freeOnePage(blocks[i]!, order);
  }
  assertEquals(lists(zone), { 10: [0] });
  assertEquals(zone.freePages, 1024);
});

Deno.test("zone: a free buddy of another order is not joined", () => {
  const zone = zoneOf(4);
  assertEquals([0, 1, 2, 3].map(() => take(zone, 0)), [0, 1, 2, 3]);
  zone.freeOnePage(3, 0);
  zone.freeOnePage(0, 0);
  zone.freeOnePage(1, 0);
  // The buddy of the pair 0..1 starts at 2, in use; 3 is free alone.
  assertEquals(lists(zone), { 0: [3], 1: [0] });
});

Deno.test("zone: a block goes to the tail when the buddy of its parent is free", () => {
  const zone = zoneOf(8);
  const pages = Array.from({ length: 8 }, () => take(zone, 0));
  assertEquals(pages, [0, 1, 2, 3, 4, 5, 6, 7]);
  zone.freeOnePage(5, 0);
  zone.freeOnePage(6, 0);
  assertEquals(
    list(zone, 0),
    [6, 5],
    "nothing to hope for: last in, first out",
  );
  zone.freeOnePage(2, 0);
  zone.freeOnePage(3, 0);
  assertEquals(list(zone, 1), [2]);
  zone.freeOnePage(0, 0);
  assertEquals(list(zone, 0), [6, 5, 0], "0..1 has the free buddy 2..3");
  assertEquals(take(zone, 0), 6);
});

Deno.test("zone: order 9 and 10 always go to the front", () => {
  const zone = zoneOf(4096);
  const halves = Array.from({ length: 8 }, () => take(zone, 9));
  assertEquals(halves, [0, 512, 1024, 1536, 2048, 2560, 3072, 3584]);
  zone.freeOnePage(3072, 9);
  zone.freeOnePage(3584, 9);
  zone.freeOnePage(2048, 9);
  assertEquals(lists(zone), { 9: [2048], 10: [3072] });
  zone.freeOnePage(0, 9);
  assertEquals(list(zone, 9), [0, 2048]);
});

Deno.test("zone: a size that is no power of two begins with the largest blocks that fit", () => {
  const zone = zoneOf(2048 + 64 + 4 + 1);
  assertEquals(lists(zone), { 0: [2116], 2: [2112], 6: [2048], 10: [0, 1024] });
  assertEquals(zone.freePages, 2117);
  assertEquals(take(zone, 0), 2116);
  zone.freeOnePage(2116, 0);
  assertEquals(lists(zone), { 0: [2116], 2: [2112], 6: [2048], 10: [0, 1024] });
});

Deno.test("zone: no block of the order or above is -1, whatever is free below", () => {
  const zone = zoneOf(7);
  assertEquals(take(zone, 3), -1);
  assertEquals(zone.freePages, 7);
});
