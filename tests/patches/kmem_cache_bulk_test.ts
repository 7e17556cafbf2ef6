import { assertEquals, assertThrows } from "@std/assert";
import {
  bulkAllocReuse,
  bulkFreeCompletionQueue,
  bulkFreeInfrastructure,
  flushOnEveryExit,
  ixgbeBulkFree,
} from "../../lib/patches/kmem_cache_bulk.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("net-next-2015-10");
const SERIES = [
  bulkFreeInfrastructure,
  bulkFreeCompletionQueue,
  ixgbeBulkFree,
  bulkAllocReuse,
];

Deno.test("each patch turns its own rules and no others", () => {
  let before = base.napi;
  let k = base;
  const turned = [...SERIES, flushOnEveryExit].map((patch) => {
    k = k.am(patch);
    const after = k.napi;
    const keys = Object.keys(after).filter((key) =>
      after[key as keyof typeof after] !== before[key as keyof typeof after]
    );
    before = after;
    return keys;
  });
  assertEquals(turned, [
    ["skbCacheSize", "flush"],
    ["netTxDefers"],
    ["ixgbeFrees"],
    ["bulkAlloc"],
    ["flush"],
  ]);
  assertEquals(k.patches, [
    "bulkFreeInfrastructure",
    "bulkFreeCompletionQueue",
    "ixgbeBulkFree",
    "bulkAllocReuse",
    "flushOnEveryExit",
  ]);
});

Deno.test("each says its subject, date and thread", () => {
  SERIES.forEach((patch, i) => {
    assertEquals(
      patch.subject!.slice(0, 12),
      `[PATCH ${i + 1}/4] `.slice(0, 12),
    );
    assertEquals(patch.date, "2015-10-23");
    assertEquals(patch.thread, "kmem-cache-bulk");
  });
});

Deno.test("2, 3, 4 and the mend need the first", () => {
  for (const patch of [...SERIES.slice(1), flushOnEveryExit]) {
    assertThrows(() => base.am(patch), Error, "apply that first");
  }
});

Deno.test("none applies twice, to a kernel that has it, or to one that has not what it changes", () => {
  assertThrows(
    () => base.am(bulkFreeInfrastructure, bulkFreeInfrastructure),
    Error,
    "applied already",
  );
  for (const patch of [...SERIES, flushOnEveryExit]) {
    assertThrows(() => kernel("6.12").am(patch), Error, "already merged");
  }
  assertThrows(
    () => kernel("3.12").am(bulkFreeInfrastructure),
    Error,
    "napi_alloc_skb",
  );
});

Deno.test("patches 1 to 3 are what 4.6 merged, but for what a budget of 0 means", () => {
  const merged = kernel("4.6").napi;
  assertEquals({
    ...base.am(...SERIES.slice(0, 3)).napi,
    zeroBudget: merged.zeroBudget,
  }, merged);
  assertEquals([base.napi.zeroBudget, merged.zeroBudget], [
    "dev_consume_skb_irq",
    "dev_consume_skb_any",
  ]);
});
