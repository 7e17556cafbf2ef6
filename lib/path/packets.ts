/**
 * Packets on their way: fields in typed arrays, an index each.
 *
 * @module
 */

import { grown } from "../sim/grown.ts";

/** Bytes of SACK blocks that an ACK carries: four, start and end. */
const SACK_STRIDE = 8;

/** Flags of a packet. */
export const PACKET_PUSH = 1;
/** A zero-window probe. */
export const PACKET_PROBE = 2;
/** An ACK that reports a duplicate. */
export const PACKET_DSACK = 4;

/** All packets of a run. */
export class Packets {
  /** Which connection. */
  flow: Int32Array = new Int32Array(256);
  /** First byte of a data packet; what an ACK acknowledges. */
  seq: Float64Array = new Float64Array(256);
  /** Behind its last byte. */
  end: Float64Array = new Float64Array(256);
  /** Segments in it. */
  segs: Int32Array = new Int32Array(256);
  /** Segment size of an aggregate, bytes; 0 for a single segment. */
  gsoSize: Int32Array = new Int32Array(256);
  /** The sender's charge for it, bytes; used where the receiver gets the sender's skb. */
  truesize: Int32Array = new Int32Array(256);
  /** Its page fragments at the sender. */
  frags: Uint8Array = new Uint8Array(256);
  /** Where some page fragment of the sender begins in the stream, below 32,768. */
  fragStart: Int32Array = new Int32Array(256);
  /** PACKET_* flags. */
  flags: Uint8Array = new Uint8Array(256);
  /** Timestamp, ms. */
  tsval: Int32Array = new Int32Array(256);
  /** Echoed timestamp, ms; -1 for none. */
  tsecr: Int32Array = new Int32Array(256);
  /** Window of an ACK, bytes. */
  window: Float64Array = new Float64Array(256);
  /** SACK blocks of an ACK. */
  sackCount: Uint8Array = new Uint8Array(256);
  /** Their starts and ends, eight numbers a packet. */
  sacks: Float64Array = new Float64Array(256 * SACK_STRIDE);
  /** Packets on their way. */
  live = 0;
  #next: Int32Array = new Int32Array(256);
  #free = -1;
  #used = 0;

  /** A fresh packet. */
  alloc(): number {
    this.live++;
    const packet = this.#free;
    if (packet >= 0) {
      this.#free = this.#next[packet]!;
      return packet;
    }
    if (this.#used === this.flow.length) this.#grow();
    return this.#used++;
  }

  /** A packet has arrived or was lost. */
  free(packet: number): void {
    this.live--;
    this.#next[packet] = this.#free;
    this.#free = packet;
  }

  /** Where a packet's SACK blocks begin in {@linkcode Packets.sacks}. */
  sackAt(packet: number): number {
    return packet * SACK_STRIDE;
  }

  #grow(): void {
    const n = 2 * this.flow.length;
    this.flow = grown(new Int32Array(n), this.flow);
    this.seq = grown(new Float64Array(n), this.seq);
    this.end = grown(new Float64Array(n), this.end);
    this.segs = grown(new Int32Array(n), this.segs);
    this.gsoSize = grown(new Int32Array(n), this.gsoSize);
    this.truesize = grown(new Int32Array(n), this.truesize);
    this.frags = grown(new Uint8Array(n), this.frags);
    this.fragStart = grown(new Int32Array(n), this.fragStart);
    this.flags = grown(new Uint8Array(n), this.flags);
    this.tsval = grown(new Int32Array(n), this.tsval);
    this.tsecr = grown(new Int32Array(n), this.tsecr);
    this.window = grown(new Float64Array(n), this.window);
    this.sackCount = grown(new Uint8Array(n), this.sackCount);
    this.sacks = grown(new Float64Array(n * SACK_STRIDE), this.sacks);
    this.#next = grown(new Int32Array(n), this.#next);
  }
}
