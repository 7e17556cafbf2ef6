/** vhost_net: its two page-fragment allocators, its worker, and the tool of the 2024 thread. */

import { VhostNetPageFrag } from "../lib/drivers/vhost_net_page_frag.ts";
import { VhostNetWorker } from "../lib/drivers/vhost_net_worker.ts";
import { runVhostNetTest } from "../lib/experiments/vhost_net_test.ts";
import { Gfp } from "../lib/mm/gfp.ts";
import { PageAllocator } from "../lib/mm/page_alloc.ts";
import { PageFrag } from "../lib/mm/page_frag.ts";
import { PageFragCache } from "../lib/mm/page_frag_cache.ts";
import { kernel } from "../lib/releases/mod.ts";

const RELEASES = ["6.8", "6.12", "6.18"];
const PACKETS = 10_000;
const FRAGMENTS = 64_000;
const BUFLEN = 768;
const BEFORE = kernel("6.8");
let sink = 0;

for (const release of RELEASES) {
  const frag = new VhostNetPageFrag(new PageAllocator(kernel(release)));
  Deno.bench(`buffer, alloc and free: ${release}`, {
    group: "a buffer",
    baseline: release === "6.8",
  }, () => {
    frag.free(frag.alloc(BUFLEN));
  });
  Deno.bench(`${PACKETS} buffers, alloc and free: ${release}`, {
    group: "buffers",
    baseline: release === "6.8",
    n: 20,
  }, () => {
    for (let i = 0; i < PACKETS; i++) frag.free(frag.alloc(BUFLEN));
  });
}

// The three implementations that the thread counts, in the release before it. Each has a loop of its own, as its users do.
const addresses = new Float64Array(64);
const implementations: Record<string, (inFlight: number) => void> = {
  vhost_net: (() => {
    const frag = new VhostNetPageFrag(new PageAllocator(BEFORE));
    return (inFlight) => {
      for (let done = 0; done < FRAGMENTS; done += inFlight) {
        for (let i = 0; i < inFlight; i++) addresses[i] = frag.alloc(BUFLEN);
        for (let i = 0; i < inFlight; i++) frag.free(addresses[i]!);
      }
    };
  })(),
  skb_page_frag_refill: (() => {
    const frag = new PageFrag(new PageAllocator(BEFORE));
    return (inFlight) => {
      for (let done = 0; done < FRAGMENTS; done += inFlight) {
        for (let i = 0; i < inFlight; i++) {
          frag.refill(BUFLEN, Gfp.GFP_KERNEL);
          addresses[i] = frag.take(BUFLEN);
        }
        for (let i = 0; i < inFlight; i++) frag.free(addresses[i]!);
      }
    };
  })(),
  page_frag_cache: (() => {
    const cache = new PageFragCache(new PageAllocator(BEFORE));
    return (inFlight) => {
      for (let done = 0; done < FRAGMENTS; done += inFlight) {
        for (let i = 0; i < inFlight; i++) {
          addresses[i] = cache.alloc(BUFLEN, Gfp.GFP_KERNEL, 64);
        }
        for (let i = 0; i < inFlight; i++) cache.free(addresses[i]!);
      }
    };
  })(),
};
for (const inFlight of [1, 64]) {
  for (const [name, run] of Object.entries(implementations)) {
    Deno.bench(`${name}, ${inFlight} in flight`, {
      group: `three implementations, ${inFlight} in flight`,
      baseline: name === "vhost_net",
      n: 20,
    }, () => run(inFlight));
  }
}

for (const release of RELEASES) {
  for (const batch of [1, 64]) {
    const worker = new VhostNetWorker(new PageAllocator(kernel(release)));
    Deno.bench(
      `${PACKETS} packets from the guest, ${batch} at once: ${release}`,
      {
        group: "worker",
        baseline: release === "6.8" && batch === 1,
        n: 20,
      },
      () => {
        for (let i = 0; i < PACKETS; i += batch) {
          for (let j = 0; j < batch; j++) worker.tx.add(268);
          worker.kickTx();
          worker.run();
          while (worker.tx.getBuf() >= 0) sink += worker.tap.recv();
        }
      },
    );
  }
}

for (const release of RELEASES) {
  Deno.bench(`vhost_net_test, 2 x 1,048,576 packets: ${release}`, {
    group: "vhost_net_test",
    baseline: release === "6.8",
    n: 5,
  }, () => {
    sink += runVhostNetTest({ kernel: kernel(release) }).txPackets;
  });
}

globalThis.addEventListener("unload", () => {
  if (Number.isNaN(sink)) throw new Error("a truesize was no number");
});
