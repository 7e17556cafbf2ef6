/**
 * The receive queue's account: bytes charged to the socket, and pages taken of protocol memory for them.
 *
 * @module
 */

import type { ReceiverSock } from "./receiver_sock.ts";
import type { SkbQueue } from "./skb_list.ts";

/** `skb_set_owner_r`: charges an skb to the socket. */
export function charge(sk: ReceiverSock, truesize: number): void {
  sk.rmemAlloc += truesize;
  sk.forwardAlloc -= truesize;
}

/** `sock_rfree`: gives an skb's charge back; whole pages return to the protocol. */
export function uncharge(sk: ReceiverSock, truesize: number): void {
  sk.rmemAlloc -= truesize;
  sk.forwardAlloc = sk.memory.reclaim(sk.forwardAlloc + truesize);
}

/** `sk_rmem_schedule`: memory for `size` bytes from the protocol, where the reserve does not hold it. */
export function schedule(sk: ReceiverSock, size: number): boolean {
  const lacks = size - sk.forwardAlloc;
  if (lacks <= 0) return true;
  const { memory } = sk;
  const pages = memory.pagesFor(lacks);
  if (
    !memory.take(
      pages,
      sk.rmemAlloc + sk.forwardAlloc,
      sk.rmemAlloc < sk.rmem[0],
    )
  ) return false;
  sk.forwardAlloc += pages * memory.pageSize;
  return true;
}

/** `sk_forced_mem_schedule`: the same whatever the limits say. */
export function forceSchedule(sk: ReceiverSock, size: number): void {
  const lacks = size - sk.forwardAlloc;
  if (lacks <= 0) return;
  const pages = sk.memory.pagesFor(lacks);
  sk.memory.force(pages);
  sk.forwardAlloc += pages * sk.memory.pageSize;
}

/** Frees a queued skb and its charge. */
export function dropSkb(sk: ReceiverSock, queue: SkbQueue, skb: number): void {
  queue.unlink(skb);
  uncharge(sk, sk.pool.truesize[skb]!);
  sk.pool.free(skb);
}

/** `SKB_WITH_OVERHEAD(PAGE_SIZE)`: payload of a collapsed skb, bytes. */
export function skbPage(sk: ReceiverSock): number {
  return sk.memory.pageSize - sk.kernel.skb.sharedInfo;
}
