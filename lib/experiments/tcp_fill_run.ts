/**
 * A TCP socket that nobody reads, filled write by write: both ends and their clock.
 *
 * @module
 */

import { Link } from "../path/link.ts";
import { Packets } from "../path/packets.ts";
import type { ReadingFlow } from "../path/reading_flow.ts";
import { ReceivingHost } from "../path/receiving_host.ts";
import { type FlowState, SendingHost } from "../path/sending_host.ts";
import { EventQueue } from "../sim/event_queue.ts";
import { TcpMemory } from "../tcp/memory.ts";
import type { ReceiverSock } from "../tcp/receiver_sock.ts";
import type { SenderSock } from "../tcp/sender_sock.ts";
import type { StreamSetup } from "./netperf_setup.ts";
import { receiverOptions, senderOptions } from "./stream_sockets.ts";

/** The receiving socket at one moment. */
export interface TcpFillRow {
  /** Bytes that wait to be read (FIONREAD). */
  readonly queued: number;
  /** `sk_rmem_alloc`, bytes. */
  readonly rmemAlloc: number;
  /** `sk_rcvbuf`, bytes. */
  readonly rcvbuf: number;
  /** `tcpi_rcv_wnd`: the window last advertised, bytes. */
  readonly rcvWnd: number;
  /** `tcpi_rcv_ssthresh`, bytes. */
  readonly rcvSsthresh: number;
  /** `sk_forward_alloc`, bytes. */
  readonly forwardAlloc: number;
  /** `sk_backlog.len`, bytes. */
  readonly backlog: number;
  /** Data segments received. */
  readonly segments: number;
}

/** How the writing application behaves; times in ns. */
export interface FillPace {
  /** Whether each write waits until the receiver has all bytes so far. */
  readonly paced: boolean;
  /** How long it waits. */
  readonly patience: number;
  /** What it needs between one write and the next. */
  readonly gap: number;
  /** A tick of the kernel's timers. */
  readonly jiffy: number;
  /** When the first write comes after a tick. */
  readonly phase: number;
  /** Where the task stands in its page fragment, bytes. */
  readonly fragOffset: number;
}

/** When nothing more is to come, ns: longer than a delayed ACK or a first probe. */
const SETTLE = 60e6;

/** Both ends of a fill. */
export class FillRun {
  /** Writes made. */
  writes = 0;
  /** Their bytes. */
  written = 0;
  /** Writes that the receiver left waiting. */
  stalled = 0;
  /** What the application needs between one write and the next, ns. */
  gap: number;
  readonly #pace: FillPace;
  readonly #bytes: number;
  readonly #events = new EventQueue();
  readonly #sender: SendingHost;
  readonly #receiver: ReceivingHost;
  readonly #writer: FlowState;
  readonly #reader: ReadingFlow;
  readonly #first: number;
  #rests = false;

  /** Connected, and a tick and the pace's phase later. */
  constructor(setup: StreamSetup, pace: FillPace) {
    this.#pace = pace;
    this.gap = pace.gap;
    this.#bytes = setup.write;
    const packets = new Packets();
    const events = this.#events;
    this.#sender = new SendingHost(
      events,
      packets,
      setup.sender,
      "whole",
      false,
    );
    this.#receiver = new ReceivingHost(events, packets, {
      kernel: setup.receiver,
      path: null,
      splits: !setup.tso,
      sg: setup.sg,
      gro: setup.gro && setup.path === "veth",
      ring: setup.ring,
      prices: setup.receiverHost,
    });
    const link = {
      delay: setup.delay / 2,
      limit: Infinity,
      jitter: 0,
      loss: 0,
      reorder: 0,
      rate: Infinity,
      queue: Infinity,
      lossEvery: Infinity,
      local: true,
      random: () => 0,
    };
    this.#sender.connect(new Link(events, packets, this.#receiver, link));
    this.#receiver.connect(new Link(events, packets, this.#sender, link));
    const memory = new TcpMemory(setup.tcpMem, setup.kernel.build.pageSize);
    const options = receiverOptions(setup, memory);
    this.#writer = this.#sender.open(
      senderOptions(setup, options, memory),
      setup.write,
      0,
      0,
      true,
    );
    const tx = this.#writer.tcp.sk;
    this.#reader = this.#receiver.accept(options, 0, tx.sndbuf);
    const rx = this.#reader.tcp.sk;
    rx.handshakeRtt = setup.delay;
    rx.jiffy = pace.jiffy;
    tx.jiffy = pace.jiffy;
    rx.sharedAbove = 0;
    tx.lastTsecr = 0;
    tx.fragOffset = pace.fragOffset;
    tx.fragStart = -pace.fragOffset;
    this.#sender.onAcked = (_, una) => rx.sharedAbove = una;
    events.run(pace.jiffy + pace.phase);
    this.#first = events.now;
  }

  /** The receiving socket. */
  get receiver(): ReceiverSock {
    return this.#reader.tcp.sk;
  }

  /** The sending socket. */
  get sender(): SenderSock {
    return this.#writer.tcp.sk;
  }

  /** Bytes that wait to be read. */
  get queued(): number {
    return this.#reader.tcp.unread;
  }

  /** The receiving socket at this moment. */
  row(): TcpFillRow {
    const { receiver: sk } = this;
    return {
      queued: this.queued,
      rmemAlloc: sk.rmemAlloc,
      rcvbuf: sk.rcvbuf,
      rcvWnd: sk.rcvWnd,
      rcvSsthresh: sk.rcvSsthresh,
      forwardAlloc: sk.forwardAlloc,
      backlog: sk.backlogLen,
      segments: sk.counters.InSegs,
    };
  }

  /** The application is ready for its next write; gives ns since the first could come. */
  rest(): number {
    const events = this.#events;
    if (this.#rests) events.run(events.now + this.gap);
    this.#rests = false;
    return events.now - this.#first;
  }

  /** One write, after the gap behind the one before it; where the pace says so it waits for the receiver. */
  write(): void {
    this.rest();
    const { paced } = this.#pace;
    const events = this.#events;
    const taken = this.#write(this.#bytes);
    this.writes++;
    this.written += taken;
    this.#rests = paced;
    if (!paced) events.run(events.now + this.gap);
    if (taken < this.#bytes || paced && !this.#wait(this.written)) {
      this.stalled++;
    }
  }

  /** Until nothing more is on its way. */
  settle(): void {
    this.rest();
    this.#events.run(this.#events.now + SETTLE);
  }

  /** One read by the receiver's application, and what follows from it. */
  read(bytes: number): void {
    const events = this.#events;
    this.#receiver.readNow(events.now, this.#reader, bytes);
    events.run(events.now + SETTLE);
  }

  // A write that finds the send buffer full sleeps for room, as long as patience lasts.
  #write(bytes: number): number {
    const events = this.#events;
    const until = events.now + this.#pace.patience;
    let taken = this.#sender.writeNow(events.now, this.#writer, bytes);
    while (taken < bytes && events.nextAt <= until) {
      events.run(events.nextAt);
      if (this.sender.nospace) continue;
      taken += this.#sender.writeNow(events.now, this.#writer, bytes - taken);
    }
    return taken;
  }

  // Until the receiver has `bytes`, or patience ends.
  #wait(bytes: number): boolean {
    const events = this.#events;
    const { receiver } = this;
    const until = events.now + this.#pace.patience;
    while (receiver.rcvNxt < bytes) {
      const next = events.nextAt;
      if (next > until) {
        events.run(until);
        return false;
      }
      events.run(next);
    }
    return true;
  }
}
