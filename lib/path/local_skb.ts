/**
 * What arrives where sender and receiver are on one machine: the sender's own skb, or what its device made of it.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { RxSkb } from "../net/rx_skb.ts";
import { allocSkb, skbTruesize } from "../net/skbuff.ts";

/** Bytes that `__pskb_pull_tail` asks for beyond what it needs. */
const PULL_SPARE = 128;

/** Describes skbs that pass loopback or veth. */
export class LocalSkb {
  /** The one described last. Reused. */
  readonly skb: RxSkb = new RxSkb();
  readonly #kernel: Kernel;
  readonly #sg: boolean;
  /** Charge of a head for headers alone, and its end offset. */
  readonly #headTruesize: number;
  readonly #headEnd: number;
  readonly #bare: number;

  /** Skbs of the sender's kernel. */
  constructor(kernel: Kernel, sg: boolean) {
    this.#kernel = kernel;
    this.#sg = sg;
    const head = allocSkb(kernel, kernel.build.maxTcpHeader);
    this.#headTruesize = head.truesize;
    this.#headEnd = head.end;
    this.#bare = skbTruesize(kernel, 0);
  }

  /**
   * The clone of a sender's skb.
   *
   * Models `dev_hard_start_xmit` up to `validate_xmit_skb` (net/core/dev.c): without scatter-gather the fragments are
   * copied into a head grown for them (`__skb_linearize`), whose new size is not charged since the skb has a socket.
   *
   * @param len Payload, bytes.
   * @param truesize The sender's charge, bytes.
   * @param frags Its fragments.
   */
  own(len: number, truesize: number, frags: number): void {
    const { skb } = this;
    const { linear: most } = this.#kernel.tcp;
    skb.truesize = truesize;
    skb.shared = true;
    skb.tailroom = 0;
    if (this.#sg) {
      skb.frags = frags;
      skb.linear = Math.min(len, most);
      skb.end = truesize - len + skb.linear - this.#bare;
      skb.moved = len;
      return;
    }
    skb.frags = 0;
    skb.linear = len;
    skb.moved = truesize - this.#kernel.skb.skBuffAligned;
    if (most > 0) {
      // Such kernels put a segment into the head in the first place.
      skb.end = truesize - this.#bare;
      return;
    }
    const tail = this.#kernel.build.maxTcpHeader + len;
    const eat = tail - this.#headEnd;
    const end = eat > 0
      ? allocSkb(this.#kernel, this.#headEnd + eat + PULL_SPARE).end
      : this.#headEnd;
    skb.end = end;
    skb.tailroom = end - tail;
    skb.shared = false;
  }

  /**
   * One segment of an aggregate that software cut up: a head of its own around the same pages, or a copy.
   *
   * Models `skb_segment` (net/core/skbuff.c).
   *
   * @param len Payload, bytes.
   * @param frags Fragments that it touches.
   */
  segment(len: number, frags: number): void {
    const { skb } = this;
    skb.shared = false;
    if (this.#sg) {
      skb.truesize = this.#headTruesize + len;
      skb.frags = frags;
      skb.linear = 0;
      skb.tailroom = 0;
      skb.end = this.#headEnd;
      skb.moved = len;
      return;
    }
    const { maxTcpHeader } = this.#kernel.build;
    const head = allocSkb(this.#kernel, maxTcpHeader + len);
    skb.truesize = head.truesize;
    skb.frags = 0;
    skb.linear = len;
    skb.end = head.end;
    skb.tailroom = head.end - maxTcpHeader - len;
    skb.moved = head.truesize - this.#kernel.skb.skBuffAligned;
  }
}
