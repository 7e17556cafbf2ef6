/**
 * The second to fourth shapes, `__alloc_page_frag` and later `page_frag_alloc_align` in mm/page_alloc.c of 4.2 to 6.12:
 * fragments go down, so that one subtraction tells whether the request fits.
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
  takeBias,
} from "./page_frag_block.ts";

/**
 * A fragment of `fragsz` bytes, its offset cut down to a multiple of `align`, as 4.2 to 6.12 cut it.
 *
 * @returns Its address, or -1: no memory, or (6.0 on) a request larger than the block. From 4.2 to 5.19 such a request
 *   returns an address in front of the block, and the offset that wraps to 16 bits leads the following ones past its end.
 */
export function pageFragAllocDown(
  nc: PageFragCacheState,
  fragsz: number,
  gfp: number,
  align: number,
): number {
  const next = nc.offset - fragsz;
  // An offset over the size is a wrapped one.
  if (next < 0 || nc.offset > nc.size) {
    return startBlock(nc, fragsz, gfp, align);
  }
  return cut(nc, next, align);
}

function cut(nc: PageFragCacheState, next: number, align: number): number {
  const offset = next & -align;
  if (offset !== next) nc.counters.wastedBytes += next - offset;
  nc.offset = offset;
  nc.bias--;
  return nc.base + offset;
}

function startBlock(
  nc: PageFragCacheState,
  fragsz: number,
  gfp: number,
  align: number,
): number {
  const { rules, counters } = nc;
  let fresh = false;
  if (nc.pfn < 0) {
    if (!refillBlock(nc, gfp)) return -1;
    fresh = true;
  }
  for (;;) {
    let next = nc.offset - fragsz;
    if (next >= 0) {
      if (next + fragsz > nc.size) counters.corruptions++;
      return cut(nc, next, align);
    }
    if (!giveUpBias(nc)) {
      countRest(nc);
      if (!refillBlock(nc, gfp)) return -1;
      fresh = true;
      continue;
    }
    if (nc.pfmemalloc && rules.dropsPfmemalloc) {
      countRest(nc);
      nc.pages.free(nc.pfn, nc.cpu);
      forgetBlock(nc);
      counters.pfmemallocDrops++;
      if (fresh) {
        // A fresh block that is too small and from the reserve: the kernel drops and takes it for ever.
        counters.endlessLoops++;
        return -1;
      }
      if (!refillBlock(nc, gfp)) return -1;
      fresh = true;
      continue;
    }
    next = nc.size - fragsz;
    if (next >= 0) {
      restartBlock(nc);
      return cut(nc, next, align);
    }
    takeBias(nc);
    if (rules.refusesTooLarge) {
      // The block stays, and so does its old offset.
      counters.refusals++;
      return -1;
    }
    const offset = next & -align;
    nc.offset = offset & rules.offsetMask;
    nc.bias--;
    counters.corruptions++;
    return nc.base + offset;
  }
}
