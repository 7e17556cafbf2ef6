/**
 * How to make a slab cache of either allocator.
 *
 * @module
 */

import type { KmemCacheOptions } from "./kmem_cache_type.ts";
import { Slab } from "./slab.ts";
import { Slub } from "./slub.ts";

export type { KmemCache, KmemCacheOptions } from "./kmem_cache_type.ts";

/**
 * Makes a cache (`kmem_cache_create`).
 *
 * @param options What it holds, and the kernel it lives in.
 * @returns The cache, without a slab yet.
 * @throws {RangeError} An option is out of range, unknown, or not in this release.
 * @throws {TypeError} An option is of the wrong type.
 *
 * @example 64 sk_buff heads, freed singly and in bulk
 * ```ts
 * import { kernel, kmemCache } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("net-next-2015-10"), objectSize: 256 });
 * const skbs = new Int32Array(64);
 * cache.allocBulk(64, skbs);
 * for (const skb of skbs) cache.free(skb);
 * assertEquals(cache.counters.FREE_SLOWPATH, 32);
 * cache.allocBulk(64, skbs);
 * cache.freeBulk(64, skbs);
 * assertEquals(cache.counters.FREE_SLOWPATH, 33);
 * ```
 *
 * @example
 * ```ts
 * import { kernel, kmemCache } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const slub = kmemCache({ kernel: kernel("6.1"), objectSize: 256 });
 * const object = slub.alloc();
 * slub.free(object);
 * assertEquals([slub.counters.ALLOC_SLOWPATH, slub.counters.FREE_FASTPATH], [1, 1]);
 * ```
 */
export function kmemCache(
  options: KmemCacheOptions & { readonly allocator: "slab" },
): Slab;
/**
 * Makes a SLUB cache.
 *
 * @param options What it holds, and the kernel it lives in.
 */
export function kmemCache(
  options: KmemCacheOptions & { readonly allocator?: "slub" | undefined },
): Slub;
/**
 * Makes a cache of either allocator.
 *
 * @param options What it holds, and the kernel it lives in.
 */
export function kmemCache(options: KmemCacheOptions): Slub | Slab;
export function kmemCache(options: KmemCacheOptions): Slub | Slab {
  const allocator = options.allocator ?? "slub";
  switch (allocator) {
    case "slub":
      return new Slub(options);
    case "slab":
      return new Slab(options);
    default:
      throw new RangeError(
        `allocator "${String(allocator)}": "slub" or "slab" is allowed`,
      );
  }
}
