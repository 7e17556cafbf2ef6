/**
 * Freeing a fragment by its address alone, and the checks of arguments that the fragment allocators share.
 *
 * @module
 */

import type { PageAllocator } from "./page_alloc.ts";

/** Largest fragment that can be asked for, bytes. */
export const MAX_FRAGSZ: number = 2 ** 30;

/** `PAGE_SHIFT`: an address shifted right by it is a pfn. */
export function pageShift(pages: PageAllocator): number {
  return 31 - Math.clz32(pages.pageSize);
}

/**
 * `virt_to_head_page(address)`: the first page of the block that holds an address.
 *
 * @param pages The page allocator.
 * @param shift Its {@linkcode pageShift}.
 * @param address Any number.
 * @returns A pfn, or -1 where there is no such page. The block may be a free one: then its refcount is 0.
 */
export function headPage(
  kind: Uint8Array,
  shift: number,
  address: number,
): number {
  const small = address | 0;
  if (!(address >= 0)) return -1;
  const pfn = small === address
    ? small >>> shift
    : Number.isInteger(address)
    ? Math.floor(address / 2 ** shift)
    : Infinity;
  if (pfn >= kind.length) return -1;
  // A block starts at a multiple of its size, and only its first page is marked: the first mark on the way up is it.
  let head = pfn;
  for (let size = 2; kind[head] === 0; size <<= 1) head = pfn & -size;
  return head;
}

/**
 * `put_page(virt_to_head_page(address))`: drops one reference of the block that holds `address` and frees the block with
 * the last one. Models `page_frag_free` (mm/page_alloc.c; mm/page_frag_cache.c from 6.13).
 *
 * @param pages The page allocator.
 * @param shift Its {@linkcode pageShift}.
 * @param address Address of a fragment, bytes.
 * @param cpu CPU to whose lists a freed block goes.
 * @returns Whether an allocated block holds the address.
 */
export function putFragment(
  pages: PageAllocator,
  shift: number,
  address: number,
  cpu: number,
): boolean {
  const head = headPage(pages.zone.kind, shift, address);
  if (head < 0) return false;
  const left = pages.refcount[head]! - 1;
  if (left > 0) pages.refcount[head] = left;
  else if (left === 0) pages.free(head, cpu);
  else return false;
  return true;
}

/** `cpu` or its default, 0; RangeError unless it is one of the allocator's CPUs. */
export function checkCpu(
  pages: PageAllocator,
  cpu: number | undefined,
): number {
  const value = cpu ?? 0;
  if (!Number.isInteger(value) || value < 0 || value >= pages.cpus) {
    throw new RangeError(
      `cpu must be a whole number from 0 to ${pages.cpus - 1}, got ${cpu}`,
    );
  }
  return value;
}

/** RangeError unless `align` is a power of two up to 32,768 bytes and the kernel takes one. */
export function checkAlign(
  align: number,
  aligns: boolean,
  release: string,
): void {
  if (
    (align | 0) !== align || align < 1 || align > 32768 ||
    (align & (align - 1)) !== 0
  ) {
    throw new RangeError(
      `align must be a power of two from 1 to 32768 bytes, got ${align}`,
    );
  }
  if (!aligns) {
    throw new RangeError(
      `align must be 1 in ${release}, whose fragments cannot be aligned, got ${align}`,
    );
  }
}
