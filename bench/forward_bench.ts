/**
 * IPv4 forwarding by patch and release, and heads taken and freed one at a time and 64 at once. An iteration of the
 * forwarding groups is 65,536 packets: divide by that, and by what making the two rings and the pages costs (the first
 * benchmark of each group).
 */
import {
  ipForward,
  type IpForwardOptions,
} from "../lib/experiments/ip_forward.ts";
import type { Kernel } from "../lib/kernel.ts";
import { kmemCache } from "../lib/mm/kmem_cache.ts";
import { Napi } from "../lib/net/napi.ts";
import { kernel } from "../lib/releases/mod.ts";
import { forwardingKernel } from "../lib/threads/kmem_cache_bulk_model.ts";

const base = forwardingKernel("base");
const bulkFree = forwardingKernel("patches 1-3");
const all = forwardingKernel("patches 1-4");
const STATES: [string, Kernel][] = [
  ["unpatched", base],
  ["patches 1-3", bulkFree],
  ["patches 1-4", all],
  ["6.12", kernel("6.12", { cpus: 8 })],
];

const PACKETS = 65_536;

const forward = (
  group: string,
  name: string,
  options: IpForwardOptions,
): void => {
  const polls = PACKETS / (options.perPoll ?? 64);
  Deno.bench(name, { group }, () => {
    ipForward({ ...options, polls, warmup: 0 });
  });
};

for (const perPoll of [64, 32]) {
  const group = `forwarding 65,536 packets, ${perPoll} a poll`;
  Deno.bench("setup alone", { group, baseline: true }, () => {
    ipForward({ kernel: base, polls: 1, warmup: 0 });
  });
  for (const [name, k] of STATES) forward(group, name, { kernel: k, perPoll });
}

forward("forwarding 65,536 packets, SLAB", "patches 1-3", {
  kernel: bulkFree,
  allocator: "slab",
});
forward("forwarding 65,536 packets, SLAB", "patches 1-4", {
  kernel: all,
  allocator: "slab",
});

const BATCH = 64;
const ROUNDS = 1000;
const skbs = new Int32Array(BATCH);

const napiOf = (k: Kernel): Napi => {
  const napi = new Napi({
    kernel: k,
    cache: kmemCache({ kernel: k, objectSize: 256, cpus: 8 }),
  });
  napi.inSoftirq[0] = 1;
  return napi;
};

for (const [name, k] of STATES) {
  const napi = napiOf(k);
  Deno.bench(name, {
    group: "64,000 heads, one at a time",
    baseline: name === "unpatched",
  }, () => {
    for (let i = 0; i < BATCH * ROUNDS; i++) {
      napi.napiConsumeSkb(napi.napiAllocSkb(256), 64);
    }
  });
}

for (const [name, k] of STATES) {
  const napi = napiOf(k);
  Deno.bench(name, {
    group: "64,000 heads, batches of 64",
    baseline: name === "unpatched",
  }, () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < BATCH; i++) skbs[i] = napi.napiAllocSkb(256);
      for (let i = 0; i < BATCH; i++) napi.napiConsumeSkb(skbs[i]!, 64);
    }
  });
}
