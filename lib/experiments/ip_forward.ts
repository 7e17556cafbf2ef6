/**
 * IPv4 forwarding on one CPU: what arrives on one ixgbe queue leaves by another, and heads go round between the slab
 * cache, the NAPI stack and the transmit ring.
 *
 * @module
 */

import { IxgbeRxRing } from "../drivers/ixgbe_ring.ts";
import { RxStrategy } from "../drivers/rx_strategy.ts";
import { RxStrategyRing } from "../drivers/rx_strategy_ring.ts";
import { IxgbeTxRing } from "../drivers/ixgbe_tx.ts";
import type { Kernel, NapiFacts } from "../kernel.ts";
import { type KmemCache, kmemCache } from "../mm/kmem_cache.ts";
import { MeteredCache } from "../mm/metered_cache.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { PageFragCache } from "../mm/page_frag_cache.ts";
import { flag, whole } from "../sim/check.ts";
import { Napi } from "../net/napi.ts";
import { Head } from "../net/skbuff.ts";
import { Softirq } from "../net/softirq.ts";
import { counted } from "../sim/counters.ts";
import type { Work } from "../sim/cpu.ts";

/** What {@linkcode ipForward} takes. An option given as `undefined` is absent. */
export interface IpForwardOptions {
  /** The kernel, with the patches to be tried. */
  readonly kernel: Kernel;
  /** Allocator of the heads, or a cache of one's own; `"slub"` when absent. */
  readonly allocator?: "slub" | "slab" | KmemCache | undefined;
  /** Packets that each poll finds, 1 to 64; 64, a saturated queue, when absent. */
  readonly perPoll?: number | undefined;
  /** Polls that pass until the packets of one are sent, 0 to 6; 1 when absent. */
  readonly lag?: number | undefined;
  /** Polls that are counted, from 1; 1,024 when absent. */
  readonly polls?: number | undefined;
  /** Polls before the counting, from 0; 256 when absent. */
  readonly warmup?: number | undefined;
  /** Whether packets are dropped at once instead of forwarded (`kfree_skb` in the poll); false when absent. */
  readonly drop?: boolean | undefined;
  /** Bytes of each frame without its check sequence, 60 to 1,514; 60 when absent. */
  readonly frame?: number | undefined;
  /** A receive strategy of one's own in place of ixgbe's. */
  readonly strategy?: RxStrategy | undefined;
  /** Rules of the NAPI side to replace, for a what-if. */
  readonly rules?: Partial<NapiFacts> | undefined;
}

/** What {@linkcode ipForward} counted, after the warm-up. */
export interface IpForward {
  /** Packets received. */
  readonly packets: number;
  /** Packets that left. */
  readonly forwarded: number;
  /** Packets that were lost for want of a head, data or a descriptor. */
  readonly lost: number;
  /** Counters of the head cache. */
  readonly slab: Readonly<Record<string, number>>;
  /** Counters of the NAPI stacks. */
  readonly napi: Readonly<Record<string, number>>;
  /** Counters of the softirqs. */
  readonly softirq: Readonly<Record<string, number>>;
  /** Counters of the transmit ring. */
  readonly tx: Readonly<Record<string, number>>;
  /** Counters of the receive ring. */
  readonly rx: Readonly<Record<string, number>>;
  /** Blocks of page fragments taken from the page allocator, and blocks started over. */
  readonly frags: { readonly refills: number; readonly reuses: number };
  /** Heads that lie on the stack at the end. */
  readonly stacked: number;
  /** What the slab allocator and the stack did, to be priced. */
  readonly work: readonly Work[];
}

/** Object size of `skbuff_head_cache`, made as the kernel makes it. */
function headCache(
  kernel: Kernel,
  allocator: "slub" | "slab" | KmemCache,
): KmemCache {
  if (typeof allocator === "object") return allocator;
  return kmemCache({
    kernel,
    allocator,
    objectSize: kernel.skb.skBuff,
    flags: ["SLAB_HWCACHE_ALIGN", "SLAB_PANIC"],
  });
}

/** The head of a packet: what `napi_alloc_skb` is asked for, and whether its data are a page fragment. */
interface PacketHead {
  readonly size: number;
  readonly fromFrags: boolean;
}

function ixgbeHead(kernel: Kernel): PacketHead {
  // build_skb wraps the half page itself.
  const fromFrags = kernel.ixgbe.rx !== "build_skb";
  return { size: kernel.ixgbe.headerSize, fromFrags };
}

/** Fragments of the page-fragment cache are simulated; kmalloc'ed data and the ring's own buffers have no other user. */
function strategyHead(
  kernel: Kernel,
  strategy: RxStrategy,
  frame: number,
): PacketHead {
  const skb = strategy.receive(kernel, frame);
  if (skb === null) {
    throw new RangeError(
      `receive strategy "${strategy.name}" drops frames of ${frame} bytes: there is nothing to forward`,
    );
  }
  const fromFrags = skb.headKind === Head.PAGE_FRAG;
  const { netSkbPad, netIpAlign } = kernel.skb;
  return {
    size: fromFrags
      ? Math.max(0, skb.end - netSkbPad - netIpAlign)
      : kernel.ixgbe.headerSize,
    fromFrags,
  };
}

const MAX_LAG = 6;

/** One queue in, one queue out, one CPU. */
class Forwarder {
  readonly cache: MeteredCache;
  readonly napi: Napi;
  readonly softirq: Softirq;
  readonly rx: IxgbeRxRing | RxStrategyRing;
  readonly tx: IxgbeTxRing;
  readonly frags: PageFragCache;
  readonly device: number;
  packets = 0;
  lost = 0;
  readonly #perPoll: number;
  readonly #drop: boolean;
  readonly #frame: number;
  /** Bytes that `napi_alloc_skb` is asked for. */
  readonly #headSize: number;
  /** Packets sent in each of the last polls: a delay line. */
  readonly #sent: Int32Array;
  #at = 0;

  constructor(options: IpForwardOptions) {
    const { kernel } = options;
    this.#perPoll = whole("perPoll", options.perPoll ?? 64, 1, 64);
    const lag = whole("lag", options.lag ?? 1, 0, MAX_LAG);
    this.#drop = flag("drop", options.drop ?? false);
    this.#frame = whole("frame", options.frame ?? 60, 60, 1514);
    const pages = new PageAllocator(kernel, { pages: 8192, cpus: 1 });
    this.cache = new MeteredCache(
      headCache(kernel, options.allocator ?? "slub"),
    );
    this.frags = new PageFragCache(pages);
    const { strategy } = options;
    if (strategy !== undefined && !(strategy instanceof RxStrategy)) {
      throw new TypeError(
        `strategy must be what defineRxStrategy gives, got ${String(strategy)}`,
      );
    }
    const head = strategy === undefined
      ? ixgbeHead(kernel)
      : strategyHead(kernel, strategy, this.#frame);
    this.#headSize = head.size;
    this.napi = new Napi({
      kernel,
      cache: this.cache,
      frags: head.fromFrags ? this.frags : undefined,
      rules: options.rules,
    });
    this.softirq = new Softirq(this.napi);
    this.rx = strategy === undefined
      ? new IxgbeRxRing(pages)
      : new RxStrategyRing(pages, strategy);
    this.tx = new IxgbeTxRing(this.napi);
    this.#sent = new Int32Array(lag + 1);
    this.device = this.softirq.napiAdd((budget) => this.#poll(budget));
  }

  /** `ixgbe_poll`: what was sent is cleaned first, then comes what has arrived. */
  #poll(budget: number): number {
    const { tx } = this;
    const at = this.#at;
    const sent = this.#sent[at]!;
    if (sent > 0) {
      tx.complete(sent);
      tx.cleanTxIrq(budget);
      this.rx.consume(sent);
    }
    const work = Math.min(budget, this.#perPoll);
    const before = tx.counters.queued;
    this.#receive(work);
    this.#sent[at] = tx.counters.queued - before;
    this.#at = at + 1 === this.#sent.length ? 0 : at + 1;
    if (work < budget) this.softirq.napiComplete(this.device);
    return work;
  }

  #receive(count: number): void {
    const { napi, rx, tx } = this;
    const headSize = this.#headSize;
    const frame = this.#frame;
    this.packets += count;
    for (let i = 0; i < count; i++) {
      const skb = napi.napiAllocSkb(headSize);
      if (skb < 0 || rx.receive(frame) === 0) {
        this.lost++;
        if (skb >= 0) napi.heads.kfreeSkb(skb, 0);
      } else if (this.#drop) {
        rx.consume();
        napi.heads.kfreeSkb(skb, 0);
      } else if (!tx.xmitFrame(skb, frame)) {
        this.lost++;
        rx.consume();
        napi.heads.kfreeSkb(skb, 0);
      }
    }
  }

  /** An interrupt per poll where the queue was empty, and the softirqs until nothing is pending. */
  run(polls: number): void {
    const { softirq, device } = this;
    for (let i = 0; i < polls; i++) {
      softirq.napiSchedule(device);
      softirq.netRxAction();
    }
  }
}

/**
 * Forwards packets from one queue to another on one CPU and counts everything.
 *
 * A saturated queue (64 packets a poll) stays on the poll list, so that each `net_rx_action` leaves by its loop's end;
 * with fewer each poll completes and `net_rx_action` returns early, which is where a stack was left unflushed from 4.6 to
 * 4.9. Left out: routing, qdisc, DMA; they are the constant part of a packet's time.
 *
 * @param options Kernel, allocator, packets per poll, completion lag.
 * @returns Counters and work after the warm-up.
 * @throws {RangeError} An option is out of range.
 * @throws {TypeError} An option is of the wrong type.
 *
 * @example 64 packets a poll leave nothing to reuse, 48 need nothing from the slab
 * ```ts
 * import { bulkAllocReuse, bulkFreeInfrastructure, ipForward, ixgbeBulkFree, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const patched = kernel("net-next-2015-10").am(bulkFreeInfrastructure, ixgbeBulkFree, bulkAllocReuse);
 * const full = ipForward({ kernel: patched });
 * assertEquals([full.napi.reused, full.napi.bulkHeads], [0, full.packets]);
 * const partial = ipForward({ kernel: patched, perPoll: 48 });
 * assertEquals([partial.napi.reused, partial.napi.bulkHeads], [partial.packets, 0]);
 * ```
 */
export function ipForward(options: IpForwardOptions): IpForward {
  const polls = whole("polls", options.polls ?? 1024, 1, 2 ** 31);
  const warmup = whole("warmup", options.warmup ?? 256, 0, 2 ** 31);
  const forwarder = new Forwarder(options);
  const { cache, napi, softirq, tx, rx, frags } = forwarder;
  forwarder.run(warmup);
  cache.start();
  const before = {
    napi: { ...napi.counters },
    softirq: { ...softirq.counters },
    tx: { ...tx.counters },
    rx: { ...rx.counters },
    frags: { ...frags.counters },
    packets: forwarder.packets,
    lost: forwarder.lost,
    heads: napi.heads.counters.allocs,
  };
  forwarder.run(polls);
  const stacks = counted(napi.counters, before.napi);
  const sent = counted(tx.counters, before.tx);
  const blocks = counted(frags.counters, before.frags);
  const pushed: Work[] = [
    { operation: "napiPush", count: stacks.deferred! },
    {
      operation: "napiPop",
      count: napi.rules.bulkAlloc === 0
        ? 0
        : napi.heads.counters.allocs - before.heads,
    },
  ];
  return {
    packets: forwarder.packets - before.packets,
    forwarded: sent.queued!,
    lost: forwarder.lost - before.lost,
    slab: cache.counted(),
    napi: stacks,
    softirq: counted(softirq.counters, before.softirq),
    tx: sent,
    rx: counted(rx.counters, before.rx),
    frags: { refills: blocks.refills!, reuses: blocks.reuses! },
    stacked: napi.stacked,
    work: [...cache.work(), ...pushed.filter(({ count }) => count > 0)],
  };
}
