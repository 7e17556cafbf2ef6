/** Rounding that everything in the kernel's memory does. @module */

/**
 * Rounds `size` up to a multiple of `unit`, as `ALIGN` and `SKB_DATA_ALIGN` do. Bytes.
 *
 * @param size A non-negative integer.
 * @param unit A positive integer.
 */
export function alignUp(size: number, unit: number): number {
  return Math.ceil(size / unit) * unit;
}
