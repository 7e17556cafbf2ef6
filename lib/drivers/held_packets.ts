/**
 * Packets that the stack still holds, oldest first: what each is charged and which pages it keeps from being freed.
 *
 * @module
 */

import type { PageAllocator } from "../mm/page_alloc.ts";
import { grownRing } from "../sim/grown.ts";

/** Who takes references of blocks back. */
export type PageReferences = Pick<PageAllocator, "putPage">;

/**
 * A queue of received packets with their page references; typed rings that double, nothing allocated a packet.
 *
 * @example
 * ```ts
 * import { HeldPackets, kernel, PageAllocator } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const pages = new PageAllocator(kernel("6.18"));
 * const held = new HeldPackets(pages, 0);
 * held.push(2304);
 * held.push(2304);
 * assertEquals([held.packets, held.truesize], [2, 4608]);
 * held.consume(1);
 * assertEquals(held.truesize, 2304);
 * ```
 */
export class HeldPackets {
  /** Packets held. */
  packets = 0;
  /** Sum of their truesize, bytes. */
  truesize = 0;
  readonly #pages: PageReferences;
  readonly #cpu: number;
  // A packet is one entry (number of references, truesize), its references are as many entries of #pfns.
  #counts = new Int32Array(64);
  #truesizes = new Float64Array(64);
  #head = 0;
  #pfns = new Int32Array(64);
  #pfnHead = 0;
  #refs = 0;
  #open = 0;

  /**
   * None held.
   *
   * @param pages The page allocator that the references belong to, or what else takes them back.
   * @param cpu CPU to whose lists freed pages go.
   */
  constructor(pages: PageReferences, cpu: number) {
    this.#pages = pages;
    this.#cpu = cpu;
  }

  /** Gives the packet that is being received one reference of a block, which the caller already took. */
  addRef(pfn: number): void {
    if (this.#refs === this.#pfns.length) this.#growRefs();
    this.#pfns[(this.#pfnHead + this.#refs) & (this.#pfns.length - 1)] = pfn;
    this.#refs++;
    this.#open++;
  }

  /** Ends the packet that is being received: it is held from now on. */
  push(truesize: number): void {
    if (this.packets === this.#counts.length) this.#growPackets();
    const at = (this.#head + this.packets) & (this.#counts.length - 1);
    this.#counts[at] = this.#open;
    this.#truesizes[at] = truesize;
    this.#open = 0;
    this.packets++;
    this.truesize += truesize;
  }

  /** Drops the packet that is being received and its references. */
  abort(): void {
    const mask = this.#pfns.length - 1;
    while (this.#open > 0) {
      this.#open--;
      this.#refs--;
      this.#pages.putPage(
        this.#pfns[(this.#pfnHead + this.#refs) & mask]!,
        this.#cpu,
      );
    }
  }

  /**
   * Frees the oldest packets (`consume_skb`).
   *
   * @param packets How many at most.
   * @returns Bytes of truesize that were freed.
   */
  consume(packets: number): number {
    const mask = this.#counts.length - 1;
    const pfnMask = this.#pfns.length - 1;
    let freed = 0;
    for (let n = Math.min(packets, this.packets); n > 0; n--) {
      const at = this.#head;
      freed += this.#truesizes[at]!;
      for (let refs = this.#counts[at]!; refs > 0; refs--) {
        this.#pages.putPage(this.#pfns[this.#pfnHead]!, this.#cpu);
        this.#pfnHead = (this.#pfnHead + 1) & pfnMask;
        this.#refs--;
      }
      this.#head = (at + 1) & mask;
      this.packets--;
    }
    this.truesize -= freed;
    return freed;
  }

  #growRefs(): void {
    this.#pfns = grownRing(this.#pfns, this.#pfnHead);
    this.#pfnHead = 0;
  }

  #growPackets(): void {
    this.#counts = grownRing(this.#counts, this.#head);
    this.#truesizes = grownRing(this.#truesizes, this.#head);
    this.#head = 0;
  }
}
