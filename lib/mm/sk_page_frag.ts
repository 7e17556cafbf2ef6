/**
 * The socket side of page fragments: whose `page_frag` a sender uses, and what a socket gives up when there is no page.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Gfp } from "./gfp.ts";
import type { PageFrag } from "./page_frag.ts";

/** What `sk_page_frag_refill` reads and changes of a socket. Byte counts. */
export interface PageFragSock {
  /** `sk_allocation`: what the socket's allocations may do. */
  readonly skAllocation: number;
  /** `sk_wmem_queued`: truesize of what is queued for sending. */
  readonly skWmemQueued: number;
  /** `SOCK_SNDBUF_LOCK`: whether the user fixed the send buffer. */
  readonly sndbufLock: boolean;
  /** `sk_unused_reserved_mem()` of 5.17 on, 0 when absent. */
  readonly skUnusedReservedMem?: number | undefined;
  /** `sk_use_task_frag` of 6.1 on, true when absent. */
  readonly skUseTaskFrag?: boolean | undefined;
  /** `sk_sndbuf`. */
  skSndbuf: number;
  /** `sk_prot->enter_memory_pressure`, where the protocol has it. */
  enterMemoryPressure?(): void;
}

/**
 * Whose frag a sender uses (`sk_page_frag`, include/net/sock.h): its task's if the socket may sleep (up to 5.4), if in
 * addition neither reclaim nor a file system can come back to the socket (6.1), or if the socket does not forbid it (6.8).
 *
 * @param kernel The kernel, for the rule (`kernel.skbPageFrag.holder`).
 * @param sk The socket.
 * @returns `"task_frag"` or `"sk_frag"`.
 *
 * @example
 * ```ts
 * import { Gfp, kernel, skPageFragHolder } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(skPageFragHolder(kernel("6.18"), { skAllocation: Gfp.GFP_KERNEL }), "task_frag");
 * assertEquals(skPageFragHolder(kernel("3.12"), { skAllocation: Gfp.GFP_ATOMIC }), "sk_frag");
 * ```
 */
export function skPageFragHolder(
  kernel: Kernel,
  sk: Pick<PageFragSock, "skAllocation" | "skUseTaskFrag">,
): "task_frag" | "sk_frag" {
  const { __GFP_DIRECT_RECLAIM, __GFP_MEMALLOC, __GFP_FS, __GFP_WAIT } = Gfp;
  const gfp = sk.skAllocation;
  const allowed = sk.skUseTaskFrag ?? true;
  switch (kernel.skbPageFrag.holder) {
    case "may-wait":
      return (gfp & __GFP_WAIT) !== 0 ? "task_frag" : "sk_frag";
    case "not-in-reclaim":
      return allowed &&
          (gfp & (__GFP_DIRECT_RECLAIM | __GFP_MEMALLOC | __GFP_FS)) ===
            (__GFP_DIRECT_RECLAIM | __GFP_FS)
        ? "task_frag"
        : "sk_frag";
    case "use-task-frag":
      return allowed ? "task_frag" : "sk_frag";
  }
}

/**
 * Shrinks the send buffer of a socket that got no memory to half of what it has queued, but not below
 * `SOCK_MIN_SNDBUF`, and not if the user fixed it (`sk_stream_moderate_sndbuf`, include/net/sock.h).
 *
 * @param kernel The kernel, for `SOCK_MIN_SNDBUF` (`kernel.udp.minSndbuf`).
 * @param sk The socket; `skSndbuf` changes.
 *
 * @example
 * ```ts
 * import { Gfp, kernel, skStreamModerateSndbuf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const sk = { skAllocation: Gfp.GFP_KERNEL, skSndbuf: 87040, skWmemQueued: 40000, sndbufLock: false };
 * skStreamModerateSndbuf(kernel("6.18"), sk);
 * assertEquals(sk.skSndbuf, 20000);
 * ```
 */
export function skStreamModerateSndbuf(kernel: Kernel, sk: PageFragSock): void {
  if (sk.sndbufLock) return;
  const half = Math.min(sk.skSndbuf, sk.skWmemQueued >> 1);
  sk.skSndbuf = Math.max(
    half,
    sk.skUnusedReservedMem ?? 0,
    kernel.udp.minSndbuf,
  );
}

/**
 * Gets a socket room for what it sends (`sk_page_frag_refill`, net/core/sock.c). Without memory the socket enters memory
 * pressure and its send buffer shrinks.
 *
 * @param sk The socket.
 * @param frag The frag that {@linkcode skPageFragHolder} names.
 * @returns Whether there is a block.
 *
 * @example No page: the send buffer falls to half of what is queued
 * ```ts
 * import { Gfp, kernel, PageAllocator, PageFrag, skPageFragRefill } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pages = new PageAllocator(kernel("3.12"));
 * pages.failOrders(0);
 * const sk = { skAllocation: Gfp.GFP_KERNEL, skSndbuf: 87380, skWmemQueued: 20000, sndbufLock: false };
 * assertEquals(skPageFragRefill(sk, new PageFrag(pages)), false);
 * assertEquals(sk.skSndbuf, 10000);
 * ```
 */
export function skPageFragRefill(sk: PageFragSock, frag: PageFrag): boolean {
  if (frag.refill(frag.kernel.skbPageFrag.minimum, sk.skAllocation)) {
    return true;
  }
  sk.enterMemoryPressure?.();
  skStreamModerateSndbuf(frag.kernel, sk);
  return false;
}
