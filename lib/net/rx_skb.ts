/**
 * What TCP sees of a received packet: how the driver's skb holds its payload, and what that costs.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { pskbPullTail } from "./skb_coalesce.ts";
import { skbTruesize, type SkBuff } from "./skbuff.ts";

/**
 * How an skb holds a payload, headers pulled. Reused: one per table.
 *
 * @example
 * ```ts
 * import { RxSkb } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = new RxSkb();
 * skb.truesize = 2304;
 * skb.linear = 66;
 * assertEquals([skb.truesize, skb.linear, skb.frags], [2304, 66, 0]);
 * ```
 */
export class RxSkb {
  /** `skb->truesize`, bytes. */
  truesize = 0;
  /** Payload bytes in the linear part. */
  linear = 0;
  /** Page fragments. */
  frags = 0;
  /** Bytes free behind the linear part; none where there are fragments. */
  tailroom = 0;
  /** `skb_end_offset`, bytes: what the head alone would be charged for. */
  end = 0;
  /** Bytes that move along when a queue's tail takes the skb over. */
  moved = 0;
  /** Whether the head can be taken over as one more fragment. */
  headFrag = false;
  /** Whether there is a frag_list, which nothing merges with. */
  fragList = false;
  /** Whether the sender holds the same data until it is acknowledged (loopback, veth). */
  shared = false;
  /** Where in the stream the shared part ends, if not at the skb's own end. */
  sharedEnd: number = Infinity;
}

/** Where received skbs come from. */
export interface RxPath {
  /** The skb described by the last {@linkcode RxPath.receive}. */
  readonly skb: RxSkb;
  /**
   * Describes the skb in which `payload` bytes arrive.
   *
   * @param payload Bytes of TCP payload in one frame.
   */
  receive(payload: number): void;
}

/**
 * Describes a driver's skb as TCP sees it.
 *
 * @param kernel The kernel.
 * @param skb The skb as the driver delivers it, with `headerLen`; its headers are pulled here.
 * @param into Where the description goes.
 */
export function describeRxSkb(
  kernel: Kernel,
  skb: SkBuff,
  into: RxSkb,
): void {
  const missing = skb.headerLen - (skb.tail - skb.data);
  if (missing > 0) pskbPullTail(skb, missing);
  into.truesize = skb.truesize;
  into.linear = skb.tail - skb.data - skb.headerLen;
  into.frags = skb.frags.length;
  into.tailroom = skb.tailroom;
  into.end = skb.end;
  into.headFrag = skb.headFrag;
  into.fragList = skb.fragList.length > 0;
  into.moved = skb.truesize -
    (into.linear > 0 ? kernel.skb.skBuffAligned : skbTruesize(kernel, skb.end));
}

/** Most bytes of payload in one frame. */
const MOST = 65536;

/** A path whose skbs depend on the payload's size alone: each size is built once, by the driver's model. */
export class RxTable implements RxPath {
  readonly skb: RxSkb = new RxSkb();
  readonly #build: (payload: number) => SkBuff;
  readonly #kernel: Kernel;
  #last = -1;
  // Fields of RxSkb by payload; truesize 0 where not built yet.
  readonly #truesize = new Int32Array(MOST);
  readonly #linear = new Int32Array(MOST);
  readonly #moved = new Int32Array(MOST);
  readonly #tailroom = new Int32Array(MOST);
  readonly #end = new Int32Array(MOST);
  // frags, headFrag and fragList in one number.
  readonly #shape = new Uint8Array(MOST);

  /**
   * A table.
   *
   * @param kernel The kernel.
   * @param build Builds the skb of a frame by its payload, as the driver does.
   * @param shared Whether the receiver gets the sender's own data.
   */
  constructor(
    kernel: Kernel,
    build: (payload: number) => SkBuff,
    shared = false,
  ) {
    this.#kernel = kernel;
    this.#build = build;
    this.skb.shared = shared;
  }

  /** Describes the skb of a frame in {@linkcode RxTable.skb}. */
  receive(payload: number): void {
    // A stream's frames are mostly of one size.
    if (payload === this.#last) return;
    this.#last = payload;
    const { skb } = this;
    if (this.#truesize[payload] === 0) this.#fill(payload);
    skb.truesize = this.#truesize[payload]!;
    skb.linear = this.#linear[payload]!;
    skb.moved = this.#moved[payload]!;
    skb.tailroom = this.#tailroom[payload]!;
    skb.end = this.#end[payload]!;
    const shape = this.#shape[payload]!;
    skb.frags = shape & 63;
    skb.headFrag = (shape & 64) !== 0;
    skb.fragList = (shape & 128) !== 0;
  }

  #fill(payload: number): void {
    const { skb } = this;
    describeRxSkb(this.#kernel, this.#build(payload), skb);
    this.#truesize[payload] = skb.truesize;
    this.#linear[payload] = skb.linear;
    this.#moved[payload] = skb.moved;
    this.#tailroom[payload] = skb.tailroom;
    this.#end[payload] = skb.end;
    this.#shape[payload] = skb.frags | (skb.headFrag ? 64 : 0) |
      (skb.fragList ? 128 : 0);
  }
}
