/**
 * ixgbe: how frames in half pages become skbs. The ring is in `ixgbe_ring.ts`.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { whole } from "../sim/check.ts";
import { pskbPullTail } from "../net/skb_coalesce.ts";
import {
  buildSkb,
  Head,
  napiAllocSkb,
  skbAddRxFrag,
  skbPut,
  skbReserve,
  type SkBuff,
} from "../net/skbuff.ts";
import { checkFrame, ETH_HLEN } from "./frame.ts";
import {
  IXGBE_MAX_FRAME,
  ixgbeBuffers,
  ixgbeBufferTruesize,
  VLAN_HLEN,
} from "./ixgbe_buffers.ts";

export {
  IxgbeRingCounters,
  type IxgbeRingOptions,
  IxgbeRxRing,
} from "./ixgbe_ring.ts";

/** How the device is set up. An option given as `undefined` is absent. */
export interface IxgbeOptions {
  /** MTU, bytes, 68 to 9,710. Default 1,500, or what the frame needs. */
  readonly mtu?: number | undefined;
  /** `ethtool --set-priv-flags DEV legacy-rx on`: no `build_skb`. Default false; without effect on older kernels. */
  readonly legacyRx?: boolean | undefined;
  /** Bytes of headers in the frame (`eth_get_headlen`): what is pulled into the head. Default 42: Ethernet, IPv4, UDP. */
  readonly headers?: number | undefined;
}

/**
 * The skb of one frame on ixgbe.
 *
 * Models `ixgbe_clean_rx_irq` with `ixgbe_fetch_rx_buffer` (3.12, 4.3), `ixgbe_construct_skb` or `ixgbe_build_skb` (6.1)
 * in drivers/net/ethernet/intel/ixgbe/ixgbe_main.c: a frame of up to 256 bytes is copied into a small head; a longer one
 * keeps its half page as a fragment, headers pulled into the head; from 4.12 on the skb is built around the half page.
 *
 * @param kernel The kernel.
 * @param frame Bytes of the Ethernet frame, 14 to 9,724, without its check sequence.
 * @param options MTU, headers, legacy mode.
 * @throws {RangeError} An argument is out of range, or the frame is longer than the MTU lets through.
 * @throws {TypeError} `legacyRx` is no boolean.
 *
 * @example A full-size frame, three ways
 * ```ts
 * import { ixgbeReceive, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ixgbeReceive(kernel("4.3"), 1514).truesize, 2944);
 * assertEquals(ixgbeReceive(kernel("6.8"), 1514).truesize, 2304);
 * assertEquals(ixgbeReceive(kernel("6.8"), 1514, { legacyRx: true }).truesize, 3328);
 * ```
 */
export function ixgbeReceive(
  kernel: Kernel,
  frame: number,
  options: IxgbeOptions = {},
): SkBuff {
  checkFrame(frame, IXGBE_MAX_FRAME);
  if (frame < ETH_HLEN) {
    throw new RangeError(
      `frame must be at least ${ETH_HLEN} bytes, got ${frame}`,
    );
  }
  const { headers = 42, legacyRx = false } = options;
  const fits = frame <= ETH_HLEN + VLAN_HLEN + 1500;
  const mtu = options.mtu ?? (fits ? 1500 : frame - ETH_HLEN);
  whole("options.headers", headers, ETH_HLEN, kernel.ixgbe.headerSize);
  const buffers = ixgbeBuffers(kernel, mtu, legacyRx);
  const longest = Math.max(mtu, 1500) + ETH_HLEN + VLAN_HLEN;
  if (frame > longest) {
    throw new RangeError(
      `frame must be at most ${longest} bytes at an MTU of ${mtu}: the device drops ${frame}`,
    );
  }
  const { headerSize } = kernel.ixgbe;
  let rest = frame;
  let skb: SkBuff;
  if (buffers.builds) {
    const size = Math.min(rest, buffers.bufsz);
    const room = ixgbeBufferTruesize(kernel, buffers, size, true);
    skb = skbPut(
      skbReserve(buildSkb(kernel, room, Head.RX_BUFFER), buffers.pad),
      size,
    );
    rest -= size;
  } else {
    skb = napiAllocSkb(kernel, headerSize);
    if (rest <= headerSize) return skbPut(skb, rest);
  }
  while (rest > 0) {
    const size = Math.min(rest, buffers.bufsz);
    skbAddRxFrag(
      skb,
      size,
      ixgbeBufferTruesize(kernel, buffers, size, false),
    );
    rest -= size;
  }
  if (!buffers.builds) pskbPullTail(skb, Math.min(headers, frame));
  return skb;
}
