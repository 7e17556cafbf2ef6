/**
 * How virtio_net's mergeable receive buffers changed from November 2013 to 2017: commits, told as patches, so that the
 * states between the releases can be built.
 *
 * @module
 */

import type {
  Fact,
  FactChanges,
  Kernel,
  Patch,
  VirtioFacts,
} from "../kernel.ts";
import { definePatch } from "./define_patch.ts";

const THREAD = "virtio-receive-buffers";

/** The facts of virtio_net that a commit changes. */
function virtio(
  commit: string,
  symbol: string,
  values: Partial<VirtioFacts>,
): FactChanges {
  return {
    virtio: Object.fromEntries(
      Object.entries(values).map(([name, value]): [string, Fact<unknown>] => [
        name,
        {
          value,
          file: "drivers/net/virtio_net.c",
          symbol,
          origin: `commit ${commit}, by the specification`,
        },
      ]),
    ) as NonNullable<FactChanges["virtio"]>,
  };
}

const mtuBuffers = (kernel: Kernel, bytes: number): string | undefined =>
  kernel.virtio.mergeable === "mtu" && kernel.virtio.bufferMin === bytes
    ? undefined
    : `its mergeable buffers are not of a fixed ${bytes} bytes`;

/**
 * "virtio_net: migrate mergeable rx buffers to page frag allocators" (2613af0ed18a): buffers of 1,518 bytes, an MTU-sized
 * frame, in place of whole pages. The header of 12 bytes was forgotten, so that such a frame takes two.
 *
 * @example A full-size frame falls from 4,864 bytes to 3,804
 * ```ts
 * import { kernel, skbPageFragRefillV3, truesizeOf, virtioMtuBuffers } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("net-next-2013-10").am(skbPageFragRefillV3);
 * const charges = [base, base.am(virtioMtuBuffers)].map((kernel) =>
 *   truesizeOf({ kernel, path: "virtio-mergeable", payload: 1472 }).truesize
 * );
 * assertEquals(charges, [4864, 3804]);
 * ```
 */
export const virtioMtuBuffers: Patch = definePatch({
  name: "virtioMtuBuffers",
  subject: "virtio_net: migrate mergeable rx buffers to page frag allocators",
  date: "2013-11",
  thread: THREAD,
  fits: ({ virtio, skbPageFrag }) =>
    virtio.mergeable !== "page"
      ? "its mergeable buffers are no whole pages any more"
      : skbPageFrag.name !== "skb_page_frag_refill"
      ? "there is no skb_page_frag_refill yet: apply skbPageFragRefillV3 first"
      : undefined,
  changes: virtio("2613af0ed18a", "add_recvbuf_mergeable", {
    mergeable: "mtu",
    bufferMin: 1518,
    bigReceives: true,
  }),
});

/**
 * "virtio-net: coalesce rx frags when possible during rx" (ba275241): buffers that touch share a fragment.
 *
 * @example
 * ```ts
 * import { kernel, skbPageFragRefillV3, virtioCoalesceRxFrags, virtioMtuBuffers } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("3.12").am(skbPageFragRefillV3, virtioMtuBuffers);
 * assertEquals([base.virtio.coalesces, base.am(virtioCoalesceRxFrags).virtio.coalesces], [false, true]);
 * ```
 */
export const virtioCoalesceRxFrags: Patch = definePatch({
  name: "virtioCoalesceRxFrags",
  subject: "virtio-net: coalesce rx frags when possible during rx",
  date: "2013-11",
  thread: THREAD,
  fits: ({ virtio }) =>
    virtio.coalesces
      ? "it merges fragments already"
      : virtio.mergeable === "page"
      ? "whole pages never touch: apply virtioMtuBuffers first"
      : undefined,
  changes: virtio("ba275241", "receive_mergeable", { coalesces: true }),
});

/**
 * "virtio-net: mergeable buffer size should include virtio-net header" (5061de3637): 1,536 bytes, one a frame.
 *
 * @example
 * ```ts
 * import { kernel, skbPageFragRefillV3, virtioHeaderRoom, virtioMtuBuffers } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("3.12").am(skbPageFragRefillV3, virtioMtuBuffers);
 * assertEquals([base.virtio.bufferMin, base.am(virtioHeaderRoom).virtio.bufferMin], [1518, 1536]);
 * ```
 */
export const virtioHeaderRoom: Patch = definePatch({
  name: "virtioHeaderRoom",
  subject: "virtio-net: mergeable buffer size should include virtio-net header",
  date: "2013-11",
  thread: THREAD,
  fits: (kernel) => mtuBuffers(kernel, 1518),
  changes: virtio("5061de3637", "MERGE_BUFFER_LEN", { bufferMin: 1536 }),
});

/**
 * "virtio-net: auto-tune mergeable rx buffer size for improved performance" (ab7db91705e9): buffers from 1,536 to 4,096
 * bytes, by the moving average of frame lengths; what is left of a block goes to its last buffer, uncounted.
 *
 * @example
 * ```ts
 * import { kernel, virtioAutoTune } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kernel("3.13").am(virtioAutoTune).virtio.mergeable, "ewma");
 * ```
 */
export const virtioAutoTune: Patch = definePatch({
  name: "virtioAutoTune",
  subject:
    "virtio-net: auto-tune mergeable rx buffer size for improved performance",
  date: "2014-01",
  thread: THREAD,
  fits: (kernel) => mtuBuffers(kernel, 1536),
  changes: virtio("ab7db91705e9", "get_mergeable_buf_len", {
    mergeable: "ewma",
    bufferMin: 1518,
    bufferAlign: 256,
    overlong: "charged",
  }),
});

/**
 * "virtio_net: fix support for small rings" (d85b758f72b0, 4.12): the least buffer follows from the ring's size, lengths
 * are multiples of a cache line, and more bytes than were noted for a buffer drop the packet. The hole was not among them.
 *
 * @example
 * ```ts
 * import { kernel, virtioSmallRings } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(kernel("4.6").am(virtioSmallRings).virtio.minByRing);
 * ```
 */
export const virtioSmallRings: Patch = definePatch({
  name: "virtioSmallRings",
  subject: "virtio_net: fix support for small rings",
  date: "2017-03",
  thread: THREAD,
  fits: ({ virtio }) =>
    virtio.mergeable !== "ewma"
      ? "its mergeable buffers are not averaged"
      : virtio.minByRing
      ? "small rings are supported already"
      : undefined,
  changes: virtio("d85b758f72b0", "mergeable_min_buf_len", {
    bufferAlign: 64,
    minByRing: true,
    overlong: "drops",
  }),
});

/**
 * "virtio_net: fix truesize for mergeable buffers" (4.13, from memory UNVERIFIED): the hole counts.
 *
 * @example
 * ```ts
 * import { kernel, virtioHoleTruesize } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(kernel("4.6").am(virtioHoleTruesize).virtio.countsHole);
 * ```
 */
export const virtioHoleTruesize: Patch = definePatch({
  name: "virtioHoleTruesize",
  subject: "virtio_net: fix truesize for mergeable buffers",
  date: "2017-07",
  thread: THREAD,
  fits: ({ virtio }) =>
    virtio.mergeable !== "ewma"
      ? "its mergeable buffers have no hole"
      : virtio.countsHole
      ? "the hole counts already"
      : undefined,
  changes: virtio("1daa8790d028 (UNVERIFIED)", "add_recvbuf_mergeable", {
    countsHole: true,
  }),
});
