/**
 * Every allocator that network buffers come from behind one interface, so that experiments can put them side by side.
 *
 * @module
 */

import { PagePool } from "../drivers/page_pool.ts";
import { VhostNetPageFrag } from "../drivers/vhost_net_page_frag.ts";
import { Gfp } from "../mm/gfp.ts";
import { kmemCache } from "../mm/kmem_cache.ts";
import { kmallocSizeRoundup } from "../mm/kmalloc.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { PageFrag } from "../mm/page_frag.ts";
import { netdevFragSize, PageFragCache } from "../mm/page_frag_cache.ts";
import { headPage, pageShift } from "../mm/page_frag_put.ts";
import type { Slub } from "../mm/slub.ts";
import { whole } from "../sim/check.ts";

/** An allocator of network buffers. */
export type BufferSourceKind =
  | "page_frag_cache"
  | "skb_page_frag_refill"
  | "vhost_net"
  | "kmalloc"
  | "page_pool";

/**
 * Their names.
 *
 * @example
 * ```ts
 * import { BUFFER_SOURCES } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(BUFFER_SOURCES.includes("kmalloc"));
 * ```
 */
export const BUFFER_SOURCES: readonly BufferSourceKind[] = Object.freeze([
  "page_frag_cache",
  "skb_page_frag_refill",
  "vhost_net",
  "kmalloc",
  "page_pool",
]);

/** An allocator as experiments use it. */
export interface BufferSource {
  /** Which one. */
  readonly kind: BufferSourceKind;
  /** Where its pages come from. */
  readonly pages: PageAllocator;
  /**
   * A buffer.
   *
   * @param size Bytes, 1 to a page.
   * @returns Its address, bytes; -1 where there is no memory.
   */
  alloc(size: number): number;
  /**
   * Gives a buffer back.
   *
   * @param address What `alloc` returned.
   */
  free(address: number): void;
  /** Gives up what the allocator keeps for later; buffers that are out stay valid. */
  drain(): void;
}

/** How a {@linkcode bufferSource} is made. An option given as `undefined` is absent. */
export interface BufferSourceOptions {
  /** What the page allocator may do, from `Gfp`; `GFP_ATOMIC` when absent. */
  readonly gfp?: number | undefined;
  /** `net.core.high_order_alloc_disable`, which `skb_page_frag_refill` of 5.3 and later heeds; false when absent. */
  readonly highOrderAllocDisable?: boolean | undefined;
}

/**
 * An allocator of the page allocator's kernel.
 *
 * @param kind Which one.
 * @param pages Where its pages come from.
 * @param options Request bits and sysctl.
 * @returns The allocator, without a block yet.
 * @throws {RangeError} The kernel does not have it, or an option is out of range.
 *
 * @example The same buffer from each
 * ```ts
 * import { BUFFER_SOURCES, bufferSource, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const offsets = BUFFER_SOURCES.map((kind) => {
 *   const source = bufferSource(kind, new PageAllocator(kernel("6.8")));
 *   return source.alloc(1600) % 4096;
 * });
 * // The cache starts at the end of its block: 32,768 - 1,600 = 7 pages and 2,496 bytes.
 * assertEquals(offsets, [2496, 0, 0, 0, 0]);
 * ```
 */
export function bufferSource(
  kind: BufferSourceKind,
  pages: PageAllocator,
  options: BufferSourceOptions = {},
): BufferSource {
  const { gfp = Gfp.GFP_ATOMIC, highOrderAllocDisable } = options;
  switch (kind) {
    case "page_frag_cache": {
      const cache = new PageFragCache(pages);
      return {
        kind,
        pages,
        alloc: (size) => cache.alloc(netdevFragSize(pages.kernel, size), gfp),
        free: (address) => cache.free(address),
        drain: () => cache.drain(),
      };
    }
    case "skb_page_frag_refill": {
      if (pages.kernel.skbPageFrag.fits === "offset < size") {
        throw new RangeError(
          `kind "${kind}": ${pages.kernel.name} grants any room that is left, not buffers of a size`,
        );
      }
      const frag = new PageFrag(pages, { highOrderAllocDisable });
      return {
        kind,
        pages,
        alloc: (size) => frag.refill(size, gfp) ? frag.take(size) : -1,
        free: (address) => frag.free(address),
        drain: () => frag.release(),
      };
    }
    case "vhost_net": {
      const frag = new VhostNetPageFrag(pages);
      return {
        kind,
        pages,
        alloc: (size) => frag.alloc(size, gfp),
        free: (address) => frag.free(address),
        drain: () => frag.drain(),
      };
    }
    case "page_pool": {
      const pool = new PagePool(pages);
      return {
        kind,
        pages,
        alloc: (size) => pool.alloc(size, gfp),
        free: (address) => pool.put(address),
        drain: () => pool.destroy(),
      };
    }
    case "kmalloc":
      return new Kmalloc(pages, gfp);
    default:
      throw new RangeError(
        `kind "${kind}": ${
          BUFFER_SOURCES.map((name) => `"${name}"`).join(", ")
        } are allowed`,
      );
  }
}

/** `kmalloc` over SLUB: one cache a size class, objects by their addresses. */
class Kmalloc implements BufferSource {
  readonly kind = "kmalloc";
  readonly pages: PageAllocator;
  readonly #gfp: number;
  readonly #shift: number;
  readonly #caches: Slub[] = [];
  readonly #classes: number[] = [];
  // By a slab's first page: its index in its cache, and which cache that is.
  readonly #slab: Int32Array;
  readonly #cache: Uint8Array;

  constructor(pages: PageAllocator, gfp: number) {
    this.pages = pages;
    this.#gfp = gfp;
    this.#shift = pageShift(pages);
    this.#slab = new Int32Array(pages.refcount.length);
    this.#cache = new Uint8Array(pages.refcount.length);
  }

  alloc(size: number): number {
    const index = this.#indexOf(size);
    const cache = this.#caches[index]!;
    const object = cache.alloc();
    if (object < 0) return -1;
    const { table } = cache;
    const slab = object >> table.shift;
    const pfn = table.pfn[slab]!;
    this.#slab[pfn] = slab;
    this.#cache[pfn] = index;
    const slot = object - (slab << table.shift);
    return pfn * this.pages.pageSize + slot * cache.slabSize;
  }

  free(address: number): void {
    const pfn = headPage(this.pages.zone.kind, this.#shift, address);
    const cache = this.#caches[this.#cache[pfn] ?? -1];
    if (cache === undefined) {
      throw new Error(`free(${address}): nothing is allocated at this address`);
    }
    const slot = (address - pfn * this.pages.pageSize) / cache.slabSize;
    cache.free((this.#slab[pfn]! << cache.table.shift) + slot);
  }

  drain(): void {
    for (const cache of this.#caches) cache.shrink();
  }

  #indexOf(size: number): number {
    const { pages } = this;
    whole("size", size, 1, pages.pageSize);
    const objectSize = kmallocSizeRoundup(pages.kernel, size);
    const at = this.#classes.indexOf(objectSize);
    if (at >= 0) return at;
    this.#classes.push(objectSize);
    this.#caches.push(
      kmemCache({
        kernel: pages.kernel,
        objectSize,
        align: objectSize & -objectSize,
        pages,
        gfp: this.#gfp,
      }),
    );
    return this.#caches.length - 1;
  }
}

/** One buffer in a block, bytes. */
export interface BlockPlace {
  /** Where it starts, from the block's start. */
  readonly offset: number;
  /** Bytes that were asked for. */
  readonly size: number;
}

/** The first block that an allocator cut. */
export interface CutBlock {
  /** The allocator. */
  readonly kind: BufferSourceKind;
  /** Bytes of the block. */
  readonly size: number;
  /** Its order. */
  readonly order: number;
  /** Its buffers in the order in which they were handed out. */
  readonly buffers: readonly BlockPlace[];
}

/**
 * Where an allocator puts buffers: takes them, and keeps them, until one lies in another block than the first.
 *
 * @param source An allocator without a block.
 * @param size Bytes of each buffer, 1 to a page.
 * @returns The first block.
 * @throws {Error} There is no memory for a block.
 *
 * @example From the end down, and from the start up
 * ```ts
 * import { bufferSource, cutBlock, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const first = (name: string) =>
 *   cutBlock(bufferSource("page_frag_cache", new PageAllocator(kernel(name))), 1984).buffers.map(({ offset }) => offset).slice(0, 2);
 * assertEquals([first("6.8"), first("6.18")], [[30784, 28800], [0, 1984]]);
 * ```
 */
export function cutBlock(source: BufferSource, size: number): CutBlock {
  const { pages, kind } = source;
  const shift = pageShift(pages);
  const buffers: BlockPlace[] = [];
  let block = -1;
  for (;;) {
    const address = source.alloc(size);
    if (address < 0) {
      if (block >= 0) break;
      throw new Error("source: there is no memory for a block");
    }
    const head = headPage(pages.zone.kind, shift, address);
    if (block < 0) block = head;
    if (head !== block) break;
    buffers.push({ offset: address - block * pages.pageSize, size });
  }
  const order = pages.orderOf(block);
  return { kind, size: pages.pageSize << order, order, buffers };
}
