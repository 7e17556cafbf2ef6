/**
 * The two patches of the October 2013 rcvbuf thread: 6ae705323 "tcp: sndbuf autotuning improvements", on which it is
 * based, and the patch that was posted, "tcp: rcvbuf autotuning improvements" (never merged).
 *
 * @module
 */

import type { Patch } from "../kernel.ts";
import { definePatch } from "./define_patch.ts";

const THREAD = "rcvbuf-autotuning";
const FILE = "net/ipv4/tcp_input.c";

/**
 * Sizes the send buffer by the kmalloc class of a segment's head, for two congestion windows (6ae705323, merged for
 * 3.13).
 *
 * @example The first send buffer doubles
 * ```ts
 * import { initialBuffers, kernel, sndbufAutotuning } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const base = kernel("net-next-2013-10");
 * assertEquals(initialBuffers({ kernel: base }).sndbuf, 22920);
 * assertEquals(initialBuffers({ kernel: base.am(sndbufAutotuning) }).sndbuf, 46080);
 * ```
 */
export const sndbufAutotuning: Patch = definePatch({
  name: "sndbufAutotuning",
  subject: "tcp: sndbuf autotuning improvements",
  date: "2013-10-01",
  thread: THREAD,
  fits: (kernel) =>
    kernel.tcp.sndbufPerMss === "truesize" ? undefined : "already merged",
  changes: {
    tcp: {
      sndbufPerMss: {
        value: "power of two",
        file: FILE,
        symbol: "tcp_sndbuf_expand",
        origin: "6ae705323; 3.13.0 tree, by the specification",
      },
      sndbufInitCwnd: {
        value: true,
        file: FILE,
        symbol: "tcp_sndbuf_expand",
        origin: "6ae705323; 3.13.0 tree, by the specification",
      },
    },
  },
});

/**
 * Sizes the first receive buffer in the same way (`tcp_rcvbuf_expand`). It asks for the segments of a window of the
 * size of an skb, not of the MSS, and so lowers what it sets out to raise.
 *
 * @example 366,720 to 221,184 bytes
 * ```ts
 * import { initialBuffers, kernel, rcvbufExpand, sndbufAutotuning } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const patched = kernel("net-next-2013-10").am(sndbufAutotuning, rcvbufExpand);
 * assertEquals(initialBuffers({ kernel: patched }).rcvbuf, 221184);
 * ```
 */
export const rcvbufExpand: Patch = definePatch({
  name: "rcvbufExpand",
  subject: "[PATCH net-next] tcp: rcvbuf autotuning improvements",
  date: "2013-10-03",
  thread: THREAD,
  fits: (kernel) =>
    kernel.tcp.initialRcvbuf === "expand"
      ? "it is applied already"
      : kernel.tcp.initialRcvbuf !== "fixup, fourfold"
      ? "there is no tcp_fixup_rcvbuf with the fourfold cushion"
      : kernel.tcp.sndbufPerMss === "truesize"
      ? "it stands on sndbufAutotuning"
      : undefined,
  changes: {
    tcp: {
      initialRcvbuf: {
        value: "expand",
        file: FILE,
        symbol: "tcp_rcvbuf_expand",
        origin: "as posted",
      },
    },
  },
});
