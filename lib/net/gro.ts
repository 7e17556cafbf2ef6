/**
 * Generic receive offload: segments of a poll merged into one skb, and what the merged skb is charged.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { RxSkb } from "./rx_skb.ts";
import { skbTruesize } from "./skbuff.ts";

/** Largest payload and header of a merged skb, bytes (`gro_max_size`, IPv4). */
const GRO_MAX_SIZE = 65536;

/**
 * The skb that GRO holds while segments arrive.
 *
 * Models `skb_gro_receive` (net/core/skbuff.c, later gro.c): fragments move over while there are slots, a head that is a
 * piece of a page becomes one more fragment, and what fits neither way is chained in the frag_list with its whole
 * charge; the last skb of the chain can take fragments in its turn.
 */
export class GroSkb {
  /** The merged skb's shape. */
  readonly skb: RxSkb = new RxSkb();
  /** Payload in it, bytes. */
  len = 0;
  /** Segments in it. */
  segs = 0;
  readonly #kernel: Kernel;
  // Fragments of the skb that takes merges now: the first one, or the last of the frag_list.
  #lastFrags = 0;

  /** An empty one. */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Starts with a segment. */
  start(rx: RxSkb, len: number): void {
    const { skb } = this;
    skb.truesize = rx.truesize;
    skb.linear = rx.linear;
    skb.frags = rx.frags;
    skb.tailroom = rx.tailroom;
    skb.end = rx.end;
    skb.moved = rx.moved;
    skb.headFrag = rx.headFrag;
    skb.fragList = rx.fragList;
    skb.shared = rx.shared;
    this.len = len;
    this.segs = 1;
    this.#lastFrags = rx.frags;
  }

  /**
   * Merges the next segment.
   *
   * @param rx Its shape.
   * @param len Its payload, bytes.
   * @param headers Bytes of headers, which count towards the size limit.
   * @returns Whether it was merged.
   */
  merge(rx: RxSkb, len: number, headers: number): boolean {
    if (this.len + headers + len >= GRO_MAX_SIZE) return false;
    const { skb } = this;
    const { maxSkbFrags } = this.#kernel.build;
    const slots = rx.frags + (rx.linear > 0 ? 1 : 0);
    const fits = this.#lastFrags + slots <= maxSkbFrags &&
      (rx.linear === 0 || rx.headFrag);
    if (fits) {
      skb.truesize += rx.moved;
      this.#lastFrags += slots;
      if (!skb.fragList) skb.frags = this.#lastFrags;
    } else {
      skb.truesize += rx.truesize;
      skb.fragList = true;
      this.#lastFrags = rx.frags;
    }
    skb.tailroom = 0;
    skb.moved = skb.truesize -
      (skb.linear > 0
        ? this.#kernel.skb.skBuffAligned
        : skbTruesize(this.#kernel, skb.end));
    this.len += len;
    this.segs++;
    return true;
  }
}
