/**
 * kmalloc's size classes: which cache serves a request, and what the request then really occupies.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";

/**
 * Bytes that `kmalloc(size)` really gives: the size class, or whole pages above the largest class.
 *
 * Models `kmalloc_size_roundup` (mm/slab_common.c, 6.1) and `ksize` (mm/slub.c) of earlier releases.
 *
 * @param kernel The kernel.
 * @param size Bytes asked for, a positive integer.
 *
 * @example
 * ```ts
 * import { kernel, kmallocSizeRoundup } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kmallocSizeRoundup(kernel("6.18"), 577), 1024);
 * ```
 */
export function kmallocSizeRoundup(kernel: Kernel, size: number): number {
  const classes = kernel.slub.kmallocClasses;
  for (let i = 0; i < classes.length; i++) {
    if (size <= classes[i]!) return classes[i]!;
  }
  let bytes = kernel.build.pageSize;
  while (bytes < size) bytes *= 2;
  return bytes;
}

/**
 * The allocator behind `kmalloc(size)`: a cache's name as `/proc/slabinfo` prints it, or the page order.
 *
 * @param kernel The kernel.
 * @param size Bytes asked for, a positive integer.
 *
 * @example
 * ```ts
 * import { kernel, kmallocName } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([kmallocName(kernel("3.12"), 2048), kmallocName(kernel("6.18"), 2048)], ["kmalloc-2048", "kmalloc-2k"]);
 * ```
 */
export function kmallocName(kernel: Kernel, size: number): string {
  const bytes = kmallocSizeRoundup(kernel, size);
  const classes = kernel.slub.kmallocClasses;
  if (bytes > classes[classes.length - 1]!) {
    return `pages of order ${Math.log2(bytes / kernel.build.pageSize)}`;
  }
  return kernel.slub.kmallocNames === "short" && bytes >= 1024
    ? `kmalloc-${bytes / 1024}k`
    : `kmalloc-${bytes}`;
}
