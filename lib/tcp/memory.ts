/**
 * Protocol memory: what all TCP sockets of a host hold, in pages, and when that is too much.
 *
 * @module
 */

/**
 * `tcp_mem` and what is taken of it.
 *
 * Models `__sk_mem_raise_allocated` and `__sk_mem_reduce_allocated` (net/core/sock.c) without memory cgroups; the
 * per-CPU reserve of later releases moves when the counter is touched, not what is granted.
 */
export class TcpMemory {
  /** `tcp_mem[0]`: below it there is no pressure, pages. */
  readonly low: number;
  /** `tcp_mem[1]`: above it there is, pages. */
  readonly pressureMark: number;
  /** `tcp_mem[2]`: nothing beyond, pages. */
  readonly high: number;
  /** Bytes of a page, and their power of two. */
  readonly pageSize: number;
  readonly pageShift: number;
  /** `memory_allocated`, pages. */
  allocated = 0;
  /** `memory_pressure`. */
  pressure = false;
  /** `sockets_allocated`. */
  sockets = 0;
  /** Times that pressure began. */
  pressures = 0;

  /**
   * Memory of one host.
   *
   * @param tcpMem `net.ipv4.tcp_mem`, pages; unbounded if absent.
   * @param pageSize Bytes of a page.
   */
  constructor(
    tcpMem: readonly [number, number, number] = [Infinity, Infinity, Infinity],
    pageSize = 4096,
  ) {
    [this.low, this.pressureMark, this.high] = tcpMem;
    this.pageSize = pageSize;
    this.pageShift = 31 - Math.clz32(pageSize);
  }

  /**
   * Takes pages.
   *
   * @param pages How many.
   * @param held Bytes that the socket holds: queue and what it has in reserve.
   * @param belowMin Whether the socket is still below its `tcp_rmem[0]` or `tcp_wmem[0]`.
   * @returns Whether they were granted.
   */
  take(pages: number, held: number, belowMin: boolean): boolean {
    this.allocated += pages;
    if (this.allocated <= this.low) {
      this.pressure = false;
      return true;
    }
    if (this.allocated > this.pressureMark) this.#press();
    if (this.allocated <= this.high) {
      if (belowMin || !this.pressure) return true;
      if (
        this.high > this.sockets * Math.ceil(held / this.pageSize)
      ) return true;
    }
    this.allocated -= pages;
    return false;
  }

  /** Takes pages whatever the marks say. */
  force(pages: number): void {
    this.allocated += pages;
    if (this.allocated > this.pressureMark) this.#press();
  }

  /** Pages that `bytes` need (`sk_mem_pages`). */
  pagesFor(bytes: number): number {
    return (bytes + this.pageSize - 1) >> this.pageShift;
  }

  /**
   * Takes the whole pages of a socket's reserve back (`sk_mem_reclaim`).
   *
   * @param forwardAlloc `sk_forward_alloc`, bytes.
   * @returns What is left of it.
   */
  reclaim(forwardAlloc: number): number {
    if (forwardAlloc < this.pageSize) return forwardAlloc;
    this.give(forwardAlloc >> this.pageShift);
    return forwardAlloc & (this.pageSize - 1);
  }

  /** Gives pages back. */
  give(pages: number): void {
    this.allocated -= pages;
    if (this.pressure && this.allocated < this.low) this.pressure = false;
  }

  #press(): void {
    if (!this.pressure) {
      this.pressure = true;
      this.pressures++;
    }
  }
}
