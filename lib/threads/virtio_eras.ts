/**
 * virtio_net's receive buffers through the years, as strategies with names.
 *
 * @module
 */

import type { ReceiveEra } from "../experiments/receive_years.ts";
import { skbPageFragRefillV3 } from "../patches/skb_page_frag_refill.ts";
import {
  virtioHoleTruesize,
  virtioMtuBuffers,
  virtioSmallRings,
} from "../patches/virtio_net_buffers.ts";
import { kernel } from "../releases/mod.ts";

/** Frame of a TCP packet that GSO made as large as it may be, 45 segments of 1,448 bytes; bytes. */
export const GSO_FRAME = 65226;

/**
 * The ways in which virtio_net has paid for mergeable packets, oldest first, and two over page_pool, as other drivers of
 * 6.8 have them: for virtio_net a what-if. {@linkcode receiveYears} runs them all; the virtio ones can be given to everything
 * that takes a kernel and a path.
 *
 * @returns New records over shared releases.
 *
 * @example What a full-size frame costs in each
 * ```ts
 * import { truesizeOf, virtioEras } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const eras = virtioEras().filter(({ path }) => path === "virtio-mergeable");
 * const charges = eras.map(({ kernel, path }) => truesizeOf({ kernel, path, payload: 1472 }).truesize);
 * assertEquals(charges, [4864, 3804, 2304, 2304, 2304, 2816]);
 * ```
 */
export function virtioEras(): ReceiveEra[] {
  const path = "virtio-mergeable";
  return [
    { label: "whole page (3.12)", kernel: kernel("3.12"), path },
    {
      label: "1,518 bytes (Nov 2013)",
      kernel: kernel("net-next-2013-10").am(
        skbPageFragRefillV3,
        virtioMtuBuffers,
      ),
      path,
    },
    { label: "1,536 bytes (3.13)", kernel: kernel("3.13"), path },
    { label: "auto-tune (3.14)", kernel: kernel("3.14"), path },
    {
      label: "hole counted (4.13)",
      kernel: kernel("4.6").am(virtioSmallRings, virtioHoleTruesize),
      path,
    },
    { label: "build_skb (6.8)", kernel: kernel("6.8"), path },
    {
      label: "page_pool, small head",
      kernel: kernel("6.8"),
      path: "page-pool",
      pool: { fragment: 2048 },
    },
    {
      label: "page_pool, build_skb",
      kernel: kernel("6.8"),
      path: "page-pool",
      pool: { fragment: 1920, build: true },
    },
  ];
}
