/**
 * Whole milliseconds of simulated time.
 *
 * @module
 */

const MS = 1e6;

/** Turns nanoseconds into whole milliseconds; a division only where the millisecond has changed. */
export class MsClock {
  #from = 0;
  #to = MS;
  #ms = 0;

  /** Whole milliseconds of `now` ns. */
  of(now: number): number {
    if (now >= this.#from && now < this.#to) return this.#ms;
    this.#ms = Math.floor(now / MS);
    this.#from = this.#ms * MS;
    this.#to = this.#from + MS;
    return this.#ms;
  }
}
