/**
 * `tools/virtio/vhost_net_test`: packets of one size, one in flight, through vhost_net and a tap in both directions.
 *
 * @module
 */

import {
  type VhostNetCounters,
  VhostNetWorker,
} from "../drivers/vhost_net_worker.ts";
import { VHOST_HEADER } from "../drivers/vhost_net.ts";
import {
  TAP_MAX_FRAME,
  type VhostNetTapCounters,
} from "../drivers/vhost_net_tap.ts";
import type { Kernel } from "../kernel.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { flag, whole } from "../sim/check.ts";

/**
 * `nbufs` of the tool: packets in each direction.
 *
 * @example
 * ```ts
 * import { VHOST_NET_TEST_PACKETS } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(VHOST_NET_TEST_PACKETS, 1048576);
 * ```
 */
export const VHOST_NET_TEST_PACKETS = 0x100000;
/**
 * `TEST_BUF_LEN`: bytes of each Ethernet frame.
 *
 * @example
 * ```ts
 * import { VHOST_NET_TEST_FRAME } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(VHOST_NET_TEST_FRAME, 256);
 * ```
 */
export const VHOST_NET_TEST_FRAME = 256;
/** `DESC_NUM`: entries of each ring. */
const DESC_NUM = 256;

/** What {@linkcode runVhostNetTest} runs. An option given as `undefined` is absent. */
export interface VhostNetTestOptions {
  /** The kernel, with or without patches. */
  readonly kernel: Kernel;
  /** Packets in each direction, 1 to 2^24; 1,048,576 when absent. */
  readonly packets?: number | undefined;
  /** Bytes of each Ethernet frame, 14 to 65,535, and 1,518 at most where packets go to the guest; 256 when absent. */
  readonly frame?: number | undefined;
  /** Which directions are run; both when absent, to the guest first as the tool does. */
  readonly directions?: "both" | "rx" | "tx" | undefined;
  /** Packets in flight, 1 to 256; 1 when absent. */
  readonly inFlight?: number | undefined;
  /** Packets that the receiving socket keeps unread, 0 to 4,096; 0 when absent. */
  readonly held?: number | undefined;
  /** Whether blocks above order 0 can be had at all; true when absent. */
  readonly highOrder?: boolean | undefined;
  /** An XDP program on the tap and its verdict; none when absent. */
  readonly xdp?: "pass" | "drop" | undefined;
  /** Whether `VIRTIO_RING_F_EVENT_IDX` is negotiated; true when absent. */
  readonly eventIdx?: boolean | undefined;
  /** Pages of the machine, 64 to 2^24; 65,536 when absent. */
  readonly pages?: number | undefined;
}

/** Operations on the refcounts of fragment blocks (include/linux/page_ref.h). */
export interface PageRefOperations {
  /** `page_ref_add`: references taken with a fresh block. */
  readonly add: number;
  /** `page_ref_sub_and_test`: unused references given up at the end of a block, or at the device's release. */
  readonly sub: number;
  /** `set_page_count`: blocks started again in place. */
  readonly set: number;
  /** `page_ref_dec_and_test`: fragments given back. */
  readonly put: number;
}

/** What {@linkcode runVhostNetTest} counted. Bytes unless said otherwise. */
export interface VhostNetTestResult {
  /** Packets that the guest got. */
  readonly rxPackets: number;
  /** Packets that the packet socket read. */
  readonly txPackets: number;
  /** Packets from the guest that the socket or the XDP program dropped. */
  readonly txDropped: number;
  /** Charge of an skb to the guest, 0 without any. */
  readonly rxTruesize: number;
  /** Charge of an skb from the guest, 0 without any. */
  readonly txTruesize: number;
  /** Fragments asked of vhost_net's allocator. */
  readonly frags: number;
  /** Blocks of order 3 that it took. */
  readonly order3Allocations: number;
  /** Blocks of order 3 that were given back while packets ran. */
  readonly order3FreesRunning: number;
  /** Blocks of order 3 that were given back when the device was closed. */
  readonly order3FreesAtRelease: number;
  /** Attempts at order 3, those that failed included. */
  readonly order3Attempts: number;
  /** Single pages that it took. */
  readonly order0Allocations: number;
  /** Blocks that were started again in place. */
  readonly reuses: number;
  /** Bytes that no fragment covers in the blocks that were used up. */
  readonly wastedBytes: number;
  /** What happened to refcounts. */
  readonly pageRefs: PageRefOperations;
  /** Most pages that fragments held at once. */
  readonly pagesHeldMax: number;
  /** Pages that are missing after the release: 0 unless something leaks. */
  readonly pagesLeft: number;
  /** Page requests that a per-CPU list served. */
  readonly pcpHits: number;
  /** Acquisitions of `zone->lock`. */
  readonly zoneLock: number;
  /** What the worker counted. */
  readonly worker: VhostNetCounters;
  /** What the tap counted. */
  readonly tap: VhostNetTapCounters;
}

/**
 * Runs the tool: packets to the guest (a frame sent to the tap, an RX buffer filled), then packets from the guest (a TX
 * buffer offered and kicked, the frame read from a packet socket), then closes the device. Event counts follow from the
 * drivers' and allocators' state machines.
 *
 * The order of events is the one the tool forces: it spins until its packets came back before it offers more. Left out:
 * what the kernel does once when a device goes up, and packets that other protocols send through it.
 *
 * @param options Kernel, packets, frame, packets in flight.
 * @returns What was counted.
 * @throws {RangeError} An option is out of range, or the kernel's vhost_net takes no page fragments (before 4.20).
 *
 * @example One in 42 packets takes a block before the series, none but the first after it
 * ```ts
 * import { kernel, runVhostNetTest } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const run = (release: string) => {
 *   const { order3Allocations, reuses } = runVhostNetTest({ kernel: kernel(release), packets: 4200 });
 *   return [order3Allocations, reuses];
 * };
 * assertEquals(run("6.8"), [100, 0]);
 * assertEquals(run("6.12"), [1, 99]);
 * ```
 */
export function runVhostNetTest(
  options: VhostNetTestOptions,
): VhostNetTestResult {
  const { kernel, directions = "both", xdp, eventIdx } = options;
  if (directions !== "both" && directions !== "rx" && directions !== "tx") {
    throw new RangeError(
      `directions "${directions}": "both", "rx" or "tx" is allowed`,
    );
  }
  const packets = whole(
    "packets",
    options.packets ?? VHOST_NET_TEST_PACKETS,
    1,
    1 << 24,
  );
  const frame = whole(
    "frame",
    options.frame ?? VHOST_NET_TEST_FRAME,
    14,
    directions === "tx" ? 65535 : TAP_MAX_FRAME,
  );
  const inFlight = whole("inFlight", options.inFlight ?? 1, 1, DESC_NUM);
  const held = whole("held", options.held ?? 0, 0, 4096);
  const highOrder = flag("highOrder", options.highOrder ?? true);
  const pages = new PageAllocator(kernel, {
    pages: whole("pages", options.pages ?? 65536, 64, 1 << 24),
  });
  if (!highOrder) pages.failOrders(1);
  const worker = new VhostNetWorker(pages, { num: DESC_NUM, eventIdx, xdp });
  const counts: TxCounts = { txPackets: 0, pagesHeldMax: 0 };
  if (directions !== "tx") runRx(worker, packets, frame, inFlight);
  if (directions !== "rx") {
    runTx(worker, counts, packets, frame, inFlight, held);
  }
  const { frag, tap } = worker;
  const { frees } = pages.counters;
  const running = frees[3]!;
  // Of the last block more could still have been used.
  const { wastedBytes } = frag.counters;
  worker.release();
  while (tap.recv() > 0) counts.txPackets++;
  const { reuses, refills } = frag.counters;
  const { built, singles, receiveTruesize, transmitTruesize, transmitted } =
    tap.counters;
  const order3 = pages.counters.allocations[3]!;
  const received = built + singles;
  return {
    rxPackets: worker.counters.rxPackets,
    txPackets: counts.txPackets,
    txDropped: tap.queue.counters.RcvbufErrors + tap.counters.xdpDropped,
    rxTruesize: transmitted === 0 ? 0 : transmitTruesize / transmitted,
    txTruesize: received === 0 ? 0 : receiveTruesize / received,
    frags: frag.counters.frags,
    order3Allocations: order3,
    order3FreesRunning: running,
    order3FreesAtRelease: frees[3]! - running,
    order3Attempts: order3 + pages.counters.failures[3]!,
    order0Allocations: pages.counters.allocations[0]!,
    reuses,
    wastedBytes,
    pageRefs: {
      add: refills,
      // Each block's references are given up once when it is used up, started again or not, or at the release.
      sub: refills + reuses,
      set: reuses,
      put: frag.counters.frags - tap.counters.xdpDropped +
        tap.counters.pagePuts,
    },
    pagesHeldMax: counts.pagesHeldMax,
    pagesLeft: pages.counters.pgalloc - pages.counters.pgfree,
    pcpHits: pages.counters.pcpHits,
    zoneLock: pages.counters.zoneLock,
    worker: worker.counters,
    tap: tap.counters,
  };
}

/** Where {@linkcode runTx} counts. */
interface TxCounts {
  txPackets: number;
  pagesHeldMax: number;
}

/** `run_rx_test`. */
function runRx(
  worker: VhostNetWorker,
  packets: number,
  frame: number,
  inFlight: number,
): void {
  const { rx } = worker;
  const length = VHOST_HEADER + frame;
  let started = 0;
  let completed = 0;
  while (completed < packets) {
    while (started < packets && started - completed < inFlight) {
      rx.add(length);
      worker.send(frame);
      worker.kickRx();
      started++;
    }
    worker.run();
    while (rx.getBuf() >= 0) completed++;
  }
}

/** `run_tx_test`. */
function runTx(
  worker: VhostNetWorker,
  counts: TxCounts,
  packets: number,
  frame: number,
  inFlight: number,
  held: number,
): void {
  const { tx, tap } = worker;
  const pages = worker.frag.pages.counters;
  const length = VHOST_HEADER + frame;
  let started = 0;
  let completed = 0;
  while (completed < packets) {
    while (started < packets && started - completed < inFlight) {
      tx.add(length);
      worker.kickTx();
      started++;
    }
    worker.run();
    const { pgalloc, pgfree } = pages;
    if (pgalloc - pgfree > counts.pagesHeldMax) {
      counts.pagesHeldMax = pgalloc - pgfree;
    }
    while (tx.getBuf() >= 0) {
      if (tap.queued > held && tap.recv() > 0) counts.txPackets++;
      completed++;
    }
  }
}
