/**
 * The buffers that virtio_net posts for mergeable packets: where they are cut from and how the ring is filled.
 *
 * @module
 */

import { Gfp } from "../mm/gfp.ts";
import type { PageAllocator } from "../mm/page_alloc.ts";
import { PageFrag } from "../mm/page_frag.ts";
import { PageFragCache } from "../mm/page_frag_cache.ts";
import type { RingBuffer } from "./receive_ring.ts";
import { VIRTIO_NET_HDR } from "./virtio_buffer.ts";
import type {
  MergeableRingCounters,
  MergeableRingSetup,
} from "./virtio_ring_options.ts";

/** Buffers are whole pages (up to 3.12). */
export const WHOLE_PAGES = 0;
/** Buffers are fragments of a fixed length (3.13). */
export const FIXED = 1;
/** Buffers are sized by the average frame (3.14 on). */
export const AVERAGED = 2;

/**
 * Slots of the ring with their buffers: `try_fill_recv`, `add_recvbuf_mergeable`, `virtnet_rq_alloc` and
 * `virtnet_rq_unmap` (drivers/net/virtio_net.c). Slots `next` to `next + posted - 1`, modulo the size, hold buffers.
 */
export class MergeableBuffers {
  /** The page allocator. */
  readonly pages: PageAllocator;
  /** `alloc_frag`: where buffers are cut from. */
  readonly frag: PageFrag;
  /** How lengths are chosen: one of the constants above. */
  readonly mode: number;
  /** By slot: first page of the buffer's block. */
  readonly pfn: Int32Array;
  /** By slot: where the buffer starts in its block, bytes. */
  readonly offset: Int32Array;
  /** By slot: bytes that the device may write. */
  readonly length: Int32Array;
  /** By slot: bytes that the driver noted as its truesize. */
  readonly truesize: Int32Array;
  /** Slots minus one. */
  readonly mask: number;
  /** Slot of the oldest buffer. */
  next = 0;
  /** Buffers posted. */
  posted = 0;
  readonly #counters: MergeableRingCounters;
  readonly #cpu: number;
  readonly #fixed: number;
  readonly #low: number;
  readonly #high: number;
  readonly #align: number;
  readonly #countsHole: boolean;
  readonly #netdevCache: PageFragCache | null;
  // rq->pages: pages whose data was copied, for the next fill.
  readonly #list: Int32Array;
  #listed = 0;
  readonly #dmaRecord: number;
  readonly #dmaShortens: boolean;
  readonly #dmaRefs: Int32Array;
  #lastDma = -1;
  #foreign = -1;

  /**
   * Slots without buffers.
   *
   * @param pages The page allocator; its kernel decides the rules.
   * @param setup The ring's options.
   * @param counters What is counted.
   */
  constructor(
    pages: PageAllocator,
    setup: MergeableRingSetup,
    counters: MergeableRingCounters,
  ) {
    const { virtio, build } = pages.kernel;
    const { size, cpu } = setup;
    this.pages = pages;
    this.frag = new PageFrag(pages, { cpu });
    this.mode = virtio.mergeable === "page"
      ? WHOLE_PAGES
      : virtio.mergeable === "mtu"
      ? FIXED
      : AVERAGED;
    this.pfn = new Int32Array(size);
    this.offset = new Int32Array(size);
    this.length = new Int32Array(size);
    this.truesize = new Int32Array(size);
    this.mask = size - 1;
    this.#counters = counters;
    this.#cpu = cpu;
    this.#fixed = virtio.bufferMin;
    this.#low = setup.minimum;
    this.#high = build.pageSize - VIRTIO_NET_HDR;
    this.#align = virtio.bufferAlign;
    this.#countsHole = virtio.countsHole;
    this.#netdevCache = this.mode === FIXED
      ? new PageFragCache(pages, { cpu })
      : null;
    this.#list = new Int32Array(this.mode === WHOLE_PAGES ? size : 0);
    this.#dmaRecord = setup.dmaRecord;
    this.#dmaShortens = setup.dmaShortens;
    this.#dmaRefs = new Int32Array(
      setup.dmaRecord > 0 ? pages.refcount.length : 0,
    );
  }

  /**
   * Posts buffers until so many are in the ring (`try_fill_recv`).
   *
   * @param gfp What the page allocator may do.
   * @param upTo Buffers in the ring afterwards, if there is memory.
   * @param average Average frame length, bytes.
   */
  fill(gfp: number, upTo: number, average: number): void {
    const length = this.#nextLength(average);
    const atomic = (gfp & Gfp.__GFP_DIRECT_RECLAIM) === 0;
    while (this.posted < upTo) {
      const done = this.mode === WHOLE_PAGES
        ? this.#addPage(gfp)
        : this.mode === FIXED && atomic
        ? this.#addNetdevFrag(length, gfp)
        : this.#addFrag(length, gfp);
      if (!done) {
        this.#counters.oom++;
        return;
      }
    }
  }

  /** Takes the oldest buffer out (`virtqueue_get_buf`); its reference is the caller's. Returns its block. */
  take(): number {
    const pfn = this.pfn[this.next]!;
    this.next = (this.next + 1) & this.mask;
    this.posted--;
    if (this.#dmaRecord > 0) this.#unmap(pfn);
    return pfn;
  }

  /** A buffer that no skb needs: its page back to the driver's list (`give_pages`), or its reference dropped. */
  giveBack(pfn: number): void {
    if (this.mode === WHOLE_PAGES && this.#listed <= this.mask) {
      this.#list[this.#listed++] = pfn;
    } else {
      this.pages.putPage(pfn, this.#cpu);
    }
  }

  /** Goes on in another block, whose first bytes are taken to be somebody else's. */
  startAt(blockOffset: number): void {
    const { frag } = this;
    frag.release();
    if (
      blockOffset === 0 || this.mode === WHOLE_PAGES ||
      !frag.refill(1, Gfp.GFP_KERNEL)
    ) return;
    this.pages.getPage(frag.pfn);
    this.#foreign = frag.pfn;
    if (this.#dmaRecord > 0) this.#map();
    frag.offset = Math.min(blockOffset, frag.size);
  }

  /** The buffers that are posted now, next one first. */
  list(): RingBuffer[] {
    return Array.from({ length: this.posted }, (_, i) => {
      const at = (this.next + i) & this.mask;
      return {
        pfn: this.pfn[at]!,
        offset: this.offset[at]!,
        length: this.length[at]!,
      };
    });
  }

  /** Frees everything (`free_unused_bufs`, `free_receive_bufs`, `free_receive_page_frags`). */
  close(): void {
    while (this.posted > 0) this.pages.putPage(this.take(), this.#cpu);
    while (this.#listed > 0) {
      this.pages.putPage(this.#list[--this.#listed]!, this.#cpu);
    }
    if (this.#lastDma >= 0) this.#unmap(this.#lastDma);
    this.#lastDma = -1;
    if (this.#foreign >= 0) this.pages.putPage(this.#foreign, this.#cpu);
    this.#foreign = -1;
    this.frag.release();
    this.#netdevCache?.drain();
  }

  // get_mergeable_buf_len, without the checks of mergeableBufferLength.
  #nextLength(average: number): number {
    if (this.mode !== AVERAGED) return this.#fixed;
    const data = average >= this.#high
      ? this.#high
      : average <= this.#low
      ? this.#low
      : average;
    return Math.ceil((VIRTIO_NET_HDR + data) / this.#align) * this.#align;
  }

  #addPage(gfp: number): boolean {
    const pfn = this.#listed > 0
      ? this.#list[--this.#listed]!
      : this.pages.alloc(gfp, 0, this.#cpu);
    if (pfn < 0) return false;
    this.#post(pfn, 0, this.#fixed, this.#fixed);
    return true;
  }

  #addNetdevFrag(length: number, gfp: number): boolean {
    const cache = this.#netdevCache!;
    const address = cache.alloc(length, gfp);
    if (address < 0) return false;
    this.#post(cache.pfn, address - cache.base, length, length);
    return true;
  }

  #addFrag(wanted: number, gfp: number): boolean {
    const { frag } = this;
    const counters = this.#counters;
    let length = wanted;
    if (!frag.refill(length, gfp)) return false;
    if (this.#dmaRecord > 0 && frag.offset === 0) {
      const record = this.#dmaRecord;
      if (this.#dmaShortens && length + record > frag.size) length -= record;
      this.#map();
    }
    const { pfn, offset } = frag;
    if (this.#dmaRecord > 0) this.#dmaRefs[pfn]!++;
    this.pages.getPage(pfn);
    frag.counters.frags++;
    frag.offset = offset + length;
    let usable = length;
    const hole = frag.size - frag.offset;
    if (hole < 0) {
      counters.overruns++;
      counters.overrunBytes -= hole;
    } else if (this.mode === AVERAGED && hole < length) {
      usable += hole;
      frag.offset = frag.size;
      if (hole > 0) counters.holes++;
    }
    this.#post(pfn, offset, usable, this.#countsHole ? usable : length);
    return true;
  }

  #post(pfn: number, offset: number, length: number, truesize: number): void {
    const at = (this.next + this.posted) & this.mask;
    this.pfn[at] = pfn;
    this.offset[at] = offset;
    this.length[at] = length;
    this.truesize[at] = truesize;
    this.posted++;
    this.#counters.posted++;
  }

  // A fresh block: the record takes its first bytes and holds the block until the next one is mapped.
  #map(): void {
    const { frag } = this;
    if (this.#lastDma >= 0) this.#unmap(this.#lastDma);
    this.pages.getPage(frag.pfn);
    this.#dmaRefs[frag.pfn] = 1;
    this.#lastDma = frag.pfn;
    frag.offset = this.#dmaRecord;
    this.#counters.dmaMaps++;
  }

  #unmap(pfn: number): void {
    const refs = this.#dmaRefs[pfn]! - 1;
    this.#dmaRefs[pfn] = refs;
    if (refs > 0) return;
    this.#counters.dmaUnmaps++;
    this.pages.putPage(pfn, this.#cpu);
  }
}
