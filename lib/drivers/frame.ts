/** Lengths of received frames: what the drivers of this folder take. @module */

import { whole } from "../sim/check.ts";

/** Longest frame that a receive ring of 256 pages of 4 KiB can hold, bytes: the limit of the `frame` arguments. */
export const FRAME_MAX: number = 2 ** 20;

/** Ethernet header, bytes (`ETH_HLEN`): a shorter frame is dropped. */
export const ETH_HLEN = 14;

/**
 * `frame` itself, checked.
 *
 * @param frame Bytes of an Ethernet frame without its check sequence.
 * @param most Largest length allowed, bytes.
 * @throws {RangeError} It is no whole number from 0 to `most`.
 */
export function checkFrame(frame: number, most: number = FRAME_MAX): number {
  return whole("frame", frame, 0, most);
}
