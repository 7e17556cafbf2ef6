/**
 * Sockets on loopback that nobody reads, and what `ss` says they hold. Needs no privilege; sends a bounded number of
 * packets and stops by itself.
 *
 * @module
 */

import type { MeasuredCharge, MeasuredFill, MeasuredStream } from "./probe.ts";
import { readSs, type SsSocket } from "./ss.ts";

/** A bound UDP socket. */
export interface DatagramSocket {
  /** Where it is bound. */
  readonly port: number;
  /** Sends one datagram to a port of the same address. */
  send(payload: Uint8Array, port: number): Promise<unknown>;
  /** Closes it. */
  close(): void;
}

/** What the probe needs of the machine; a test can pass its own. */
export interface ProbeHost {
  /** Opens a UDP socket on a free port of loopback. */
  bind(ip: 4 | 6): DatagramSocket;
  /** Runs ss with arguments and gives what it printed. */
  ss(args: readonly string[]): string;
  /** The time, ms, from any start. */
  now(): number;
  /** Waits so many ms. */
  sleep(ms: number): Promise<void>;
}

/** Reads of ss until a packet just sent must have been seen. */
const MOST_READS = 40;

/** The sockets of one kind by local port. */
function socketsByPort(
  host: ProbeHost,
  args: readonly string[],
): Map<number, SsSocket> {
  const found = new Map<number, SsSocket>();
  for (const socket of readSs(host.ss(args)).sockets) {
    if (typeof socket.local.port === "number") {
      found.set(socket.local.port, socket);
    }
  }
  return found;
}

/**
 * Sends one datagram of each size to a socket of its own and reads what it was charged.
 *
 * @param host The machine.
 * @param ip IP version.
 * @param payloads Sizes, bytes; at most 500.
 */
export async function measureCharges(
  host: ProbeHost,
  ip: 4 | 6,
  payloads: readonly number[],
): Promise<MeasuredCharge[]> {
  if (payloads.length > 500) {
    throw new RangeError(
      `measureCharges(): ${payloads.length} payloads; at most 500 are allowed`,
    );
  }
  const sender = host.bind(ip);
  const readers: DatagramSocket[] = [];
  try {
    for (const payload of payloads) {
      const reader = host.bind(ip);
      readers.push(reader);
      await sender.send(new Uint8Array(payload), reader.port);
    }
    for (let read = 1;; read++) {
      const sockets = socketsByPort(host, ["-uamn"]);
      const charges = readers.map(({ port }, i) => ({
        payload: payloads[i]!,
        r: sockets.get(port)?.memory?.r || null,
      }));
      if (read === MOST_READS || charges.every(({ r }) => r !== null)) {
        return charges;
      }
    }
  } finally {
    for (const socket of [sender, ...readers]) socket.close();
  }
}

const MOST_SENT = 1000;

/**
 * Sends equal datagrams to a socket until some must have been dropped.
 *
 * @param host The machine.
 * @param payload Size of each, bytes.
 * @param count How many for a given `sk_rcvbuf`; 1,000 at most are sent.
 * @returns Undefined where nothing was dropped: the buffer is too large, or this ss prints no drops.
 */
export async function measureFill(
  host: ProbeHost,
  payload: number,
  count: (rcvbuf: number) => number,
): Promise<MeasuredFill | undefined> {
  const sender = host.bind(4);
  const reader = host.bind(4);
  const memory = () => socketsByPort(host, ["-uamn"]).get(reader.port)?.memory;
  try {
    const data = new Uint8Array(payload);
    const empty = memory();
    if (empty === undefined) return undefined;
    const sent = Math.min(count(empty.rb), MOST_SENT);
    for (let i = 0; i < sent; i++) await sender.send(data, reader.port);
    let before = -1;
    for (let read = 0; read < MOST_READS; read++) {
      const { r, rb, d = 0 } = memory() ?? empty;
      // Packets may still be on their way: two reads must agree.
      if (r + d === before) {
        return d > 0 ? { payload, sent, r, rb, d } : undefined;
      }
      before = r + d;
    }
    return undefined;
  } finally {
    sender.close();
    reader.close();
  }
}

/**
 * Writes to TCP connections of which nobody reads, waiting for each write to arrive before the next.
 *
 * @param host The machine.
 * @param patterns Sizes of the writes of each connection, bytes; 16,384 and 50 writes at most.
 * @param pauseMs How long to wait after each write, ms: where it outlasts a delayed ACK, what shares an skb is settled.
 */
export async function measureStreams(
  host: ProbeHost,
  patterns: readonly (readonly number[])[],
  pauseMs = 0,
): Promise<MeasuredStream[]> {
  const streams: MeasuredStream[] = [];
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    for (const pattern of patterns) {
      const writes = pattern.slice(0, 50).map((n) => Math.min(n, 16_384));
      const [writer, reader] = await Promise.all([
        Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port }),
        listener.accept(),
      ]);
      try {
        writer.setNoDelay(true);
        const { port } = reader.remoteAddr as Deno.NetAddr;
        let arrived = 0, r: number | null = null;
        const gapsMs: number[] = [];
        for (const bytes of writes) {
          const start = host.now();
          await writer.write(new Uint8Array(bytes));
          arrived += bytes;
          r = received(host, port, arrived);
          if (pauseMs > 0) await host.sleep(pauseMs);
          gapsMs.push(host.now() - start);
        }
        streams.push({ writes, gapsMs, r });
      } finally {
        writer.close();
        reader.close();
      }
    }
  } finally {
    listener.close();
  }
  return streams;
}

/** skmem r of the connection whose peer's port is `port`, once it holds `bytes` unread. */
function received(
  host: ProbeHost,
  port: number,
  bytes: number,
): number | null {
  for (let read = 0; read < MOST_READS; read++) {
    const socket = readSs(host.ss(["-tmn"])).sockets.find(({ peer }) =>
      peer.port === port
    );
    if (socket?.recvQ === bytes) return socket.memory?.r ?? null;
  }
  return null;
}
