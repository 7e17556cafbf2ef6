/** Who holds which bytes: what the fuzz tests of the fragment allocators compare an allocator against. */
import { assert, assertEquals } from "@std/assert";
import type { PageAllocator } from "../../lib/mm/page_alloc.ts";

/** Fragments that are out, and every byte of memory that they cover. */
export class FragLedger {
  readonly addresses: number[] = [];
  readonly sizes: number[] = [];
  readonly blocks: number[] = [];
  bytes = 0;
  readonly #pages: PageAllocator;
  readonly #taken: Uint8Array;

  constructor(pages: PageAllocator) {
    this.#pages = pages;
    this.#taken = new Uint8Array(pages.refcount.length * pages.pageSize);
  }

  /** Enters a fragment; fails where a byte of it is held already or lies outside its block. */
  take(address: number, size: number, block: number): void {
    const { pageSize } = this.#pages;
    const start = block * pageSize;
    const end = start + (pageSize << this.#pages.orderOf(block));
    assert(
      address >= start && address + size <= end,
      `${address} + ${size} lies outside the block ${start} to ${end}`,
    );
    const range = this.#taken.subarray(address, address + size);
    assertEquals(range.indexOf(1), -1, `${address} + ${size} is held already`);
    range.fill(1);
    this.bytes += size;
    this.addresses.push(address);
    this.sizes.push(size);
    this.blocks.push(block);
  }

  /** Takes out one fragment and returns its address. */
  give(index: number): number {
    const address = this.addresses[index]!;
    const size = this.sizes[index]!;
    this.#taken.fill(0, address, address + size);
    for (const column of [this.addresses, this.sizes, this.blocks]) {
      column[index] = column.at(-1)!;
      column.pop();
    }
    return address;
  }

  /** Every block's refcount is the fragments out of it, plus `own` for the allocator's current one. */
  checkRefcounts(current: number, own: number): void {
    const out = new Map<number, number>();
    if (current >= 0) out.set(current, own);
    for (const block of this.blocks) out.set(block, (out.get(block) ?? 0) + 1);
    this.#pages.refcount.forEach((count, pfn) =>
      assertEquals(count, out.get(pfn) ?? 0, `refcount of pfn ${pfn}`)
    );
  }
}
