/**
 * What the stack does to an skb after the driver: merge it into another, pull its fragments into the head, and
 * correct the charge.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Frag, skbTruesize, type SkBuff } from "./skbuff.ts";

/**
 * Removes `length` bytes from the front of the packet, as each layer does with its header.
 *
 * Models `skb_pull` (net/core/skbuff.c); the bytes must be linear.
 *
 * @example
 * ```ts
 * import { allocSkb, kernel, skbPull, skbPut } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = skbPut(allocSkb(kernel("6.18"), 256), 114);
 * skbPull(skb, 14);
 * assertEquals([skb.data, skb.len], [14, 100]);
 * ```
 */
export function skbPull(skb: SkBuff, length: number): void {
  skb.data += length;
  skb.len -= length;
}

/**
 * Puts `length` bytes back in front of the packet (`skb_push`).
 *
 * @example
 * ```ts
 * import { allocSkb, kernel, skbPush, skbPut, skbReserve } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = skbPut(skbReserve(allocSkb(kernel("6.18"), 256), 64), 100);
 * skbPush(skb, 14);
 * assertEquals([skb.data, skb.len], [50, 114]);
 * ```
 */
export function skbPush(skb: SkBuff, length: number): void {
  skb.data -= length;
  skb.len += length;
}

/**
 * Moves the first `length` bytes of the page fragments into the linear part. The charge stays as it was, although a
 * fragment that is now empty has gone.
 *
 * Models `__pskb_pull_tail` (net/core/skbuff.c) where the head has the room.
 *
 * @param skb The skb.
 * @param length Bytes to move, at most `skb.dataLen` and the room behind the linear part.
 *
 * @example
 * ```ts
 * import { kernel, napiAllocSkb, pskbPullTail, skbAddRxFrag } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = napiAllocSkb(kernel("6.18"), 256);
 * skbAddRxFrag(skb, 1514, 2048);
 * pskbPullTail(skb, 14);
 * assertEquals([skb.headlen, skb.frags[0]!.size, skb.truesize], [14, 1500, 2944]);
 * ```
 */
export function pskbPullTail(skb: SkBuff, length: number): void {
  skb.tail += length;
  skb.dataLen -= length;
  let rest = length;
  let emptied = 0;
  for (const frag of skb.frags) {
    const taken = Math.min(frag.size, rest);
    frag.size -= taken;
    rest -= taken;
    if (frag.size > 0) break;
    emptied++;
  }
  skb.frags.splice(0, emptied);
}

/**
 * Copies small page fragments into the head's tailroom and charges the head alone, so that a socket under memory
 * pressure holds what it is charged for.
 *
 * Models `skb_condense` (net/core/skbuff.c, 4.10).
 *
 * @param kernel The kernel.
 * @param skb The skb.
 *
 * @example
 * ```ts
 * import { kernel, napiAllocSkb, skbAddRxFrag, skbCondense } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = napiAllocSkb(kernel("6.18"), 256);
 * skbAddRxFrag(skb, 60, 4096);
 * const before = skb.truesize;
 * skbCondense(kernel("6.18"), skb);
 * assertEquals([before, skb.truesize], [4992, 896]);
 * ```
 */
export function skbCondense(kernel: Kernel, skb: SkBuff): void {
  if (skb.dataLen > 0) {
    if (skb.dataLen > skb.end - skb.tail || skb.cloned) return;
    // Fragments of a frag_list skb are copied and freed just as pages are.
    if (skb.fragList.length > 0) {
      skb.tail += skb.dataLen;
      skb.dataLen = 0;
      skb.frags.length = 0;
      skb.fragList.length = 0;
    } else {
      pskbPullTail(skb, skb.dataLen);
    }
  }
  skb.truesize = skbTruesize(kernel, skb.end);
}

/**
 * Merges `from` into `to` if that can be done without a new allocation.
 *
 * Models `skb_try_coalesce` (net/core/skbuff.c, 3.5): into the tailroom, where the merged data costs nothing; else by
 * taking over the page fragments, and the head as one more fragment where it is a piece of a page.
 *
 * @param kernel The kernel.
 * @param to The earlier skb.
 * @param from The later skb; of no use any more after a success.
 * @returns Whether it was merged.
 *
 * @example
 * ```ts
 * import { allocSkb, kernel, skbPut, skbTryCoalesce } from "@truesize/lab";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const k = kernel("6.18");
 * const [to, from] = [1, 2].map(() => skbPut(allocSkb(k, 200), 100));
 * assert(skbTryCoalesce(k, to!, from!));
 * assertEquals([to!.len, to!.truesize], [200, 832]);
 * ```
 */
export function skbTryCoalesce(
  kernel: Kernel,
  to: SkBuff,
  from: SkBuff,
): boolean {
  if (to.cloned) return false;
  if (from.len <= to.tailroom) {
    to.tail += from.len;
    to.len += from.len;
    return true;
  }
  if (to.fragList.length > 0 || from.fragList.length > 0) return false;
  const { maxSkbFrags } = kernel.build;
  const frags = to.frags.length + from.frags.length;
  let delta: number;
  if (from.headlen > 0) {
    if (frags >= maxSkbFrags || !from.headFrag || from.cloned) return false;
    delta = from.truesize - kernel.skb.skBuffAligned;
    to.frags.push({
      size: from.headlen,
      room: from.headSize,
      kind: Frag.STOLEN_HEAD,
    });
  } else {
    if (frags > maxSkbFrags) return false;
    delta = from.truesize - skbTruesize(kernel, from.end);
  }
  for (const frag of from.frags) to.frags.push(frag);
  to.truesize += delta;
  to.len += from.len;
  to.dataLen += from.len;
  return true;
}
