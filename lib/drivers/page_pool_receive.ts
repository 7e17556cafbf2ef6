/**
 * How frames in fragments of a page_pool become skbs.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { whole } from "../sim/check.ts";
import {
  buildSkb,
  Frag,
  Head,
  napiAllocSkb,
  skbAddRxFrag,
  skbPut,
  skbReserve,
  type SkBuff,
} from "../net/skbuff.ts";
import { alignUp } from "../sim/align.ts";
import { checkFrame, ETH_HLEN } from "./frame.ts";

/** How a driver over page_pool receives. An option given as `undefined` is absent. */
export interface PagePoolReceiveOptions {
  /** Bytes that the driver asks the pool for; default 2,048. */
  readonly fragment?: number | undefined;
  /** Whether the skb is built around the fragment; default false: a small head with fragments behind it. */
  readonly build?: boolean | undefined;
  /** Head that is asked for where no skb is built, bytes; shorter frames are copied into it. Default 256. */
  readonly headSize?: number | undefined;
  /** Whether the fragment is the last of its page, which gets the rest of it. Default false. */
  readonly last?: boolean | undefined;
}

/**
 * Bytes that a request to a pool really gets: the fragment, with what is left where no other fits; or a whole page.
 *
 * Models `page_pool_alloc` (include/net/page_pool/helpers.h, 6.7).
 *
 * @param kernel The kernel.
 * @param size Bytes asked for, 1 to a page.
 * @param last Whether the fragment is the last that its page holds.
 * @throws {RangeError} `size` is out of range.
 */
export function pagePoolFragSize(
  kernel: Kernel,
  size: number,
  last = false,
): number {
  const { pageSize } = kernel.build;
  whole("size", size, 1, pageSize);
  if (size * 2 > pageSize) return pageSize;
  const step = alignUp(size, 8);
  const most = Math.floor((pageSize - size) / step);
  return last ? pageSize - most * step : size;
}

/**
 * The skb of one frame in a driver over page_pool.
 *
 * Models what drivers with a pool do in 6.8: a small head with fragments (`napi_alloc_skb`, `skb_add_rx_frag`), or
 * `build_skb` around one fragment. The pool's fragments came in 5.16 and `page_pool_alloc` in 6.7; for older kernels
 * the answer says what such a driver would cost there.
 *
 * @param kernel The kernel.
 * @param frame Bytes of the Ethernet frame.
 * @param options Fragment size and style.
 * @throws {RangeError} An argument is out of range, the frame does not fit the fragment to be built around, or needs more
 *   than `MAX_SKB_FRAGS` fragments.
 * @throws {TypeError} A boolean option is none.
 *
 * @example Half a page behind a small head, or built around
 * ```ts
 * import { kernel, pagePoolReceive } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(pagePoolReceive(kernel("6.8"), 1514).truesize, 3328);
 * assertEquals(pagePoolReceive(kernel("6.8"), 1514, { build: true }).truesize, 2304);
 * ```
 */
export function pagePoolReceive(
  kernel: Kernel,
  frame: number,
  options: PagePoolReceiveOptions = {},
): SkBuff {
  checkFrame(frame);
  const { fragment = 2048, build = false, headSize = 256, last = false } =
    options;
  for (const [name, value] of Object.entries({ build, last })) {
    if (typeof value !== "boolean") {
      throw new TypeError(
        `options.${name} must be true or false, got ${String(value)}`,
      );
    }
  }
  if (frame < ETH_HLEN) {
    throw new RangeError(
      `frame must be at least ${ETH_HLEN} bytes, got ${frame}`,
    );
  }
  const { maxSkbFrags, pageSize } = kernel.build;
  whole("options.fragment", fragment, 64, pageSize);
  whole("options.headSize", headSize, ETH_HLEN, pageSize);
  const size = pagePoolFragSize(kernel, fragment, last);
  if (build) {
    const headroom = kernel.skb.netSkbPad + kernel.skb.netIpAlign;
    const room = size - headroom - kernel.skb.sharedInfo;
    if (frame > room) {
      throw new RangeError(
        `frame must be at most ${room} bytes in a fragment of ${size} with shared info, got ${frame}`,
      );
    }
    return skbPut(
      skbReserve(buildSkb(kernel, size, Head.RX_BUFFER), headroom),
      frame,
    );
  }
  const skb = napiAllocSkb(kernel, headSize);
  if (frame <= headSize) return skbPut(skb, frame);
  if (frame > fragment * maxSkbFrags) {
    throw new RangeError(
      `frame must be at most ${
        fragment * maxSkbFrags
      } bytes in ${maxSkbFrags} fragments of ${fragment}, got ${frame}`,
    );
  }
  for (let rest = frame; rest > 0; rest -= fragment) {
    skbAddRxFrag(skb, Math.min(rest, fragment), size, Frag.RX_BUFFER);
  }
  return skb;
}
