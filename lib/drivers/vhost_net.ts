/**
 * vhost_net: a guest's packet on its way through the host's tap, built around a page fragment.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import type { WriteError } from "../net/packet_memory.ts";
import {
  buildSkb,
  Head,
  skbPut,
  skbReserve,
  type SkBuff,
} from "../net/skbuff.ts";
import { alignUp } from "../sim/align.ts";
import { tunGetUser } from "./tun.ts";

/** Header in front of each frame (`sock_hlen` with mergeable buffers or VERSION_1), bytes. */
export const VHOST_HEADER = 12;

/** `VHOST_NET_RX_PAD` plus the header, aligned: what lies in front of the data, bytes. */
export function vhostPad(kernel: Kernel, xdp = false): number {
  const { netIpAlign, netSkbPad } = kernel.skb;
  return alignUp(
    netIpAlign + netSkbPad + (xdp ? 256 : 0) + VHOST_HEADER,
    kernel.build.cacheLine,
  );
}

/**
 * Bytes that `vhost_net_build_xdp` asks its page-fragment allocator for; the header is counted in the pad and again
 * in the length.
 *
 * @param kernel The kernel.
 * @param frame Bytes of the Ethernet frame.
 * @param xdp Whether the tap has an XDP program.
 *
 * @example
 * ```ts
 * import { kernel, vhostBufferLength } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(vhostBufferLength(kernel("6.8"), 1514), 1984);
 * ```
 */
export function vhostBufferLength(
  kernel: Kernel,
  frame: number,
  xdp = false,
): number {
  return alignUp(
    VHOST_HEADER + frame + vhostPad(kernel, xdp),
    kernel.build.cacheLine,
  ) + kernel.skb.sharedInfo;
}

/**
 * The skb that the host's stack gets for a guest's frame.
 *
 * Models `vhost_net_build_xdp` (drivers/vhost/net.c, 4.20) and `tun_xdp_one` (drivers/net/tun.c). What exceeds a page,
 * and every frame before 4.20, is written to the tap like a user's packet.
 *
 * @param kernel The kernel.
 * @param frame Bytes of the Ethernet frame.
 * @param xdp Whether the tap has an XDP program.
 *
 * @example
 * ```ts
 * import { kernel, vhostNetReceive } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = vhostNetReceive(kernel("6.8"), 1514);
 * assertEquals(typeof skb === "string" ? skb : skb.truesize, 2240);
 * ```
 */
export function vhostNetReceive(
  kernel: Kernel,
  frame: number,
  xdp = false,
): SkBuff | WriteError {
  const size = vhostBufferLength(kernel, frame, xdp);
  if (kernel.vhost.frag === "none" || size > kernel.build.pageSize) {
    return tunGetUser(kernel, frame, {
      tap: true,
      nonblocking: true,
      napiFrags: null,
      xdp,
    });
  }
  return skbPut(
    skbReserve(buildSkb(kernel, size, Head.TASK_FRAG), vhostPad(kernel, xdp)),
    frame,
  );
}
