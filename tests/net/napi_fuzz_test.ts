import { assertEquals } from "@std/assert";
import { randomLcg } from "d3-random";
import type { Kernel } from "../../lib/kernel.ts";
import { IrqFlags } from "../../lib/mm/irq_flags.ts";
import { kmemCache } from "../../lib/mm/kmem_cache.ts";
import { Napi } from "../../lib/net/napi.ts";
import { Softirq } from "../../lib/net/softirq.ts";
import {
  bulkAllocReuse,
  bulkFreeCompletionQueue,
  bulkFreeInfrastructure,
  flushOnEveryExit,
} from "../../lib/patches/kmem_cache_bulk.ts";
import { kernel } from "../../lib/releases/mod.ts";

const OPERATIONS = 120_000;
const base = kernel("net-next-2015-10");
const patched = base.am(bulkFreeInfrastructure, bulkFreeCompletionQueue);
const KERNELS: [string, Kernel][] = [
  ["unpatched", base],
  ["patches 1-2", patched],
  ["patches 1-2 and 4", patched.am(bulkAllocReuse)],
  ["the same, flushed", patched.am(bulkAllocReuse, flushOnEveryExit)],
  ["6.12", kernel("6.12")],
];

/** Random allocations, clones and frees from every context on all CPUs; every skb is accounted for all the time. */
function fuzz(
  k: Kernel,
  cpus: number,
  allocator: "slub" | "slab",
  seed: number,
): void {
  const random = randomLcg(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const irq = new IrqFlags(cpus);
  const cache = kmemCache({
    kernel: k,
    allocator,
    objectSize: 256,
    cpus,
    irq,
    maxSlabs: 40,
  });
  const fcloneCache = kmemCache({ kernel: k, objectSize: 472, cpus });
  const napi = new Napi({ kernel: k, cache, fcloneCache, irq, cpus });
  const softirq = new Softirq(napi);
  const { heads, completion } = napi;
  // skb by user: one entry a reference.
  const held: number[] = [];
  const take = (): number => {
    const i = below(held.length);
    const skb = held[i]!;
    held[i] = held[held.length - 1]!;
    held.pop();
    return skb;
  };
  const device = softirq.napiAdd((budget, cpu) => {
    const work = Math.min(budget, below(70));
    for (let i = 0; i < work; i++) {
      if (random() < 0.5 && held.length > 0) {
        napi.napiConsumeSkb(take(), budget, cpu);
      } else {
        const skb = napi.napiAllocSkb(256, cpu);
        if (skb >= 0) held.push(skb);
      }
    }
    if (work < budget) softirq.napiComplete(device);
    return work;
  });
  let done = 0;
  while (done < OPERATIONS) {
    const cpu = below(cpus);
    done += 1;
    switch (below(12)) {
      case 0:
      case 1: {
        const skb = heads.alloc(cpu);
        if (skb >= 0) held.push(skb);
        break;
      }
      case 2: {
        const skb = heads.allocFclone(cpu);
        if (skb >= 0) held.push(skb);
        break;
      }
      case 3: {
        if (held.length === 0) break;
        const skb = heads.clone(held[below(held.length)]!, cpu);
        if (skb >= 0) held.push(skb);
        break;
      }
      case 4:
        if (held.length > 0) held.push(heads.get(held[below(held.length)]!));
        break;
      case 5:
        if (held.length > 0) heads.kfreeSkb(take(), cpu);
        break;
      case 6:
        if (held.length > 0) {
          completion.devKfreeSkbIrq(take(), cpu, below(2));
        }
        break;
      case 7:
        completion.hardirq[cpu] = below(2);
        if (held.length > 0) {
          completion.devKfreeSkbAny(take(), cpu, below(2));
        }
        completion.hardirq[cpu] = 0;
        break;
      case 8:
        if (held.length > 0) softirq.skbAttemptDeferFree(take(), cpu);
        break;
      case 9:
        if (held.length > 0) napi.napiConsumeSkb(take(), 0, cpu);
        break;
      default: {
        const { packets } = softirq.counters;
        softirq.napiSchedule(device, cpu);
        softirq.doSoftirq(cpu);
        done += softirq.counters.packets - packets;
      }
    }
    while (held.length > 900) heads.kfreeSkb(take(), cpu);
    if (done % 512 === 0) napi.check();
  }
  napi.check();
  cache.check();
  while (held.length > 0) heads.consumeSkb(take(), 0);
  for (let cpu = 0; cpu < cpus; cpu++) {
    // Lists that wait for this CPU are emptied by its softirqs.
    softirq.netRxAction(cpu);
    softirq.netTxAction(cpu);
    while (held.length > 0) heads.consumeSkb(take(), 0);
    napi.kfreeSkbFlush(cpu);
  }
  assertEquals([heads.inUse, cache.inUse, fcloneCache.inUse], [0, 0, 0]);
  cache.check();
  fcloneCache.check();
  assertEquals(heads.counters.allocs, heads.counters.released);
}

for (const [label, k] of KERNELS) {
  for (const cpus of [1, 2, 8]) {
    for (const allocator of ["slub", "slab"] as const) {
      if (allocator === "slab" && label === "6.12") continue;
      Deno.test(`${label}, ${allocator}, ${cpus} CPUs: no skb is lost or freed twice`, () =>
        fuzz(k, cpus, allocator, cpus / 10));
    }
  }
}
