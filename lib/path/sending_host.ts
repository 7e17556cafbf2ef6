/**
 * The host that sends: its writers, its CPU, and what it puts on the link.
 *
 * @module
 */

import type { EventQueue, EventSource } from "../sim/event_queue.ts";
import { MsClock } from "../sim/ms_clock.ts";
import { AckSegment, TcpSender } from "../tcp/sender.ts";
import type { SenderOptions, SenderSock } from "../tcp/sender_sock.ts";
import type { SegmentSink } from "../tcp/output.ts";
import { PUSH, SendPool } from "../tcp/send_pool.ts";
import { type HostPrices, processesAreFree } from "./host_prices.ts";
import type { Link } from "./link.ts";
import { PacketRing } from "./packet_ring.ts";
import {
  PACKET_DSACK,
  PACKET_PROBE,
  PACKET_PUSH,
  type Packets,
} from "./packets.ts";

/** Segments of a train at most. */
const MOST_CARS = 64;

/** How a sender's skbs travel. */
export type Travel = "whole" | "split before the link";

class FlowState implements EventSource {
  readonly tcp: TcpSender;
  readonly #host: SendingHost;
  /** Its place among the host's flows. */
  readonly index: number;
  readonly write: number;
  /** Bytes of the current write() that did not fit yet. */
  left = 0;
  /** Bytes still to write; Infinity for a stream without end. */
  budget: number;
  asleep = true;
  readonly writer: number;
  readonly timer: number;
  truesizeOut = 0;

  constructor(
    host: SendingHost,
    events: EventQueue,
    tcp: TcpSender,
    index: number,
    write: number,
    budget: number,
  ) {
    this.#host = host;
    this.index = index;
    this.tcp = tcp;
    this.write = write;
    this.budget = budget;
    this.writer = events.add(this);
    this.timer = events.add({
      fire: (now) => host.timer(now, this),
    });
  }

  fire(now: number): void {
    this.#host.runWriter(now, this);
  }
}

/** The sending host of a run. */
export class SendingHost implements SegmentSink {
  /** Its connections. */
  readonly flows: FlowState[] = [];
  readonly #events: EventQueue;
  readonly #packets: Packets;
  readonly #prices: HostPrices;
  readonly #direct: boolean;
  /** Whether the device splits aggregates before the link; an skb else travels whole, with what it is charged. */
  readonly #splits: boolean;
  /** Whether the device's queue holds skbs against the socket (TSQ). */
  readonly #ownsQueue: boolean;
  readonly #waiting = new PacketRing();
  readonly #cpu: number;
  readonly #completions = new PacketRing();
  readonly #completion: number;
  readonly #ack = new AckSegment();
  readonly #clock = new MsClock();
  readonly #pool = new SendPool();
  #link!: Link;
  #busyUntil = 0;
  #processUntil = 0;
  // Segments that leave at one instant travel as one train, which the receiver takes apart.
  readonly #trains: boolean;
  #last = -1;
  #tsval = 0;
  #lastTime = -1;
  #lastLen = 0;
  // The flow whose segments go out: set around each call into its socket.
  #flow = 0;
  /** Called when a socket's `snd_una` has moved. */
  onAcked: ((flow: number, una: number) => void) | null = null;

  /** A host without connections. */
  constructor(
    events: EventQueue,
    packets: Packets,
    prices: HostPrices,
    travel: Travel,
    ownsQueue: boolean,
    trains = false,
  ) {
    this.#events = events;
    this.#packets = packets;
    this.#prices = prices;
    this.#splits = travel === "split before the link";
    this.#ownsQueue = ownsQueue;
    this.#direct = processesAreFree(prices);
    this.#trains = trains && this.#direct && prices.packet === 0 &&
      prices.segment === 0;
    this.#cpu = events.add({ fire: (now) => this.#softirq(now) });
    this.#completion = events.add({ fire: (now) => this.#completed(now) });
  }

  /** Connects the host to the link that its packets take. */
  connect(link: Link): void {
    this.#link = link;
  }

  /**
   * Opens a connection whose writer starts at `start`.
   *
   * @param options What its socket is set up with.
   * @param write Bytes of one write().
   * @param start When the writer starts, ns.
   * @param budget Bytes to write in all.
   * @param paced Whether the application writes by itself.
   */
  open(
    options: SenderOptions,
    write: number,
    start: number,
    budget = Infinity,
    paced = false,
  ): FlowState {
    const tcp = new TcpSender(options, this, this.#pool);
    const index = this.flows.length;
    const flow = new FlowState(this, this.#events, tcp, index, write, budget);
    this.flows.push(flow);
    if (!paced) {
      flow.asleep = false;
      this.#events.set(flow.writer, start);
    }
    return flow;
  }

  /** An ACK arrives from the link. */
  arrive(now: number, packet: number): void {
    if (this.#direct) {
      this.#busyUntil = Math.max(this.#busyUntil, now) + this.#prices.ack;
      this.#handleAck(this.#busyUntil, packet);
      return;
    }
    const idle = this.#events.timeOf(this.#cpu) === Infinity;
    if (idle && this.#busyUntil <= now) {
      this.#busyUntil = now + this.#prices.ack;
      this.#handleAck(this.#busyUntil, packet);
      return;
    }
    this.#waiting.push(packet, now);
    if (idle) this.#events.set(this.#cpu, this.#busyUntil);
  }

  #softirq(now: number): void {
    const packet = this.#waiting.shift();
    this.#busyUntil = Math.max(this.#busyUntil, now) + this.#prices.ack;
    this.#handleAck(this.#busyUntil, packet);
    this.#events.set(
      this.#cpu,
      this.#waiting.length > 0 ? this.#busyUntil : Infinity,
    );
  }

  #handleAck(now: number, packet: number): void {
    const packets = this.#packets;
    const index = packets.flow[packet]!;
    const flow = this.flows[index]!;
    const segment = this.#ack;
    segment.ack = packets.seq[packet]!;
    segment.window = packets.window[packet]!;
    segment.tsecr = packets.tsecr[packet]!;
    segment.tsval = packets.tsval[packet]!;
    segment.sackCount = packets.sackCount[packet]!;
    segment.dsack = (packets.flags[packet]! & PACKET_DSACK) !== 0;
    const at = packets.sackAt(packet);
    for (let i = 0; i < segment.sackCount; i++) {
      segment.sackStart[i] = packets.sacks[at + 2 * i]!;
      segment.sackEnd[i] = packets.sacks[at + 2 * i + 1]!;
    }
    packets.free(packet);
    this.#flow = index;
    const wakes = flow.tcp.ack(now, segment);
    this.onAcked?.(index, flow.tcp.sk.sndUna);
    if (wakes && flow.asleep) {
      flow.asleep = false;
      this.#events.set(
        flow.writer,
        Math.max(now, this.#processReady()) + this.#prices.wake,
      );
    }
    this.#setTimer(flow);
  }

  #processReady(): number {
    return this.#prices.cpus === 1 ? this.#busyUntil : this.#processUntil;
  }

  /** The writer runs: one write(), or as many as fit where they cost nothing. */
  runWriter(now: number, flow: FlowState): void {
    const prices = this.#prices;
    let time = Math.max(now, this.#processReady());
    if (time > now) {
      this.#events.set(flow.writer, time);
      return;
    }
    do {
      if (flow.left === 0) {
        flow.left = Math.min(flow.write, flow.budget);
        if (flow.left === 0) {
          flow.asleep = true;
          break;
        }
        time += prices.call + flow.left * prices.byte;
      }
      if (prices.cpus === 1) this.#busyUntil = time;
      this.#flow = flow.index;
      const taken = flow.tcp.write(time, flow.left);
      flow.left -= taken;
      flow.budget -= taken;
      if (flow.left > 0) {
        // sk_stream_wait_memory lets go of the socket and looks again before it sleeps: ACKs that came meanwhile may
        // have made room for an skb, and then the writer goes on without waiting for a third of the buffer.
        flow.asleep = taken === 0 || this.#direct;
        break;
      }
    } while (this.#direct);
    this.#processUntil = time;
    this.#events.set(
      flow.writer,
      flow.asleep ? Infinity : Math.max(time, this.#processReady()),
    );
    this.#setTimer(flow);
  }

  /** One write() by a paced application; it does not sleep. */
  writeNow(now: number, flow: FlowState, bytes: number): number {
    this.#flow = flow.index;
    const taken = flow.tcp.write(now, bytes);
    this.#setTimer(flow);
    return taken;
  }

  /** A socket's timer is due, or was and has moved. */
  timer(now: number, flow: FlowState): void {
    if (flow.tcp.timerAt <= now) {
      this.#flow = flow.index;
      flow.tcp.timer(now);
    }
    this.#events.set(flow.timer, flow.tcp.timerAt);
  }

  // Timers move with every ACK; the queue is told only where one comes earlier.
  #setTimer(flow: FlowState): void {
    const at = flow.tcp.timerAt;
    if (at < this.#events.timeOf(flow.timer)) this.#events.set(flow.timer, at);
  }

  xmit(now: number, sk: SenderSock, skb: number): boolean {
    const { pool } = sk;
    const { packet: price, segment } = this.#prices;
    const segs = pool.segs[skb]!;
    const time = Math.max(this.#busyUntil, now) + price + segment * (segs - 1);
    this.#busyUntil = time;
    this.#tsval = this.#clock.of(now);
    const push = (pool.flags[skb]! & PUSH) !== 0;
    const seq = pool.seq[skb]!;
    const end = pool.end[skb]!;
    if (this.#splits && segs > 1) {
      for (let at = seq; at < end; at += sk.mss) {
        const to = Math.min(end, at + sk.mss);
        // A queue that refuses a part of the skb has taken the first segments all the same.
        if (!this.#send(time, sk, at, to, 1, push && to === end, -1)) {
          if (at === seq) return false;
        }
      }
    } else if (!this.#send(time, sk, seq, end, segs, push, skb)) return false;
    if (this.#ownsQueue) this.#own(sk, pool.truesize[skb]!);
    return true;
  }

  // A packet goes on the link; -1 for an skb that does not travel as it is.
  #send(
    time: number,
    sk: SenderSock,
    seq: number,
    end: number,
    segs: number,
    push: boolean,
    skb: number,
  ): boolean {
    if (this.#trains && segs === 1 && this.#couple(time, sk, seq, end, push)) {
      return true;
    }
    const packets = this.#packets;
    const packet = packets.alloc();
    if (this.#trains) {
      this.#last = packet;
      this.#lastTime = time;
      this.#lastLen = segs === 1 ? end - seq : 0;
    }
    packets.flow[packet] = this.#flow;
    packets.seq[packet] = seq;
    packets.end[packet] = end;
    packets.segs[packet] = segs;
    packets.gsoSize[packet] = segs > 1 ? sk.mss : 0;
    packets.flags[packet] = push ? PACKET_PUSH : 0;
    packets.tsval[packet] = this.#tsval;
    packets.tsecr[packet] = sk.lastTsecr;
    if (!this.#splits) {
      const { pool } = sk;
      packets.truesize[packet] = skb < 0 ? 0 : pool.truesize[skb]!;
      packets.frags[packet] = skb < 0 ? 1 : pool.frags[skb]!;
      packets.fragStart[packet] = sk.fragStart;
    }
    if (this.#link.send(time, packet)) return true;
    packets.free(packet);
    return false;
  }

  // A segment that leaves at the same instant as the one before it becomes the last car of its train.
  #couple(
    time: number,
    sk: SenderSock,
    seq: number,
    end: number,
    push: boolean,
  ): boolean {
    const packets = this.#packets;
    const last = this.#last;
    if (
      this.#lastTime !== time || packets.end[last] !== seq ||
      packets.flow[last] !== this.#flow || packets.flags[last] !== 0 ||
      packets.segs[last]! >= MOST_CARS || this.#lastLen !== sk.mss
    ) return false;
    packets.end[last] = end;
    packets.segs[last]!++;
    packets.gsoSize[last] = sk.mss;
    packets.flags[last] = push ? PACKET_PUSH : 0;
    this.#lastLen = end - seq;
    this.#link.counters.sent++;
    return true;
  }

  probe(now: number, sk: SenderSock): void {
    const packets = this.#packets;
    const packet = packets.alloc();
    packets.flow[packet] = this.#flow;
    packets.seq[packet] = sk.sndUna - 1;
    packets.end[packet] = sk.sndUna - 1;
    packets.segs[packet] = 1;
    packets.gsoSize[packet] = 0;
    packets.flags[packet] = PACKET_PROBE;
    packets.tsval[packet] = this.#clock.of(now);
    packets.tsecr[packet] = -1;
    if (!this.#link.send(now, packet)) packets.free(packet);
  }

  // The skb is charged to the socket until the device has sent it.
  #own(sk: SenderSock, truesize: number): void {
    sk.wmemAlloc += truesize;
    const at = this.#link.departure;
    this.#completions.push(this.#flow * 2 ** 20 + (truesize & 0xfffff), at);
    if (at < this.#events.timeOf(this.#completion)) {
      this.#events.set(this.#completion, at);
    }
  }

  #completed(now: number): void {
    while (this.#completions.headTime <= now) {
      const code = this.#completions.shift();
      const index = Math.floor(code / 2 ** 20);
      this.#flow = index;
      const flow = this.flows[index]!;
      flow.tcp.sent(now, code & 0xfffff);
      this.#setTimer(flow);
    }
    this.#events.set(this.#completion, this.#completions.headTime);
  }
}

export type { FlowState };
