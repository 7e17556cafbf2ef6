/**
 * sk_buff: the head and its allocator, page fragments, and what truesize counts of them.
 *
 * An {@linkcode SkBuff} holds offsets and sizes only, never bytes: `head` is at 0, `end` is where
 * `skb_shared_info` begins, `data` and `tail` bound the linear part.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { kmallocName, kmallocSizeRoundup } from "../mm/kmalloc.ts";
import { alignUp } from "../sim/align.ts";

/**
 * Which allocator an skb's head came from.
 *
 * @example
 * ```ts
 * import { allocSkb, Head, kernel } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(allocSkb(kernel("6.18"), 1024).headKind === Head.KMALLOC);
 * ```
 */
export const Head = {
  /** kmalloc: a size class or whole pages. */
  KMALLOC: 0,
  /** The cache `skbuff_small_head` (6.3+). */
  SMALL_HEAD: 1,
  /** A fragment of the per-CPU page-fragment cache. */
  PAGE_FRAG: 2,
  /** One of four 1 KiB fragments of a page (`page_frag_alloc_1k`). */
  SMALL_FRAG: 3,
  /** A fragment of the task's or the device's page_frag. */
  TASK_FRAG: 4,
  /** A receive buffer that the driver posted. */
  RX_BUFFER: 5,
} as const;

/** One of {@linkcode Head}'s values. */
export type HeadKind = typeof Head[keyof typeof Head];

/**
 * Where a page fragment's memory came from.
 *
 * @example
 * ```ts
 * import { Frag, kernel, napiAllocSkb, skbAddRxFrag } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const skb = napiAllocSkb(kernel("6.18"), 256);
 * skbAddRxFrag(skb, 1514, 2048);
 * assert(skb.frags[0]!.kind === Frag.RX_BUFFER);
 * ```
 */
export const Frag = {
  /** The task's or the socket's page_frag: blocks of up to 32 KiB. */
  TASK_FRAG: 0,
  /** Whole pages of their own. */
  PAGES: 1,
  /** A fragment of the per-CPU page-fragment cache. */
  PAGE_FRAG: 2,
  /** A receive buffer that the driver posted. */
  RX_BUFFER: 3,
  /** The head of an skb that was merged into this one. */
  STOLEN_HEAD: 4,
} as const;

/** One of {@linkcode Frag}'s values. */
export type FragKind = typeof Frag[keyof typeof Frag];

/** One page fragment of an skb. */
export interface SkbFrag {
  /** Bytes of data in it. */
  size: number;
  /** Bytes of memory behind it. */
  room: number;
  /** Where the memory came from. */
  kind: FragKind;
}

/**
 * An skb: sizes and offsets, bytes.
 *
 * @example
 * ```ts
 * import { allocSkb, kernel, skbPut, SkBuff } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb: SkBuff = skbPut(allocSkb(kernel("6.18"), 256), 100);
 * assertEquals([skb.len, skb.headlen, skb.tailroom, skb.truesize], [100, 100, 156, 832]);
 * ```
 */
export class SkBuff {
  /** Where the head came from. */
  headKind: HeadKind;
  /** Bytes of the head's allocation. */
  headSize: number;
  /** `skb_end_offset`: bytes of the head in front of `skb_shared_info`. */
  end: number;
  /** Offset of the first byte of the linear part. */
  data = 0;
  /** Offset behind the last byte of the linear part. */
  tail = 0;
  /** Bytes in the packet, all parts. */
  len = 0;
  /** Bytes that are not linear. */
  dataLen = 0;
  /** Bytes charged to the socket that holds it. */
  truesize: number;
  /** Bytes of link, network and transport headers at the front of the packet. */
  headerLen = 0;
  /** Page fragments, in order. */
  readonly frags: SkbFrag[] = [];
  /** Further skbs of the same packet (`skb_shinfo(skb)->frag_list`). */
  readonly fragList: SkBuff[] = [];
  /** Whether another skb shares the data. */
  cloned = false;

  /** An skb over a head of `headSize` bytes of which `end` lie in front of the shared info. */
  constructor(
    headKind: HeadKind,
    headSize: number,
    end: number,
    truesize: number,
  ) {
    this.headKind = headKind;
    this.headSize = headSize;
    this.end = end;
    this.truesize = truesize;
  }

  /** `skb_headlen`: bytes in the linear part. */
  get headlen(): number {
    return this.len - this.dataLen;
  }

  /** `skb_tailroom`: bytes free behind the linear part; none once the packet goes on elsewhere. */
  get tailroom(): number {
    return this.dataLen > 0 ? 0 : this.end - this.tail;
  }

  /** `skb->head_frag`: whether the head is a piece of a page, so that another skb can take it over. */
  get headFrag(): boolean {
    return this.headKind >= Head.PAGE_FRAG;
  }
}

/**
 * `SKB_TRUESIZE(x)`: what an skb with `x` bytes in front of its shared info is charged, bytes.
 *
 * @example
 * ```ts
 * import { kernel, skbTruesize } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(skbTruesize(kernel("6.18"), 1024), 1600);
 * ```
 */
export function skbTruesize(kernel: Kernel, x: number): number {
  return x + kernel.skb.skBuffAligned + kernel.skb.sharedInfo;
}

/**
 * `SKB_WITH_OVERHEAD(x)`: what an allocation of `x` bytes leaves in front of the shared info, bytes.
 *
 * @example
 * ```ts
 * import { kernel, skbWithOverhead } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(skbWithOverhead(kernel("6.18"), 2048), 1728);
 * ```
 */
export function skbWithOverhead(kernel: Kernel, x: number): number {
  return x - kernel.skb.sharedInfo;
}

/**
 * `SKB_HEAD_ALIGN(x)`: bytes to allocate for `x` bytes of head, shared info included.
 *
 * @example
 * ```ts
 * import { kernel, skbHeadAlign } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(skbHeadAlign(kernel("6.18"), 256), 576);
 * ```
 */
export function skbHeadAlign(kernel: Kernel, x: number): number {
  return alignUp(x, kernel.build.cacheLine) + kernel.skb.sharedInfo;
}

/**
 * `SKB_MAX_ORDER(x, order)`: bytes that fit behind `x` bytes in a head of `PAGE_SIZE << order`.
 *
 * @example
 * ```ts
 * import { kernel, skbMaxOrder } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(skbMaxOrder(kernel("6.18"), 64, 0), 3712);
 * ```
 */
export function skbMaxOrder(kernel: Kernel, x: number, order: number): number {
  return kernel.build.pageSize * 2 ** order - x - kernel.skb.sharedInfo;
}

/**
 * `SKB_MAX_ALLOC`: the largest head that senders ask for, bytes.
 *
 * @example
 * ```ts
 * import { kernel, skbMaxAlloc } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(skbMaxAlloc(kernel("6.18")), 16064);
 * ```
 */
export function skbMaxAlloc(kernel: Kernel): number {
  return skbMaxOrder(kernel, 0, 2);
}

/**
 * An skb with a head of at least `size` bytes from kmalloc or, where the release has it, `skbuff_small_head`.
 *
 * Models `__alloc_skb` and `kmalloc_reserve` (net/core/skbuff.c): what the size class adds becomes tailroom and is
 * charged.
 *
 * @param kernel The kernel.
 * @param size Bytes of head wanted, a non-negative integer.
 *
 * @example On 6.18 a small head costs 832 bytes, the next class 1,280
 * ```ts
 * import { allocSkb, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(allocSkb(kernel("6.18"), 256).truesize, 832);
 * assertEquals(allocSkb(kernel("6.18"), 257).truesize, 1280);
 * ```
 */
export function allocSkb(kernel: Kernel, size: number): SkBuff {
  const bytes = skbHeadAlign(kernel, size);
  const { smallHead, sharedInfo, skBuffAligned } = kernel.skb;
  if (bytes <= smallHead) {
    return new SkBuff(
      Head.SMALL_HEAD,
      smallHead,
      smallHead - sharedInfo,
      smallHead + skBuffAligned,
    );
  }
  const room = kmallocSizeRoundup(kernel, bytes);
  return new SkBuff(
    Head.KMALLOC,
    room,
    room - sharedInfo,
    room + skBuffAligned,
  );
}

/**
 * An skb around a buffer of `size` bytes that the caller allocated.
 *
 * Models `build_skb` (net/core/skbuff.c); the buffer must hold the shared info.
 *
 * @param kernel The kernel.
 * @param size Bytes of the buffer.
 * @param headKind Where it came from.
 *
 * @example
 * ```ts
 * import { buildSkb, Head, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = buildSkb(kernel("6.18"), 2048, Head.RX_BUFFER);
 * assertEquals([skb.end, skb.truesize], [1728, 2304]);
 * ```
 */
export function buildSkb(
  kernel: Kernel,
  size: number,
  headKind: HeadKind,
): SkBuff {
  return new SkBuff(
    headKind,
    size,
    size - kernel.skb.sharedInfo,
    size + kernel.skb.skBuffAligned,
  );
}

/**
 * A receive skb for `length` bytes behind `NET_SKB_PAD` of headroom.
 *
 * Models `__netdev_alloc_skb` (net/core/skbuff.c): a page fragment, or kmalloc for lengths that are very small (5.11+)
 * or do not fit a page, and for callers that may sleep.
 *
 * @param kernel The kernel.
 * @param length Bytes of data wanted.
 * @param maySleep Whether the caller allows direct reclaim (`GFP_KERNEL`).
 *
 * @example
 * ```ts
 * import { kernel, netdevAllocSkb } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([1, 1514, 9000].map((length) => netdevAllocSkb(kernel("6.18"), length).truesize), [832, 2176, 16640]);
 * ```
 */
export function netdevAllocSkb(
  kernel: Kernel,
  length: number,
  maySleep = false,
): SkBuff {
  const size = length + kernel.skb.netSkbPad;
  const byKmalloc = size <= kernel.skb.netdevKmallocMax || maySleep ||
    !fitsPageFrag(kernel, size);
  const skb = byKmalloc
    ? allocSkb(kernel, size)
    : buildSkb(kernel, skbHeadAlign(kernel, size), Head.PAGE_FRAG);
  return skbReserve(skb, kernel.skb.netSkbPad);
}

/**
 * A receive skb in NAPI context for `length` bytes behind its headroom.
 *
 * Models `napi_alloc_skb` (net/core/skbuff.c): small heads come as 1 KiB fragments (6.1 to 6.12 on 4 KiB pages) or from
 * kmalloc, larger ones from the page-fragment cache.
 *
 * @param kernel The kernel.
 * @param length Bytes of data wanted.
 *
 * @example
 * ```ts
 * import { headAllocator, kernel, napiAllocSkb } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([kernel("6.1"), kernel("6.18")].map((k) => headAllocator(k, napiAllocSkb(k, 128))), ["page_frag_1k", "skbuff_small_head"]);
 * ```
 */
export function napiAllocSkb(kernel: Kernel, length: number): SkBuff {
  const pad = kernel.skb.netSkbPad + kernel.skb.netIpAlign;
  const size = length + pad;
  const skb = size <= kernel.skb.napiKmallocMax || !fitsPageFrag(kernel, size)
    ? allocSkb(kernel, size)
    : kernel.skb.napiSmallFrag && size <= skbWithOverhead(kernel, 1024)
    ? buildSkb(kernel, 1024, Head.SMALL_FRAG)
    : buildSkb(kernel, skbHeadAlign(kernel, size), Head.PAGE_FRAG);
  return skbReserve(skb, pad);
}

/**
 * The skb whose head GRO fills while fragments arrive.
 *
 * Models `napi_get_frags` (net/core/gro.c): `napi_alloc_skb(GRO_MAX_HEAD)`.
 *
 * @param kernel The kernel.
 *
 * @example
 * ```ts
 * import { headAllocator, kernel, napiGetFrags } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(headAllocator(kernel("6.18"), napiGetFrags(kernel("6.18"))), "skbuff_small_head");
 * ```
 */
export function napiGetFrags(kernel: Kernel): SkBuff {
  const pad = kernel.skb.netSkbPad + kernel.skb.netIpAlign;
  if (kernel.skb.groHeadIsSmall) {
    return skbReserve(
      allocSkb(kernel, skbWithOverhead(kernel, kernel.skb.smallHead)),
      pad,
    );
  }
  const maxHeader = kernel.build.maxHeader > 0
    ? kernel.build.maxHeader
    : kernel.build.maxTcpHeader - 128;
  return napiAllocSkb(kernel, maxHeader + 128);
}

// The page-fragment cache serves what fits a page; the first shape tests the rounded size, later ones the length.
function fitsPageFrag(kernel: Kernel, size: number): boolean {
  return skbHeadAlign(kernel, size) <= kernel.build.pageSize;
}

/**
 * `skb_reserve`: moves the empty linear part `length` bytes up.
 *
 * @example
 * ```ts
 * import { allocSkb, kernel, skbReserve } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = skbReserve(allocSkb(kernel("6.18"), 256), 64);
 * assertEquals([skb.data, skb.tail, skb.tailroom], [64, 64, 192]);
 * ```
 */
export function skbReserve(skb: SkBuff, length: number): SkBuff {
  skb.data += length;
  skb.tail += length;
  return skb;
}

/**
 * `skb_put`: makes the linear part `length` bytes longer.
 *
 * @example
 * ```ts
 * import { allocSkb, kernel, skbPut } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = skbPut(allocSkb(kernel("6.18"), 256), 100);
 * assertEquals([skb.len, skb.tailroom], [100, 156]);
 * ```
 */
export function skbPut(skb: SkBuff, length: number): SkBuff {
  skb.tail += length;
  skb.len += length;
  return skb;
}

/**
 * Adds a page fragment of `size` bytes in `room` bytes of memory.
 *
 * Models `skb_add_rx_frag` (net/core/skbuff.c).
 *
 * @param skb The skb.
 * @param size Bytes of data.
 * @param room Bytes of memory behind it.
 * @param kind Where the memory came from.
 * @param charge Bytes that truesize grows by; the room if absent.
 *
 * @example
 * ```ts
 * import { kernel, napiAllocSkb, skbAddRxFrag } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = napiAllocSkb(kernel("6.18"), 256);
 * const head = skb.truesize;
 * skbAddRxFrag(skb, 1514, 2048);
 * assertEquals([skb.len, skb.truesize - head], [1514, 2048]);
 * ```
 */
export function skbAddRxFrag(
  skb: SkBuff,
  size: number,
  room: number,
  kind: FragKind = Frag.RX_BUFFER,
  charge: number = room,
): void {
  skb.frags.push({ size, room, kind });
  skb.len += size;
  skb.dataLen += size;
  skb.truesize += charge;
}

/**
 * Room for `dataLen` bytes in pages of at most `maxOrder` behind the head, charged as the release charges it.
 *
 * Models `sock_alloc_send_pskb` (net/core/sock.c) and `alloc_skb_with_frags` (net/core/skbuff.c): the largest order
 * that the rest still fills.
 *
 * @param kernel The kernel.
 * @param skb The skb that gets the pages.
 * @param dataLen Bytes to place.
 * @param maxOrder Highest page order: 0 where memory is fragmented.
 * @returns Whether the release's number of fragments was enough; otherwise the kernel answers ENOBUFS.
 *
 * @example
 * ```ts
 * import { allocSkb, kernel, skbAddPages } from "@truesize/lab";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const skb = allocSkb(kernel("6.18"), 128);
 * assert(skbAddPages(kernel("6.18"), skb, 20_000, 3));
 * assertEquals(skb.frags.map(({ room }) => room), [16384, 4096]);
 * ```
 */
export function skbAddPages(
  kernel: Kernel,
  skb: SkBuff,
  dataLen: number,
  maxOrder: number,
): boolean {
  const { pageSize } = kernel.build;
  let order = maxOrder;
  for (let rest = dataLen; rest > 0;) {
    if (skb.frags.length === kernel.skb.pagedFragsMax) return false;
    while (order > 0 && alignUp(rest, pageSize) < pageSize * 2 ** order) {
      order--;
    }
    const room = pageSize * 2 ** order;
    const size = Math.min(rest, room);
    const charge = kernel.skb.pagedTruesize === "pages" ? room : size;
    skbAddRxFrag(skb, size, room, Frag.PAGES, charge);
    rest -= size;
  }
  return true;
}

/**
 * The allocator of an skb's head, by the name a developer would look for.
 *
 * @example
 * ```ts
 * import { allocSkb, headAllocator, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([100, 600].map((size) => headAllocator(kernel("6.18"), allocSkb(kernel("6.18"), size))), ["skbuff_small_head", "kmalloc-1k"]);
 * ```
 */
export function headAllocator(kernel: Kernel, skb: SkBuff): string {
  switch (skb.headKind) {
    case Head.KMALLOC:
      return kmallocName(kernel, skb.headSize);
    case Head.SMALL_HEAD:
      return "skbuff_small_head";
    case Head.PAGE_FRAG:
      return "page_frag_cache";
    case Head.SMALL_FRAG:
      return "page_frag_1k";
    case Head.TASK_FRAG:
      return "task_frag";
    case Head.RX_BUFFER:
      return "rx buffer";
  }
}
