/** Sockets of an Ethernet connection for tests, set up as a passive receiver and an active sender unless told otherwise. */

import { kernel } from "../../lib/releases/mod.ts";
import { RxSkb } from "../../lib/net/rx_skb.ts";
import type { AckSink } from "../../lib/tcp/acks.ts";
import { TcpMemory } from "../../lib/tcp/memory.ts";
import type { SegmentSink } from "../../lib/tcp/output.ts";
import { RxSegment, TcpReceiver } from "../../lib/tcp/receiver.ts";
import {
  type ReceiverOptions,
  ReceiverSock,
} from "../../lib/tcp/receiver_sock.ts";
import { AckSegment, TcpSender } from "../../lib/tcp/sender.ts";
import type { SenderOptions, SenderSock } from "../../lib/tcp/sender_sock.ts";

/** One millisecond, ns. */
export const MS = 1e6;
/** MSS with timestamps. */
export const MSS = 1448;

/** A receiver's options on Ethernet, with the release's sysctls. */
export function receiverOptions(
  given: Partial<ReceiverOptions> = {},
): ReceiverOptions {
  const k = given.kernel ?? kernel("6.18");
  return {
    kernel: k,
    rmem: k.tcp.rmem,
    rmemMax: 212992,
    lockedRcvbuf: 0,
    advWinScale: 1,
    moderateRcvbuf: true,
    mss: 1460,
    peerMss: 1460,
    timestamps: true,
    passive: true,
    memory: new TcpMemory(),
    ...given,
  };
}

/** A receiving socket. */
export function receiverSock(given: Partial<ReceiverOptions> = {}) {
  return new ReceiverSock(receiverOptions(given));
}

/** An ACK as it left. */
export interface SentAck {
  at: number;
  ack: number;
  window: number;
  sacks: [number, number][];
}

/** A receiver whose ACKs are kept. */
export class Receiver implements AckSink {
  readonly acks: SentAck[] = [];
  readonly tcp: TcpReceiver;
  readonly #segment = new RxSegment();
  readonly #skb = new RxSkb();

  constructor(given: Partial<ReceiverOptions> = {}) {
    this.tcp = new TcpReceiver(receiverOptions(given), this);
  }

  get sk(): ReceiverSock {
    return this.tcp.sk;
  }

  ack(at: number, sk: ReceiverSock, window: number): void {
    const sacks: [number, number][] = [];
    for (let i = 0; i < sk.sackCount; i++) {
      sacks.push([sk.sackStart[i]!, sk.sackEnd[i]!]);
    }
    this.acks.push({ at, ack: sk.rcvNxt, window, sacks });
  }

  /**
   * A segment arrives in an skb of its own: 2,304 bytes of which none can be taken over, unless told otherwise.
   *
   * @returns ACKs that it set off.
   */
  data(
    at: number,
    seq: number,
    len: number,
    shape: Partial<RxSkb> & {
      tsecr?: number;
      push?: boolean;
      gsoSize?: number;
    } = {},
  ): number {
    const { tsecr = -1, push = false, gsoSize = 0, ...skb } = shape;
    Object.assign(this.#skb, {
      truesize: 2304,
      linear: len,
      frags: 0,
      tailroom: 0,
      end: 1728,
      moved: 2048,
      headFrag: false,
      fragList: false,
      shared: false,
    }, skb);
    Object.assign(this.#segment, {
      seq,
      end: seq + len,
      gsoSize,
      segs: gsoSize > 0 ? Math.ceil(len / gsoSize) : 1,
      push,
      tsval: at,
      tsecr,
      skb: this.#skb,
    });
    const before = this.acks.length;
    this.tcp.segment(at, this.#segment);
    return this.acks.length - before;
  }
}

/** What a sender sent. */
export interface SentSegment {
  at: number;
  seq: number;
  end: number;
}

/** A sender whose segments are kept. */
export class Sender implements SegmentSink {
  readonly sent: SentSegment[] = [];
  probes = 0;
  /** Whether the device's queue takes segments. */
  open = true;
  readonly tcp: TcpSender;
  readonly #ack = new AckSegment();

  constructor(given: Partial<SenderOptions> = {}) {
    const k = given.kernel ?? kernel("6.18");
    this.tcp = new TcpSender({
      kernel: k,
      wmem: k.tcp.wmem,
      lockedSndbuf: 0,
      peerMss: 1460,
      timestamps: true,
      peerWindow: 65160,
      tso: false,
      gso: false,
      sg: true,
      congestionControl: "cubic",
      hystart: true,
      ssthresh: 0,
      gsoMaxSize: 65536,
      nodelay: false,
      handshakeRtt: 100 * MS,
      memory: new TcpMemory(),
      ...given,
    }, this);
  }

  get sk(): SenderSock {
    return this.tcp.sk;
  }

  xmit(at: number, sk: SenderSock, skb: number): boolean {
    if (!this.open) return false;
    this.sent.push({ at, seq: sk.pool.seq[skb]!, end: sk.pool.end[skb]! });
    return true;
  }

  probe(): void {
    this.probes++;
  }

  /** An ACK arrives; SACK blocks newest first. */
  ack(
    at: number,
    ack: number,
    window: number,
    sacks: readonly [number, number][] = [],
    tsecr = -1,
  ): boolean {
    const segment = this.#ack;
    segment.ack = ack;
    segment.window = window;
    segment.tsecr = tsecr;
    segment.tsval = at;
    segment.sackCount = sacks.length;
    sacks.forEach(([start, end], i) => {
      segment.sackStart[i] = start;
      segment.sackEnd[i] = end;
    });
    return this.tcp.ack(at, segment);
  }
}
