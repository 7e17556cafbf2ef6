/**
 * What a kernel and a patch are: a kernel is a value, a patch is a function from kernel to kernel.
 *
 * This file and those of `kernel/` hold types only. The values stand in `lib/releases/`, one file a release, each
 * number with the kernel file, the symbol and the origin it was taken from.
 *
 * @module
 */

import type { NapiFacts } from "./kernel/napi_facts.ts";
import type { SlubRules } from "./kernel/slub_rules.ts";
import type { TcpFacts } from "./kernel/tcp_facts.ts";

export type { NapiFacts, SlubRules, TcpFacts };

/** Build options that move sizes. All sizes in bytes. */
export interface Build {
  /** `MAX_TCP_HEADER`: room that TCP reserves in front of a segment, bytes. */
  readonly maxTcpHeader: number;
  /**
   * `MAX_HEADER`: link-layer room plus tunnel room, bytes; 0 when not given. Releases whose
   * `skbuff_small_head` must also hold a GRO head size it by this.
   */
  readonly maxHeader: number;
  /** `PAGE_SIZE`: 4,096, 16,384 or 65,536 bytes. */
  readonly pageSize: number;
  /** `L1_CACHE_BYTES` and `SMP_CACHE_BYTES`, bytes: a power of two from 32 to 256. */
  readonly cacheLine: number;
  /** `MAX_SKB_FRAGS`: page fragments that one sk_buff can carry, 17 to 45. */
  readonly maxSkbFrags: number;
  /** CPUs that SLUB counts when it chooses slab orders. */
  readonly cpus: number;
  /** `sizeof(struct sk_buff)`, bytes: it grows with the features built in. */
  readonly skBuff: number;
  /** `sizeof(struct sk_buff_fclones)`, bytes. */
  readonly skBuffFclones: number;
  /** Offset of `frags` in `struct skb_shared_info`, bytes. */
  readonly sharedInfoHeader: number;
  /** `sizeof(skb_frag_t)`, bytes. */
  readonly fragSize: number;
}

/** A {@linkcode Build} as a user gives it: what is absent or `undefined` takes the release's default. */
export type BuildOptions = {
  readonly [K in keyof Build]?: Build[K] | undefined;
};

/** One fact of a release: its value, or how it follows from the build, and where it was found. */
export interface Fact<T> {
  /** The value, or a function that computes it from the build options. */
  readonly value: T | ((build: Build) => T);
  /** Kernel file, for example `include/linux/skbuff.h`. */
  readonly file: string;
  /** Function, macro or struct in that file. */
  readonly symbol: string;
  /** How it is known: a tree that was read, a measurement, a message; `UNVERIFIED` where from memory. */
  readonly origin: string;
}

/** A group of values as facts. */
export type Facts<G> = { readonly [K in keyof G]: Fact<G[K]> };

/** The page allocator's rules (mm/page_alloc.c). */
export interface PageFacts {
  /** Highest order of a free block: 10. */
  readonly maxOrder: number;
  /** `PAGE_ALLOC_COSTLY_ORDER`: 3. */
  readonly costlyOrder: number;
  /** Highest order kept on the per-CPU lists: 0 before 5.14, then 3. */
  readonly pcpMaxOrder: number;
  /** Upper bound of the per-CPU batch before rounding, in pages. */
  readonly pcpBatchCap: number;
  /** How a per-CPU list refills: a fixed batch, or one that doubles while nothing is freed. */
  readonly pcpRefill: "batch" | "scaled";
  /** Per-CPU high mark: 6 batches, or the zone's low mark shared by the CPUs. */
  readonly pcpHigh: "6-batch" | "low-mark";
  /** High-order watermark check: order by order, or free pages once and then any block that is large enough. */
  readonly watermark: "per-order" | "order-0";
  /** Distance between min, low and high marks: a quarter of min, or `watermark_scale_factor`. */
  readonly watermarkGap: "quarter" | "scale-factor";
  /** Upper clamp of `min_free_kbytes`, KiB. */
  readonly minFreeKbytesMax: number;
  /** When freed blocks above order 0 leave the per-CPU list: after a batch, or half the high mark later (6.16+). */
  readonly pcpFreeHigh: "batch" | "batch + high/2";
  /** Whether `__GFP_COLD` takes pages from the cold end of a per-CPU list (up to 4.14). */
  readonly coldPages: boolean;
  /** Whether a request that may not sleep digs deeper into the reserve by that alone (up to 4.3). */
  readonly atomicByNoWait: boolean;
}

/** SLUB's geometry and rules (mm/slub.c, mm/slab_common.c), and SLAB's rules (mm/slab.c). */
export interface SlubFacts extends SlubRules {
  /** `slub_max_order`: 3. */
  readonly maxOrder: number;
  /** Search for the slab order: give up objects one by one, or waste fractions down to a half. */
  readonly orderSearch: "fewer-objects" | "more-waste";
  /** Default `cpu_partial` in objects for slots of a page, of 1,024, of 256 bytes, and smaller. */
  readonly cpuPartial: readonly [number, number, number, number];
  /** Bounds of `min_partial`. */
  readonly minPartial: readonly [number, number];
  /** Whether the enforced per-CPU limit counts slabs (5.16+) instead of objects. */
  readonly cpuPartialInSlabs: boolean;
  /** Whether a cache may name a free-pointer offset inside an RCU-typed object (6.13+). */
  readonly freePointerOffset: boolean;
  /** kmalloc classes up to two pages, bytes. */
  readonly kmallocClasses: readonly number[];
  /** How classes from 1,024 bytes up are named: `kmalloc-1024` or `kmalloc-1k`. */
  readonly kmallocNames: "bytes" | "short";
}

/** sk_buff sizes and the choice of a head's allocator (net/core/skbuff.c). */
export interface SkbFacts {
  /** `sizeof(struct sk_buff)`, bytes. */
  readonly skBuff: number;
  /** `sizeof(struct sk_buff_fclones)`, bytes. */
  readonly skBuffFclones: number;
  /** `struct skb_shared_info` without its fragment array, bytes. */
  readonly sharedInfoHeader: number;
  /** `sizeof(skb_frag_t)`, bytes. */
  readonly fragSize: number;
  /** `SKB_DATA_ALIGN(sizeof(struct sk_buff))`: what truesize charges for the struct, bytes. */
  readonly skBuffAligned: number;
  /** `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))`, bytes. */
  readonly sharedInfo: number;
  /** `NET_SKB_PAD`: headroom that receive allocations reserve, bytes. */
  readonly netSkbPad: number;
  /** `NET_IP_ALIGN`, bytes: 0 on x86. */
  readonly netIpAlign: number;
  /** Object size of `skbuff_small_head`, bytes; 0 where the cache does not exist (before 6.3). */
  readonly smallHead: number;
  /**
   * Receive heads at or below this length (headroom included) come from kmalloc instead of a page
   * fragment; 0: no such rule (up to 5.10). For `netdev_alloc_skb`.
   */
  readonly netdevKmallocMax: number;
  /** The same for `napi_alloc_skb`; 0 also where the 1 KiB fragments serve small heads. */
  readonly napiKmallocMax: number;
  /** Whether `napi_alloc_skb` cuts small heads as 1 KiB fragments (`page_frag_alloc_1k`; 4 KiB pages only). */
  readonly napiSmallFrag: boolean;
  /** Whether `napi_get_frags` finds its head in `skbuff_small_head`, made large enough for it (6.14+, stable trees). */
  readonly groHeadIsSmall: boolean;
  /** What an skb with page fragments from `sock_alloc_send_pskb` is charged for them: bytes or whole pages. */
  readonly pagedTruesize: "bytes" | "pages";
  /** Most page fragments that `alloc_skb_with_frags` makes before it fails with ENOBUFS. */
  readonly pagedFragsMax: number;
  /** Whether `skb_condense` exists (4.10+). */
  readonly condense: boolean;
}

/** The per-CPU receive-fragment allocator (net/core/skbuff.c, mm/page_alloc.c, mm/page_frag_cache.c). */
export interface PageFragCacheFacts {
  /** Which way the offset moves. */
  readonly direction: "up" | "down";
  /** `PAGE_FRAG_CACHE_MAX_SIZE` rounded to pages, bytes of the large block. */
  readonly maxSize: number;
  /** Orders tried by a refill: each one down to 0, or the highest and then 0. */
  readonly orders: "descend" | "highest-then-0";
  /** References taken for a fresh block of `size` bytes: `size`, or a constant. */
  readonly bias: "size" | "size+1" | "constant";
  /**
   * The constant: references that the cache itself holds right after a refill or a reuse
   * (`NETDEV_PAGECNT_MAX_BIAS` = 32,768 up to 3.18; `PAGE_FRAG_CACHE_MAX_SIZE` + 1 = 32,769 from 5.1); 0 otherwise.
   */
  readonly biasValue: number;
  /** Whether `align` may be asked for: not at all, as a mask after the subtraction, or as an alignment. */
  readonly align: "none" | "mask" | "align";
  /** Whether a block from the reserve is given back instead of reused (5.10+). */
  readonly dropsPfmemalloc: boolean;
  /** What a request larger than the block does: loop for ever, underflow, or return NULL. */
  readonly tooLarge: "loops" | "underflows" | "null" | "null-over-page";
  /** Whether the high-order attempt gives up direct reclaim (6.9+). */
  readonly masksDirectReclaim: boolean;
  /** Whether `page_frag_cache_drain` exists (6.9+). */
  readonly drain: boolean;
  /** Whether the refcount is set (races with speculative references) or added to. */
  readonly refcount: "set" | "add";
  /** Whether netdev_alloc_frag and napi_alloc_frag round sizes up to a cache line. */
  readonly roundsToCacheLine: boolean;
}

/** `skb_page_frag_refill` and its socket variant (net/core/sock.c). */
export interface SkbPageFragFacts {
  /** Name of the function without a socket; empty before it was split out. */
  readonly name: "" | "page_frag_refill" | "skb_page_frag_refill";
  /** When the current block serves the request: any room left, room for less than the block, room for it. */
  readonly fits: "offset < size" | "offset + sz < size" | "offset + sz <= size";
  /** Bytes that `sk_page_frag_refill` asks for at least. */
  readonly minimum: number;
  /** Order policy: descending for those who may wait, descending for all, one attempt and then 0. */
  readonly orders: "descend-if-wait" | "descend" | "highest-then-0";
  /** Whether a high-order attempt gives up after one pass of reclaim (`__GFP_NORETRY`). */
  readonly highOrderNoRetry: boolean;
  /** Whether a high-order attempt may reclaim or compact. */
  readonly highOrderReclaims: boolean;
  /** Whether `net.core.high_order_alloc_disable` exists (5.3+). */
  readonly highOrderSysctl: boolean;
  /**
   * When a sender uses its task's frag instead of the socket's: if it may sleep, if nothing of it can be in reclaim
   * either, or unless the socket forbids it.
   */
  readonly holder: "may-wait" | "not-in-reclaim" | "use-task-frag";
  /** Bytes of the large block, 32,768 (`SKB_FRAG_PAGE_ORDER`); a fragment is limited to 2^15 where PAGE_SIZE is below 64 KiB and longs are 32 bits. */
  readonly maxSize: number;
}

/** vhost_net's page fragments (drivers/vhost/net.c). */
export interface VhostFacts {
  /** No fragments at all (before 4.20), a refill of its own with a bias, or `page_frag_alloc_align` (6.9+). */
  readonly frag: "none" | "own-refill" | "page_frag_cache";
  /** References taken at once by the own refill (`USHRT_MAX`). */
  readonly bias: number;
}

/** Socket and UDP receive accounting (net/core/sock.c, net/ipv4/udp.c). */
export interface UdpFacts {
  /** When a datagram is refused. */
  readonly full:
    | "rmem >= rcvbuf"
    | "rmem > rcvbuf"
    | "rmem + size > rcvbuf and rmem > 0";
  /** Whether freed charge is given back read by read or in batches of a quarter of rcvbuf (4.10+). */
  readonly giveBack: "each" | "batched";
  /** What a UDP socket takes from protocol memory: the packet's size in whole pages, or only what it lacks. */
  readonly udpSchedule: "size" | "shortfall";
  /** The same for raw sockets; packet sockets take nothing from it. */
  readonly sockSchedule: "size" | "shortfall";
  /** What a raw socket gives back on a read: all but a last page (`sk_mem_reclaim_partial`), or all whole pages. */
  readonly sockReclaim: "leaves a page" | "whole pages";
  /** `net.core.rmem_default`, bytes. */
  readonly rmemDefault: number;
  /** `SOCK_MIN_RCVBUF`, bytes. */
  readonly minRcvbuf: number;
  /** `SOCK_MIN_SNDBUF`, bytes. */
  readonly minSndbuf: number;
}

/** IPv4 and IPv6 output (net/ipv4/ip_output.c, net/ipv6/ip6_output.c). */
export interface IpFacts {
  /** Whether a datagram of SKB_MAX_ALLOC and more goes to page fragments where the device has scatter-gather. */
  readonly pagedLarge: boolean;
  /** Which devices take UDP datagrams over the MTU in one skb (UFO; veth from 3.13, none from 4.14). */
  readonly udpFragmentOffload: "loopback" | "loopback, veth" | "none";
  /** Which reassembly merges a fragment into the one before it by skb_try_coalesce: IPv4 (3.5+) or both (5.1+). */
  readonly reassemblyCoalesces: "ipv4" | "both";
}

/** tun and tap (drivers/net/tun.c). */
export interface TunFacts {
  /** Whether TAP builds an skb around one page fragment for non-blocking writers (4.14+). */
  readonly buildSkb: boolean;
  /** What is linear when no header length is given: all of it, or what one page's head holds (6.6+). */
  readonly linear: "all" | "one-page-head";
  /** Highest page order for the paged part. */
  readonly maxPageOrder: number;
  /** Whether IFF_NAPI and IFF_NAPI_FRAGS exist (4.15+). */
  readonly napi: boolean;
}

/** virtio_net receive buffers (drivers/net/virtio_net.c). */
export interface VirtioFacts {
  /** Mergeable buffers: a whole page, a fixed MTU size, or sized by a moving average. */
  readonly mergeable: "page" | "mtu" | "ewma";
  /** Bytes of a fixed buffer (`MERGE_BUFFER_LEN`), or the lower bound of an averaged one without header. */
  readonly bufferMin: number;
  /** Alignment of an averaged buffer, bytes. */
  readonly bufferAlign: number;
  /** Whether truesize counts the hole that a block's last buffer gets (4.13+). */
  readonly countsHole: boolean;
  /** Whether the lower bound of an averaged buffer also follows from the ring's size (4.12+; `mergeable_min_buf_len`). */
  readonly minByRing: boolean;
  /**
   * What happens where a device reports more bytes than were noted for a buffer: cut to it (up to 3.13), charged as
   * reported (3.14 on), or the packet dropped (4.12+).
   */
  readonly overlong: "clamps" | "charged" | "drops";
  /** Whether a fragment with room for shared info becomes the head itself (5.13+). */
  readonly buildSkb: boolean;
  /** Bytes copied to the head when a packet stays paged: 128, or the Ethernet header once it does not fit. */
  readonly pull: "128" | "ethernet-header";
  /** `GOOD_COPY_LEN`: head size asked for, bytes. */
  readonly goodCopyLen: number;
  /** Whether received packets go through GRO (`napi_gro_receive`, 3.15+). */
  readonly gro: boolean;
  /** Small buffers: an skb of its own in each slot, or a buffer that build_skb wraps. */
  readonly small: "netdev_alloc_skb" | "build_skb";
  /** Whether fragments that touch are merged on receive (3.13+). */
  readonly coalesces: boolean;
  /** Whether a large packet of big mode is received (false where it arrives with length 0 and is dropped). */
  readonly bigReceives: boolean;
  /** Bytes in front of each fresh block that record its DMA mapping (6.7 to 6.11 and later forms); 0: none. */
  readonly dmaRecord: number;
  /** Whether a buffer that the record would push over its block's end is cut shorter; otherwise it overruns. */
  readonly dmaShortens: boolean;
  /** Free slots above which a poll refills the ring: half the ring, or half of what a poll may receive. */
  readonly refillAbove: "ring/2" | "min(budget, ring)/2";
}

/** page_pool (net/core/page_pool.c). */
export interface PagePoolFacts {
  /** Whether the release has pools with fragments. */
  readonly fragments: boolean;
}

/** ixgbe receive buffers (drivers/net/ethernet/intel/ixgbe/ixgbe_main.c). */
export interface IxgbeFacts {
  /** Header pull into a small head, or an skb built around half a page. */
  readonly rx: "half-page-pull" | "build_skb";
  /** Bytes of the small head (`IXGBE_RX_HDR_SIZE`). */
  readonly headerSize: number;
}

/** Everything that may differ between releases, by subsystem. */
export interface KernelValues {
  /** Page allocator. */
  readonly page: PageFacts;
  /** SLUB and SLAB. */
  readonly slub: SlubFacts;
  /** sk_buff heads in softirq context. */
  readonly napi: NapiFacts;
  /** sk_buff. */
  readonly skb: SkbFacts;
  /** Per-CPU page-fragment cache. */
  readonly pageFragCache: PageFragCacheFacts;
  /** Page fragments of tasks and sockets. */
  readonly skbPageFrag: SkbPageFragFacts;
  /** vhost_net. */
  readonly vhost: VhostFacts;
  /** UDP receive queue. */
  readonly udp: UdpFacts;
  /** IP output and reassembly. */
  readonly ip: IpFacts;
  /** TCP output. */
  readonly tcp: TcpFacts;
  /** tun and tap. */
  readonly tun: TunFacts;
  /** virtio_net. */
  readonly virtio: VirtioFacts;
  /** page_pool. */
  readonly pagePool: PagePoolFacts;
  /** ixgbe. */
  readonly ixgbe: IxgbeFacts;
}

/**
 * Every group of {@linkcode KernelValues} as facts with their sources.
 *
 * @example
 * ```ts
 * import type { KernelFacts } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const vhost: KernelFacts["vhost"] = {
 *   frag: { value: "none", file: "drivers/vhost/net.c", symbol: "handle_tx", origin: "an example" },
 *   bias: { value: 0, file: "drivers/vhost/net.c", symbol: "handle_tx", origin: "an example" },
 * };
 * assertEquals(vhost.frag.value, "none");
 * ```
 */
export type KernelFacts = {
  readonly [G in keyof KernelValues]: Facts<KernelValues[G]>;
};

/** Facts to replace, group by group. */
export type FactChanges = {
  readonly [G in keyof KernelValues]?: Partial<Facts<KernelValues[G]>>;
};

/** One line of {@linkcode Kernel.provenance}. */
export interface ProvenanceRow {
  /** Group and name, for example `skb.skBuff`. */
  readonly name: string;
  /** The value in this kernel. */
  readonly value: unknown;
  /** Kernel file. */
  readonly file: string;
  /** Function, macro or struct. */
  readonly symbol: string;
  /** The release or patch whose record holds it. */
  readonly release: string;
  /** How it is known. */
  readonly origin: string;
}

/** A kernel release with its build and the patches applied to it: an immutable record. */
export interface Kernel extends KernelValues {
  /** Release name, for example `6.18`. */
  readonly name: string;
  /** The build options it was made with. */
  readonly build: Build;
  /** Names of the patches applied, in order. */
  readonly patches: readonly string[];
  /**
   * This kernel with patches applied in order.
   *
   * @param patches Patches, each a function from kernel to kernel.
   * @throws {TypeError} An argument is not a patch.
   * @throws {Error} A patch does not fit this kernel; the message says why.
   */
  am(...patches: Patch[]): Kernel;
  /**
   * This kernel with some facts replaced; what a patch uses.
   *
   * @param name Name of the patch, recorded in {@linkcode Kernel.patches}.
   * @param changes The facts that change.
   */
  with(name: string, changes: FactChanges): Kernel;
  /** Every number and rule with its file, symbol, release and origin. */
  provenance(): ProvenanceRow[];
}

/** A patch: a function from kernel to kernel. A patch from a mailing list also says where it came from. */
export interface Patch {
  /** Applies the patch. */
  (kernel: Kernel): Kernel;
  /** Subject line of the message. */
  readonly subject?: string;
  /** Date of the message, ISO 8601. */
  readonly date?: string;
  /** Which thread it belongs to. */
  readonly thread?: string;
}
