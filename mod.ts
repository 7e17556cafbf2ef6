/**
 * truesize: what packets cost in memory inside the Linux network stack, to the byte.
 *
 * A kernel is a value, a patch is a function: take a release with {@linkcode kernel}, apply patches with `am`, and ask
 * {@linkcode truesizeOf} what a packet costs, {@linkcode datagramsUntilDrop} how many a socket takes,
 * {@linkcode slabLayout} how a cache lies in memory. The allocators underneath ({@linkcode PageAllocator},
 * {@linkcode PageFragCache}, {@linkcode PageFrag}) can be driven by hand.
 *
 * @example What does a full-size datagram cost?
 * ```ts
 * import { kernel, truesizeOf } from "@truesize/lab";
 *
 * const packet = truesizeOf({ kernel: kernel("6.18"), path: "veth", protocol: "udp", payload: 1472 });
 * console.log(`${packet}`); // payload 1472 B, truesize 2304 B, ratio 0.639
 * ```
 *
 * @module
 */

export * from "./engine.ts";

export {
  type Bill,
  type BillRow,
  billTable,
  type Cpu,
  type Operation,
  OPERATIONS,
  type Price,
  price,
  type Work,
} from "./lib/sim/cpu.ts";
export { cpu, type CpuOptions, cpus } from "./lib/sim/cpus.ts";
export {
  lockBound,
  type LockHold,
  lockHold,
  type PageCost,
  pageCost,
} from "./lib/sim/locks.ts";
export {
  type IpForward,
  ipForward,
  type IpForwardOptions,
} from "./lib/experiments/ip_forward.ts";
export {
  type SlabMicrobench,
  slabMicrobench,
  type SlabMicrobenchOptions,
} from "./lib/experiments/slab_microbench.ts";
export {
  forwardingCpu,
  forwardingKernel,
  ForwardingModel,
  nsOf,
  type PricedForward,
  pricedForward,
  SLAB_WORK_FACTOR,
} from "./lib/threads/kmem_cache_bulk_model.ts";
export type { ForwardingRun } from "./lib/threads/kmem_cache_bulk_published.ts";

export {
  type ReceiveStrategy,
  truesizeSweep,
  type TruesizeSweepOptions,
  type TruesizeSweepSeries,
} from "./lib/experiments/truesize_sweep.ts";
export {
  type ReceiveEra,
  receiveRing,
  type ReceiveYear,
  receiveYears,
  type ReceiveYearsOptions,
} from "./lib/experiments/receive_years.ts";
export {
  type BlockPlace,
  BUFFER_SOURCES,
  type BufferSource,
  bufferSource,
  type BufferSourceKind,
  type BufferSourceOptions,
  type CutBlock,
  cutBlock,
} from "./lib/experiments/buffer_source.ts";
export {
  type MemoryStress,
  memoryStress,
  type MemoryStressOptions,
} from "./lib/experiments/memory_stress.ts";
export {
  type MixedLifetimes,
  mixedLifetimes,
  type MixedLifetimesOptions,
} from "./lib/experiments/mixed_lifetimes.ts";
export {
  PAGE_FRAG_IMPLEMENTATIONS,
  type PageFragImplementation,
  pageFragImplementation,
  type PageFragImplementationOptions,
  type PageFragImplementationResult,
} from "./lib/experiments/page_frag_implementations.ts";
export { virtioEras } from "./lib/threads/virtio_eras.ts";
export {
  type BufferCost,
  bufferCost,
} from "./lib/threads/virtio_receive_buffers.ts";
export {
  sendFragments,
  type SendFragmentsOptions,
  type SentFragments,
} from "./lib/experiments/send_fragments.ts";
export {
  type BlockOfBuffers,
  buffersPerBlock,
  type BuffersPerBlockOptions,
  type CutBuffer,
} from "./lib/experiments/page_frag_blocks.ts";

export {
  type BandedCell,
  type BandReport,
  checkBands,
  type ErrorBand,
} from "./lib/threads/bands.ts";
export {
  type DrawnFigure,
  type ReproducedThread,
  reproduceThreads,
  type ReproduceThreadsOptions,
} from "./lib/threads/reproduce_threads.ts";
export type { ThreadFigure } from "./lib/threads/figures.ts";
export type {
  OutcomeOf,
  PlannedRun,
  RunOptions,
  ThreadPlan,
} from "./lib/threads/plan.ts";
export { threads } from "./lib/threads/mod.ts";
export type {
  FittedConstant,
  ReproduceOptions,
  Thread,
  ThreadMessage,
} from "./lib/threads/thread.ts";
export { refillVersions } from "./lib/threads/skb_page_frag_refill.ts";

export {
  type Cell,
  type CellKind,
  errorPercent,
  type KindMark,
  kindMarks,
  Table,
  table,
  type TableBundle,
  type TableData,
  type TableRow,
  type TableTextOptions,
} from "./lib/table.ts";
export {
  colorOf,
  colors,
  okabeIto,
  type OkabeItoName,
  textOn,
} from "./lib/view/colors.ts";
export {
  Figure,
  type FigureBundle,
  type FigureData,
  type FigureParts,
  type FigureRow,
} from "./lib/view/figure.ts";
export type { KeyEntry } from "./lib/view/key.ts";
export type { Rasteriser } from "./lib/view/raster.ts";
export {
  type ObservablePlotOptions,
  plot,
  type PlotMark,
  type PlotModule,
  type PlotOptions,
} from "./lib/view/plot.ts";
export {
  type LineSeries,
  plotLines,
  type PlotLinesOptions,
  type Point,
} from "./lib/view/lines.ts";
export {
  drawMemory,
  type DrawMemoryOptions,
  memoryText,
} from "./lib/view/memory.ts";
export {
  type BlockBuffer,
  blockText,
  drawBlock,
  type DrawBlockOptions,
  type FragBlock,
} from "./lib/view/block.ts";
export {
  type LabelledBill,
  plotBills,
  type PlotBillsOptions,
} from "./lib/view/bill.ts";
export {
  drawSlabs,
  type DrawSlabsOptions,
  type SlabsMoment,
  slabsText,
} from "./lib/view/slabs.ts";
export { drawPacket, packetText } from "./lib/view/packet.ts";
export { type BenchResult, plotBench, runBench } from "./lib/view/bench.ts";
export {
  plotSweep,
  type PlotSweepOptions,
  receiveStrategies,
} from "./lib/view/truesize_sweep.ts";
export { type Progress, progress } from "./lib/view/progress.ts";
export { html, markdown, show, type Showable } from "./lib/view/show.ts";
export {
  type PageRefOperations,
  runVhostNetTest,
  VHOST_NET_TEST_FRAME,
  VHOST_NET_TEST_PACKETS,
  type VhostNetTestOptions,
  type VhostNetTestResult,
} from "./lib/experiments/vhost_net_test.ts";
export {
  HIGH_ORDER_BITS,
  highOrderAttempt,
  type HighOrderAttemptOptions,
  type HighOrderAttemptResult,
  type Shortage,
} from "./lib/experiments/high_order_attempt.ts";
export {
  PAGE_FRAG_USERS,
  pageFragTeardown,
  type PageFragTeardownOptions,
  type PageFragTeardownResult,
  type PageFragUser,
} from "./lib/experiments/page_frag_teardown.ts";

export { netperf } from "./lib/experiments/netperf.ts";
export {
  type TcpFill,
  tcpFill,
  type TcpFillOptions,
  type TcpFillRow,
} from "./lib/experiments/tcp_fill.ts";
export type {
  NetemOptions,
  NetperfOptions,
  StreamSysctl,
} from "./lib/experiments/netperf_options.ts";
export {
  type FlowResult,
  type LimitShares,
  SERIES,
  type Series,
  type SeriesName,
  type StreamResult,
} from "./lib/experiments/stream_result.ts";
export type { HostPrices } from "./lib/path/host_prices.ts";
export type { LinkCounters } from "./lib/path/link.ts";
export type { TcpCounters } from "./lib/tcp/counters.ts";
export {
  type CellSpec as RcvbufAutotuningCell,
  type RcvbufAutotuningDriver,
  rcvbufAutotuningRun,
} from "./lib/threads/rcvbuf_autotuning_cells.ts";
export { EventQueue, type EventSource } from "./lib/sim/event_queue.ts";

export {
  type CellFunction,
  type CellSource,
  type Outcome,
  runCells,
  type RunCellsOptions,
} from "./lib/cells/run_cells.ts";
export type {
  CellOf,
  SweepCell,
  SweepOver,
  SweepValue,
} from "./lib/sweep/grid.ts";
export type { Lab } from "./lib/sweep/lab.ts";
export { defineSweep, type SweepDefinition } from "./lib/sweep/definition.ts";
export {
  type ShardResult,
  sweep,
  type SweepOptions,
  type SweepShardOptions,
} from "./lib/sweep/sweep.ts";
export {
  type CellResult,
  type Grid,
  type SweepPlotOptions,
  SweepResult,
  type SweepResultRow,
  type SweepRow,
  type SweepTableOptions,
} from "./lib/sweep/result.ts";
export {
  type MergedSweep,
  mergeShards,
  type NamedShard,
  parseShard,
  type Shard,
  type ShardFile,
  shardFromEnvironment,
} from "./lib/sweep/shard.ts";
export { HostFormatError, type HostLine } from "./lib/host/text.ts";
export {
  readSs,
  type SsAddress,
  type SsOutput,
  type SsSocket,
} from "./lib/host/ss.ts";
export type { SsTcpInfo } from "./lib/host/ss_tcp.ts";
export type { SkMem, SsTimer, SsUser } from "./lib/host/ss_words.ts";
export { HostCounters, type UnnamedCounter } from "./lib/host/counters.ts";
export { readNstat } from "./lib/host/nstat.ts";
export { readNetstat } from "./lib/host/netstat.ts";
export { readProcNet } from "./lib/host/proc_net.ts";
export { readSockstat } from "./lib/host/sockstat.ts";
export { readSlabinfo, type SlabinfoRow } from "./lib/host/slabinfo.ts";
export { readSysSlab, type SysSlab } from "./lib/host/sys_slab.ts";
export { type BuddyinfoZone, readBuddyinfo } from "./lib/host/buddyinfo.ts";
export { HostSysctl, readSysctl } from "./lib/host/sysctl.ts";
export {
  type EthtoolFeature,
  type EthtoolFeatures,
  type EthtoolRings,
  readEthtoolFeatures,
  readEthtoolRings,
} from "./lib/host/ethtool.ts";
export {
  type Capture,
  type CapturedPacket,
  type CaptureInterface,
  type CaptureOptions,
  type RawCapture,
  type RawPacket,
  readCapture,
} from "./lib/host/capture.ts";
export type { IpPacket } from "./lib/host/frame.ts";
export { Btf } from "./lib/host/btf.ts";
export { PaholeTypes, readPahole } from "./lib/host/pahole.ts";
export {
  buildFromTypes,
  fromBtf,
  fromPahole,
  type KernelTypes,
  type StructLayout,
  type StructMember,
} from "./lib/host/kernel_types.ts";
export {
  type HostFacts,
  hostKernel,
  type NearestRelease,
  nearestRelease,
} from "./lib/host/probe.ts";
export {
  compare,
  Comparison,
  type Divergence,
  type FactDifference,
} from "./lib/experiments/compare.ts";
export {
  type Counters,
  type Workload,
  type Workloads,
  workloads,
} from "./lib/experiments/workload.ts";
export {
  type Alone,
  bisect,
  Bisection,
  type PatchOutcome,
} from "./lib/experiments/bisect.ts";
export { explain, type ExplainOptions } from "./lib/host/explain.ts";
export type { ExplainPacket } from "./lib/host/explain_packet.ts";
export type { SocketNumbers, SocketState } from "./lib/host/explain_socket.ts";
export type { CollapseWork } from "./lib/host/explain_collapse.ts";
export type { CounterSign } from "./lib/host/explain_counters.ts";
export type { Suggestion } from "./lib/host/explain_suggest.ts";
export {
  Explanation,
  type ExplanationData,
  type ExplanationKinds,
  type WindowExplanation,
} from "./lib/host/explanation.ts";
export { WhatIf, whatIf, type WhatIfOptions } from "./lib/host/what_if.ts";
export {
  checkTree,
  type TreeCheck,
  type TreeFiles,
  type TreeVerdict,
} from "./lib/host/kernel_tree.ts";
