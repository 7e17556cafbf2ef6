/**
 * loopback and veth: the receiver gets the very skbs that the sender built.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { addSenderFrags, type OutputDevice } from "../net/ip_output.ts";
import { allocSkb, skbPut, skbReserve, type SkBuff } from "../net/skbuff.ts";
import { alignUp } from "../sim/align.ts";
import { whole } from "../sim/check.ts";

/** Link header that loopback and veth reserve room for, bytes (`ETH_HLEN`). */
const LINK_HEADER = 14;

/**
 * Loopback as the IP layer sees it (drivers/net/loopback.c).
 *
 * @param mtu MTU, bytes; 65,536 by default.
 * @param sg Scatter-gather.
 *
 * @example
 * ```ts
 * import { ipAppendData, kernel, loopbackDevice } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(loopbackDevice().mtu, 65536);
 * const skbs = ipAppendData(kernel("6.18"), 4, 1472, loopbackDevice())!;
 * assertEquals(skbs.length, 1);
 * ```
 */
export function loopbackDevice(mtu = 65536, sg = true): OutputDevice {
  whole("mtu", mtu, 68, 65536, "loopbackDevice");
  return { mtu, linkHeader: LINK_HEADER, sg, kind: "loopback" };
}

/**
 * One end of a veth pair as the IP layer sees it (drivers/net/veth.c).
 *
 * @param mtu MTU, bytes; 1,500 by default.
 * @param sg Scatter-gather.
 *
 * @example
 * ```ts
 * import { ipAppendData, kernel, vethDevice } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skbs = ipAppendData(kernel("6.18"), 4, 4000, vethDevice())!;
 * assertEquals(skbs.map((skb) => skb.len), [1500, 1500, 1068]);
 * ```
 */
export function vethDevice(mtu = 1500, sg = true): OutputDevice {
  whole("mtu", mtu, 68, 65536, "vethDevice");
  return { mtu, linkHeader: LINK_HEADER, sg, kind: "veth" };
}

/**
 * The skb of one TCP write as it arrives over loopback or veth: the sender's own, payload in page fragments.
 *
 * Models `tcp_sendmsg` (net/ipv4/tcp.c) for a write to an idle connection: up to 4.x the head also holds payload.
 *
 * @param kernel The kernel.
 * @param payload TCP payload of one skb, bytes.
 *
 * @example
 * ```ts
 * import { kernel, tcpSenderSkb } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = tcpSenderSkb(kernel("6.18"), 1448);
 * assertEquals([skb.truesize, skb.headlen, skb.frags.length], [2280, 0, 1]);
 * ```
 */
export function tcpSenderSkb(kernel: Kernel, payload: number): SkBuff {
  whole("payload", payload, 0, 65535, "tcpSenderSkb");
  const { maxTcpHeader } = kernel.build;
  const room = kernel.tcp.linear;
  const linear = Math.min(payload, room);
  const skb = skbPut(
    skbReserve(allocSkb(kernel, maxTcpHeader + alignUp(room, 4)), maxTcpHeader),
    linear,
  );
  addSenderFrags(kernel, skb, payload - linear);
  return skb;
}
