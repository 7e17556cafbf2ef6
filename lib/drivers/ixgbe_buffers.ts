/**
 * ixgbe: sizes of its receive buffers.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { whole } from "../sim/check.ts";
import { alignUp } from "../sim/align.ts";
import { ETH_HLEN } from "./frame.ts";

/** `IXGBE_MAX_JUMBO_FRAME_SIZE` without the check sequence: the longest frame that the device receives, bytes. */
export const IXGBE_MAX_FRAME = 9724;
/** `IXGBE_RXBUFFER_1536`, bytes: what a half page with padding takes of a frame. */
const RXBUFFER_1536 = 1536;
const RXBUFFER_2K = 2048;
/** `IXGBE_RXBUFFER_3K`, bytes. */
export const RXBUFFER_3K = 3072;
/** `VLAN_HLEN`, bytes. */
export const VLAN_HLEN = 4;

/** How a ring's buffers look (`ixgbe_set_rx_buffer_len`). Bytes. */
export interface IxgbeBuffers {
  /** Whether skbs are built around the buffers. */
  readonly builds: boolean;
  /** `ixgbe_rx_pg_order`: order of the pages behind the buffers. */
  readonly order: number;
  /** `ixgbe_rx_bufsz`: what the device writes into one buffer. */
  readonly bufsz: number;
  /** `rx_offset`: room in front of the data. */
  readonly pad: number;
  /** Half of the page, where pages are halved: the buffer's charge; 0 where it depends on the data (pages over 4 KiB). */
  readonly half: number;
}

/**
 * The buffers that the driver uses for an MTU.
 *
 * Models `ixgbe_set_rx_buffer_len`, `ixgbe_rx_bufsz` and `ixgbe_skb_pad` (drivers/net/ethernet/intel/ixgbe): with
 * `build_skb` an MTU over 1,500 doubles the pages. FCoE and LRO, which do so as well, are left out.
 *
 * @param kernel The kernel.
 * @param mtu MTU, bytes.
 * @param legacyRx Whether `build_skb` is switched off.
 * @throws {RangeError} `mtu` is out of range.
 * @throws {TypeError} `legacyRx` is no boolean.
 */
export function ixgbeBuffers(
  kernel: Kernel,
  mtu = 1500,
  legacyRx = false,
): IxgbeBuffers {
  whole("mtu", mtu, 68, IXGBE_MAX_FRAME - ETH_HLEN);
  if (typeof legacyRx !== "boolean") {
    throw new TypeError(
      `legacyRx must be true or false, got ${String(legacyRx)}`,
    );
  }
  const { pageSize, cacheLine } = kernel.build;
  const { netSkbPad, netIpAlign, sharedInfo } = kernel.skb;
  const builds = kernel.ixgbe.rx === "build_skb" && !legacyRx;
  const halves = pageSize < 8192;
  if (!builds) {
    return {
      builds,
      order: 0,
      bufsz: RXBUFFER_2K,
      pad: 0,
      half: halves ? pageSize / 2 : 0,
    };
  }
  if (!halves) {
    return {
      builds,
      order: 0,
      bufsz: RXBUFFER_2K,
      pad: netSkbPad + netIpAlign,
      half: 0,
    };
  }
  const tooSmall = netSkbPad + RXBUFFER_1536 > RXBUFFER_2K - sharedInfo;
  const large = tooSmall || mtu > 1500;
  const data =
    (tooSmall ? RXBUFFER_3K + alignUp(netIpAlign, cacheLine) : RXBUFFER_1536) -
    netIpAlign;
  return {
    builds,
    order: large ? 1 : 0,
    bufsz: large ? RXBUFFER_3K : RXBUFFER_1536 - netIpAlign,
    pad: alignUp(data, pageSize / 2) - sharedInfo - data,
    half: large ? pageSize : pageSize / 2,
  };
}

/**
 * What one buffer with `size` bytes of data is charged, bytes, before the sk_buff is added.
 *
 * Models the truesize of `ixgbe_add_rx_frag` and, for the first buffer of a built skb, of `ixgbe_build_skb`.
 */
export function ixgbeBufferTruesize(
  kernel: Kernel,
  buffers: IxgbeBuffers,
  size: number,
  first: boolean,
): number {
  if (buffers.half > 0) return buffers.half;
  const data = alignUp(buffers.pad + size, kernel.build.cacheLine);
  return buffers.builds && first ? kernel.skb.sharedInfo + data : data;
}
