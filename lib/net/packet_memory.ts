/**
 * What a packet costs: its charge, and the pieces of memory behind it.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { Frag, headAllocator, type SkBuff } from "./skbuff.ts";

/**
 * What a kernel does instead of taking the packet: the error of the write that sends it, or `dropped` where the receiving
 * driver throws it away and counts `rx_length_errors`.
 */
export type PacketError = WriteError | "dropped";

/** What a write to a socket or a character device fails with. */
export type WriteError = "EINVAL" | "EMSGSIZE" | "ENOBUFS";

/** What a piece of an allocation is for. */
export type PieceKind =
  | "struct"
  | "headroom"
  | "header"
  | "payload"
  | "shared_info"
  | "unused";

/** A run of bytes inside an allocation. */
export interface MemoryPiece {
  /** What the bytes hold, in the kernel's words. */
  readonly label: string;
  /** How many. */
  readonly bytes: number;
  /** What they are for; chooses their colour in a drawing. */
  readonly kind: PieceKind;
}

/** One allocation, its pieces in the order they lie in memory. */
export interface MemoryBlock {
  /** What was allocated: `sk_buff`, `head`, `frag 0`. */
  readonly label: string;
  /** Where it came from: a slab cache, a size class, a page fragment. */
  readonly allocator: string;
  /** Its size in bytes: the sum of its pieces. */
  readonly size: number;
  /** Its pieces. */
  readonly pieces: readonly MemoryPiece[];
}

/** One allocation behind a packet. */
export interface PacketBlock extends MemoryBlock {
  /** Bytes that truesize counts for it. */
  readonly charged: number;
}

/** One skb of a packet. */
export interface SkbMemory {
  /** Bytes charged for this skb alone, its frag_list not included. */
  readonly truesize: number;
  /** Bytes of packet in it. */
  readonly len: number;
  /** Bytes in the linear part. */
  readonly headlen: number;
  /** The memory behind it: the struct, the head, the fragments. */
  readonly blocks: PacketBlock[];
}

const FRAG_ALLOCATOR: Record<number, string> = {
  [Frag.TASK_FRAG]: "task_frag block",
  [Frag.PAGES]: "page allocator",
  [Frag.PAGE_FRAG]: "page_frag_cache",
  [Frag.RX_BUFFER]: "rx buffer",
  [Frag.STOLEN_HEAD]: "head of a merged skb",
};

function pieces(list: [string, number, MemoryPiece["kind"]][]): MemoryPiece[] {
  return list.filter(([, bytes]) => bytes > 0).map(([label, bytes, kind]) => ({
    label,
    bytes,
    kind,
  }));
}

function skbMemory(kernel: Kernel, skb: SkBuff, headers: number): SkbMemory {
  const { skBuff, skBuffAligned, sharedInfo } = kernel.skb;
  const ownBytes = skb.len -
    skb.fragList.reduce((sum, other) => sum + other.len, 0);
  const ownTruesize = skb.truesize -
    skb.fragList.reduce((sum, other) => sum + other.truesize, 0);
  const linear = skb.tail - skb.data;
  const linearHeaders = Math.min(headers, linear);
  const blocks: PacketBlock[] = [
    {
      label: "sk_buff",
      allocator: "skbuff_head_cache",
      size: skBuffAligned,
      charged: skBuffAligned,
      pieces: pieces([["struct sk_buff", skBuff, "struct"], [
        "padding",
        skBuffAligned - skBuff,
        "unused",
      ]]),
    },
    {
      label: "head",
      allocator: headAllocator(kernel, skb),
      size: skb.headSize,
      charged: skb.headSize,
      pieces: pieces([
        ["headroom", skb.data, "headroom"],
        ["headers", linearHeaders, "header"],
        ["payload", linear - linearHeaders, "payload"],
        ["tailroom", skb.end - skb.tail, "unused"],
        [
          "skb_shared_info",
          skb.headSize - skb.end > 0 ? sharedInfo : 0,
          "shared_info",
        ],
      ]),
    },
  ];
  let headersLeft = headers - linearHeaders;
  // What truesize counts beyond struct and head belongs to the fragments, room first.
  let chargeLeft = ownTruesize - skBuffAligned - skb.headSize;
  skb.frags.forEach((frag, i) => {
    const inFrag = Math.min(headersLeft, frag.size);
    headersLeft -= inFrag;
    const charged = i === skb.frags.length - 1
      ? chargeLeft
      : Math.min(frag.room, chargeLeft);
    chargeLeft -= charged;
    blocks.push({
      label: `frag ${i}`,
      allocator: FRAG_ALLOCATOR[frag.kind]!,
      size: Math.max(frag.room, frag.size),
      charged,
      pieces: pieces([
        ["headers", inFrag, "header"],
        ["payload", frag.size - inFrag, "payload"],
        ["unused", Math.max(0, frag.room - frag.size), "unused"],
      ]),
    });
  });
  return { truesize: ownTruesize, len: ownBytes, headlen: linear, blocks };
}

/**
 * A packet's cost in memory, or why the kernel refuses it.
 *
 * @example
 * ```ts
 * import { kernel, PacketMemory, truesizeOf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const packet: PacketMemory = truesizeOf({ kernel: kernel("6.18"), path: "veth", payload: 1472 });
 * assertEquals([packet.payload, packet.truesize, packet.skbs.length], [1472, 2304, 1]);
 * assertEquals(`${packet}`, "payload 1472 B, truesize 2304 B, ratio 0.639");
 * ```
 */
export class PacketMemory {
  /** Payload, bytes. */
  readonly payload: number;
  /** Bytes charged to the receiving socket; 0 for a refused packet. */
  readonly truesize: number;
  /** payload / truesize; 0 for a refused packet. */
  readonly ratio: number;
  /** What the kernel answers instead, where it refuses. */
  declare readonly error?: PacketError;
  readonly #kernel: Kernel;
  readonly #skbs: readonly SkBuff[];

  /**
   * The cost of a packet that arrived as `skbs`.
   *
   * @param kernel The kernel.
   * @param payload Payload, bytes.
   * @param skbs The skbs charged to the socket, or the error.
   */
  constructor(
    kernel: Kernel,
    payload: number,
    skbs: readonly SkBuff[] | PacketError,
  ) {
    this.#kernel = kernel;
    this.payload = payload;
    let truesize = 0;
    if (typeof skbs === "string") {
      this.#skbs = [];
      this.error = skbs;
    } else {
      this.#skbs = skbs;
      for (let i = 0; i < skbs.length; i++) truesize += skbs[i]!.truesize;
    }
    this.truesize = truesize;
    this.ratio = truesize === 0 ? 0 : payload / truesize;
  }

  /** The skbs behind the packet, those of a frag_list included, each with its memory; computed when asked for. */
  get skbs(): SkbMemory[] {
    return this.#skbs.flatMap((skb) => [
      skbMemory(this.#kernel, skb, skb.headerLen),
      ...skb.fragList.map((other) => skbMemory(this.#kernel, other, 0)),
    ]);
  }

  /** Every allocation behind the packet, in order; for drawings. */
  get blocks(): PacketBlock[] {
    const skbs = this.skbs;
    return skbs.flatMap((skb, i) =>
      skb.blocks.map((block) =>
        skbs.length > 1 ? { ...block, label: `skb ${i} ${block.label}` } : block
      )
    );
  }

  /** The headline, for a terminal. */
  toString(): string {
    if (this.error !== undefined) {
      return `payload ${this.payload} B: ${this.error}`;
    }
    return `payload ${this.payload} B, truesize ${this.truesize} B, ratio ${
      this.ratio.toFixed(3)
    }`;
  }

  /** Plain data: payload, truesize, ratio, skbs, and the error if there is one. */
  toJSON(): {
    payload: number;
    truesize: number;
    ratio: number;
    skbs: SkbMemory[];
    error?: PacketError;
  } {
    const { payload, truesize, ratio, skbs, error } = this;
    return error === undefined
      ? { payload, truesize, ratio, skbs }
      : { payload, truesize, ratio, skbs, error };
  }
}
