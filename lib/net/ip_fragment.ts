/**
 * Reassembly: the IP fragments of a datagram become one skb, whose charge depends on what could be merged.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { IPV4_HEADER, IPV6_HEADER } from "./ip_output.ts";
import { skbPull, skbPush, skbTryCoalesce } from "./skb_coalesce.ts";
import type { SkBuff } from "./skbuff.ts";

/**
 * Joins the fragments of one datagram, given in order, each starting at its IP header.
 *
 * Models `ip_frag_reasm` (net/ipv4/ip_fragment.c), `ip6_frag_reasm` (net/ipv6/reassembly.c) and
 * `inet_frag_reasm_finish` (net/ipv4/inet_fragment.c): a fragment that fits the tailroom of what is already joined is
 * copied there and costs nothing, one in pages of its own gives up its head, any other hangs on the frag_list with its
 * whole charge.
 *
 * @param kernel The kernel.
 * @param version IP version; before 5.1 only IPv4 merges.
 * @param fragments At least one skb; they are used up.
 * @returns The first skb, now the whole datagram.
 *
 * @example
 * ```ts
 * import { ipAppendData, ipFragReasm, kernel, vethDevice } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const fragments = ipAppendData(kernel("6.18"), 4, 4000, vethDevice())!;
 * const whole = ipFragReasm(kernel("6.18"), 4, fragments);
 * assertEquals([whole.len, whole.fragList.length], [4028, 2]);
 * ```
 */
export function ipFragReasm(
  kernel: Kernel,
  version: 4 | 6,
  fragments: readonly SkBuff[],
): SkBuff {
  const head = fragments[0]!;
  if (fragments.length === 1) return head;
  const merges = version === 4 || kernel.ip.reassemblyCoalesces === "both";
  const header = version === 4 ? IPV4_HEADER : IPV6_HEADER;
  skbPull(head, header);
  for (let i = 1; i < fragments.length; i++) {
    const fragment = fragments[i]!;
    skbPull(fragment, header);
    if (merges && skbTryCoalesce(kernel, head, fragment)) continue;
    head.fragList.push(fragment);
    head.len += fragment.len;
    head.dataLen += fragment.len;
    head.truesize += fragment.truesize;
  }
  skbPush(head, header);
  return head;
}
