import { assertEquals, assertThrows } from "@std/assert";
import type { Kernel } from "../../lib/kernel.ts";
import { kmemCache } from "../../lib/mm/kmem_cache.ts";
import {
  NET_RX_SOFTIRQ,
  NET_TX_SOFTIRQ,
  SKB_REASON_CONSUMED,
  SKB_REASON_DROPPED,
} from "../../lib/net/completion_queue.ts";
import { Napi } from "../../lib/net/napi.ts";
import { Softirq, type SoftirqOptions } from "../../lib/net/softirq.ts";
import {
  bulkFreeCompletionQueue,
  bulkFreeInfrastructure,
  flushOnEveryExit,
} from "../../lib/patches/kmem_cache_bulk.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("net-next-2015-10");
const patched = base.am(bulkFreeInfrastructure, bulkFreeCompletionQueue);
const MS = 1e6;

function softirqOf(k: Kernel, options: SoftirqOptions = {}): Softirq {
  const fcloneCache = kmemCache({ kernel: k, objectSize: 472 });
  const cache = kmemCache({ kernel: k, objectSize: 256 });
  return new Softirq(new Napi({ kernel: k, cache, fcloneCache }), options);
}

/** Adds a device with packets waiting; it frees nothing. */
function deviceOf(
  softirq: Softirq,
  waiting: number,
  spend = 0,
): { id: number; left(): number } {
  const id = softirq.napiAdd((budget) => {
    const work = Math.min(budget, waiting);
    waiting -= work;
    softirq.now += spend;
    if (work < budget) softirq.napiComplete(id);
    return work;
  });
  softirq.napiSchedule(id);
  return { id, left: () => waiting };
}

Deno.test("a budget of 300 lets five devices poll 64 and stops at the fifth", () => {
  const softirq = softirqOf(base);
  const devices = Array.from({ length: 6 }, () => deviceOf(softirq, 64));
  softirq.netRxAction();
  assertEquals(devices.map(({ left }) => left()), [0, 0, 0, 0, 0, 64]);
  assertEquals(
    [softirq.counters.timeSqueeze, softirq.counters.polls],
    [1, 5],
  );
  assertEquals(softirq.napi.completion.pending[0], NET_RX_SOFTIRQ);
  // The one left comes first, then those that used their weight.
  softirq.netRxAction();
  assertEquals(devices.map(({ left }) => left()), [0, 0, 0, 0, 0, 0]);
});

Deno.test("a device that used its weight is polled again only in the next run", () => {
  const softirq = softirqOf(base);
  const { left } = deviceOf(softirq, 200);
  softirq.netRxAction();
  assertEquals([left(), softirq.counters.timeSqueeze], [136, 0]);
  assertEquals(softirq.counters.earlyReturns, 0);
});

Deno.test("two jiffies end a run", () => {
  const softirq = softirqOf(base);
  const devices = Array.from({ length: 4 }, () => deviceOf(softirq, 10, MS));
  softirq.netRxAction();
  assertEquals(devices.map(({ left }) => left()), [0, 0, 10, 10]);
  assertEquals(softirq.counters.timeSqueeze, 1);
});

Deno.test("netdev_budget_usecs is in jiffies rounded up, and not there before 4.12", () => {
  const softirq = softirqOf(kernel("6.1"), {
    hz: 250,
    netdevBudgetUsecs: 9000,
  });
  assertEquals([softirq.limitJiffies, softirqOf(base).limitJiffies], [3, 2]);
  assertThrows(
    () => softirqOf(base, { netdevBudgetUsecs: 9000 }),
    RangeError,
    "2 jiffies",
  );
});

/** One poll frees `count` skbs and completes; returns what is left on the stack and in the slab cache. */
function freeInPoll(k: Kernel, count: number, options?: SoftirqOptions) {
  const softirq = softirqOf(k, options);
  const { napi } = softirq;
  const skbs = Array.from({ length: count }, () => napi.heads.alloc(0));
  const id = softirq.napiAdd((budget) => {
    for (const skb of skbs.splice(0)) napi.napiConsumeSkb(skb, budget);
    softirq.napiComplete(id);
    return 0;
  });
  softirq.napiSchedule(id);
  softirq.netRxAction();
  napi.check();
  return { stacked: napi.stacked, inUse: napi.heads.cache.inUse, softirq };
}

Deno.test("missed flush: a poll that frees 1 to 63 skbs and completes leaves their heads behind", () => {
  for (const count of [1, 8, 63]) {
    const { stacked, inUse, softirq } = freeInPoll(patched, count);
    assertEquals([stacked, inUse], [count, count]);
    assertEquals(softirq.counters.earlyReturns, 1);
  }
  assertEquals(freeInPoll(patched, 64).inUse, 0);
});

Deno.test("f52dffe049ee flushes on every way out", () => {
  for (const count of [1, 8, 63]) {
    const { stacked, inUse } = freeInPoll(patched.am(flushOnEveryExit), count);
    assertEquals([stacked, inUse], [0, 0]);
  }
});

Deno.test("an RPS interrupt that waits, or a saturated device, takes the way that flushes", () => {
  assertEquals(freeInPoll(patched, 8, { rpsIpiWaiting: () => true }).inUse, 0);
  const softirq = softirqOf(patched);
  deviceOf(softirq, 1000);
  const { napi } = softirq;
  napi.inSoftirq[0] = 1;
  napi.napiConsumeSkb(napi.heads.alloc(0), 64);
  softirq.netRxAction();
  assertEquals(napi.stacked, 0);
});

Deno.test("from 5.12 on nothing is flushed, by design", () => {
  assertEquals(freeInPoll(kernel("6.12"), 8).stacked, 8);
});

Deno.test("the completion queue frees what interrupts left, last in first out, each with its reason", () => {
  const softirq = softirqOf(base);
  const { napi } = softirq;
  const { completion, heads } = napi;
  const [a, b, c] = [heads.alloc(0), heads.alloc(0), heads.alloc(0)];
  completion.hardirq[0] = 1;
  completion.devKfreeSkbAny(a, 0, SKB_REASON_CONSUMED);
  completion.devKfreeSkbAny(b, 0, SKB_REASON_DROPPED);
  completion.devKfreeSkbIrq(heads.get(c), 0, SKB_REASON_DROPPED);
  completion.hardirq[0] = 0;
  assertEquals([completion.first[0], heads.next[b], heads.users[a]], [b, a, 0]);
  assertEquals([completion.pending[0], heads.cache.inUse], [NET_TX_SOFTIRQ, 3]);
  assertEquals(softirq.doSoftirq(), false);
  assertEquals([heads.counters.consumed, heads.counters.dropped], [1, 1]);
  assertEquals([heads.cache.inUse, heads.users[c]], [1, 1]);
});

Deno.test("patch 2 frees the completion queue in bulks of 64 and flushes the rest; pairs stay out", () => {
  const run = (k: Kernel) => {
    const softirq = softirqOf(k);
    const { napi } = softirq;
    for (let i = 0; i < 100; i++) {
      napi.completion.devKfreeSkbIrq(napi.heads.alloc(0), 0, 0);
    }
    napi.completion.devKfreeSkbIrq(napi.heads.allocFclone(0), 0, 0);
    softirq.netTxAction();
    napi.check();
    assertEquals(napi.heads.cache.inUse, 0);
    const { fullFrees, flushes, bulkFreed } = napi.counters;
    return { fullFrees, flushes, bulkFreed, ...napi.heads.counters };
  };
  const before = run(base.am(bulkFreeInfrastructure));
  const after = run(patched);
  assertEquals([before.freedSingly, before.bulkFreed], [100, 0]);
  assertEquals([after.freedSingly, after.bulkFreed], [0, 100]);
  assertEquals([after.fullFrees, after.flushes], [1, 1]);
  assertEquals([before.fclonesFreed, after.fclonesFreed], [1, 1]);
});

Deno.test("netpoll inside a poll: a budget of 0 and interrupts off send skbs to NET_TX", () => {
  const softirq = softirqOf(patched);
  const { napi } = softirq;
  const skb = napi.heads.alloc(0);
  const budgets: number[] = [];
  const id = softirq.napiAdd((budget) => {
    budgets.push(budget, napi.irq.off[0]!);
    napi.napiConsumeSkb(skb, budget);
    return 0;
  });
  softirq.netpoll(id);
  assertEquals(budgets, [0, 1]);
  assertEquals([napi.completion.length[0], napi.irq.off[0]], [1, 0]);
});

Deno.test("softirqs that raise themselves go to ksoftirqd after 10 rounds or 2 ms", () => {
  const endless = softirqOf(base);
  deviceOf(endless, 1e6);
  assertEquals(endless.doSoftirq(), true);
  assertEquals(endless.counters.netRxActions, 10);
  assertEquals(endless.counters.ksoftirqdWakeups, 1);
  const slow = softirqOf(base);
  deviceOf(slow, 1e6, MS);
  slow.doSoftirq();
  assertEquals(slow.counters.netRxActions, 2);
  const yielding = softirqOf(base, { needResched: () => true });
  deviceOf(yielding, 1e6);
  yielding.doSoftirq();
  assertEquals(yielding.counters.netRxActions, 1);
});

Deno.test("a device scheduled meanwhile: a run starts over from 6.4 on, before that NET_RX is raised", () => {
  for (
    const [name, polls, pending] of [["6.1", 1, 2], ["6.12", 2, 0]] as const
  ) {
    const softirq = softirqOf(kernel(name));
    let again = true;
    const id = softirq.napiAdd(() => {
      softirq.napiComplete(id);
      if (again) softirq.napiSchedule(id);
      again = false;
      return 0;
    });
    softirq.napiSchedule(id);
    softirq.napi.completion.pending[0] = 0;
    softirq.netRxAction();
    assertEquals(softirq.counters.polls, polls, name);
    assertEquals(softirq.napi.completion.pending[0], pending, name);
  }
});

Deno.test("skbs go home to the CPU that allocated them: up to 64, with an interrupt at half", () => {
  const softirq = softirqOf(kernel("6.12"));
  const { heads } = softirq.napi;
  const skbs = Array.from({ length: 70 }, () => heads.alloc(0));
  for (const skb of skbs) softirq.skbAttemptDeferFree(skb, 1);
  const { counters } = softirq;
  assertEquals([counters.deferFrees, counters.deferIpis], [64, 1]);
  assertEquals([heads.counters.freedSingly, heads.inUse], [6, 64]);
  softirq.netRxAction(0);
  assertEquals([heads.inUse, softirq.napi.skbCount[0]], [0, 32]);
  const shared = heads.get(heads.alloc(0));
  softirq.skbAttemptDeferFree(shared, 1);
  assertEquals([heads.users[shared], counters.deferFrees], [1, 64]);
  const old = softirqOf(base);
  old.skbAttemptDeferFree(old.napi.heads.alloc(0), 1);
  assertEquals(old.napi.heads.inUse, 0);
});

Deno.test("bad arguments name themselves", () => {
  const softirq = softirqOf(base);
  assertThrows(() => softirq.napiSchedule(0), RangeError, "device 0");
  assertThrows(() => softirq.napiAdd(() => 0, 0), RangeError, "weight 0");
  assertThrows(() => softirq.napiAdd(5 as never), TypeError, "poll");
  assertThrows(() => softirqOf(base, { hz: 10 }), RangeError, "hz 10");
  assertThrows(
    () => softirqOf(base, { netdevBudget: 0 }),
    RangeError,
    "netdevBudget 0",
  );
});
