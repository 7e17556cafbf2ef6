/**
 * Today's shape, `__page_frag_alloc_align` in mm/page_frag_cache.c of 6.13 on: fragments go up again, so that neighbours
 * can be merged; address, order and the pfmemalloc bit share one word, which needs no model of its own.
 *
 * @module
 */

import {
  countRest,
  forgetBlock,
  giveUpBias,
  type PageFragCacheState,
  refillBlock,
  restartBlock,
} from "./page_frag_block.ts";

/**
 * A fragment of `fragsz` bytes at a multiple of `align`, as 6.13 and later cut it.
 *
 * @returns Its address, or -1: no memory, or a request over a page that the rest of the block cannot serve.
 */
export function pageFragAllocUp(
  nc: PageFragCacheState,
  fragsz: number,
  gfp: number,
  align: number,
): number {
  const offset = (nc.offset + align - 1) & -align;
  if (offset + fragsz > nc.size) return startBlock(nc, fragsz, gfp);
  return cut(nc, offset, fragsz);
}

function cut(nc: PageFragCacheState, offset: number, fragsz: number): number {
  if (offset !== nc.offset) nc.counters.wastedBytes += offset - nc.offset;
  nc.offset = offset + fragsz;
  nc.bias--;
  return nc.base + offset;
}

function startBlock(
  nc: PageFragCacheState,
  fragsz: number,
  gfp: number,
): number {
  const { rules, counters } = nc;
  if (nc.pfn < 0) {
    if (!refillBlock(nc, gfp)) return -1;
    if (fragsz <= nc.size) return cut(nc, 0, fragsz);
  }
  if (rules.refusesOverPage && fragsz > nc.pages.pageSize) {
    // Not even a large fresh block is tried for it.
    counters.refusals++;
    return -1;
  }
  if (!giveUpBias(nc)) {
    countRest(nc);
    if (!refillBlock(nc, gfp)) return -1;
  } else if (nc.pfmemalloc && rules.dropsPfmemalloc) {
    countRest(nc);
    nc.pages.free(nc.pfn, nc.cpu);
    forgetBlock(nc);
    counters.pfmemallocDrops++;
    if (!refillBlock(nc, gfp)) return -1;
  } else {
    restartBlock(nc);
  }
  if (fragsz > nc.size) {
    counters.refusals++;
    return -1;
  }
  return cut(nc, 0, fragsz);
}
