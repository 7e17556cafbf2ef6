/**
 * The network softirqs: `net_tx_action` frees what was freed with interrupts off, `net_rx_action` polls devices.
 *
 * @module
 */

import { finite, hook, whole } from "../sim/check.ts";
import {
  NET_RX_SOFTIRQ,
  NET_TX_SOFTIRQ,
  SKB_REASON_CONSUMED,
} from "./completion_queue.ts";
import type { Napi } from "./napi.ts";
import { PollList } from "./poll_list.ts";
import { checkCpuNumber } from "./skb_heads.ts";

/**
 * A device's poll function: handles up to `budget` packets (0 from netpoll) on `cpu` and returns how many. One that
 * returns less must have called {@linkcode Softirq.napiComplete}.
 */
export type Poll = (budget: number, cpu: number) => number;

/** What {@linkcode Softirq} takes. An option given as `undefined` is absent. */
export interface SoftirqOptions {
  /** `CONFIG_HZ`, jiffies a second: 100 to 1,000; 1,000 when absent. */
  readonly hz?: number | undefined;
  /** `net.core.netdev_budget`, packets, from 1; 300 when absent. */
  readonly netdevBudget?: number | undefined;
  /** `net.core.netdev_budget_usecs`, microseconds; 2 jiffies when absent. Kernels before 4.12 have no such limit. */
  readonly netdevBudgetUsecs?: number | undefined;
  /** Whether an RPS interrupt waits to be sent to another CPU, which keeps `net_rx_action` from returning early. */
  readonly rpsIpiWaiting?: ((cpu: number) => boolean) | undefined;
  /** Whether a task waits for the CPU, which sends softirqs to ksoftirqd. */
  readonly needResched?: ((cpu: number) => boolean) | undefined;
}

/**
 * What happened so far, all CPUs together.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, Napi, Softirq, SoftirqCounters } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const k = kernel("4.3");
 * const softirq = new Softirq(new Napi({ kernel: k, cache: kmemCache({ kernel: k, objectSize: 256 }) }));
 * const device = softirq.napiAdd(() => 0);
 * softirq.napiSchedule(device);
 * softirq.netRxAction();
 * const counters: SoftirqCounters = softirq.counters;
 * assertEquals([counters.netRxActions, counters.polls], [1, 1]);
 * ```
 */
export class SoftirqCounters {
  /** Runs of `net_rx_action`. */
  netRxActions = 0;
  /** Runs of `net_tx_action`. */
  netTxActions = 0;
  /** Calls of a poll function. */
  polls = 0;
  /** Packets that they reported. */
  packets = 0;
  /** `sd->time_squeeze`: runs that used up budget or time. */
  timeSqueeze = 0;
  /** Runs that returned early, all devices being done. */
  earlyReturns = 0;
  /** Times that a run started over because devices had been scheduled meanwhile. */
  restarts = 0;
  /** Times that softirqs were left to ksoftirqd. */
  ksoftirqdWakeups = 0;
  /** Skbs left to the CPU that allocated them (`skb_attempt_defer_free`). */
  deferFrees = 0;
  /** Interrupts sent for that. */
  deferIpis = 0;
}

/** `MAX_SOFTIRQ_RESTART`. */
const MAX_SOFTIRQ_RESTART = 10;
/** `MAX_SOFTIRQ_TIME`, milliseconds. */
const MAX_SOFTIRQ_TIME = 2;

/**
 * The network softirqs of CPUs that take turns (net/core/dev.c, kernel/softirq.c).
 *
 * @example A saturated device is polled once a run, one that is done lets the run return early
 * ```ts
 * import { kernel, kmemCache, Napi, Softirq } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const k = kernel("4.3");
 * const softirq = new Softirq(new Napi({ kernel: k, cache: kmemCache({ kernel: k, objectSize: 256 }) }));
 * let waiting = 100;
 * const device = softirq.napiAdd((budget) => {
 *   const packets = Math.min(budget, waiting);
 *   waiting -= packets;
 *   if (packets < budget) softirq.napiComplete(device);
 *   return packets;
 * });
 * softirq.napiSchedule(device);
 * softirq.netRxAction();
 * assertEquals([waiting, softirq.counters.earlyReturns], [36, 0]);
 * softirq.netRxAction();
 * assertEquals([waiting, softirq.counters.earlyReturns], [0, 1]);
 * ```
 */
export class Softirq {
  /** Heads, stacks and completion queues. */
  readonly napi: Napi;
  /** What is counted. */
  readonly counters: SoftirqCounters = new SoftirqCounters();
  /** `CONFIG_HZ`. */
  readonly hz: number;
  /** `net.core.netdev_budget`, packets. */
  readonly netdevBudget: number;
  /** Time limit of a run of `net_rx_action`, jiffies. */
  readonly limitJiffies: number;
  /** The clock, nanoseconds; polls and callers move it on. */
  now = 0;
  readonly #polls: Poll[] = [];
  readonly #weight: number[] = [];
  /** `NAPI_STATE_SCHED` by device. */
  readonly #scheduled: boolean[] = [];
  readonly #pollList: PollList[];
  /** A run's own lists: empty between runs. */
  readonly #list = new PollList();
  readonly #repoll = new PollList();
  /** 1 by CPU while `net_rx_action` runs. */
  readonly #running: Uint8Array;
  readonly #deferFirst: Int32Array;
  readonly #deferCount: Int32Array;
  readonly #rpsIpi: ((cpu: number) => boolean) | undefined;
  readonly #needResched: ((cpu: number) => boolean) | undefined;

  /**
   * No devices yet.
   *
   * @param napi Heads, stacks and completion queues.
   * @param options Limits and hooks.
   * @throws {RangeError} An option is out of range, or unknown to this kernel.
   * @throws {TypeError} A hook is no function.
   */
  constructor(napi: Napi, options: SoftirqOptions = {}) {
    this.napi = napi;
    this.hz = whole("hz", options.hz ?? 1000, 100, 1000);
    this.netdevBudget = whole(
      "netdevBudget",
      options.netdevBudget ?? napi.rules.netdevBudget,
      1,
      2 ** 31 - 1,
    );
    this.limitJiffies = this.#limit(options.netdevBudgetUsecs);
    this.#rpsIpi = hook("rpsIpiWaiting", options.rpsIpiWaiting);
    this.#needResched = hook("needResched", options.needResched);
    const cpus = napi.skbCount.length;
    this.#pollList = Array.from({ length: cpus }, () => new PollList());
    this.#running = new Uint8Array(cpus);
    this.#deferFirst = new Int32Array(cpus).fill(-1);
    this.#deferCount = new Int32Array(cpus);
  }

  #limit(usecs: number | undefined): number {
    if (usecs === undefined) return 2;
    if (this.napi.rules.timeLimit === "2 jiffies") {
      throw new RangeError(
        `netdevBudgetUsecs ${usecs}: ${this.napi.kernel.name} has 2 jiffies, fixed`,
      );
    }
    if (finite("netdevBudgetUsecs", usecs) < 0) {
      throw new RangeError(`netdevBudgetUsecs ${usecs}: 0 or more is allowed`);
    }
    return Math.ceil(usecs * this.hz / 1e6);
  }

  /** The clock in jiffies. */
  get jiffies(): number {
    return Math.floor(this.now * this.hz / 1e9);
  }

  /**
   * Adds a device (`netif_napi_add`).
   *
   * @param poll Its poll function.
   * @param weight Packets of one poll, from 1; 64 when absent.
   * @returns Its number.
   * @throws {TypeError} `poll` is no function.
   * @throws {RangeError} `weight` is out of range.
   */
  napiAdd(poll: Poll, weight = 64): number {
    if (typeof poll !== "function") {
      throw new TypeError("poll: a function is allowed");
    }
    this.#weight.push(whole("weight", weight, 1, 65535));
    this.#scheduled.push(false);
    return this.#polls.push(poll) - 1;
  }

  /**
   * Puts a device on the CPU's poll list and raises NET_RX (`napi_schedule`); nothing where it is scheduled already.
   *
   * @param device Its number.
   * @param cpu The CPU.
   * @throws {RangeError} There is no such device or CPU.
   */
  napiSchedule(device: number, cpu = 0): void {
    whole("device", device, 0, this.#polls.length - 1);
    checkCpuNumber(cpu, this.#pollList.length);
    if (this.#scheduled[device]) return;
    this.#scheduled[device] = true;
    this.#pollList[cpu]!.push(device);
    // in_net_rx_action: a run that starts over by itself is not raised.
    if (!this.napi.rules.restarts || this.#running[cpu] === 0) this.#raise(cpu);
  }

  #raise(cpu: number): void {
    this.napi.completion.pending[cpu]! |= NET_RX_SOFTIRQ;
  }

  /**
   * The device is done and may be scheduled anew (`napi_complete`); for poll functions.
   *
   * @param device Its number.
   */
  napiComplete(device: number): void {
    this.#scheduled[device] = false;
  }

  /**
   * Polls with a budget of 0 and interrupts off, as netpoll does to get messages out (`poll_one_napi`).
   *
   * @param device Its number.
   * @param cpu The CPU.
   * @throws {RangeError} There is no such device or CPU.
   */
  netpoll(device: number, cpu = 0): void {
    whole("device", device, 0, this.#polls.length - 1);
    checkCpuNumber(cpu, this.#pollList.length);
    const { irq } = this.napi;
    const flags = irq.save(cpu);
    this.#polls[device]!(0, cpu);
    irq.restore(cpu, flags);
  }

  /**
   * Frees the CPU's completion queue (first half of `net_tx_action`): singly, or with the heads deferred, and up to 5.11
   * flushed. Pairs are always freed at once.
   *
   * @param cpu The CPU.
   */
  netTxAction(cpu = 0): void {
    const { napi } = this;
    const { heads, rules, completion } = napi;
    this.counters.netTxActions++;
    if (completion.first[cpu] === -1) return;
    const was = napi.inSoftirq[cpu]!;
    napi.inSoftirq[cpu] = 1;
    let skb = completion.take(cpu);
    while (skb !== -1) {
      const next = heads.next[skb]!;
      if (heads.reason[skb] === SKB_REASON_CONSUMED) heads.counters.consumed++;
      else heads.counters.dropped++;
      if (rules.netTxDefers && (skb & 3) === 0) napi.kfreeSkbDefer(skb, cpu);
      else heads.freeSkb(skb, cpu);
      skb = next;
    }
    if (rules.netTxDefers && rules.flush !== "never") napi.kfreeSkbFlush(cpu);
    napi.inSoftirq[cpu] = was;
  }

  /**
   * Polls the CPU's devices until none is left, or budget or time is used up (`net_rx_action`).
   *
   * @param cpu The CPU.
   */
  netRxAction(cpu = 0): void {
    const { napi, counters } = this;
    counters.netRxActions++;
    const was = napi.inSoftirq[cpu]!;
    napi.inSoftirq[cpu] = 1;
    this.#running[cpu] = 1;
    const early = this.#pollDevices(cpu);
    this.#running[cpu] = 0;
    const { flush } = napi.rules;
    if (flush === "every exit" || (flush !== "never" && !early)) {
      napi.kfreeSkbFlush(cpu);
    }
    if (early) counters.earlyReturns++;
    napi.inSoftirq[cpu] = was;
  }

  /** The loop of `net_rx_action`; returns whether the run ends by its early return. */
  #pollDevices(cpu: number): boolean {
    const { counters } = this;
    const deadline = this.jiffies + this.limitJiffies;
    let budget = this.netdevBudget;
    const list = this.#list;
    const repoll = this.#repoll;
    const waiting = this.#pollList[cpu]!;
    list.splice(waiting);
    for (;;) {
      if (this.#deferFirst[cpu] !== -1) this.#deferFlush(cpu);
      if (list.length === 0) {
        if (repoll.length > 0) break;
        if (this.napi.rules.restarts && waiting.length > 0) {
          counters.restarts++;
          list.splice(waiting);
          continue;
        }
        // Devices that an interrupt scheduled have raised NET_RX themselves.
        if (this.#rpsIpi === undefined || !this.#rpsIpi(cpu)) return true;
        break;
      }
      budget -= this.#poll(list.shift(), repoll, cpu);
      if (budget <= 0 || this.jiffies >= deadline) {
        counters.timeSqueeze++;
        break;
      }
    }
    list.splice(waiting);
    list.splice(repoll);
    waiting.splice(list);
    if (waiting.length > 0) this.#raise(cpu);
    return false;
  }

  #poll(device: number, repoll: PollList, cpu: number): number {
    const weight = this.#weight[device]!;
    const work = this.#polls[device]!(weight, cpu);
    this.counters.polls++;
    this.counters.packets += work;
    if (work >= weight) repoll.push(device);
    return work;
  }

  /**
   * Serves the pending softirqs, at most 10 rounds and 2 ms, then leaves them to ksoftirqd (`__do_softirq`).
   *
   * @param cpu The CPU.
   * @returns Whether softirqs are left pending, for {@linkcode Softirq.doSoftirq} to be called as ksoftirqd does.
   */
  doSoftirq(cpu = 0): boolean {
    const { pending } = this.napi.completion;
    const deadline = this.jiffies +
      Math.ceil(MAX_SOFTIRQ_TIME * this.hz / 1000);
    let rounds = MAX_SOFTIRQ_RESTART;
    while (pending[cpu] !== 0) {
      const raised = pending[cpu]!;
      pending[cpu] = 0;
      if ((raised & NET_TX_SOFTIRQ) !== 0) this.netTxAction(cpu);
      if ((raised & NET_RX_SOFTIRQ) !== 0) this.netRxAction(cpu);
      if (pending[cpu] === 0) return false;
      const yields = this.#needResched !== undefined && this.#needResched(cpu);
      if (this.jiffies >= deadline || yields || --rounds === 0) {
        this.counters.ksoftirqdWakeups++;
        return true;
      }
    }
    return false;
  }

  /**
   * Frees an skb on the CPU that allocated it, as TCP does after reading (`skb_attempt_defer_free`, 5.19+); at once where
   * that is this CPU, its list is full, or this kernel has no such list.
   *
   * @param skb An skb in use; one that is shared loses a user and is not deferred.
   * @param cpu The CPU that frees.
   * @throws {Error} `skb` is not in use.
   * @throws {RangeError} There is no such CPU.
   */
  skbAttemptDeferFree(skb: number, cpu = 0): void {
    checkCpuNumber(cpu, this.#deferFirst.length);
    const { heads, rules } = this.napi;
    const owner = heads.allocCpu[skb]!;
    const full = this.#deferCount[owner]! >= rules.deferMax;
    if (owner === cpu || full || heads.users[skb] !== 1) {
      heads.consumeSkb(skb, cpu);
      return;
    }
    if (this.#deferCount[owner] === rules.deferMax >> 1) {
      this.counters.deferIpis++;
      this.#raise(owner);
    }
    this.counters.deferFrees++;
    this.#deferCount[owner]!++;
    heads.next[skb] = this.#deferFirst[owner]!;
    this.#deferFirst[owner] = skb;
  }

  #deferFlush(cpu: number): void {
    const { heads } = this.napi;
    let skb = this.#deferFirst[cpu]!;
    this.#deferFirst[cpu] = -1;
    this.#deferCount[cpu] = 0;
    while (skb !== -1) {
      const next = heads.next[skb]!;
      this.napi.napiConsumeSkb(skb, 1, cpu);
      skb = next;
    }
  }
}
