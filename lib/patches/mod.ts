/** The patches by name. @module */

import type { Patch } from "../kernel.ts";
import * as kmemCacheBulk from "./kmem_cache_bulk.ts";
import * as slabBulk from "./slab_bulk.ts";
import * as virtioNetBuffers from "./virtio_net_buffers.ts";
import {
  pageFragAlignArgument,
  pageFragCacheDrain,
  pageFragGfpBits,
  pageFragZeroOffset,
  vhostNetTest,
  vhostPageFrag,
} from "./vhost_net_page_frag.ts";
import { rcvbufExpand, sndbufAutotuning } from "./rcvbuf_autotuning.ts";
import {
  skbPageFragRefillV1,
  skbPageFragRefillV2,
  skbPageFragRefillV3,
} from "./skb_page_frag_refill.ts";

/**
 * The patches of the threads by name, each with its subject, date and thread.
 *
 * @example
 * ```ts
 * import { kernel, patches } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const patched = kernel("net-next-2013-10").am(patches.skbPageFragRefillV3!);
 * assertEquals(patched.skbPageFrag.name, "skb_page_frag_refill");
 * ```
 */
export const patches: Readonly<Record<string, Patch>> = Object.freeze({
  sndbufAutotuning,
  rcvbufExpand,
  skbPageFragRefillV1,
  skbPageFragRefillV2,
  skbPageFragRefillV3,
  ...kmemCacheBulk,
  ...slabBulk,
  pageFragAlignArgument,
  pageFragGfpBits,
  pageFragCacheDrain,
  vhostPageFrag,
  vhostNetTest,
  pageFragZeroOffset,
  ...virtioNetBuffers,
});
