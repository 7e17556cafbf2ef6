/**
 * How the sender builds the skbs of one datagram: one per IP fragment, or one for all of it.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { whole } from "../sim/check.ts";
import {
  allocSkb,
  Frag,
  skbAddRxFrag,
  skbMaxAlloc,
  skbPut,
  skbReserve,
  type SkBuff,
} from "./skbuff.ts";

/** IPv4 header without options, bytes. */
export const IPV4_HEADER = 20;
/** IPv6 header, bytes. */
export const IPV6_HEADER = 40;
/** `struct frag_hdr` of IPv6, bytes. */
export const IPV6_FRAGMENT_HEADER = 8;
/** UDP header, bytes. */
export const UDP_HEADER = 8;

/** A device as the IP layer sees it. */
export interface OutputDevice {
  /** MTU, bytes. */
  readonly mtu: number;
  /** `hard_header_len` + `needed_headroom`, bytes: 14 on Ethernet-like devices. */
  readonly linkHeader: number;
  /** `NETIF_F_SG`: whether the device takes page fragments. */
  readonly sg: boolean;
  /** Which device it is: releases differ in whose UFO they have. */
  readonly kind: "loopback" | "veth";
}

/** `LL_RESERVED_SPACE`: headroom kept for a link header of `linkHeader` bytes, in units of 16. */
export function llReservedSpace(linkHeader: number): number {
  return Math.floor(linkHeader / 16) * 16 + 16;
}

/** Page fragments of `bytes` bytes cut from a fresh page_frag block, charged by bytes as senders charge them. */
export function addSenderFrags(
  kernel: Kernel,
  skb: SkBuff,
  bytes: number,
): void {
  const block = kernel.skbPageFrag.maxSize;
  for (let rest = bytes; rest > 0; rest -= block) {
    const size = Math.min(rest, block);
    skbAddRxFrag(skb, size, size, Frag.TASK_FRAG);
  }
}

/**
 * The skbs of one UDP datagram on its way out, one an IP fragment; each starts at its IP header.
 *
 * Models `__ip_append_data` (net/ipv4/ip_output.c) and `__ip6_append_data` (net/ipv6/ip6_output.c) for one write
 * without MSG_MORE: the head holds headers and payload and, from 6.1 on where the device has scatter-gather, headers
 * only once head and reserve reach SKB_MAX_ALLOC.
 *
 * @param kernel The kernel.
 * @param version IP version.
 * @param payload UDP payload, bytes.
 * @param device The output device.
 * @returns The skbs in order, or `null` where the kernel answers EMSGSIZE.
 *
 * @example
 * ```ts
 * import { ipAppendData, kernel, vethDevice } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ipAppendData(kernel("6.18"), 4, 4000, vethDevice())!.map((skb) => skb.truesize), [2304, 2304, 2304]);
 * assertEquals(ipAppendData(kernel("6.18"), 4, 65508, vethDevice()), null);
 * ```
 */
export function ipAppendData(
  kernel: Kernel,
  version: 4 | 6,
  payload: number,
  device: OutputDevice,
): SkBuff[] | null {
  const { mtu } = device;
  whole("payload", payload, 0, 0x7fffffff, "ipAppendData");
  if (version !== 4 && version !== 6) {
    throw new RangeError(
      `ipAppendData(): version must be 4 or 6, got ${version}`,
    );
  }
  const header = version === 4 ? IPV4_HEADER : IPV6_HEADER;
  const hh = llReservedSpace(device.linkHeader);
  let length = payload + UDP_HEADER;
  // IPv4 counts its header into the 16-bit total length, IPv6 does not.
  if (length > (version === 4 ? 65535 - IPV4_HEADER : 65535)) return null;
  const fragmented = length + header > mtu;
  // UFO looks at the length without the IP header, so the first bytes over the MTU are still fragmented.
  if (length > mtu && kernel.ip.udpFragmentOffload.includes(device.kind)) {
    return [ufoSkb(kernel, version, length, hh)];
  }
  const maxFragLen = Math.floor((mtu - header) / 8) * 8 + header -
    (version === 6 ? IPV6_FRAGMENT_HEADER : 0);
  const reserve = version === 4 ? hh : hh + IPV6_FRAGMENT_HEADER;
  const extra = version === 4 ? hh + 15 : hh + IPV6_FRAGMENT_HEADER;
  let transport = UDP_HEADER;
  const skbs: SkBuff[] = [];
  while (length > 0) {
    const room = version === 6 && fragmented
      ? maxFragLen - header
      : mtu - header;
    const dataLen = length > room ? maxFragLen - header : length;
    const fragLen = dataLen + header;
    const paged = kernel.ip.pagedLarge && device.sg &&
      fragLen + extra >= skbMaxAlloc(kernel);
    const linear = paged ? header + transport : fragLen;
    const skb = skbPut(
      skbReserve(allocSkb(kernel, linear + extra), reserve),
      linear,
    );
    if (paged) addSenderFrags(kernel, skb, fragLen - linear);
    skb.headerLen = header + transport;
    skbs.push(skb);
    length -= dataLen;
    transport = 0;
  }
  return skbs;
}

// UFO (up to 4.13): headers in the head, all payload in page fragments, the device would have fragmented it.
function ufoSkb(
  kernel: Kernel,
  version: 4 | 6,
  length: number,
  hh: number,
): SkBuff {
  const header = version === 4 ? IPV4_HEADER : IPV6_HEADER;
  const skb = allocSkb(kernel, hh + header + UDP_HEADER + 20);
  skbPut(skbReserve(skb, hh), header + UDP_HEADER);
  addSenderFrags(kernel, skb, length - UDP_HEADER);
  skb.headerLen = header + UDP_HEADER;
  return skb;
}
