/**
 * One direction of a path: netem, a bottleneck with its queue, propagation.
 *
 * @module
 */

import type { EventQueue, EventSource } from "../sim/event_queue.ts";
import { PacketRing } from "./packet_ring.ts";
import type { Packets } from "./packets.ts";

/** Takes packets at the end of a link. */
export interface PacketHandler {
  /**
   * A packet arrives.
   *
   * @param now The time, ns.
   * @param packet The packet.
   * @param last Whether no other arrives at this instant.
   */
  arrive(now: number, packet: number, last: boolean): void;
}

/** What a link does to packets. */
export interface LinkOptions {
  /** netem delay, ns. */
  readonly delay: number;
  /** netem limit, packets (an aggregate counts as one); Infinity for none. */
  readonly limit: number;
  /** Uniform jitter around the delay, ns; packets stay in order unless `reorder` is set. */
  readonly jitter: number;
  /** Share of packets lost at random. */
  readonly loss: number;
  /** Share of packets that skip the delay. */
  readonly reorder: number;
  /** Bottleneck rate, bits/s; Infinity for none. */
  readonly rate: number;
  /** Packets that wait in front of it at most. */
  readonly queue: number;
  /** Every so many ns one packet is lost; Infinity for never. */
  readonly lossEvery: number;
  /** Whether a packet over netem's limit is refused on the sender's host, and so not lost. */
  readonly local: boolean;
  /** Seeded random numbers from 0 to 1. */
  readonly random: () => number;
}

/** Bytes of headers that each segment adds on the wire: Ethernet, IP, TCP, FCS and gap. */
export const WIRE_OVERHEAD = 14 + 20 + 32 + 4 + 20;

/** Counters of a link. */
export interface LinkCounters {
  /** Packets taken. */
  sent: number;
  /** Refused because netem held its limit. */
  overlimit: number;
  /** Dropped in front of the bottleneck. */
  queueDrops: number;
  /** Lost at random or by the clock. */
  lost: number;
  /** Sent ahead of others. */
  reordered: number;
  /** Most packets in netem at once. */
  maxBacklog: number;
}

/**
 * One direction of a path. All of its stages are FIFO, so a packet's arrival is known when it is sent.
 *
 * Models `netem_enqueue` (net/sched/sch_netem.c): the limit is tested before the packet goes in, an aggregate counts as
 * one, time to send is now plus delay.
 */
export class Link implements EventSource {
  /** When the last packet sent leaves this host's device, ns. */
  departure = 0;
  /** Event counts. */
  readonly counters: LinkCounters = {
    sent: 0,
    overlimit: 0,
    queueDrops: 0,
    lost: 0,
    reordered: 0,
    maxBacklog: 0,
  };
  readonly #options: LinkOptions;
  readonly #events: EventQueue;
  readonly #packets: Packets;
  readonly #handler: PacketHandler;
  readonly #id: number;
  readonly #ring = new PacketRing();
  // Packets still in netem, and in front of the bottleneck: their times of leaving.
  readonly #inNetem = new PacketRing();
  readonly #inQueue = new PacketRing();
  readonly #nsPerByte: number;
  readonly #rolls: boolean;
  // A delay line: nothing is held, lost or shaped.
  readonly #plain: boolean;
  #busyUntil = 0;
  #lastTime = 0;
  #nextLoss: number;

  /** A link whose packets arrive at `handler`. */
  constructor(
    events: EventQueue,
    packets: Packets,
    handler: PacketHandler,
    options: LinkOptions,
  ) {
    this.#options = options;
    this.#events = events;
    this.#packets = packets;
    this.#handler = handler;
    this.#id = events.add(this);
    this.#nsPerByte = options.rate === Infinity ? 0 : 8e9 / options.rate;
    this.#rolls = options.loss > 0 || options.reorder > 0 || options.jitter > 0;
    this.#nextLoss = options.lossEvery;
    this.#plain = !this.#rolls && options.limit === Infinity &&
      this.#nsPerByte === 0 && options.lossEvery === Infinity;
  }

  /**
   * A packet is sent.
   *
   * @param now The time, ns; never before that of an earlier packet.
   * @param packet The packet.
   * @returns Whether netem took it; a packet that is lost later was taken.
   */
  send(now: number, packet: number): boolean {
    if (!this.#plain) return this.#shape(now, packet);
    this.counters.sent++;
    this.#arrivesAt(now + this.#options.delay, packet);
    return true;
  }

  #arrivesAt(time: number, packet: number): void {
    this.departure = time;
    this.#ring.push(packet, time);
    const head = this.#ring.headTime;
    if (head < this.#events.timeOf(this.#id)) this.#events.set(this.#id, head);
  }

  // netem, then the bottleneck.
  #shape(now: number, packet: number): boolean {
    const options = this.#options;
    const { counters } = this;
    if (options.limit !== Infinity) {
      const inside = this.#inNetem;
      while (inside.headTime <= now) inside.shift();
      if (inside.length >= options.limit) {
        counters.overlimit++;
        if (options.local) return false;
        this.#packets.free(packet);
        return true;
      }
    }
    counters.sent++;
    let { delay } = options;
    if (this.#rolls) {
      if (options.loss > 0 && options.random() < options.loss) {
        return this.#lose(packet);
      }
      if (options.jitter > 0) {
        delay = Math.max(
          0,
          delay + (2 * options.random() - 1) * options.jitter,
        );
      }
      if (options.reorder > 0 && options.random() < options.reorder) {
        delay = 0;
        counters.reordered++;
      }
    }
    if (now >= this.#nextLoss) {
      this.#nextLoss += options.lossEvery;
      return this.#lose(packet);
    }
    let time = now + delay;
    if (options.reorder === 0) {
      if (time < this.#lastTime) time = this.#lastTime;
      this.#lastTime = time;
    }
    if (options.limit !== Infinity) {
      this.#inNetem.push(packet, time);
      if (this.#inNetem.length > counters.maxBacklog) {
        counters.maxBacklog = this.#inNetem.length;
      }
    }
    if (this.#nsPerByte > 0) {
      const queue = this.#inQueue;
      while (queue.headTime <= time) queue.shift();
      if (queue.length >= options.queue) {
        counters.queueDrops++;
        this.#packets.free(packet);
        return true;
      }
      const { seq, end, segs } = this.#packets;
      const bytes = Math.max(0, end[packet]! - seq[packet]!) +
        segs[packet]! * WIRE_OVERHEAD;
      this.#busyUntil = Math.max(this.#busyUntil, time) +
        bytes * this.#nsPerByte;
      time = this.#busyUntil;
      queue.push(packet, time);
    }
    this.#arrivesAt(time, packet);
    return true;
  }

  #lose(packet: number): boolean {
    this.counters.lost++;
    this.#packets.free(packet);
    return true;
  }

  /** Packets that are on their way. */
  get length(): number {
    return this.#ring.length;
  }

  fire(now: number): void {
    const ring = this.#ring;
    let time = now;
    for (;;) {
      this.#events.now = time;
      const packet = ring.shift();
      this.#handler.arrive(time, packet, ring.headTime > time);
      time = ring.headTime;
      // As long as nothing else is due before it, the next packet needs no turn of the queue.
      if (
        time === Infinity || !this.#events.isFirst(this.#id) ||
        time > this.#events.othersAt()
      ) break;
    }
    this.#events.set(this.#id, ring.headTime);
  }
}
