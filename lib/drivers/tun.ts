/**
 * tun and tap: how a write of one packet to the character device becomes an skb.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import type { WriteError } from "../net/packet_memory.ts";
import {
  allocSkb,
  buildSkb,
  Frag,
  Head,
  napiGetFrags,
  skbAddPages,
  skbAddRxFrag,
  skbHeadAlign,
  skbMaxOrder,
  skbPut,
  skbReserve,
  type SkBuff,
} from "../net/skbuff.ts";
import { alignUp } from "../sim/align.ts";

/** Ethernet header, bytes. */
export const ETH_HEADER = 14;

/** How the device was opened and written. */
export interface TunOptions {
  /** A tap carries Ethernet frames, a tun IP packets. */
  readonly tap: boolean;
  /** O_NONBLOCK, as vhost_net writes: a small tap packet goes into one page fragment. */
  readonly nonblocking: boolean;
  /** Lengths of the write's iovec elements with IFF_NAPI_FRAGS; `null` without it. */
  readonly napiFrags: readonly number[] | null;
  /** Whether an XDP program is attached, for which headroom is left. */
  readonly xdp: boolean;
  /** Highest page order that memory still gives, where it is fragmented; the release's own if absent. */
  readonly maxPageOrder?: number | undefined;
}

/** `XDP_PACKET_HEADROOM`, bytes. */
const XDP_PACKET_HEADROOM = 256;

/**
 * The skb of a packet of `length` bytes (link header included on a tap) as user space wrote it.
 *
 * Models `tun_get_user`, `tun_build_skb`, `tun_alloc_skb` and `tun_napi_alloc_frags` (drivers/net/tun.c). A
 * virtio_net_hdr in front is taken off first and moves nothing; IFF_NAPI alone changes where the skb is processed, not
 * what it holds.
 *
 * @returns The skb, or what the write fails with.
 *
 * @example
 * ```ts
 * import { kernel, tunGetUser } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = tunGetUser(kernel("6.18"), 1514, { tap: true, nonblocking: true, napiFrags: null, xdp: false });
 * assertEquals(typeof skb === "string" ? skb : skb.truesize, 2176);
 * ```
 */
export function tunGetUser(
  kernel: Kernel,
  length: number,
  options: TunOptions,
): SkBuff | WriteError {
  if (options.napiFrags !== null) {
    return tunNapiAllocFrags(kernel, length, options.napiFrags);
  }
  const { netSkbPad, netIpAlign, sharedInfo } = kernel.skb;
  const { cacheLine, pageSize } = kernel.build;
  const buildsSkb = kernel.tun.buildSkb && options.tap && options.nonblocking &&
    alignUp(length + netSkbPad + netIpAlign + XDP_PACKET_HEADROOM, cacheLine) +
          sharedInfo <= pageSize;
  if (buildsSkb) {
    const headroom = netSkbPad + netIpAlign +
      (options.xdp ? XDP_PACKET_HEADROOM : 0);
    const skb = buildSkb(
      kernel,
      skbHeadAlign(kernel, length + headroom),
      Head.TASK_FRAG,
    );
    return skbPut(skbReserve(skb, headroom), length);
  }
  const prepad = netSkbPad + (options.tap ? netIpAlign : 0);
  let linear = length;
  if (kernel.tun.linear === "one-page-head" && prepad + length >= pageSize) {
    linear = Math.min(skbMaxOrder(kernel, prepad, 0), length);
    // What the fragments cannot hold goes into the head after all.
    const most = kernel.build.maxSkbFrags * pageSize *
      2 ** kernel.tun.maxPageOrder;
    if (length - linear > most) linear = length - most;
  }
  const skb = skbPut(
    skbReserve(allocSkb(kernel, prepad + linear), prepad),
    linear,
  );
  const fits = skbAddPages(
    kernel,
    skb,
    length - linear,
    options.maxPageOrder ?? kernel.tun.maxPageOrder,
  );
  return fits ? skb : "ENOBUFS";
}

/** IFF_NAPI_FRAGS: the first iovec element is linear, each further one a fragment of its own. */
function tunNapiAllocFrags(
  kernel: Kernel,
  length: number,
  iovec: readonly number[],
): SkBuff | WriteError {
  const { pageSize, maxSkbFrags } = kernel.build;
  if (
    iovec.length > maxSkbFrags + 1 ||
    length > 65535 - kernel.skb.netSkbPad - kernel.skb.netIpAlign
  ) {
    return "EMSGSIZE";
  }
  const skb = napiGetFrags(kernel);
  const linear = iovec[0]!;
  if (skb.data + linear > skb.end) growHead(kernel, skb, linear);
  skbPut(skb, linear);
  for (let i = 1; i < iovec.length; i++) {
    const size = iovec[i]!;
    if (size > pageSize) return "EINVAL";
    // A writer drops an empty last element: the reference rows of payload 0 were taken so.
    if (size === 0 && i < iovec.length - 1) return "EINVAL";
    if (size > 0) skbAddRxFrag(skb, size, size, Frag.PAGE_FRAG);
  }
  return skb;
}

// __skb_grow and pskb_expand_head (net/core/skbuff.c): a larger kmalloc head, the difference charged.
function growHead(kernel: Kernel, skb: SkBuff, linear: number): void {
  const missing = skb.data + linear - skb.end;
  const grown = allocSkb(
    kernel,
    alignUp(skb.end + missing, kernel.build.cacheLine),
  );
  skb.headKind = grown.headKind;
  skb.headSize = grown.headSize;
  skb.truesize += grown.end - skb.end;
  skb.end = grown.end;
}
