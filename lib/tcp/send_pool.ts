/**
 * The skbs of a sending socket: sequence, charge, segments and state in typed arrays.
 *
 * @module
 */

import { grown } from "../sim/grown.ts";
import { Links } from "./skb_list.ts";

/** Flags of a sent skb (`TCPCB_*`). */
export const SACKED = 1;
export const LOST = 2;
export const RETRANS = 4;
export const EVER_RETRANS = 8;
export const PUSH = 16;

/** The skbs of a host that sends, or of one socket: an index each, in queues whose heads the sockets hold. */
export class SendPool {
  /** First byte's sequence number. */
  seq: Float64Array = new Float64Array(64);
  /** Behind the last byte. */
  end: Float64Array = new Float64Array(64);
  /** When it was sent last, ns. */
  sentAt: Float64Array = new Float64Array(64);
  /** Bytes charged to the send buffer. */
  truesize: Int32Array = new Int32Array(64);
  /** Segments. */
  segs: Int32Array = new Int32Array(64);
  /** Page fragments. */
  frags: Uint8Array = new Uint8Array(64);
  /** SACKED, LOST, RETRANS, EVER_RETRANS, PUSH. */
  flags: Uint8Array = new Uint8Array(64);
  /** Their links. */
  readonly links: Links = new Links();

  /** A fresh skb. */
  alloc(): number {
    const skb = this.links.take();
    if (skb === this.seq.length) this.#grow();
    this.flags[skb] = 0;
    this.segs[skb] = 0;
    this.frags[skb] = 0;
    return skb;
  }

  /** Gives an skb back. */
  free(skb: number): void {
    this.links.give(skb);
  }

  #grow(): void {
    const n = 2 * this.seq.length;
    this.seq = grown(new Float64Array(n), this.seq);
    this.end = grown(new Float64Array(n), this.end);
    this.sentAt = grown(new Float64Array(n), this.sentAt);
    this.truesize = grown(new Int32Array(n), this.truesize);
    this.segs = grown(new Int32Array(n), this.segs);
    this.frags = grown(new Uint8Array(n), this.frags);
    this.flags = grown(new Uint8Array(n), this.flags);
  }
}
