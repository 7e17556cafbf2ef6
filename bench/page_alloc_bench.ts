/**
 * Page allocator: a pair of alloc and free by release, single and in batches, beside reading the free list alone.
 *
 * @module
 */

import { Gfp } from "../lib/mm/gfp.ts";
import { PageAllocator } from "../lib/mm/page_alloc.ts";
import { kernel } from "../lib/releases/mod.ts";

const PAIRS = 1000;
const BATCH = 64;
const gfp = Gfp.GFP_ATOMIC | Gfp.__GFP_COMP;

for (const order of [0, 3]) {
  const group = `${PAIRS} pairs of order ${order}`;
  const empty = new PageAllocator(kernel("6.8"));
  Deno.bench(`empty loop: ${group}`, { group, baseline: true }, () => {
    let sum = 0;
    for (let i = 0; i < PAIRS; i++) sum += empty.freeBlocks(order) + i;
    if (sum < 0) throw new Error("unreachable");
  });
  for (const name of ["3.12", "4.3", "6.1", "6.8", "6.18"]) {
    const pages = new PageAllocator(kernel(name));
    Deno.bench(`${name}: ${group}`, { group }, () => {
      for (let i = 0; i < PAIRS; i++) pages.free(pages.alloc(gfp, order));
    });
    const held = new Int32Array(BATCH);
    Deno.bench(`${name}: ${group}, ${BATCH} held at a time`, { group }, () => {
      for (let left = PAIRS; left > 0; left -= BATCH) {
        const n = Math.min(left, BATCH);
        for (let i = 0; i < n; i++) held[i] = pages.alloc(gfp, order);
        for (let i = 0; i < n; i++) pages.free(held[i]!);
      }
    });
  }
}
