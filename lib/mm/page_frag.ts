/**
 * `page_frag` and `skb_page_frag_refill`: how a task or a socket gets the pages that it copies outgoing data to, and how
 * tun and virtio_net get buffers. A thread of October 2013 gave the function its name, its room test and its minimum.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "./gfp.ts";
import type { PageAllocator } from "./page_alloc.ts";
import {
  checkCpu,
  MAX_FRAGSZ,
  pageShift,
  putFragment,
} from "./page_frag_put.ts";

/**
 * What a {@linkcode PageFrag} counts. Each call of `refill` counts in exactly one of the first four.
 *
 * @example
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageFrag, PageFragCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const frag = new PageFrag(new PageAllocator(kernel("6.12")));
 * for (let i = 0; i < 17; i++) {
 *   frag.refill(2048, Gfp.GFP_KERNEL);
 *   frag.take(2048);
 * }
 * const counters: PageFragCounters = frag.counters;
 * assertEquals([counters.frags, counters.refills], [17, 2]);
 * ```
 */
export class PageFragCounters {
  /** Calls that the current block served, because it has room. */
  fits = 0;
  /** Calls that found nobody else using the block and started it again. */
  rewinds = 0;
  /** Calls that took a fresh block. */
  refills = 0;
  /** Calls that found no memory. */
  failures = 0;
  /** Refills that got a block of order 3. */
  refillsOrder3 = 0;
  /** Refills that got a single page. */
  refillsOrder0 = 0;
  /** Fragments taken. */
  frags = 0;
  /** Calls that were granted a block smaller than the request: the caller must cut its copy, or it overruns. */
  tooSmall = 0;
  /** Bytes left unused in the blocks that were given up or started again. */
  wastedBytes = 0;
}

/** How a {@linkcode PageFrag} is made. */
export interface PageFragOptions {
  /** CPU whose per-CPU page lists serve it, default 0. */
  readonly cpu?: number | undefined;
  /** `net.core.high_order_alloc_disable`: never ask for more than a page. Default false; releases from 5.3. */
  readonly highOrderAllocDisable?: boolean | undefined;
  /**
   * `BITS_PER_LONG`: 64 (default) or 32. With 32 and pages below 64 KiB `struct page_frag` keeps offset and size in 16
   * bits, which is why a block has at most 2^15 bytes.
   */
  readonly bitsPerLong?: 32 | 64 | undefined;
}

const ANY_ROOM = 0;
const LESS_THAN_BLOCK = 1;

/**
 * `struct page_frag` with `skb_page_frag_refill` (net/core/sock.c; up to 3.12 a part of `sk_page_frag_refill`). Offsets go
 * up; the frag holds one reference of its block, each user takes one more. Driven by `kernel.skbPageFrag`.
 *
 * @example Sixteen buffers of 2 KiB fill 32 KiB, and the seventeenth needs another block
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageFrag } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const frag = new PageFrag(new PageAllocator(kernel("6.12")));
 * for (let i = 0; i < 17; i++) {
 *   frag.refill(2048, Gfp.GFP_KERNEL);
 *   frag.take(2048);
 * }
 * assertEquals(frag.counters.refills, 2);
 * assertEquals(frag.offset, 2048);
 * ```
 */
export class PageFrag {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** CPU whose per-CPU page lists serve it. */
  readonly cpu: number;
  /** What is counted. */
  readonly counters: PageFragCounters = new PageFragCounters();
  /** `page`: head page of the current block, or -1. */
  pfn: number = -1;
  /** `offset`: bytes of the block that are in use; users that cut pieces themselves advance it. */
  offset = 0;
  /** `size` of the block, bytes. */
  size = 0;
  readonly #shift: number;
  readonly #fits: number;
  readonly #order: number;
  readonly #waitForHighOrder: boolean;
  readonly #descends: boolean;
  readonly #highMask: number;
  readonly #highGfp: number;

  /**
   * A frag without a block.
   *
   * @param pages The page allocator; its kernel decides the rules.
   * @param options CPU, sysctl and word size.
   * @throws {RangeError} An option is out of range, or the kernel does not have it.
   */
  constructor(pages: PageAllocator, options: PageFragOptions = {}) {
    const { highOrderAllocDisable = false, bitsPerLong = 64 } = options;
    const facts = pages.kernel.skbPageFrag;
    const { pageSize } = pages.kernel.build;
    if (typeof highOrderAllocDisable !== "boolean") {
      throw new TypeError(
        `highOrderAllocDisable must be true or false, got ${highOrderAllocDisable}`,
      );
    }
    if (highOrderAllocDisable && !facts.highOrderSysctl) {
      throw new RangeError(
        `highOrderAllocDisable must be false: ${pages.kernel.name} has no net.core.high_order_alloc_disable`,
      );
    }
    if (bitsPerLong !== 32 && bitsPerLong !== 64) {
      throw new RangeError(`bitsPerLong must be 32 or 64, got ${bitsPerLong}`);
    }
    if (bitsPerLong === 32 && pageSize < 65536 && facts.maxSize > 32768) {
      throw new RangeError(
        `skbPageFrag.maxSize must be at most 32768 bytes where longs have 32 bits, got ${facts.maxSize}`,
      );
    }
    this.pages = pages;
    this.kernel = pages.kernel;
    this.cpu = checkCpu(pages, options.cpu);
    this.#shift = pageShift(pages);
    this.#fits = facts.fits === "offset < size"
      ? ANY_ROOM
      : facts.fits === "offset + sz < size"
      ? LESS_THAN_BLOCK
      : LESS_THAN_BLOCK + 1;
    this.#order = highOrderAllocDisable
      ? 0
      : Math.ceil(Math.log2(Math.max(1, facts.maxSize / pageSize)));
    this.#waitForHighOrder = facts.orders === "descend-if-wait";
    this.#descends = facts.orders !== "highest-then-0";
    this.#highMask = facts.highOrderReclaims ? ~0 : ~Gfp.__GFP_DIRECT_RECLAIM;
    // One pass only came when atomic callers were let in (3.14).
    this.#highGfp = Gfp.__GFP_COMP | Gfp.__GFP_NOWARN |
      (facts.highOrderNoRetry ? Gfp.__GFP_NORETRY : 0);
  }

  /**
   * Makes sure that the block has room (`skb_page_frag_refill`). A block that nobody else uses is started again, and a
   * fresh one is granted whatever its size is: neither is tested against `sz`.
   *
   * @param sz Bytes wanted, 1 to 2^30; callers of the kernel stay within a page.
   * @param gfp What the page allocator may do, from `Gfp`.
   * @returns Whether there is a block; how much room it has depends on the release's test.
   * @throws {RangeError} `sz` is out of range.
   */
  refill(sz: number, gfp: number): boolean {
    if ((sz | 0) !== sz || sz < 1 || sz > MAX_FRAGSZ) {
      throw new RangeError(
        `sz must be a whole number of bytes from 1 to ${MAX_FRAGSZ}, got ${sz}`,
      );
    }
    const { pages, counters } = this;
    if (this.pfn >= 0) {
      if (pages.refcount[this.pfn] === 1) {
        this.#countRest();
        this.offset = 0;
        counters.rewinds++;
        if (sz > this.size) counters.tooSmall++;
        return true;
      }
      if (this.#hasRoom(sz)) {
        counters.fits++;
        if (this.offset + sz > this.size) counters.tooSmall++;
        return true;
      }
      this.release();
    }
    return this.#takeBlock(sz, gfp);
  }

  /**
   * Cuts a piece as the users of `skb_page_frag_refill` do: takes a reference and advances the offset.
   *
   * @param bytes Length, 1 to what the block has left.
   * @returns The piece's address, bytes.
   * @throws {RangeError} There is no block, or not as much left in it.
   */
  take(bytes: number): number {
    const { pfn, offset } = this;
    if (
      (bytes | 0) !== bytes || bytes < 1 || bytes > this.size - offset ||
      pfn < 0
    ) {
      throw new RangeError(
        `bytes must be a whole number from 1 to the ${
          pfn < 0 ? 0 : this.size - offset
        } that are left, got ${bytes}`,
      );
    }
    this.pages.refcount[pfn]!++;
    this.offset = offset + bytes;
    this.counters.frags++;
    return pfn * this.pages.pageSize + offset;
  }

  /**
   * Drops a user's reference (`skb_frag_unref`, `put_page`).
   *
   * @param address What `take` returned.
   * @throws {Error} The address lies in no allocated block.
   */
  free(address: number): void {
    if (!putFragment(this.pages, this.#shift, address, this.cpu)) {
      throw new Error(`free(${address}): nothing is allocated at this address`);
    }
  }

  /** Drops the frag's own reference and forgets the block, as at the end of the task or the socket. */
  release(): void {
    if (this.pfn < 0) return;
    this.#countRest();
    this.pages.putPage(this.pfn, this.cpu);
    this.pfn = -1;
    this.offset = 0;
    this.size = 0;
  }

  #countRest(): void {
    if (this.offset > 0) this.counters.wastedBytes += this.size - this.offset;
  }

  #hasRoom(sz: number): boolean {
    switch (this.#fits) {
      case ANY_ROOM:
        return this.offset < this.size;
      case LESS_THAN_BLOCK:
        return this.offset + sz < this.size;
      default:
        return this.offset + sz <= this.size;
    }
  }

  #takeBlock(sz: number, gfp: number): boolean {
    const { pages, counters, cpu } = this;
    let order = this.#waitForHighOrder && (gfp & Gfp.__GFP_WAIT) === 0
      ? 0
      : this.#order;
    let pfn = -1;
    if (order > 0) {
      const high = (gfp & this.#highMask) | this.#highGfp;
      pfn = pages.alloc(high, order, cpu);
      while (pfn < 0 && this.#descends && order > 1) {
        pfn = pages.alloc(high, --order, cpu);
      }
    }
    if (pfn < 0) {
      order = 0;
      pfn = pages.alloc(gfp, 0, cpu);
    }
    if (pfn < 0) {
      counters.failures++;
      return false;
    }
    this.pfn = pfn;
    this.size = pages.pageSize << order;
    counters.refills++;
    if (order === 3) counters.refillsOrder3++;
    else if (order === 0) counters.refillsOrder0++;
    if (sz > this.size) counters.tooSmall++;
    return true;
  }
}
