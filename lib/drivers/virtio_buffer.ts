/**
 * Sizes in virtio_net: headers, and how long the next receive buffer is.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { whole } from "../sim/check.ts";
import { alignUp } from "../sim/align.ts";
import { ETH_HLEN } from "./frame.ts";

/** `sizeof(struct virtio_net_hdr_mrg_rxbuf)`, bytes: in front of each packet where buffers are mergeable (or VERSION_1). */
export const VIRTIO_NET_HDR = 12;
/** `sizeof(struct padded_vnet_hdr)`, bytes: where the frame starts in the first page of big mode. */
export const PADDED_VNET_HDR = 16;
/** `GOOD_PACKET_LEN` (`MAX_PACKET_LEN` up to 3.12): a frame of an MTU of 1,500 with a VLAN tag, bytes. */
export const GOOD_PACKET_LEN = 1518;

/** Bounds of {@linkcode mergeableBufferLength}. */
export interface MergeableBufferOptions {
  /** `min_buf_len`: lower bound of the average, bytes; default `kernel.virtio.bufferMin`. */
  readonly minimum?: number | undefined;
}

/**
 * Length of the next mergeable buffer that the driver posts, bytes, without the hole of a block's last one.
 *
 * Models `get_mergeable_buf_len` (drivers/net/virtio_net.c, 3.14 on); before that the length is fixed. Where the bounds
 * are the wrong way round (a ring of 16 asks for at least 4,086 of at most 4,084) the lower one wins below them, and the
 * buffer is longer than a page.
 *
 * @param kernel The kernel.
 * @param average Average frame length, bytes, from {@linkcode ewmaAdd}; 0 before the first frame.
 * @param options Lower bound.
 * @throws {RangeError} An argument is out of range.
 *
 * @example
 * ```ts
 * import { kernel, mergeableBufferLength } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(mergeableBufferLength(kernel("6.1"), 60), 1536);
 * assertEquals(mergeableBufferLength(kernel("6.1"), 9000), 4096);
 * ```
 */
export function mergeableBufferLength(
  kernel: Kernel,
  average: number,
  options: MergeableBufferOptions = {},
): number {
  const { mergeable, bufferMin, bufferAlign } = kernel.virtio;
  const { pageSize } = kernel.build;
  whole("average", average, 0, 2 ** 31 - 1);
  const low = whole(
    "options.minimum",
    options.minimum ?? bufferMin,
    0,
    2 ** 31 - 1,
  );
  if (mergeable !== "ewma") return bufferMin;
  const high = pageSize - VIRTIO_NET_HDR;
  const data = average >= high ? high : average <= low ? low : average;
  return alignUp(VIRTIO_NET_HDR + data, bufferAlign);
}

/**
 * `min_buf_len`: the least that makes a ring full of buffers hold one packet of the longest kind, bytes.
 *
 * Models `mergeable_min_buf_len` (drivers/net/virtio_net.c, 4.12 on); earlier drivers have the 1,518 alone.
 *
 * @param ringSize Slots of the ring.
 * @param packetLength Longest packet, bytes: 65,535 (`IP_MAX_MTU`) where the device sends GSO packets, its MTU otherwise.
 * @throws {RangeError} An argument is out of range.
 *
 * @example
 * ```ts
 * import { mergeableMinBufLen } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(mergeableMinBufLen(256), 1518);
 * assertEquals(mergeableMinBufLen(16), 4086);
 * ```
 */
export function mergeableMinBufLen(
  ringSize: number,
  packetLength = 65535,
): number {
  whole("ringSize", ringSize, 1, 32768);
  whole("packetLength", packetLength, 68, 65535);
  const vlanHeader = ETH_HLEN + 4;
  const share = Math.ceil(
    (VIRTIO_NET_HDR + vlanHeader + packetLength) / ringSize,
  );
  return Math.max(
    Math.max(share, VIRTIO_NET_HDR) - VIRTIO_NET_HDR,
    GOOD_PACKET_LEN,
  );
}

/**
 * The moving average of frame lengths with one more frame: weight 64, whole numbers, the first frame sets it.
 *
 * Models `ewma_pkt_len_add` (include/linux/average.h, 4.3; lib/average.c before).
 *
 * @param average Average so far, bytes; 0 for none.
 * @param sample Bytes of the frame.
 * @returns The new average, bytes.
 * @throws {RangeError} An argument is out of range.
 *
 * @example
 * ```ts
 * import { ewmaAdd } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * let average = 1518;
 * for (let i = 0; i < 200; i++) average = ewmaAdd(average, 9000);
 * assert(average > 1518 && average <= 9000);
 * ```
 */
export function ewmaAdd(average: number, sample: number): number {
  if (average >>> 0 !== average || sample >>> 0 !== sample) {
    whole("average", average, 0, 2 ** 32 - 1);
    whole("sample", sample, 0, 2 ** 32 - 1);
  }
  return average === 0 ? sample : Math.floor((average * 63 + sample) / 64);
}
