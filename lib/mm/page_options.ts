/**
 * What a page allocator is made with, and the checks of its arguments.
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

/** A whole number within bounds, or a RangeError that names it. */
export function whole(
  name: string,
  value: number,
  from: number,
  to: number,
): number {
  if (!Number.isInteger(value) || value < from || value > to) {
    throw new RangeError(
      `${name} ${
        String(value)
      }: a whole number from ${from} to ${to} is allowed`,
    );
  }
  return value;
}

/** A share from 0 to 1. */
export function share(name: string, value: number): number {
  if (!(typeof value === "number" && value >= 0 && value <= 1)) {
    throw new RangeError(
      `${name} ${String(value)}: a number from 0 to 1 is allowed`,
    );
  }
  return value;
}

/** A seed. */
export function finite(name: string, value: number): number {
  if (!Number.isFinite(value)) {
    throw new RangeError(
      `${name} ${String(value)}: a finite number is allowed`,
    );
  }
  return value;
}

/** A function, or nothing. */
export function hook<T>(name: string, value: T | undefined): T | undefined {
  if (value !== undefined && typeof value !== "function") {
    throw new TypeError(`${name}: a function is allowed`);
  }
  return value;
}

/** A boolean. */
export function flag(name: string, value: boolean): boolean {
  if (typeof value !== "boolean") {
    throw new TypeError(`${name} ${String(value)}: true or false is allowed`);
  }
  return value;
}
