/**
 * The host that receives: its ring, its CPU, GRO, the backlog, and its readers.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { GroSkb } from "../net/gro.ts";
import type { RxPath, RxSkb } from "../net/rx_skb.ts";
import type { EventQueue } from "../sim/event_queue.ts";
import { MsClock } from "../sim/ms_clock.ts";
import type { AckSink } from "../tcp/acks.ts";
import { blocksTouched } from "../tcp/frag_blocks.ts";
import { addBacklog, releaseBacklog } from "../tcp/backlog.ts";
import { RxSegment, TcpReceiver } from "../tcp/receiver.ts";
import type { ReceiverOptions, ReceiverSock } from "../tcp/receiver_sock.ts";
import { SkbPool } from "../tcp/skb_list.ts";
import { type HostPrices, processesAreFree } from "./host_prices.ts";
import type { Link } from "./link.ts";
import { LocalSkb } from "./local_skb.ts";
import { PacketRing } from "./packet_ring.ts";
import { type ReaderHost, ReadingFlow } from "./reading_flow.ts";
import {
  PACKET_DSACK,
  PACKET_PROBE,
  PACKET_PUSH,
  type Packets,
} from "./packets.ts";

/** Packets that one NAPI poll takes (`NAPI_POLL_WEIGHT`). */
const BUDGET = 64;

/** How a receiving host is set up. */
export interface ReceivingHostOptions {
  /** Its kernel. */
  readonly kernel: Kernel;
  /** How its driver holds a frame; null where the sender's own skbs arrive. */
  readonly path: RxPath | null;
  /** Whether aggregates arrive as single segments. */
  readonly splits: boolean;
  /** Where the sender's own skbs arrive: whether its device has scatter-gather; true if absent. */
  readonly sg?: boolean;
  /** GRO. */
  readonly gro: boolean;
  /** Packets that wait for the CPU at most. */
  readonly ring: number;
  /** Prices. */
  readonly prices: HostPrices;
}

/** The receiving host of a run. */
export class ReceivingHost implements AckSink, ReaderHost {
  /** Its connections. */
  readonly flows: ReadingFlow[] = [];
  /** Packets dropped because the ring was full. */
  ringDrops = 0;
  readonly #options: ReceivingHostOptions;
  readonly #events: EventQueue;
  readonly #packets: Packets;
  readonly #free: boolean;
  readonly #direct: boolean;
  readonly #waiting = new PacketRing();
  readonly #cpu: number;
  readonly #segment = new RxSegment();
  readonly #gro: GroSkb;
  readonly #local: LocalSkb;
  readonly #usesGro: boolean;
  readonly #clock = new MsClock();
  readonly #pool = new SkbPool();
  #link!: Link;
  #busyUntil = 0;
  #flow = 0;

  /** A host without connections. */
  constructor(
    events: EventQueue,
    packets: Packets,
    options: ReceivingHostOptions,
  ) {
    this.#options = options;
    this.#events = events;
    this.#packets = packets;
    const { prices, kernel } = options;
    this.#free = processesAreFree(prices);
    // veth hands skbs to GRO where the sender's end has no TSO (veth_skb_is_eligible_for_gro).
    this.#usesGro = options.gro && (options.path !== null || options.splits);
    this.#direct = this.#free && !this.#usesGro;
    this.#gro = new GroSkb(kernel);
    this.#local = new LocalSkb(kernel, options.sg ?? true);
    this.#cpu = events.add({ fire: (now) => this.#poll(now) });
  }

  /** Connects the host to the link that its ACKs take. */
  connect(link: Link): void {
    this.#link = link;
  }

  /**
   * Accepts a connection.
   *
   * @param options What its socket is set up with.
   * @param chunk Bytes of one read(); 0 for an application that does not read.
   * @param sndbuf `sk_sndbuf` of this end, bytes.
   */
  accept(options: ReceiverOptions, chunk: number, sndbuf: number): ReadingFlow {
    const tcp = new TcpReceiver(options, this, this.#pool);
    const index = this.flows.length;
    const flow = new ReadingFlow(
      this,
      this.#events,
      tcp,
      index,
      chunk,
      sndbuf,
    );
    this.flows.push(flow);
    return flow;
  }

  /** A packet arrives from the link. */
  arrive(now: number, packet: number, last: boolean): void {
    const waiting = this.#waiting;
    if (this.#direct) {
      // Those whose turn has come left the ring.
      while (waiting.headTime <= now) waiting.shift();
    }
    if (waiting.length >= this.#options.ring) {
      this.ringDrops++;
      this.#packets.free(packet);
      return;
    }
    if (this.#direct) {
      const start = Math.max(this.#busyUntil, now);
      if (start > now) waiting.push(packet, start);
      this.#receive(start, packet);
      return;
    }
    const idle = this.#events.timeOf(this.#cpu) === Infinity;
    // An idle CPU takes a lone packet at once; GRO waits for what else arrives at this instant.
    if (idle && (last || !this.#usesGro) && this.#busyUntil <= now) {
      const time = this.#receive(now, packet);
      if (this.#gro.segs > 0) this.#flushGro(time);
      return;
    }
    waiting.push(packet, now);
    if (idle) this.#events.set(this.#cpu, Math.max(now, this.#busyUntil));
  }

  // One NAPI poll.
  #poll(now: number): void {
    let time = Math.max(now, this.#busyUntil);
    if (time > now) {
      this.#events.set(this.#cpu, time);
      return;
    }
    const { prices } = this.#options;
    // A reader on another CPU runs between two packets; on the same one it waits for the poll to end.
    let budget = this.#usesGro || prices.cpus === 1 ? BUDGET : 1;
    while (budget-- > 0 && this.#waiting.headTime <= time) {
      time = this.#receive(time, this.#waiting.shift());
    }
    if (this.#gro.segs > 0) this.#flushGro(time);
    this.#busyUntil = Math.max(this.#busyUntil, time);
    this.#events.set(
      this.#cpu,
      this.#waiting.length > 0
        ? Math.max(this.#busyUntil, this.#waiting.headTime)
        : Infinity,
    );
  }

  // The CPU takes a packet; says when it is done with it.
  #receive(from: number, packet: number): number {
    const { packet: price, segment } = this.#options.prices;
    const time = from + price + segment * (this.#packets.segs[packet]! - 1);
    this.#busyUntil = time;
    this.#deliverPacket(time, packet);
    return time;
  }

  #deliverPacket(now: number, packet: number): void {
    const packets = this.#packets;
    const index = packets.flow[packet]!;
    this.#flow = index;
    const flow = this.flows[index]!;
    const flags = packets.flags[packet]!;
    if ((flags & PACKET_PROBE) !== 0) {
      packets.free(packet);
      flow.tcp.ackNow(now);
      return;
    }
    const { path, splits } = this.#options;
    const segment = this.#segment;
    const seq = packets.seq[packet]!;
    const end = packets.end[packet]!;
    const gsoSize = packets.gsoSize[packet]!;
    segment.seq = seq;
    segment.end = end;
    segment.gsoSize = gsoSize;
    segment.segs = packets.segs[packet]!;
    segment.push = (flags & PACKET_PUSH) !== 0;
    segment.tsval = packets.tsval[packet]!;
    segment.tsecr = packets.tsecr[packet]!;
    if (path === null) {
      this.#fragStart = packets.fragStart[packet]!;
      if (!this.#usesGro && !(gsoSize > 0 && splits)) {
        const local = this.#local;
        local.own(
          end - seq,
          packets.truesize[packet]!,
          packets.frags[packet]!,
        );
        packets.free(packet);
        segment.skb = local.skb;
        this.#deliver(now, flow);
        return;
      }
    }
    packets.free(packet);
    if (gsoSize > 0 && splits) this.#split(now, flow);
    else this.#frame(now, flow);
  }

  // An aggregate arrives as single segments.
  #split(now: number, flow: ReadingFlow): void {
    const segment = this.#segment;
    const { seq, end, gsoSize, push } = segment;
    for (let at = seq; at < end; at += gsoSize) {
      const to = Math.min(end, at + gsoSize);
      segment.seq = at;
      segment.end = to;
      segment.gsoSize = 0;
      segment.segs = 1;
      segment.push = push && to === end;
      this.#frame(now, flow);
    }
  }

  // A frame as the driver delivers it: what #segment says.
  #frame(now: number, flow: ReadingFlow): void {
    const segment = this.#segment;
    if (!this.#usesGro) {
      segment.skb = this.#describe(segment.seq, segment.end);
      this.#deliver(now, flow);
      return;
    }
    const { seq, end, gsoSize, segs, push, tsval, tsecr } = segment;
    const gro = this.#gro;
    const len = end - seq;
    const size = gsoSize > 0 ? gsoSize : len;
    if (gro.segs > 0) {
      if (
        this.#groFlow === flow && this.#groEnd === seq &&
        size <= this.#groSize && gsoSize === 0 &&
        gro.merge(
          this.#describe(seq, end),
          len,
          flow.tcp.sk.timestamps ? 66 : 54,
        )
      ) {
        this.#groEnd = end;
        this.#groPush ||= push;
        // A shorter segment is the last one of its burst.
        if (push || size < this.#groSize) this.#flushGro(now);
        return;
      }
      this.#flushGro(now);
    }
    gro.start(this.#describe(seq, end), len);
    this.#groFlow = flow;
    this.#groSeq = seq;
    this.#groEnd = end;
    this.#groSize = size;
    this.#groPush = push;
    this.#groTsval = tsval;
    this.#groTsecr = tsecr;
    if (push || gsoSize > 0) this.#flushGro(now, gsoSize, segs);
  }

  // The skb of a frame; one that comes from GRO was made the receiver's own (skb_unclone in veth_xdp_rcv).
  #describe(seq: number, end: number): RxSkb {
    const { path } = this.#options;
    if (path !== null) {
      path.receive(end - seq);
      return path.skb;
    }
    this.#local.segment(
      end - seq,
      blocksTouched(seq, end, this.#fragStart),
    );
    return this.#local.skb;
  }

  #fragStart = 0;
  #groFlow: ReadingFlow | null = null;
  #groSeq = 0;
  #groEnd = 0;
  #groSize = 0;
  #groPush = false;
  #groTsval = 0;
  #groTsecr = 0;

  #flushGro(now: number, gsoSize = 0, aggregate = 0): void {
    const gro = this.#gro;
    const segment = this.#segment;
    segment.seq = this.#groSeq;
    segment.end = this.#groEnd;
    segment.gsoSize = gsoSize > 0 ? gsoSize : gro.segs > 1 ? this.#groSize : 0;
    segment.segs = aggregate > 0 ? aggregate : gro.segs;
    segment.push = this.#groPush;
    segment.tsval = this.#groTsval;
    segment.tsecr = this.#groTsecr;
    segment.skb = gro.skb;
    gro.segs = 0;
    this.#deliver(now, this.#groFlow!);
  }

  // tcp_v4_rcv: to the socket, or to its backlog while its owner works on it.
  #deliver(now: number, flow: ReadingFlow): void {
    if (flow.reading) {
      addBacklog(flow.tcp.sk, this.#segment, flow.sndbuf);
      return;
    }
    flow.tcp.segment(now, this.#segment);
    this.#afterSegment(now, flow);
  }

  #afterSegment(now: number, flow: ReadingFlow): void {
    if (flow.chunk > 0 && flow.tcp.unread > 0 && !flow.reading) {
      if (this.#free) {
        flow.bytes += flow.tcp.read(now, Infinity);
      } else if (this.#events.timeOf(flow.reader) === Infinity) {
        this.#events.set(flow.reader, now + this.#options.prices.wake);
      }
    }
    this.#setTimer(flow);
  }

  /** The reader runs: it begins to copy, or has finished a read(). */
  runReader(now: number, flow: ReadingFlow): void {
    const events = this.#events;
    let next = this.#readerStep(now, flow);
    // As long as nothing else is due before it, the next step needs no turn of the queue.
    while (events.isFirst(flow.reader) && next < events.othersAt()) {
      next = this.#readerStep(next, flow);
    }
    events.set(flow.reader, next);
  }

  // One step of the reader; says when it has the next.
  #readerStep(now: number, flow: ReadingFlow): number {
    const { prices } = this.#options;
    if (flow.reading) {
      this.#flow = flow.index;
      flow.reading = false;
      flow.bytes += flow.tcp.read(now, this.#copying);
      releaseBacklog(flow.tcp, now);
      this.#setTimer(flow);
      return flow.tcp.unread > 0 && flow.chunk > 0 ? now : Infinity;
    }
    // On the same CPU the softirq comes first.
    if (prices.cpus === 1 && this.#busyUntil > now) return this.#busyUntil;
    const bytes = Math.min(flow.tcp.unread, flow.chunk);
    if (bytes === 0) return Infinity;
    this.#copying = bytes;
    flow.reading = true;
    const until = now + prices.call + bytes * prices.byte;
    if (prices.cpus === 1) this.#busyUntil = until;
    return until;
  }

  #copying = 0;

  /** One read() by a paced application. */
  readNow(now: number, flow: ReadingFlow, bytes: number): number {
    this.#flow = flow.index;
    const read = flow.tcp.read(now, bytes);
    flow.bytes += read;
    this.#setTimer(flow);
    return read;
  }

  /** The delayed-ACK timer is due, or was and has moved. */
  timer(now: number, flow: ReadingFlow): void {
    if (flow.tcp.delackAt <= now) {
      this.#flow = flow.index;
      flow.tcp.delack(now);
    }
    this.#events.set(flow.timer, flow.tcp.delackAt);
  }

  #setTimer(flow: ReadingFlow): void {
    const at = flow.tcp.delackAt;
    if (at < this.#events.timeOf(flow.timer)) this.#events.set(flow.timer, at);
  }

  ack(now: number, sk: ReceiverSock, window: number): void {
    const packets = this.#packets;
    const packet = packets.alloc();
    packets.flow[packet] = this.#flow;
    packets.seq[packet] = sk.rcvNxt;
    packets.end[packet] = sk.rcvNxt;
    packets.segs[packet] = 1;
    packets.gsoSize[packet] = 0;
    packets.window[packet] = window;
    packets.tsecr[packet] = sk.timestamps ? sk.tsRecent : -1;
    packets.tsval[packet] = this.#clock.of(now);
    packets.flags[packet] = sk.dsackEnd > sk.dsackStart ? PACKET_DSACK : 0;
    const count = sk.sackCount;
    packets.sackCount[packet] = count;
    const at = packets.sackAt(packet);
    for (let i = 0; i < count; i++) {
      packets.sacks[at + 2 * i] = sk.sackStart[i]!;
      packets.sacks[at + 2 * i + 1] = sk.sackEnd[i]!;
    }
    const time = Math.max(this.#busyUntil, now) + this.#options.prices.ack;
    this.#busyUntil = time;
    if (!this.#link.send(time, packet)) packets.free(packet);
  }
}
