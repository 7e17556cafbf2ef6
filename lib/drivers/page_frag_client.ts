/**
 * Drivers that own a `page_frag_cache`, and how they give its block up: what `page_frag_cache_drain` was made for.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { PageFragCache } from "../mm/page_frag_cache.ts";
import { whole } from "../sim/check.ts";

/**
 * How a driver gives up its cache's block: not at all, by its own lines around `__page_frag_cache_drain`, or by
 * `page_frag_cache_drain`.
 */
export type PageFragTeardown = "none" | "by hand" | "page_frag_cache_drain";

const TEARDOWNS: readonly PageFragTeardown[] = [
  "none",
  "by hand",
  "page_frag_cache_drain",
];

/** Options of every {@linkcode PageFragClient}. An option given as `undefined` is absent. */
export interface PageFragClientOptions {
  /** How the block is given up; `page_frag_cache_drain` where the kernel has it and by hand elsewhere when absent. */
  readonly teardown?: PageFragTeardown | undefined;
}

/**
 * What a {@linkcode PageFragClient} counts.
 *
 * @example
 * ```ts
 * import { kernel, MtkWedWo, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const wo = new MtkWedWo(new PageAllocator(kernel("6.8")));
 * wo.start();
 * assertEquals(wo.counters.requests, 512);
 * ```
 */
export class PageFragClientCounters {
  /** Fragments it got. */
  requests = 0;
  /** Requests that found no memory. */
  failures = 0;
  /** Caches that were given up without ever having had a block by lines that do not check for it: the kernel would crash. */
  nullDereferences = 0;
}

/**
 * A driver with page-fragment caches of its own.
 *
 * @example
 * ```ts
 * import { GveXdpRedirect, kernel, PageAllocator, PageFragClient } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const gve: PageFragClient = new GveXdpRedirect(new PageAllocator(kernel("6.12")), { inFlight: 1 });
 * gve.run(151);
 * assertEquals([gve.counters.requests, gve.caches[0]!.counters.refills], [151, 1]);
 * ```
 */
export abstract class PageFragClient {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** The kernel, as the page allocator has it. */
  readonly kernel: Kernel;
  /** How its blocks are given up. */
  readonly teardown: PageFragTeardown;
  /** Its caches: of each queue one. */
  readonly caches: PageFragCache[];
  /** What is counted. */
  readonly counters: PageFragClientCounters = new PageFragClientCounters();

  /**
   * A driver that is not started.
   *
   * @param pages The page allocator.
   * @param queues How many caches it has.
   * @param options How it gives blocks up.
   * @throws {RangeError} `teardown` is unknown, or the kernel has no `page_frag_cache_drain`.
   */
  constructor(
    pages: PageAllocator,
    queues: number,
    options: PageFragClientOptions = {},
  ) {
    const { drain } = pages.kernel.pageFragCache;
    const teardown = options.teardown ??
      (drain ? "page_frag_cache_drain" : "by hand");
    if (!TEARDOWNS.includes(teardown)) {
      throw new RangeError(
        `teardown "${teardown}": ${
          TEARDOWNS.map((name) => `"${name}"`).join(", ")
        } are allowed`,
      );
    }
    if (teardown === "page_frag_cache_drain" && !drain) {
      throw new RangeError(
        `teardown "${teardown}": ${pages.kernel.name} has no page_frag_cache_drain`,
      );
    }
    this.pages = pages;
    this.kernel = pages.kernel;
    this.teardown = teardown;
    this.caches = Array.from(
      { length: queues },
      () => new PageFragCache(pages),
    );
  }

  /** Whether the lines by hand look whether there is a block at all. */
  protected get checksBlock(): boolean {
    return true;
  }

  /** Makes the driver ready: fills rings, allocates requests. */
  abstract start(): void;

  /**
   * Lets it work.
   *
   * @param n Packets or commands.
   * @throws {RangeError} `n` is no whole number from 0 to 2^24.
   */
  abstract run(n: number): void;

  /** Ends it: frees fragments and gives the blocks up. */
  abstract stop(): void;

  /** `page_frag_alloc` from one of its caches; -1 without memory, which is counted. */
  protected alloc(queue: number, bytes: number, gfp: number): number {
    const address = this.caches[queue]!.alloc(bytes, gfp);
    if (address < 0) this.counters.failures++;
    else this.counters.requests++;
    return address;
  }

  /** Gives up a cache's block, in the way the driver has. */
  protected drain(queue: number): void {
    const cache = this.caches[queue]!;
    if (this.teardown === "none") return;
    if (
      this.teardown === "by hand" && cache.pfn < 0 && !this.checksBlock
    ) {
      this.counters.nullDereferences++;
      return;
    }
    cache.drain();
  }

  /** Loses a cache with its block, as setting its memory to 0 does. */
  protected forget(queue: number): void {
    this.caches[queue] = new PageFragCache(this.pages);
  }
}

/** Options of a {@linkcode GveXdpRedirect}. */
export interface GveXdpRedirectOptions extends PageFragClientOptions {
  /** Receive queues, 1 to 64; 1 when absent. */
  readonly queues?: number | undefined;
  /** Bytes of each redirected frame, 14 to 2,048; 1,514 when absent. */
  readonly frame?: number | undefined;
  /** Frames that the other device has not sent yet, 1 to 4,096; 64 when absent. */
  readonly inFlight?: number | undefined;
}

/**
 * gve, Google's virtual NIC: XDP_REDIRECT copies each frame into a fragment, `256 + SKB_DATA_ALIGN(len) + shared info`
 * bytes, which the other device frees (`gve_xdp_redirect`, `gve_drain_page_cache`; drivers/net/ethernet/google/gve).
 *
 * @example What 1,514 bytes ask for
 * ```ts
 * import { GveXdpRedirect, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pages = new PageAllocator(kernel("6.12"));
 * const gve = new GveXdpRedirect(pages);
 * gve.run(1000);
 * gve.stop();
 * assertEquals([gve.requestSize, pages.counters.pgalloc - pages.counters.pgfree], [2112, 0]);
 * ```
 */
export class GveXdpRedirect extends PageFragClient {
  /** Bytes of each request. */
  readonly requestSize: number;
  readonly #inFlight: number;
  readonly #frames: Float64Array;
  #sent = 0;
  #done = 0;

  /**
   * A device that redirects nothing yet.
   *
   * @param pages The page allocator.
   * @param options Queues and frames.
   * @throws {RangeError} An option is out of range.
   */
  constructor(pages: PageAllocator, options: GveXdpRedirectOptions = {}) {
    super(pages, whole("queues", options.queues ?? 1, 1, 64), options);
    const { cacheLine } = this.kernel.build;
    const frame = whole("frame", options.frame ?? 1514, 14, 2048);
    this.#inFlight = whole("inFlight", options.inFlight ?? 64, 1, 4096);
    this.requestSize = 256 + Math.ceil(frame / cacheLine) * cacheLine +
      this.kernel.skb.sharedInfo;
    this.#frames = new Float64Array(this.#inFlight);
  }

  /** Opening the device takes no fragments. */
  start(): void {}

  /** Redirects frames, queue by queue; the other device frees the oldest once too many are on their way. */
  run(n: number): void {
    whole("n", n, 0, 1 << 24);
    for (let i = 0; i < n; i++) {
      if (this.#sent - this.#done === this.#inFlight) this.#complete();
      const queue = this.#sent % this.caches.length;
      const address = this.alloc(queue, this.requestSize, Gfp.GFP_ATOMIC);
      if (address < 0) continue;
      this.#frames[this.#sent++ % this.#inFlight] = address;
    }
  }

  /** `gve_close`: the caches are drained; frames on their way are freed by the other device afterwards. */
  stop(): void {
    for (let queue = 0; queue < this.caches.length; queue++) this.drain(queue);
    while (this.#done < this.#sent) this.#complete();
  }

  #complete(): void {
    this.caches[0]!.free(this.#frames[this.#done++ % this.#inFlight]!);
  }
}

/**
 * `MTK_WED_WO_RING_SIZE`: entries of each ring.
 *
 * @example
 * ```ts
 * import { MTK_WED_WO_RING_SIZE } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(MTK_WED_WO_RING_SIZE, 256);
 * ```
 */
export const MTK_WED_WO_RING_SIZE = 256;
/**
 * `MTK_WED_WO_CMD_LEN`: bytes of each buffer.
 *
 * @example
 * ```ts
 * import { MTK_WED_WO_CMD_LEN } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(Math.floor(32768 / MTK_WED_WO_CMD_LEN), 21);
 * ```
 */
export const MTK_WED_WO_CMD_LEN = 1504;

/**
 * mtk_wed_wo, the command channel of MediaTek's wireless offload: two rings of 256 buffers of 1,504 bytes, each ring with a
 * cache of its own (`mtk_wed_wo_queue_refill`, `mtk_wed_wo_queue_tx_clean`, `mtk_wed_wo_queue_rx_clean`;
 * drivers/net/ethernet/mediatek/mtk_wed_wo.c).
 *
 * @example
 * ```ts
 * import { kernel, MtkWedWo, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pages = new PageAllocator(kernel("6.8"));
 * const wo = new MtkWedWo(pages);
 * wo.start();
 * assertEquals(pages.counters.pgalloc, 208);
 * wo.stop();
 * assertEquals(pages.counters.pgfree, 208);
 * ```
 */
export class MtkWedWo extends PageFragClient {
  // TX first. Each ring's buffers, and where the next event arrives.
  readonly #rings = [0, 1].map(() =>
    new Float64Array(MTK_WED_WO_RING_SIZE).fill(-1)
  );
  #tail = 0;

  /**
   * A device with empty rings.
   *
   * @param pages The page allocator.
   * @param options How it gives blocks up.
   * @throws {RangeError} An option is out of range.
   */
  constructor(pages: PageAllocator, options: PageFragClientOptions = {}) {
    super(pages, 2, options);
  }

  /** `mtk_wed_wo_hardware_init`: fills both rings; TX buffers stay where they are, commands are copied into them. */
  start(): void {
    for (let queue = 0; queue < 2; queue++) {
      const ring = this.#rings[queue]!;
      for (let i = 0; i < ring.length; i++) {
        if (ring[i]! < 0) ring[i] = this.#buffer(queue);
      }
    }
  }

  /** Events from the firmware: an skb is built around each buffer and freed, and a fresh buffer takes its place. */
  run(n: number): void {
    whole("n", n, 0, 1 << 24);
    const ring = this.#rings[1]!;
    for (let i = 0; i < n; i++) {
      const address = ring[this.#tail]!;
      if (address >= 0) this.caches[1]!.free(address);
      ring[this.#tail] = this.#buffer(1);
      this.#tail = (this.#tail + 1) % ring.length;
    }
  }

  /** `mtk_wed_wo_hw_deinit`: frees all buffers, then gives up both blocks. */
  stop(): void {
    for (let queue = 0; queue < 2; queue++) {
      const ring = this.#rings[queue]!;
      for (const address of ring) {
        if (address >= 0) this.caches[queue]!.free(address);
      }
      ring.fill(-1);
      this.drain(queue);
    }
  }

  #buffer(queue: number): number {
    return this.alloc(queue, MTK_WED_WO_CMD_LEN, Gfp.GFP_ATOMIC);
  }
}
