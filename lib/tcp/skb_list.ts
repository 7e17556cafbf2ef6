/**
 * A queue of received skbs: sequence, charge and shape in typed arrays, linked in order.
 *
 * @module
 */

import { grown } from "../sim/grown.ts";

/** No skb. */
export const NONE = -1;

/** Links between the skbs of a pool, and which are free. */
export class Links {
  /** Next in its queue. */
  next: Int32Array = new Int32Array(64);
  /** The one before it. */
  prev: Int32Array = new Int32Array(64);
  #free = NONE;
  #used = 0;

  /** An unlinked skb's index; the pool's arrays must grow when it reaches their length. */
  take(): number {
    let skb = this.#free;
    if (skb !== NONE) {
      this.#free = this.next[skb]!;
    } else {
      skb = this.#used++;
      if (skb === this.next.length) {
        this.next = grown(new Int32Array(2 * skb), this.next);
        this.prev = grown(new Int32Array(2 * skb), this.prev);
      }
    }
    this.next[skb] = NONE;
    this.prev[skb] = NONE;
    return skb;
  }

  /** Gives an index back. */
  give(skb: number): void {
    this.next[skb] = this.#free;
    this.#free = skb;
  }
}

/**
 * The skbs of a host that receives, or of one socket, and their links. An skb is an index; queues are heads and tails
 * held elsewhere, so that one pool serves the receive queues, out-of-order queues and backlogs of all sockets.
 */
export class SkbPool {
  /** First byte's sequence number, by skb. */
  seq: Float64Array = new Float64Array(64);
  /** Sequence number behind the last byte. */
  end: Float64Array = new Float64Array(64);
  /** Bytes charged. */
  truesize: Int32Array = new Int32Array(64);
  /** Page fragments. */
  frags: Uint8Array = new Uint8Array(64);
  /** Bytes free behind the linear part. */
  tailroom: Int32Array = new Int32Array(64);
  /** Payload bytes in the linear part. */
  linear: Int32Array = new Int32Array(64);
  /** Bytes of charge that move along when it is merged away. */
  moved: Int32Array = new Int32Array(64);
  /** What its head alone is charged. */
  headCharge: Int32Array = new Int32Array(64);
  /** 1: head may be taken over; 2: frag_list; 4: shared with the sender; 8: FIN. */
  flags: Uint8Array = new Uint8Array(64);
  /** Up to where the sender shares its head, until that is acknowledged; -1 if it does not. */
  sharedEnd: Float64Array = new Float64Array(64);
  /** `gso_size`, or the payload of a single segment, bytes. */
  gsoSize: Int32Array = new Int32Array(64);
  /** Timestamp that came along, ms. */
  tsval: Int32Array = new Int32Array(64);
  /** Their links. */
  readonly links: Links = new Links();

  /** Next in its queue, by skb. */
  get next(): Int32Array {
    return this.links.next;
  }

  /** The one before it, by skb. */
  get prev(): Int32Array {
    return this.links.prev;
  }

  /** A fresh skb. */
  alloc(): number {
    const skb = this.links.take();
    if (skb === this.seq.length) this.#grow();
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
    this.truesize = grown(new Int32Array(n), this.truesize);
    this.frags = grown(new Uint8Array(n), this.frags);
    this.tailroom = grown(new Int32Array(n), this.tailroom);
    this.linear = grown(new Int32Array(n), this.linear);
    this.moved = grown(new Int32Array(n), this.moved);
    this.headCharge = grown(new Int32Array(n), this.headCharge);
    this.flags = grown(new Uint8Array(n), this.flags);
    this.sharedEnd = grown(new Float64Array(n), this.sharedEnd);
    this.gsoSize = grown(new Int32Array(n), this.gsoSize);
    this.tsval = grown(new Int32Array(n), this.tsval);
  }
}

/** A queue of linked skbs. */
export class SkbQueue {
  /** First skb. */
  head: number = NONE;
  /** Last skb. */
  tail: number = NONE;
  /** How many. */
  length = 0;
  readonly #links: Links;

  /** An empty queue over a pool's links. */
  constructor(links: Links) {
    this.#links = links;
  }

  /** Appends an skb. */
  push(skb: number): void {
    this.insertAfter(this.tail, skb);
  }

  /** Puts `skb` behind `at`; in front of all where `at` is {@linkcode NONE}. */
  insertAfter(at: number, skb: number): void {
    const { next, prev } = this.#links;
    const after = at === NONE ? this.head : next[at]!;
    prev[skb] = at;
    next[skb] = after;
    if (at === NONE) this.head = skb;
    else next[at] = skb;
    if (after === NONE) this.tail = skb;
    else prev[after] = skb;
    this.length++;
  }

  /** Takes the first skb out; it stays allocated. */
  shift(): void {
    const { next, prev } = this.#links;
    const first = next[this.head]!;
    this.head = first;
    if (first === NONE) this.tail = NONE;
    else prev[first] = NONE;
    this.length--;
  }

  /** Takes an skb out; it stays allocated. */
  unlink(skb: number): void {
    const { next, prev } = this.#links;
    const before = prev[skb]!;
    const after = next[skb]!;
    if (before === NONE) this.head = after;
    else next[before] = after;
    if (after === NONE) this.tail = before;
    else prev[after] = before;
    this.length--;
  }
}
