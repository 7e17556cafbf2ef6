/**
 * virtio_net: how a frame that the device wrote into receive buffers becomes an skb, in the three modes of the driver.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { whole } from "../sim/check.ts";
import {
  allocSkb,
  buildSkb,
  Head,
  napiAllocSkb,
  netdevAllocSkb,
  skbAddRxFrag,
  skbHeadAlign,
  skbPut,
  skbReserve,
  type SkBuff,
} from "../net/skbuff.ts";
import { checkFrame, ETH_HLEN } from "./frame.ts";
import {
  GOOD_PACKET_LEN,
  mergeableBufferLength,
  PADDED_VNET_HDR,
  VIRTIO_NET_HDR,
} from "./virtio_buffer.ts";

export {
  ewmaAdd,
  GOOD_PACKET_LEN,
  mergeableBufferLength,
  type MergeableBufferOptions,
  mergeableMinBufLen,
  PADDED_VNET_HDR,
  VIRTIO_NET_HDR,
} from "./virtio_buffer.ts";

/** Where a mergeable packet landed. */
export interface VirtioMergeableOptions {
  /**
   * Length that the driver noted for each buffer, bytes, where that is not what the device may use: up to 4.12 the hole
   * at the end of a block is the device's but is not noted. Default: the buffer's own length.
   */
  readonly nominal?: number | undefined;
  /**
   * Whether each buffer lies right behind the one before it, as a ring filled in one go has them; buffers in one block
   * then share a fragment. Default false.
   */
  readonly adjacent?: boolean | undefined;
  /** With `adjacent`: offset of the first buffer in its block, bytes; default 0. */
  readonly blockOffset?: number | undefined;
}

/** How a device without mergeable buffers, in big mode, was set up. */
export interface VirtioBigOptions {
  /** Whether the device sends GSO packets (`VIRTIO_NET_F_GUEST_TSO4` and others). Default true. */
  readonly guestGso?: boolean | undefined;
  /** MTU, bytes; decides the number of pages where the device sends no GSO packets (6.1 on). Default 1,500. */
  readonly mtu?: number | undefined;
}

/** How the slot of a small packet was filled. */
export interface VirtioSmallOptions {
  /**
   * Whether a context that may sleep filled the slot, as `virtnet_open` and `refill_work` do; softirq otherwise. Changes
   * the head where each slot holds an skb. Default false.
   */
  readonly filledBySleeper?: boolean | undefined;
}

/**
 * The skb of one frame in mergeable receive buffers.
 *
 * Models `receive_mergeable` and `page_to_skb` (drivers/net/virtio_net.c): the first buffer is copied into a small head,
 * wrapped by `build_skb` (5.13 on) or attached as a fragment; each further one is a fragment, and after `MAX_SKB_FRAGS`
 * of them another skb is chained in `frag_list`.
 *
 * @param kernel The kernel.
 * @param frame Bytes of the Ethernet frame, without the virtio header.
 * @param buffers Length of the ring entries that the device fills in order, bytes, the hole of a block's last one
 *   included: one number if all are alike. Default: what a fresh ring has.
 * @param options Noted lengths and adjacency.
 * @returns The skb, or null where the driver drops the packet: shorter than an Ethernet header, or (whole-page buffers)
 *   more than `MAX_SKB_FRAGS` pages.
 * @throws {RangeError} An argument is out of range, or the buffers do not hold the packet.
 *
 * @example A whole page for each frame in 3.12, a buffer of the average's size in 6.1
 * ```ts
 * import { kernel, virtioMergeable } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(virtioMergeable(kernel("3.12"), 1514)!.truesize, 4864);
 * assertEquals(virtioMergeable(kernel("6.1"), 1514)!.truesize, 2816);
 * assertEquals(virtioMergeable(kernel("6.1"), 1514, 2048)!.truesize, 2304);
 * ```
 */
export function virtioMergeable(
  kernel: Kernel,
  frame: number,
  buffers: number | readonly number[] = mergeableBufferLength(kernel, 0),
  options: VirtioMergeableOptions = {},
): SkBuff | null {
  checkFrame(frame);
  const { mergeable, coalesces } = kernel.virtio;
  const { maxSkbFrags } = kernel.build;
  const lengths = usedBuffers(kernel, frame + VIRTIO_NET_HDR, buffers);
  const nominal = options.nominal === undefined
    ? 0
    : whole("options.nominal", options.nominal, 26, 65536);
  const block = kernel.skbPageFrag.maxSize;
  let offset = whole(
    "options.blockOffset",
    options.blockOffset ?? 0,
    0,
    block - 1,
  );
  if (frame < ETH_HLEN) return null;

  let rest = frame + VIRTIO_NET_HDR;
  let head: SkBuff | null = null;
  let skb: SkBuff | null = null;
  for (let i = 0; i < lengths.length; i++) {
    const length = lengths[i]!;
    const used = Math.min(length, rest);
    rest -= used;
    const room = fragTruesize(kernel, length, used, nominal);
    if (offset + length > block) offset = 0;
    const follows = options.adjacent === true && coalesces && i > 0 &&
      offset > 0;
    offset += length;
    if (head === null || skb === null) {
      head = skb = pageToSkb(
        kernel,
        used - VIRTIO_NET_HDR,
        room,
        VIRTIO_NET_HDR,
      );
      const left = used - VIRTIO_NET_HDR - head.len;
      if (left > 0) skbAddRxFrag(head, left, room);
      continue;
    }
    if (skb.frags.length === maxSkbFrags) {
      if (mergeable === "page") return null;
      skb = allocSkb(kernel, 0);
      head.fragList.push(skb);
      head.truesize += skb.truesize;
    }
    if (skb !== head) {
      head.len += used;
      head.dataLen += used;
      head.truesize += room;
    }
    const last = skb.frags[skb.frags.length - 1];
    if (follows && last !== undefined) {
      last.size += used;
      last.room += room;
      skb.len += used;
      skb.dataLen += used;
      skb.truesize += room;
    } else {
      skbAddRxFrag(skb, used, room);
    }
  }
  return head;
}

/**
 * The skb of a packet for whose only buffer the device reports more bytes than the driver noted: a fault of the device, or
 * (4.12) the hole that was handed out without being noted.
 *
 * Models the length checks of `receive_mergeable` (drivers/net/virtio_net.c): 3.13 cuts the length, 3.14 charges what was
 * reported, later drivers drop the packet.
 *
 * @param kernel The kernel.
 * @param reported Bytes that the device says it wrote, the virtio header included: 26 to 65,536.
 * @param noted Bytes that were noted for the buffer; what a fresh ring has by default.
 * @returns The skb, or null where the driver drops the packet.
 * @throws {RangeError} An argument is out of range.
 *
 * @example 5,000 bytes in a buffer of 1,536
 * ```ts
 * import { kernel, virtioOverlong } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const charges = ["3.13", "3.14", "6.8"].map((name) => virtioOverlong(kernel(name), 5000)?.truesize);
 * assertEquals(charges, [2304, 5768, undefined]);
 * ```
 */
export function virtioOverlong(
  kernel: Kernel,
  reported: number,
  noted: number = mergeableBufferLength(kernel, 0),
): SkBuff | null {
  whole("reported", reported, VIRTIO_NET_HDR + ETH_HLEN, 65536);
  whole("noted", noted, VIRTIO_NET_HDR + ETH_HLEN, 65536);
  if (reported <= noted) {
    return virtioMergeable(kernel, reported - VIRTIO_NET_HDR, noted);
  }
  switch (kernel.virtio.overlong) {
    case "clamps":
      return virtioMergeable(kernel, noted - VIRTIO_NET_HDR, noted);
    case "charged":
      return virtioMergeable(kernel, reported - VIRTIO_NET_HDR, reported, {
        nominal: noted,
      });
    case "drops":
      return null;
  }
}

/**
 * The skb of one frame in big mode: a chain of whole pages.
 *
 * Models `receive_big` and `page_to_skb` (drivers/net/virtio_net.c).
 *
 * @param kernel The kernel.
 * @param frame Bytes of the Ethernet frame, without the virtio header.
 * @param options What the device sends.
 * @returns The skb, or null where the driver drops the packet: too short, longer than the chain, or (3.10 to 3.12) any.
 * @throws {RangeError} An argument is out of range.
 * @throws {TypeError} `guestGso` is no boolean.
 *
 * @example One page, kept or wrapped
 * ```ts
 * import { kernel, virtioBig } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(virtioBig(kernel("4.3"), 1514)!.truesize, 4864);
 * assertEquals(virtioBig(kernel("6.1"), 1514)!.truesize, 4352);
 * ```
 */
export function virtioBig(
  kernel: Kernel,
  frame: number,
  options: VirtioBigOptions = {},
): SkBuff | null {
  checkFrame(frame);
  const { guestGso = true, mtu = 1500 } = options;
  if (typeof guestGso !== "boolean") {
    throw new TypeError(
      `options.guestGso must be true or false, got ${String(guestGso)}`,
    );
  }
  whole("options.mtu", mtu, 68, 65535);
  const { pageSize, maxSkbFrags } = kernel.build;
  if (frame < ETH_HLEN || !kernel.virtio.bigReceives) return null;
  const pages = guestGso ? maxSkbFrags : Math.ceil(mtu / pageSize);
  if (frame > (pages + 1) * pageSize - PADDED_VNET_HDR) return null;

  const skb = pageToSkb(kernel, frame, pageSize, PADDED_VNET_HDR);
  let offset = PADDED_VNET_HDR + skb.len;
  for (let rest = frame - skb.len; rest > 0;) {
    if (skb.frags.length === maxSkbFrags) return null;
    const size = Math.min(pageSize - offset, rest);
    skbAddRxFrag(skb, size, pageSize);
    rest -= size;
    offset = 0;
  }
  return skb;
}

/**
 * The skb of one frame in small mode: one buffer for a frame of an MTU of 1,500.
 *
 * Models `receive_small` and `add_recvbuf_small` (drivers/net/virtio_net.c): an skb of its own in each slot, later a
 * buffer that `build_skb` wraps. The charge does not depend on the frame.
 *
 * @param kernel The kernel.
 * @param frame Bytes of the Ethernet frame, without the virtio header.
 * @param options Who filled the slot.
 * @returns The skb, or null where the packet is dropped: shorter than an Ethernet header or over 1,518 bytes.
 * @throws {RangeError} `frame` is out of range.
 * @throws {TypeError} `filledBySleeper` is no boolean.
 *
 * @example The first packets of a 3.12 ring cost more than the later ones
 * ```ts
 * import { kernel, virtioSmall } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(virtioSmall(kernel("3.12"), 60, { filledBySleeper: true })!.truesize, 2304);
 * assertEquals(virtioSmall(kernel("3.12"), 60)!.truesize, 2176);
 * ```
 */
export function virtioSmall(
  kernel: Kernel,
  frame: number,
  options: VirtioSmallOptions = {},
): SkBuff | null {
  checkFrame(frame);
  const { filledBySleeper = false } = options;
  if (typeof filledBySleeper !== "boolean") {
    throw new TypeError(
      `options.filledBySleeper must be true or false, got ${
        String(filledBySleeper)
      }`,
    );
  }
  if (frame < ETH_HLEN || frame > GOOD_PACKET_LEN) return null;
  const { netSkbPad, netIpAlign } = kernel.skb;
  if (kernel.virtio.small === "netdev_alloc_skb") {
    const skb = netdevAllocSkb(
      kernel,
      GOOD_PACKET_LEN + netIpAlign,
      filledBySleeper,
    );
    return skbPut(skbReserve(skb, netIpAlign), frame);
  }
  const headroom = VIRTIO_NET_HDR + netSkbPad + netIpAlign;
  const size = skbHeadAlign(kernel, GOOD_PACKET_LEN + headroom);
  return skbPut(
    skbReserve(buildSkb(kernel, size, Head.RX_BUFFER), headroom),
    frame,
  );
}

// Head of a packet: the first `data` bytes, in a buffer noted with `truesize`, behind `header` bytes of virtio header.
function pageToSkb(
  kernel: Kernel,
  data: number,
  truesize: number,
  header: number,
): SkBuff {
  const { buildSkb: builds, goodCopyLen, pull } = kernel.virtio;
  const { netIpAlign, sharedInfo } = kernel.skb;
  if (
    builds && netIpAlign === 0 && data > goodCopyLen &&
    truesize - header - data >= sharedInfo
  ) {
    return skbPut(
      skbReserve(buildSkb(kernel, truesize, Head.RX_BUFFER), header),
      data,
    );
  }
  const skb = napiAllocSkb(kernel, goodCopyLen);
  const copy = pull === "128" || data <= skb.tailroom
    ? Math.min(data, skb.tailroom)
    : ETH_HLEN;
  return skbPut(skb, copy);
}

/** What a fragment of `length` bytes, of which the device filled `used`, is charged, bytes. */
function fragTruesize(
  kernel: Kernel,
  length: number,
  used: number,
  nominal: number,
): number {
  if (kernel.virtio.mergeable !== "ewma") return kernel.virtio.bufferMin;
  return kernel.virtio.countsHole
    ? length
    : Math.max(used, nominal > 0 ? nominal : length);
}

/** The buffers that a packet of `bytes` fills, checked. */
function usedBuffers(
  kernel: Kernel,
  bytes: number,
  buffers: number | readonly number[],
): readonly number[] {
  const { mergeable, bufferMin } = kernel.virtio;
  const check = (name: string, length: number): void => {
    if (mergeable !== "ewma" && length !== bufferMin) {
      throw new RangeError(
        `${name} must be ${bufferMin} bytes in ${kernel.name}, whose buffers are all alike, got ${length}`,
      );
    }
    whole(name, length, VIRTIO_NET_HDR + ETH_HLEN, 2 ** 22 - 1);
  };
  if (typeof buffers === "number") {
    check("buffers", buffers);
    return Array<number>(Math.ceil(bytes / buffers)).fill(buffers);
  }
  let rest = bytes;
  for (let i = 0; i < buffers.length; i++) {
    check(`buffers[${i}]`, buffers[i]!);
    rest -= buffers[i]!;
    if (rest <= 0) return buffers.slice(0, i + 1);
  }
  throw new RangeError(
    `buffers hold ${
      bytes - rest
    } bytes, a packet of ${bytes} with its header does not fit`,
  );
}
