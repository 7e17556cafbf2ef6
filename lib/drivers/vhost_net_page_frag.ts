/**
 * The page fragments of vhost_net's transmit path: its own allocator up to 6.8, and `page_frag_cache`, by which a series of
 * early 2024 replaced it.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { PageFragCacheCounters } from "../mm/page_frag_block.ts";
import { PageFragCache } from "../mm/page_frag_cache.ts";
import { checkCpu, pageShift, putFragment } from "../mm/page_frag_put.ts";

/** How a {@linkcode VhostNetPageFrag} is made. */
export interface VhostNetPageFragOptions {
  /** CPU whose per-CPU page lists the worker takes from, default 0. */
  readonly cpu?: number | undefined;
}

/**
 * vhost_net's page fragments, with the interface of {@linkcode PageFragCache}. Up to 6.8 `vhost_net_page_frag_refill`
 * (drivers/vhost/net.c): up, 65,535 references at once, and a block that is used up is given away even if all of its
 * fragments have come back. From 6.9 on `page_frag_alloc_align`. Driven by `kernel.vhost`.
 *
 * @example One packet in flight: a block for every 42 packets before, one block for all of them after
 * ```ts
 * import { kernel, PageAllocator, VhostNetPageFrag } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const refills = ["6.8", "6.12"].map((name) => {
 *   const frag = new VhostNetPageFrag(new PageAllocator(kernel(name)));
 *   for (let i = 0; i < 420; i++) frag.free(frag.alloc(768));
 *   return frag.counters.refills;
 * });
 * assertEquals(refills, [10, 1]);
 * ```
 */
export class VhostNetPageFrag {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** CPU whose per-CPU page lists serve it. */
  readonly cpu: number;
  /** What is counted; `reuses` stays 0 in vhost_net's own allocator. */
  readonly counters: PageFragCacheCounters;
  readonly #cache: PageFragCache | undefined;
  readonly #shift: number;
  readonly #line: number;
  readonly #order: number;
  readonly #fullBias: number;
  #pfn = -1;
  #offset = 0;
  #size = 0;
  // References: held by the allocator, taken with the block, given to buffers of earlier blocks.
  readonly #own = { bias: 0, total: 0, settled: 0 };

  /**
   * An allocator without a block.
   *
   * @param pages The page allocator; its kernel decides the allocator.
   * @param options The worker's CPU.
   * @throws {RangeError} The kernel's vhost_net takes no fragments (before 4.20), or `cpu` is none of the page allocator's CPUs.
   */
  constructor(pages: PageAllocator, options: VhostNetPageFragOptions = {}) {
    const { kernel } = pages;
    if (kernel.vhost.frag === "none") {
      throw new RangeError(
        `pages: vhost_net of ${kernel.name} takes no page fragments`,
      );
    }
    this.pages = pages;
    this.kernel = kernel;
    this.cpu = checkCpu(pages, options.cpu);
    this.#shift = pageShift(pages);
    this.#line = kernel.build.cacheLine;
    this.#order = Math.ceil(
      Math.log2(Math.max(1, kernel.skbPageFrag.maxSize / pages.pageSize)),
    );
    this.#fullBias = kernel.vhost.bias;
    this.#cache = kernel.vhost.frag === "page_frag_cache"
      ? new PageFragCache(pages, { cpu: this.cpu })
      : undefined;
    this.counters = this.#cache?.counters ??
      new PageFragCacheCounters(this.#own);
  }

  /** Head page of the current block, or -1. */
  get pfn(): number {
    return this.#cache?.pfn ?? this.#pfn;
  }

  /** Offset in the current block, bytes. */
  get offset(): number {
    return this.#cache?.offset ?? this.#offset;
  }

  /** Size of the current block, bytes; 0 without one. */
  get size(): number {
    return this.#cache?.size ?? this.#size;
  }

  /** `refcnt_bias` or `pagecnt_bias`: references still held. */
  get bias(): number {
    return this.#cache?.bias ?? this.#own.bias;
  }

  /**
   * A buffer at a multiple of the cache line.
   *
   * @param buflen Bytes, 1 to a page: `vhost_net_build_xdp` asks for no more.
   * @param gfp What the page allocator may do; the kernel passes `GFP_KERNEL`, the default.
   * @returns Its address, or -1 without memory (`-ENOMEM`).
   * @throws {RangeError} `buflen` is out of range.
   */
  alloc(buflen: number, gfp: number = Gfp.GFP_KERNEL): number {
    const { pageSize } = this.pages;
    if ((buflen | 0) !== buflen || buflen < 1 || buflen > pageSize) {
      throw new RangeError(
        `buflen must be a whole number of bytes from 1 to ${pageSize}, got ${buflen}`,
      );
    }
    if (this.#cache !== undefined) {
      return this.#cache.alloc(buflen, gfp, this.#line);
    }
    const aligned = (this.#offset + this.#line - 1) & -this.#line;
    this.counters.wastedBytes += aligned - this.#offset;
    this.#offset = aligned;
    if (this.#pfn < 0 || aligned + buflen > this.#size) {
      if (!this.#refill(gfp)) return -1;
    }
    const address = this.#pfn * pageSize + this.#offset;
    this.#offset += buflen;
    this.#own.bias--;
    return address;
  }

  /**
   * Takes back a buffer that could not be filled (`-EFAULT`, `-EINVAL`), before any other is allocated. vhost_net's own
   * allocator just does not count it; the newer form frees it with `page_frag_free`, and its bytes stay lost.
   *
   * @param address What the last `alloc` returned.
   * @param buflen Its length, bytes.
   * @throws {RangeError} It is not the last buffer.
   */
  abort(address: number, buflen: number): void {
    if (this.#cache !== undefined) {
      this.#cache.free(address);
      return;
    }
    const last = this.#pfn * this.pages.pageSize + this.#offset - buflen;
    if (this.#pfn < 0 || address !== last) {
      throw new RangeError(
        `address must be that of the last buffer, got ${address} with ${buflen} bytes`,
      );
    }
    this.#offset -= buflen;
    this.#own.bias++;
  }

  /**
   * Gives a buffer back, as freeing the skb that tun built around it does.
   *
   * @param address What `alloc` returned.
   * @throws {Error} The address lies in no allocated block.
   */
  free(address: number): void {
    if (this.#cache !== undefined) {
      this.#cache.free(address);
    } else if (!putFragment(this.pages, this.#shift, address, this.cpu)) {
      throw new Error(`free(${address}): nothing is allocated at this address`);
    }
  }

  /** Gives up the block, as `vhost_net_release` does (`__page_frag_cache_drain`, `page_frag_cache_drain`). */
  drain(): void {
    if (this.#cache !== undefined) {
      this.#cache.drain();
    } else if (this.#pfn >= 0) {
      this.#giveUp();
    }
  }

  #giveUp(): void {
    const { pages } = this;
    const own = this.#own;
    if (pages.refSubAndTest(this.#pfn, own.bias)) {
      pages.free(this.#pfn, this.cpu);
    }
    this.#pfn = -1;
    this.#offset = 0;
    this.#size = 0;
    own.settled += own.total - own.bias;
    own.total = 0;
    own.bias = 0;
  }

  #refill(gfp: number): boolean {
    const { pages, counters, cpu } = this;
    if (this.#pfn >= 0) {
      counters.wastedBytes += Math.max(0, this.#size - this.#offset);
      this.#giveUp();
    }
    this.#offset = 0;
    let order = this.#order;
    let pfn = order > 0
      ? pages.alloc(
        (gfp & ~Gfp.__GFP_DIRECT_RECLAIM) | Gfp.__GFP_COMP | Gfp.__GFP_NOWARN |
          Gfp.__GFP_NORETRY,
        order,
        cpu,
      )
      : -1;
    if (pfn < 0) {
      order = 0;
      pfn = pages.alloc(gfp, 0, cpu);
    }
    if (pfn < 0) {
      counters.failures++;
      return false;
    }
    this.#pfn = pfn;
    this.#size = pages.pageSize << order;
    this.#own.bias = this.#fullBias;
    this.#own.total = this.#fullBias;
    pages.refcount[pfn]! += this.#fullBias - 1;
    counters.refills++;
    if (order === 3) counters.refillsOrder3++;
    else if (order === 0) counters.refillsOrder0++;
    return true;
  }
}
