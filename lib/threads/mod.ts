/** The mailing-list threads by name. @module */

import { kmemCacheBulkThread } from "./kmem_cache_bulk.ts";
import { rcvbufAutotuningThread } from "./rcvbuf_autotuning.ts";
import { skbPageFragRefillThread } from "./skb_page_frag_refill.ts";
import { vhostNetPageFragThread } from "./vhost_net_page_frag.ts";
import { virtioReceiveBuffersThread } from "./virtio_receive_buffers.ts";
import type { Thread } from "./thread.ts";

/**
 * The threads that can be reproduced, by id.
 *
 * @example
 * ```ts
 * import { threads } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const tables = await threads["skb-page-frag-refill"]!.reproduce();
 * const blocks = tables.find(({ id }) => id === "buffers-per-block")!;
 * assertEquals(blocks.rows[4]!.cells.map(({ simulated }) => simulated), [16, 15, 16, 16, 16]);
 * ```
 */
export const threads: Readonly<Record<string, Thread>> = Object.freeze({
  [rcvbufAutotuningThread.id]: rcvbufAutotuningThread,
  [skbPageFragRefillThread.id]: skbPageFragRefillThread,
  [kmemCacheBulkThread.id]: kmemCacheBulkThread,
  [vhostNetPageFragThread.id]: vhostNetPageFragThread,
  [virtioReceiveBuffersThread.id]: virtioReceiveBuffersThread,
});
