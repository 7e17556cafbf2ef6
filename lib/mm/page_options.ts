/**
 * What a page allocator is made with.
 *
 * @module
 */

/** What a {@linkcode PageAllocator} is made with. An option given as `undefined` is absent. */
export interface PageAllocatorOptions {
  /** Pages of its only zone, 1 to 2^24; 65,536 when absent. */
  readonly pages?: number | undefined;
  /** CPUs with lists of their own, 1 to 4,096; `kernel.build.cpus` when absent. */
  readonly cpus?: number | undefined;
  /** `vm.min_free_kbytes`, KiB; computed from the zone's size when absent. */
  readonly minFreeKbytes?: number | undefined;
  /**
   * Whether a CPU's share of the last-level cache exceeds three batches of the per-CPU list (`PCPF_FREE_HIGH_BATCH`,
   * 6.7+): true when absent. Without it the lists let go of blocks above order 0 earlier.
   */
  readonly freeHighBatch?: boolean | undefined;
  /** See {@linkcode PageAllocator.onDirectReclaim}. */
  readonly onDirectReclaim?: ((order: number) => number) | undefined;
  /** See {@linkcode PageAllocator.onWakeKswapd}. */
  readonly onWakeKswapd?: ((order: number) => void) | undefined;
}
