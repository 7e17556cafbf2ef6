/**
 * A receive strategy of one's own: what a driver posts to its ring, and how an arriving frame becomes an skb.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { type RxPath, RxTable } from "../net/rx_skb.ts";
import { Frag, Head, SkBuff } from "../net/skbuff.ts";
import { whole } from "../sim/check.ts";
import { ETH_HLEN, FRAME_MAX } from "./frame.ts";

/** What a driver posts to each slot of its ring. */
export interface RxBuffer {
  /** Bytes of memory that a slot takes. */
  readonly size: number;
  /** Bytes of it that the device may write; all of them if absent. */
  readonly data?: number | undefined;
  /** Where it comes from: pages of its own (the default), or fragments of the per-CPU page-fragment cache. */
  readonly from?: "pages" | "page_frag_cache" | undefined;
}

/** A receive strategy as {@linkcode defineRxStrategy} takes it. */
export interface RxStrategyDefinition {
  /** Its name in tables and plots. */
  readonly name: string;
  /** The buffers of its ring; their size in bytes alone, or by kernel. */
  readonly buffer: number | RxBuffer | ((kernel: Kernel) => number | RxBuffer);
  /**
   * The driver: makes the skb of one frame, anew each time and from kernel and length alone, or returns null where it
   * drops the frame. `buildSkb`, `napiAllocSkb`, `skbPut`, `skbAddRxFrag` and the others of net/core/skbuff.c are its
   * tools; so is any driver of this module, such as `ixgbeReceive`.
   */
  receive(kernel: Kernel, frame: number): SkBuff | null;
}

/** {@linkcode RxBuffer} with everything filled in. */
export type RxBufferSetup = {
  readonly [K in keyof RxBuffer]-?: NonNullable<RxBuffer[K]>;
};

/** Largest buffer: a block of the highest order of pages of 4 KiB, bytes. */
const BUFFER_MAX = 4 << 20;
const SOURCES = ["pages", "page_frag_cache"] as const;

function shown(value: unknown): string {
  return typeof value === "object" && value !== null
    ? `an object of ${value.constructor?.name ?? "no class"}`
    : String(value);
}

/**
 * A receive strategy, whose code is the user's: what it returns is held against the contract of an skb.
 *
 * @example
 * ```ts
 * import { buildSkb, defineRxStrategy, Head, kernel, RxStrategy, skbPut } from "@truesize/lab";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const halfPages = defineRxStrategy({
 *   name: "half pages",
 *   buffer: 2048,
 *   receive: (kernel, frame) => skbPut(buildSkb(kernel, 2048, Head.RX_BUFFER), frame),
 * });
 * assert(halfPages instanceof RxStrategy);
 * assertEquals(halfPages.receive(kernel("6.18"), 1514)?.truesize, 2304);
 * ```
 */
export class RxStrategy {
  /** Its name. */
  readonly name: string;
  readonly #definition: RxStrategyDefinition;

  /** See {@linkcode defineRxStrategy}. */
  constructor(definition: RxStrategyDefinition) {
    this.name = definition.name;
    this.#definition = definition;
    Object.freeze(this);
  }

  /** Its name. */
  toString(): string {
    return this.name;
  }

  #broken(Kind: typeof RangeError | typeof TypeError, text: string): Error {
    return new Kind(`receive strategy "${this.name}": ${text}`);
  }

  #threw(call: string, cause: unknown): Error {
    const what = cause instanceof Error
      ? `${cause.name}: ${cause.message}`
      : shown(cause);
    return new Error(`receive strategy "${this.name}": ${call} threw ${what}`, {
      cause,
    });
  }

  /**
   * What it posts to a ring under a kernel.
   *
   * @param kernel The kernel.
   * @throws {RangeError} The definition's buffer is out of range.
   * @throws {TypeError} It is neither a size nor a record of one.
   * @throws {Error} The definition's function threw; it is the error's cause.
   */
  buffer(kernel: Kernel): RxBufferSetup {
    const { buffer } = this.#definition;
    let given: number | RxBuffer;
    try {
      given = typeof buffer === "function" ? buffer(kernel) : buffer;
    } catch (cause) {
      throw this.#threw(`buffer(kernel ${kernel.name})`, cause);
    }
    const record = typeof given === "number" ? { size: given } : given;
    if (typeof record !== "object" || record === null) {
      throw this.#broken(
        TypeError,
        `buffer must be bytes or { size, data, from }, got ${shown(given)}`,
      );
    }
    const who = `receive strategy "${this.name}"`;
    const size = whole(`${who}: buffer.size`, record.size, 64, BUFFER_MAX);
    const from = record.from ?? "pages";
    if (!SOURCES.includes(from)) {
      throw this.#broken(
        RangeError,
        `buffer.from "${String(from)}": ${SOURCES.join(" or ")} is allowed`,
      );
    }
    const data = whole(
      `${who}: buffer.data`,
      record.data ?? size,
      ETH_HLEN,
      size,
    );
    return { size, data, from };
  }

  /**
   * The skb of one frame, held against the contract.
   *
   * @param kernel The kernel.
   * @param frame Bytes of the Ethernet frame, 14 to 2^20.
   * @param headers Bytes of headers that the stack will pull into the head; the Ethernet header if absent.
   * @returns The skb, or null where the strategy drops the frame.
   * @throws {RangeError} `frame` is out of range, or a number of the skb breaks the contract.
   * @throws {TypeError} The strategy returned no skb.
   * @throws {Error} The strategy threw; what it threw is the error's cause.
   */
  receive(kernel: Kernel, frame: number, headers = ETH_HLEN): SkBuff | null {
    whole("frame", frame, ETH_HLEN, FRAME_MAX);
    let skb: SkBuff | null;
    try {
      skb = this.#definition.receive(kernel, frame);
    } catch (cause) {
      throw this.#threw(
        `receive(kernel ${kernel.name}, frame of ${frame} bytes)`,
        cause,
      );
    }
    if (skb === null) return null;
    const fault = faultOf(kernel, skb, frame, headers);
    if (fault !== null) {
      throw this.#broken(
        skb instanceof SkBuff ? RangeError : TypeError,
        `receive(kernel ${kernel.name}, frame of ${frame} bytes): ${fault}`,
      );
    }
    // What the stack does to an skb, pulling and merging, would be done to the same one again.
    if (lastSkb.get(this) === skb) {
      throw this.#broken(
        TypeError,
        "receive returned the same skb twice: each frame needs one of its own",
      );
    }
    lastSkb.set(this, skb);
    return skb;
  }

  /**
   * What TCP sees of its skbs: for `netperf({ rx })`. Each length is received once and looked up from then on, so that a
   * segment costs neither a call of the strategy nor an allocation.
   *
   * @param kernel The kernel.
   * @param options Of the segments: IPv4 and timestamps if absent.
   * @throws {RangeError} On use: the strategy drops a segment, or breaks the contract.
   *
   * @example The strategy's charge for an MTU-sized segment
   * ```ts
   * import { defineRxStrategy, kernel, napiAllocSkb, skbAddRxFrag } from "@truesize/lab";
   * import { assertEquals } from "@std/assert";
   *
   * const pages = defineRxStrategy({
   *   name: "a page each",
   *   buffer: 4096,
   *   receive: (kernel, frame) => {
   *     const skb = napiAllocSkb(kernel, 128);
   *     skbAddRxFrag(skb, frame, 4096);
   *     return skb;
   *   },
   * });
   * const rx = pages.rxPath(kernel("6.18"));
   * rx.receive(1448);
   * assertEquals([rx.skb.truesize, rx.skb.linear, rx.skb.frags], [4928, 0, 1]);
   * ```
   */
  rxPath(
    kernel: Kernel,
    options: {
      readonly ip?: 4 | 6 | undefined;
      readonly timestamps?: boolean | undefined;
    } = {},
  ): RxPath {
    const { ip = 4, timestamps = true } = options;
    const headers = ETH_HLEN + (ip === 4 ? 20 : 40) + (timestamps ? 32 : 20);
    return new RxTable(kernel, (payload) => {
      const skb = this.receive(kernel, headers + payload, headers);
      if (skb === null) {
        throw this.#broken(
          RangeError,
          `receive drops a frame of ${
            headers + payload
          } bytes, which TCP would send again for ever`,
        );
      }
      skb.headerLen = headers;
      return skb;
    });
  }
}

const lastSkb = new WeakMap<RxStrategy, SkBuff>();

/** Which rule of an skb a strategy's answer breaks; null where none. */
function faultOf(
  kernel: Kernel,
  skb: unknown,
  frame: number,
  headers: number,
): string | null {
  if (!(skb instanceof SkBuff)) {
    return `an skb or null must be returned, as buildSkb and napiAllocSkb give one, got ${
      shown(skb)
    }`;
  }
  const { data, tail, end, headSize, len, dataLen, truesize } = skb;
  for (
    const [name, value] of Object.entries({
      data,
      tail,
      end,
      headSize,
      len,
      dataLen,
      truesize,
    })
  ) {
    if (!Number.isInteger(value) || value < 0) {
      return `skb.${name} must be whole bytes, got ${String(value)}`;
    }
  }
  if (!Object.values(Head).includes(skb.headKind)) {
    return `skb.headKind must be one of Head, got ${String(skb.headKind)}`;
  }
  const { skBuff, sharedInfo } = kernel.skb;
  if (data > tail || tail > end || end + sharedInfo > headSize) {
    return `the head must hold data ≤ tail ≤ end and ${sharedInfo} bytes of shared info behind end, got data ${data}, tail ${tail}, end ${end} of ${headSize} bytes`;
  }
  const { maxSkbFrags } = kernel.build;
  if (skb.frags.length > maxSkbFrags) {
    return `an skb has at most ${maxSkbFrags} fragments (MAX_SKB_FRAGS), got ${skb.frags.length}`;
  }
  let paged = skb.fragList.reduce((sum, other) => sum + other.len, 0);
  for (const [i, { size, room, kind }] of skb.frags.entries()) {
    if (
      !Number.isInteger(size) || !Number.isInteger(room) || size < 1 ||
      size > room || !Object.values(Frag).includes(kind)
    ) {
      return `fragment ${i} must hold 1 byte or more in as much room, got ${size} in ${room}`;
    }
    paged += size;
  }
  if (paged !== dataLen || tail - data !== len - dataLen) {
    return `len and data_len must be what head and fragments hold, got len ${len}, data_len ${dataLen}, linear ${
      tail - data
    }, in fragments ${paged}`;
  }
  if (len !== frame) {
    return `the skb must hold the whole frame, it holds ${len} bytes`;
  }
  if (truesize < skBuff + len) {
    return `truesize must count at least the sk_buff and the packet, ${
      skBuff + len
    } bytes, got ${truesize}`;
  }
  const room = end - data;
  if (room < Math.min(headers, frame)) {
    return `the stack pulls ${headers} bytes of headers into the head, which has room for ${room}`;
  }
  return null;
}

/**
 * A receive strategy: which buffers a driver posts, and how it makes an skb of an arriving frame. It can stand wherever
 * a path is named (`truesizeOf`, `truesizeSweep`, `datagramsUntilDrop`), receive for `ipForward`, and give TCP its skbs
 * (`rxPath`). Its own ring is {@linkcode RxStrategyRing}.
 *
 * @param definition Name, buffers, driver.
 * @returns The strategy.
 * @throws {TypeError} A part is missing or of the wrong type.
 *
 * @example Copy what is small, keep half a page of what is not
 * ```ts
 * import { defineRxStrategy, kernel, napiAllocSkb, skbAddRxFrag, skbPut, truesizeOf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const copybreak = defineRxStrategy({
 *   name: "copybreak 256",
 *   buffer: { size: 2048, from: "page_frag_cache" },
 *   receive: (kernel, frame) => {
 *     const skb = napiAllocSkb(kernel, 256);
 *     if (frame <= 256) return skbPut(skb, frame);
 *     skbAddRxFrag(skb, frame, 2048);
 *     return skb;
 *   },
 * });
 * const charge = (payload: number) => truesizeOf({ kernel: kernel("6.12"), path: copybreak, payload }).truesize;
 * assertEquals([charge(100), charge(1472)], [1280, 3328]);
 * ```
 */
export function defineRxStrategy(definition: RxStrategyDefinition): RxStrategy {
  if (typeof definition !== "object" || definition === null) {
    throw new TypeError(
      `defineRxStrategy(): a strategy must be { name, buffer, receive }, got ${
        shown(definition)
      }`,
    );
  }
  const { name, buffer, receive } = definition;
  if (typeof name !== "string" || name.trim() === "") {
    throw new TypeError(
      `defineRxStrategy(): name must be a text, got ${shown(name)}`,
    );
  }
  if (typeof receive !== "function") {
    throw new TypeError(
      `defineRxStrategy(): receive must be a function of kernel and frame, got ${
        shown(receive)
      }`,
    );
  }
  if (
    !["number", "object", "function"].includes(typeof buffer) || buffer === null
  ) {
    throw new TypeError(
      `defineRxStrategy(): buffer must be bytes, { size, data, from } or a function of a kernel, got ${
        shown(buffer)
      }`,
    );
  }
  return new RxStrategy({ ...definition });
}
