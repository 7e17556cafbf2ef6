/**
 * A connection's receiving end with the application that reads it.
 *
 * @module
 */

import type { EventQueue, EventSource } from "../sim/event_queue.ts";
import type { TcpReceiver } from "../tcp/receiver.ts";

/** The host on whose CPU reader and timer run. */
export interface ReaderHost {
  /** The reader has the CPU. */
  runReader(now: number, flow: ReadingFlow): void;
  /** The delayed-ACK timer is due, or was and has moved. */
  timer(now: number, flow: ReadingFlow): void;
}

/** A connection's receiving end with its reader. */
export class ReadingFlow implements EventSource {
  /** The socket. */
  readonly tcp: TcpReceiver;
  readonly #host: ReaderHost;
  /** Its place among the host's flows. */
  readonly index: number;
  /** Bytes of one read(); 0 for an application that does not read. */
  chunk: number;
  /** The reader as a source of events, and the delayed-ACK timer. */
  readonly reader: number;
  readonly timer: number;
  /** Bytes read. */
  bytes = 0;
  /** Whether a read() is under way, which owns the socket. */
  reading = false;
  /** `sk_sndbuf` of this end, which the backlog's limit counts. */
  readonly sndbuf: number;

  constructor(
    host: ReaderHost,
    events: EventQueue,
    tcp: TcpReceiver,
    index: number,
    chunk: number,
    sndbuf: number,
  ) {
    this.#host = host;
    this.tcp = tcp;
    this.index = index;
    this.chunk = chunk;
    this.sndbuf = sndbuf;
    this.reader = events.add(this);
    this.timer = events.add({ fire: (now) => host.timer(now, this) });
  }

  fire(now: number): void {
    this.#host.runReader(now, this);
  }
}
