/**
 * The engine alone: kernels and patches, allocators, sk_buffs, sockets, NAPI, the drivers' receive paths, and what a packet
 * costs by each.
 *
 * `@truesize/lab` exports all of this too. This entry point leaves out experiments over time, mailing-list threads, readers of
 * a host's output, plots and sweeps, and so starts in half the time. Neither entry point needs a permission or a package
 * from npm; plots load theirs when the first one is drawn.
 *
 * @example A script of its own
 * ```ts
 * import { kernel, truesizeOf } from "@truesize/lab/engine";
 * import { assertEquals } from "@std/assert";
 *
 * const packet = truesizeOf({ kernel: kernel("6.18"), path: "veth", protocol: "udp", payload: 1472 });
 * assertEquals(packet.truesize, 2304);
 * ```
 *
 * @module
 */

export type {
  Build,
  BuildOptions,
  Fact,
  FactChanges,
  Facts,
  IpFacts,
  IxgbeFacts,
  Kernel,
  KernelFacts,
  KernelValues,
  NapiFacts,
  PageFacts,
  PageFragCacheFacts,
  PagePoolFacts,
  Patch,
  ProvenanceRow,
  SkbFacts,
  SkbPageFragFacts,
  SlubFacts,
  SlubRules,
  TcpFacts,
  TunFacts,
  UdpFacts,
  VhostFacts,
  VirtioFacts,
} from "./lib/kernel.ts";

export { kernel, releases } from "./lib/releases/mod.ts";

export { Gfp, type GfpBits, gfpNames } from "./lib/mm/gfp.ts";
export {
  PageAllocator,
  type PageAllocatorOptions,
} from "./lib/mm/page_alloc.ts";
export { PageCounters } from "./lib/mm/page_counters.ts";
export { type FragmentOptions, PageHold } from "./lib/mm/page_hold.ts";
export type { FailPageAllocOptions } from "./lib/mm/fail_page_alloc.ts";
export {
  netdevFragSize,
  PageFragCache,
  type PageFragCacheOptions,
} from "./lib/mm/page_frag_cache.ts";
export {
  PageFragCacheCounters,
  type PageFragCacheRules,
  type PageFragCacheState,
} from "./lib/mm/page_frag_block.ts";
export { PageFrag1k } from "./lib/mm/page_frag_1k.ts";
export {
  PageFrag,
  PageFragCounters,
  type PageFragOptions,
} from "./lib/mm/page_frag.ts";
export {
  type PageFragSock,
  skPageFragHolder,
  skPageFragRefill,
  skStreamModerateSndbuf,
} from "./lib/mm/sk_page_frag.ts";
export { PageRefs } from "./lib/mm/page_ref.ts";
export {
  type PcpSizes,
  pcpSizes,
  PerCpuPages,
  zoneBatchsize,
} from "./lib/mm/pcp.ts";
export {
  minFreeKbytes,
  type Watermarks,
  zoneWatermarkOk,
  zoneWatermarks,
} from "./lib/mm/watermark.ts";
export { Zone } from "./lib/mm/zone.ts";
export {
  type KmemCache,
  kmemCache,
  type KmemCacheOptions,
} from "./lib/mm/kmem_cache.ts";
export { Slub } from "./lib/mm/slub.ts";
export { SlubCore } from "./lib/mm/slub_core.ts";
export { KmemCacheCpu, type SlubLimits, SlubLists } from "./lib/mm/slub_cpu.ts";
export { SlubNode } from "./lib/mm/slub_node.ts";
export { type SlabSource, SlubSlabs } from "./lib/mm/slub_slabs.ts";
export { InFlightFree } from "./lib/mm/slub_in_flight.ts";
export {
  SlabEvents,
  SLUB_STAT_NAMES,
  SLUB_STATS,
  type SlubCounters,
  slubCounters,
  type SlubStat,
  SlubStats,
} from "./lib/mm/slub_stats.ts";
export { type SlabView, slabViews } from "./lib/mm/slub_view.ts";
export { Slab } from "./lib/mm/slab.ts";
export { type SlabGeometry, slabGeometry } from "./lib/mm/slab_order.ts";
export { SlabNode } from "./lib/mm/slab_node.ts";
export { SlabArrays } from "./lib/mm/slab_arrays.ts";
export {
  SlabCounters,
  type SlabCounterValues,
} from "./lib/mm/slab_counters.ts";
export {
  Qmempool,
  QmempoolCounters,
  type QmempoolCounterValues,
  type QmempoolOptions,
} from "./lib/mm/qmempool.ts";
export { AlfQueue } from "./lib/mm/alf_queue.ts";
export { MeteredCache } from "./lib/mm/metered_cache.ts";
export { IrqFlags } from "./lib/mm/irq_flags.ts";
export { kmallocName, kmallocSizeRoundup } from "./lib/mm/kmalloc.ts";
export {
  SLAB_FLAGS,
  type SlabFlag,
  type SlabLayout,
  slabLayout,
  type SlabLayoutOptions,
} from "./lib/mm/slab_layout.ts";

export {
  allocSkb,
  buildSkb,
  Frag,
  type FragKind,
  Head,
  headAllocator,
  type HeadKind,
  napiAllocSkb,
  napiGetFrags,
  netdevAllocSkb,
  skbAddPages,
  skbAddRxFrag,
  type SkbFrag,
  skbHeadAlign,
  skbMaxAlloc,
  skbMaxOrder,
  skbPut,
  skbReserve,
  skbTruesize,
  SkBuff,
  skbWithOverhead,
} from "./lib/net/skbuff.ts";
export {
  pskbPullTail,
  skbCondense,
  skbPull,
  skbPush,
  skbTryCoalesce,
} from "./lib/net/skb_coalesce.ts";
export { ipAppendData, type OutputDevice } from "./lib/net/ip_output.ts";
export { ipFragReasm } from "./lib/net/ip_fragment.ts";
export {
  type MemoryBlock,
  type MemoryPiece,
  type PacketBlock,
  type PacketError,
  PacketMemory,
  type PieceKind,
  type SkbMemory,
  type WriteError,
} from "./lib/net/packet_memory.ts";
export {
  ReceiveQueue,
  type ReceiveQueueOptions,
  type SocketCounters,
  type SocketKind,
  soRcvbuf,
} from "./lib/net/sock.ts";
export {
  SKB_FCLONE_CLONE,
  SKB_FCLONE_ORIG,
  SKB_FCLONE_UNAVAILABLE,
  SkbHeadCounters,
  SkbHeads,
  type SkbHeadsOptions,
} from "./lib/net/skb_heads.ts";
export {
  CompletionQueue,
  NET_RX_SOFTIRQ,
  NET_TX_SOFTIRQ,
  SKB_REASON_CONSUMED,
  SKB_REASON_DROPPED,
} from "./lib/net/completion_queue.ts";
export { Napi, NapiCounters, type NapiOptions } from "./lib/net/napi.ts";
export {
  type Poll,
  Softirq,
  SoftirqCounters,
  type SoftirqOptions,
} from "./lib/net/softirq.ts";
export { type RxPath, RxSkb } from "./lib/net/rx_skb.ts";

export {
  type InitialBufferOptions,
  type InitialBuffers,
  initialBuffers,
  type Sizes,
} from "./lib/tcp/initial_buffers.ts";
export { windowCap, type WindowCapOptions } from "./lib/tcp/window_cap.ts";

export {
  loopbackDevice,
  tcpSenderSkb,
  vethDevice,
} from "./lib/drivers/loopback.ts";
export { tunGetUser, type TunOptions } from "./lib/drivers/tun.ts";
export { vhostBufferLength, vhostNetReceive } from "./lib/drivers/vhost_net.ts";
export {
  IXGBE_DEFAULT_TX_WORK,
  IXGBE_DEFAULT_TXD,
  IXGBE_MAX_DATA_PER_TXD,
  IxgbeTxCounters,
  type IxgbeTxOptions,
  IxgbeTxRing,
} from "./lib/drivers/ixgbe_tx.ts";
export {
  type IxgbeOptions,
  ixgbeReceive,
  IxgbeRingCounters,
  type IxgbeRingOptions,
  IxgbeRxRing,
} from "./lib/drivers/ixgbe.ts";
export { type IxgbeBuffers } from "./lib/drivers/ixgbe_buffers.ts";
export {
  PagePool,
  PagePoolCounters,
  type PagePoolOptions,
  pagePoolReceive,
  type PagePoolReceiveOptions,
} from "./lib/drivers/page_pool.ts";
export {
  PagePoolRing,
  PagePoolRingCounters,
  type PagePoolRingOptions,
} from "./lib/drivers/page_pool_ring.ts";
export {
  HeldPackets,
  type PageReferences,
} from "./lib/drivers/held_packets.ts";
export {
  BigRing,
  BigRingCounters,
  type BigRingOptions,
} from "./lib/drivers/virtio_big_ring.ts";
export type { ReceiveRing } from "./lib/drivers/receive_ring.ts";
export { VhostRing, type VhostRingOptions } from "./lib/drivers/vhost_ring.ts";
export {
  TAP_MAX_FRAME,
  TAP_RESERVED,
  TUN_READQ_SIZE,
  VhostNetTap,
  VhostNetTapCounters,
  type VhostNetTapOptions,
} from "./lib/drivers/vhost_net_tap.ts";
export {
  VHOST_NET_BATCH,
  VHOST_NET_PKT_WEIGHT,
  VHOST_NET_WEIGHT,
  VhostNetCounters,
  VhostNetWorker,
  type VhostNetWorkerOptions,
} from "./lib/drivers/vhost_net_worker.ts";
export {
  GveXdpRedirect,
  type GveXdpRedirectOptions,
  MTK_WED_WO_CMD_LEN,
  MTK_WED_WO_RING_SIZE,
  MtkWedWo,
  PageFragClient,
  PageFragClientCounters,
  type PageFragClientOptions,
  type PageFragTeardown,
} from "./lib/drivers/page_frag_client.ts";
export {
  NVME_TCP_CMD_PDU,
  NVME_TCP_SHORT_PDU,
  NvmeTcpHost,
  type NvmeTcpOptions,
  NvmeTcpTarget,
} from "./lib/drivers/nvme_tcp.ts";
export {
  VhostNetPageFrag,
  type VhostNetPageFragOptions,
} from "./lib/drivers/vhost_net_page_frag.ts";
export {
  ewmaAdd,
  mergeableBufferLength,
  type MergeableBufferOptions,
  mergeableMinBufLen,
  virtioBig,
  type VirtioBigOptions,
  virtioMergeable,
  type VirtioMergeableOptions,
  virtioOverlong,
  virtioSmall,
  type VirtioSmallOptions,
} from "./lib/drivers/virtio_net.ts";
export {
  MergeableRing,
  type RingBuffer,
  type RingMemory,
} from "./lib/drivers/virtio_ring.ts";
export {
  MergeableRingCounters,
  type MergeableRingOptions,
} from "./lib/drivers/virtio_ring_options.ts";
export {
  defineRxStrategy,
  type RxBuffer,
  type RxBufferSetup,
  RxStrategy,
  type RxStrategyDefinition,
} from "./lib/drivers/rx_strategy.ts";
export {
  RxStrategyRing,
  RxStrategyRingCounters,
  type RxStrategyRingOptions,
} from "./lib/drivers/rx_strategy_ring.ts";

export { patches } from "./lib/patches/mod.ts";
export {
  definePatch,
  type PatchDefinition,
} from "./lib/patches/define_patch.ts";
export {
  assumeAligned,
  compoundHead,
  slabAssumeAligned,
  slabBulkErrorPath,
  slabBulkSlab,
  slubBulkIrqOff,
  slubBulkStats,
  slubBulkTidBump,
  slubDanglingIfdef,
  slubDeactivationTid,
  slubDetachedFreelist,
  slubDetachedFreelistFix,
  slubFreelistSupport,
  slubPartialInSlabs,
} from "./lib/patches/slab_bulk.ts";
export {
  virtioAutoTune,
  virtioCoalesceRxFrags,
  virtioHeaderRoom,
  virtioHoleTruesize,
  virtioMtuBuffers,
  virtioSmallRings,
} from "./lib/patches/virtio_net_buffers.ts";
export {
  skbPageFragRefillV1,
  skbPageFragRefillV2,
  skbPageFragRefillV3,
} from "./lib/patches/skb_page_frag_refill.ts";
export {
  bulkAllocReuse,
  bulkFreeCompletionQueue,
  bulkFreeInfrastructure,
  flushOnEveryExit,
  ixgbeBulkFree,
} from "./lib/patches/kmem_cache_bulk.ts";
export {
  pageFragAlignArgument,
  pageFragCacheDrain,
  pageFragGfpBits,
  pageFragZeroOffset,
  vhostNetPageFragSeries,
  vhostNetTest,
  vhostPageFrag,
} from "./lib/patches/vhost_net_page_frag.ts";
export {
  rcvbufExpand,
  sndbufAutotuning,
} from "./lib/patches/rcvbuf_autotuning.ts";

export {
  type PacketOptions,
  type PacketPath,
  packetPaths,
} from "./lib/experiments/packet_options.ts";
export { senderWmem, truesizeOf } from "./lib/experiments/truesize.ts";
export {
  datagramsUntilDrop,
  type SocketFill,
  type SocketFillOptions,
} from "./lib/experiments/socket_fill.ts";
