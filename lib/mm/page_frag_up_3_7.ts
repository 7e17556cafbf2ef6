/**
 * The first shape of the receive-fragment allocator, `__netdev_alloc_frag` in net/core/skbuff.c of 3.7 to 3.18: fragments
 * go up, the refcount is set, and a block is started again whatever the request is.
 *
 * @module
 */

import {
  countRest,
  giveUpBias,
  type PageFragCacheState,
  refillBlock,
  restartBlock,
} from "./page_frag_block.ts";

/**
 * A fragment of `fragsz` bytes as 3.12 cuts it.
 *
 * @returns Its address, or -1: no memory, or a request larger than a whole block, for which the kernel would start the
 *   block again for ever.
 */
export function netdevAllocFrag(
  nc: PageFragCacheState,
  fragsz: number,
  gfp: number,
): number {
  const offset = nc.offset;
  if (offset + fragsz > nc.size) return startBlock(nc, fragsz, gfp);
  return cut(nc, offset, fragsz);
}

function cut(nc: PageFragCacheState, offset: number, fragsz: number): number {
  nc.offset = offset + fragsz;
  nc.bias--;
  return nc.base + offset;
}

function startBlock(
  nc: PageFragCacheState,
  fragsz: number,
  gfp: number,
): number {
  if (nc.pfn >= 0) {
    // Equal counts mean that nobody holds a fragment: the kernel then skips the atomic subtraction.
    if (giveUpBias(nc)) {
      restartBlock(nc);
    } else {
      countRest(nc);
      if (!refillBlock(nc, gfp)) return -1;
    }
  } else if (!refillBlock(nc, gfp)) return -1;
  if (fragsz > nc.size) {
    nc.counters.endlessLoops++;
    return -1;
  }
  return cut(nc, 0, fragsz);
}
