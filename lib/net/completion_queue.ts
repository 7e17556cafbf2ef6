/**
 * `softnet_data.completion_queue`: where skbs wait that were freed with interrupts off.
 *
 * @module
 */

import type { IrqFlags } from "../mm/irq_flags.ts";
import { checkCpuNumber, type SkbHeads } from "./skb_heads.ts";

/**
 * Why an skb was freed (`enum skb_free_reason`): after use.
 *
 * @example
 * ```ts
 * import { SKB_REASON_CONSUMED, SKB_REASON_DROPPED } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([SKB_REASON_CONSUMED, SKB_REASON_DROPPED], [0, 1]);
 * ```
 */
export const SKB_REASON_CONSUMED = 0;
/**
 * Why an skb was freed: dropped.
 *
 * @example
 * ```ts
 * import { SKB_REASON_DROPPED } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(SKB_REASON_DROPPED, 1);
 * ```
 */
export const SKB_REASON_DROPPED = 1;

/**
 * `NET_TX_SOFTIRQ` as a bit of {@linkcode CompletionQueue.pending}.
 *
 * @example
 * ```ts
 * import { NET_RX_SOFTIRQ, NET_TX_SOFTIRQ } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(NET_TX_SOFTIRQ & NET_RX_SOFTIRQ, 0);
 * ```
 */
export const NET_TX_SOFTIRQ = 1;
/**
 * `NET_RX_SOFTIRQ` as a bit of {@linkcode CompletionQueue.pending}.
 *
 * @example
 * ```ts
 * import { NET_RX_SOFTIRQ } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(NET_RX_SOFTIRQ, 2);
 * ```
 */
export const NET_RX_SOFTIRQ = 2;

/**
 * The completion queues of all CPUs, and their pending softirqs (net/core/dev.c).
 *
 * @example
 * ```ts
 * import { CompletionQueue, kernel, kmemCache, Napi, SKB_REASON_CONSUMED } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const k = kernel("6.1");
 * const napi = new Napi({ kernel: k, cache: kmemCache({ kernel: k, objectSize: 256 }) });
 * const queue: CompletionQueue = napi.completion;
 * queue.devKfreeSkbIrq(napi.heads.alloc(0), 0, SKB_REASON_CONSUMED);
 * assertEquals([queue.queued, queue.length[0]], [1, 1]);
 * ```
 */
export class CompletionQueue {
  /** The skbs. */
  readonly heads: SkbHeads;
  /** Interrupt flags of the CPUs. */
  readonly irq: IrqFlags;
  /** First skb by CPU, or -1; the last that came is the first. */
  readonly first: Int32Array;
  /** Skbs waiting by CPU. */
  readonly length: Int32Array;
  /** Softirqs raised by CPU: {@linkcode NET_TX_SOFTIRQ} and {@linkcode NET_RX_SOFTIRQ}. */
  readonly pending: Uint8Array;
  /** 1 by CPU while it serves a hardware interrupt. */
  readonly hardirq: Uint8Array;
  /** Skbs that came here so far. */
  queued = 0;

  /**
   * Empty queues.
   *
   * @param heads The skbs.
   * @param irq Interrupt flags; there is a queue for each CPU in them.
   */
  constructor(heads: SkbHeads, irq: IrqFlags) {
    this.heads = heads;
    this.irq = irq;
    const cpus = irq.off.length;
    this.first = new Int32Array(cpus).fill(-1);
    this.length = new Int32Array(cpus);
    this.pending = new Uint8Array(cpus);
    this.hardirq = new Uint8Array(cpus);
  }

  /**
   * One user less; the last one puts the skb on the CPU's queue and raises NET_TX (`__dev_kfree_skb_irq`). Nothing is
   * freed until {@linkcode Softirq.netTxAction} runs.
   *
   * @param skb An skb in use.
   * @param cpu The CPU.
   * @param reason {@linkcode SKB_REASON_CONSUMED} or {@linkcode SKB_REASON_DROPPED}.
   * @throws {Error} `skb` is not in use.
   * @throws {RangeError} There is no such CPU.
   */
  devKfreeSkbIrq(skb: number, cpu: number, reason: number): void {
    checkCpuNumber(cpu, this.first.length);
    const { heads } = this;
    if (!heads.unref(skb)) return;
    heads.reason[skb] = reason;
    const flags = this.irq.save(cpu);
    heads.next[skb] = this.first[cpu]!;
    this.first[cpu] = skb;
    this.length[cpu]!++;
    this.queued++;
    this.pending[cpu]! |= NET_TX_SOFTIRQ;
    this.irq.restore(cpu, flags);
  }

  /**
   * Frees an skb from a context that the caller does not know (`__dev_kfree_skb_any`): in a hardware interrupt or with
   * interrupts off through the queue, else at once.
   *
   * @param skb An skb in use.
   * @param cpu The CPU.
   * @param reason {@linkcode SKB_REASON_CONSUMED} or {@linkcode SKB_REASON_DROPPED}.
   * @throws {Error} `skb` is not in use.
   * @throws {RangeError} There is no such CPU.
   */
  devKfreeSkbAny(skb: number, cpu: number, reason: number): void {
    if (this.hardirq[cpu] === 1 || this.irq.off[cpu] === 1) {
      this.devKfreeSkbIrq(skb, cpu, reason);
    } else if (reason === SKB_REASON_CONSUMED) this.heads.consumeSkb(skb, cpu);
    else this.heads.kfreeSkb(skb, cpu);
  }

  /**
   * Takes the whole queue.
   *
   * @param cpu The CPU.
   * @returns Its first skb, linked by `heads.next`; or -1.
   */
  take(cpu: number): number {
    this.irq.disable(cpu);
    const list = this.first[cpu]!;
    this.first[cpu] = -1;
    this.length[cpu] = 0;
    this.irq.enable(cpu);
    return list;
  }
}
