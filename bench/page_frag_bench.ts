/** Page-fragment allocators: a fragment taken and freed, one at a time and in batches of 64, by release. */
import { VhostNetPageFrag } from "../lib/drivers/vhost_net_page_frag.ts";
import { Gfp } from "../lib/mm/gfp.ts";
import { PageAllocator } from "../lib/mm/page_alloc.ts";
import { PageFrag } from "../lib/mm/page_frag.ts";
import { PageFrag1k } from "../lib/mm/page_frag_1k.ts";
import { PageFragCache } from "../lib/mm/page_frag_cache.ts";
import { kernel } from "../lib/releases/mod.ts";

const BATCH = 64;
const ROUNDS = 1000;
const addresses = new Int32Array(BATCH);

const pagesOf = (release: string): PageAllocator =>
  new PageAllocator(kernel(release), { pages: 16384 });

// The loops alone: what to take off the figures below. 64,000 pairs an iteration in every benchmark of this file.
Deno.bench("empty loop", {
  group: "page_frag_cache, batches of 64",
  baseline: true,
}, () => {
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < BATCH; i++) addresses[i] = i + round;
    for (let i = 0; i < BATCH; i++) addresses[i]! -= round;
  }
});

// The cache and the sizes are arguments, so that the loop holds them in registers as a driver's would.
function batches(cache: PageFragCache, size: number, gfp: number): void {
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < BATCH; i++) addresses[i] = cache.alloc(size, gfp);
    for (let i = 0; i < BATCH; i++) cache.free(addresses[i]!);
  }
}

for (const size of [256, 768]) {
  for (const release of ["3.12", "4.3", "6.1", "6.12", "6.18"]) {
    const cache = new PageFragCache(pagesOf(release));
    Deno.bench(`${release}: ${size} bytes, batches of 64`, {
      group: "page_frag_cache, batches of 64",
    }, () => batches(cache, size, Gfp.GFP_ATOMIC));
  }
}

for (const release of ["3.12", "4.3", "6.1", "6.12", "6.18"]) {
  const cache = new PageFragCache(pagesOf(release));
  Deno.bench(
    `${release}: 768 bytes`,
    { group: "page_frag_cache, one at a time", baseline: release === "3.12" },
    () => {
      for (let i = 0; i < BATCH * ROUNDS; i++) {
        cache.free(cache.alloc(768, Gfp.GFP_ATOMIC));
      }
    },
  );
}

for (const release of ["3.12", "4.3", "6.12"]) {
  const frag = new PageFrag(pagesOf(release));
  Deno.bench(
    `${release}: 1536 bytes`,
    {
      group: "skb_page_frag_refill, batches of 64",
      baseline: release === "3.12",
    },
    () => {
      for (let round = 0; round < ROUNDS; round++) {
        for (let i = 0; i < BATCH; i++) {
          frag.refill(1536, Gfp.GFP_KERNEL);
          addresses[i] = frag.take(Math.min(1536, frag.size - frag.offset));
        }
        for (let i = 0; i < BATCH; i++) frag.free(addresses[i]!);
      }
    },
  );
}

for (const release of ["6.8", "6.12"]) {
  const frag = new VhostNetPageFrag(pagesOf(release));
  Deno.bench(`${release}: 768 bytes`, {
    group: "vhost_net, one packet in flight",
    baseline: release === "6.8",
  }, () => {
    for (let i = 0; i < BATCH * ROUNDS; i++) frag.free(frag.alloc(768));
  });
}

for (const release of ["6.8", "6.12"]) {
  const frag = new VhostNetPageFrag(pagesOf(release));
  Deno.bench(`${release}: 768 bytes`, {
    group: "vhost_net, batches of 64",
    baseline: release === "6.8",
  }, () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < BATCH; i++) addresses[i] = frag.alloc(768);
      for (let i = 0; i < BATCH; i++) frag.free(addresses[i]!);
    }
  });
}

const small = new PageFrag1k(pagesOf("6.8"));
Deno.bench("6.8: 1 KiB", { group: "page_frag_1k, batches of 64" }, () => {
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < BATCH; i++) addresses[i] = small.alloc(Gfp.GFP_ATOMIC);
    for (let i = 0; i < BATCH; i++) small.free(addresses[i]!);
  }
});
