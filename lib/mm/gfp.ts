/**
 * `gfp_t`: what a caller of the page allocator allows, and the bits it is said with.
 *
 * Two generations of the kernel share one request value here. Up to 4.3 one bit, `__GFP_WAIT`, meant "may
 * sleep" and its absence made a request atomic; since 4.4 two bits say "may reclaim itself"
 * (`__GFP_DIRECT_RECLAIM`) and "may wake kswapd" (`__GFP_KSWAPD_RECLAIM`). In this module `__GFP_WAIT` *is*
 * `__GFP_DIRECT_RECLAIM`, and kswapd is woken when the second bit is there; the `__GFP_NO_KSWAPD` of
 * 3.x is its absence. What a bit then permits depends on the release: see
 * `PageFacts.atomicByNoWait` and `PageFacts.watermark`.
 *
 * @module
 */

const __GFP_DMA = 0x01;
const __GFP_HIGH = 0x20;
const __GFP_IO = 0x40;
const __GFP_FS = 0x80;
const __GFP_ZERO = 0x100;
const __GFP_COLD = 0x200;
const __GFP_DIRECT_RECLAIM = 0x400;
const __GFP_KSWAPD_RECLAIM = 0x800;
const __GFP_NOWARN = 0x2000;
const __GFP_RETRY_MAYFAIL = 0x4000;
const __GFP_NORETRY = 0x10000;
const __GFP_MEMALLOC = 0x20000;
const __GFP_COMP = 0x40000;
const __GFP_NOMEMALLOC = 0x80000;
const __GFP_ACCOUNT = 0x400000;

/** Names and bits of {@linkcode Gfp}, as include/linux/gfp_types.h (6.12) numbers them. */
export interface GfpBits {
  /** Memory that old devices reach; the model has one zone and ignores it, callers look at it. */
  readonly __GFP_DMA: number;
  /** High priority: the min watermark counts half. */
  readonly __GFP_HIGH: number;
  /** May start I/O; part of `GFP_KERNEL`, not modelled. */
  readonly __GFP_IO: number;
  /** May call into a file system; part of `GFP_KERNEL`, not modelled. */
  readonly __GFP_FS: number;
  /** Zero the block; costs time, moves no bytes. */
  readonly __GFP_ZERO: number;
  /** Take the page from the cold end of the per-CPU list. Gone in 4.15; its bit is unused there. */
  readonly __GFP_COLD: number;
  /** Up to 4.3: may sleep. The same bit as `__GFP_DIRECT_RECLAIM`. */
  readonly __GFP_WAIT: number;
  /** 4.4+: may reclaim and compact by itself. Clearing it gives no right to the reserve by that alone. */
  readonly __GFP_DIRECT_RECLAIM: number;
  /** Wakes kswapd when free memory is low. Up to 4.3 its absence says `__GFP_NO_KSWAPD`. */
  readonly __GFP_KSWAPD_RECLAIM: number;
  /** Both kinds of reclaim. */
  readonly __GFP_RECLAIM: number;
  /** No "page allocation failure" message. */
  readonly __GFP_NOWARN: number;
  /** A costly order is retried as long as reclaim makes progress (`__GFP_REPEAT` before 4.13). */
  readonly __GFP_RETRY_MAYFAIL: number;
  /** One pass of reclaim, no loop, no OOM killer. */
  readonly __GFP_NORETRY: number;
  /** Ignore the watermarks; what is handed out that way is marked pfmemalloc. */
  readonly __GFP_MEMALLOC: number;
  /** An order above 0 becomes one compound page: one refcount on the head, freed as a whole. */
  readonly __GFP_COMP: number;
  /** Never ignore the watermarks, and no extra right for being atomic; wins over `__GFP_MEMALLOC`. */
  readonly __GFP_NOMEMALLOC: number;
  /** Charged to a memory cgroup; not modelled. */
  readonly __GFP_ACCOUNT: number;
  /** `__GFP_HIGH | __GFP_KSWAPD_RECLAIM` (3.x: `__GFP_HIGH`): never sleeps, may use part of the reserve. */
  readonly GFP_ATOMIC: number;
  /** Ordinary: may reclaim, compact and sleep. */
  readonly GFP_KERNEL: number;
  /** Never sleeps and has no right to the reserve from 4.4 on (up to 4.3 a quarter of min, being atomic). */
  readonly GFP_NOWAIT: number;
  /** `GFP_KERNEL` charged to a memory cgroup. */
  readonly GFP_KERNEL_ACCOUNT: number;
}

/**
 * The bits of a page request (include/linux/gfp_types.h).
 *
 * @example A 4.3 kernel's order-3 attempt that may not sleep
 * ```ts
 * import { Gfp, gfpNames } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { GFP_KERNEL, __GFP_WAIT, __GFP_COMP, __GFP_NOWARN, __GFP_NORETRY } = Gfp;
 * const request = (GFP_KERNEL & ~__GFP_WAIT) | __GFP_COMP | __GFP_NOWARN | __GFP_NORETRY;
 * assertEquals(
 *   gfpNames(request),
 *   "__GFP_IO|__GFP_FS|__GFP_KSWAPD_RECLAIM|__GFP_NOWARN|__GFP_NORETRY|__GFP_COMP",
 * );
 * ```
 */
export const Gfp: GfpBits = Object.freeze({
  __GFP_DMA,
  __GFP_HIGH,
  __GFP_IO,
  __GFP_FS,
  __GFP_ZERO,
  __GFP_COLD,
  __GFP_WAIT: __GFP_DIRECT_RECLAIM,
  __GFP_DIRECT_RECLAIM,
  __GFP_KSWAPD_RECLAIM,
  __GFP_RECLAIM: __GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM,
  __GFP_NOWARN,
  __GFP_RETRY_MAYFAIL,
  __GFP_NORETRY,
  __GFP_MEMALLOC,
  __GFP_COMP,
  __GFP_NOMEMALLOC,
  __GFP_ACCOUNT,
  GFP_ATOMIC: __GFP_HIGH | __GFP_KSWAPD_RECLAIM,
  GFP_KERNEL: __GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM | __GFP_IO | __GFP_FS,
  GFP_NOWAIT: __GFP_KSWAPD_RECLAIM,
  GFP_KERNEL_ACCOUNT: __GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM | __GFP_IO |
    __GFP_FS | __GFP_ACCOUNT,
});

/** Every bit that a request may hold. */
export const GFP_BITS_MASK: number = Object.values(Gfp).reduce(
  (mask, bit) => mask | bit,
  0,
);

/** Single bits first by name, for {@linkcode gfpNames}; aliases and combinations left out. */
const SINGLE = Object.entries(Gfp).filter(([name, bit]) =>
  name.startsWith("__") && name !== "__GFP_WAIT" && (bit & (bit - 1)) === 0
);

/**
 * A request in words: `GFP_ATOMIC|__GFP_COMP`.
 *
 * @param gfp The request.
 * @returns The names, as the kernel's trace events print them; `0` for a request without any bit.
 * @throws {RangeError} The request holds an unknown bit or is no whole number.
 *
 * @example
 * ```ts
 * import { Gfp, gfpNames } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(gfpNames(Gfp.GFP_ATOMIC), "GFP_ATOMIC");
 * ```
 */
export function gfpNames(gfp: number): string {
  if ((gfp & GFP_BITS_MASK) !== gfp) {
    throw new RangeError(
      `gfp ${gfp}: only the bits of Gfp (0x${
        GFP_BITS_MASK.toString(16)
      }) are allowed`,
    );
  }
  const names: string[] = [];
  let rest = gfp;
  for (
    const name of ["GFP_KERNEL_ACCOUNT", "GFP_KERNEL", "GFP_ATOMIC"] as const
  ) {
    if ((rest & Gfp[name]) === Gfp[name]) {
      names.push(name);
      rest &= ~Gfp[name];
    }
  }
  for (const [name, bit] of SINGLE) if (rest & bit) names.push(name);
  return names.length === 0 ? "0" : names.join("|");
}
