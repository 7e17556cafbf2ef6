/**
 * Where a stream's window stops, in closed form.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { kernelArgument, optionsObject, whole } from "../sim/check.ts";
import { type Sizes, sizes } from "./initial_buffers.ts";
import { winFromSpace, winFromSpaceByRatio } from "./space.ts";

/** A stream of equal skbs. */
export interface WindowCapOptions {
  /** The receiver's kernel. */
  readonly kernel: Kernel;
  /** Payload of each skb, bytes. */
  readonly payload: number;
  /** Charge of each skb, bytes. */
  readonly truesize: number;
  /** `net.ipv4.tcp_rmem`, bytes; the release's if absent. */
  readonly tcpRmem?: Sizes | undefined;
  /** `net.ipv4.tcp_adv_win_scale`; 1 if absent. */
  readonly advWinScale?: number | undefined;
}

/**
 * Where `tcp_grow_window` stops `rcv_ssthresh` for a stream of equal skbs, bytes: an skb that is worth more window than
 * it carried opens the window only while the window is below a half, a quarter, … of what `tcp_rmem[2]` is worth.
 *
 * Models `__tcp_grow_window` (net/ipv4/tcp_input.c) with a constant `tcp_adv_win_scale`; from 6.6 on the socket's
 * `scaling_ratio` is that of the skbs, every skb is worth what it carried, and the cap is `win(tcp_rmem[2])`.
 *
 * @param options Kernel, payload and truesize of each skb, `tcp_rmem`, `tcp_adv_win_scale` (1 if absent).
 * @throws {RangeError} A value is out of range.
 * @throws {TypeError} A value is of the wrong type.
 * @returns Bytes; `rcv_ssthresh` goes beyond by less than one increment. `win(tcp_rmem[2])` if nothing stops it earlier.
 *
 * @example Whole-page buffers of 2013
 * ```ts
 * import { kernel, windowCap } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const stream = { kernel: kernel("net-next-2013-10"), payload: 1448, tcpRmem: [4096, 87380, 6291456] as const };
 * assertEquals(windowCap({ ...stream, truesize: 4864 }), 1572864);
 * assertEquals(windowCap({ ...stream, truesize: 2304 }), 3145728);
 * ```
 */
export function windowCap(options: WindowCapOptions): number {
  optionsObject(options, "windowCap");
  const { kernel, payload, truesize, advWinScale = 1 } = options;
  kernelArgument(kernel, "windowCap");
  whole("payload", payload, 1, 0x7fffffff);
  whole("truesize", truesize, 1, 0x7fffffff);
  whole("advWinScale", advWinScale, -31, 31);
  const [, , most] = sizes("tcpRmem", options.tcpRmem ?? kernel.tcp.rmem);
  if (kernel.tcp.space === "scaling_ratio") {
    const ratio = Math.max(1, Math.floor(payload * 256 / truesize) & 0xff);
    return winFromSpaceByRatio(ratio, most);
  }
  let window = winFromSpace(advWinScale, most);
  let worth = winFromSpace(advWinScale, truesize);
  while (worth > payload) {
    worth >>= 1;
    window >>= 1;
  }
  return window;
}
