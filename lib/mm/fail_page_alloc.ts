/**
 * Requests that fail on purpose (mm/fail_page_alloc.c).
 *
 * @module
 */

import { finite, share, whole } from "../sim/check.ts";
import { randomLcg } from "../sim/random.ts";

/** How {@linkcode PageAllocator.failPageAlloc} lets requests fail. */
export interface FailPageAllocOptions {
  /** Smallest order that may fail; 1 when absent, as the kernel's `min-order`. */
  readonly minOrder?: number | undefined;
  /** Share of those requests that fail, 0 to 1; 1 when absent. */
  readonly probability?: number | undefined;
  /** Seed of the random sequence; 1 when absent. */
  readonly seed?: number | undefined;
}

/** The kernel's fault injection for page requests, seeded. */
export class FailPageAlloc {
  #minOrder = Infinity;
  #probability = 1;
  #random: () => number = () => 0;

  /**
   * Whether a request fails (`should_fail_alloc_page`).
   *
   * @param order Order of the request.
   */
  shouldFail(order: number): boolean {
    return order >= this.#minOrder &&
      (this.#probability === 1 || this.#random() < this.#probability);
  }

  /**
   * Sets what fails from now on; the random sequence starts anew.
   *
   * @param options Which and how many; absent: none.
   * @param maxOrder Highest order there is.
   * @throws {RangeError} An option is out of range.
   */
  set(options: FailPageAllocOptions | undefined, maxOrder: number): void {
    if (options === undefined) {
      this.#minOrder = Infinity;
      return;
    }
    const minOrder = whole("minOrder", options.minOrder ?? 1, 0, maxOrder);
    const probability = share("probability", options.probability ?? 1);
    this.#random = randomLcg(finite("seed", options.seed ?? 1));
    this.#probability = probability;
    this.#minOrder = minOrder;
  }
}
