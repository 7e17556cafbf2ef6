/** `softnet_data.poll_list` as a ring of device numbers. @module */

import { grownRing } from "../sim/grown.ts";

/** A ring of device numbers. */
export class PollList {
  #ids = new Int32Array(16);
  #first = 0;
  /** Devices on it. */
  length = 0;

  /** Appends a device. */
  push(id: number): void {
    if (this.length === this.#ids.length) {
      this.#ids = grownRing(this.#ids, this.#first);
      this.#first = 0;
    }
    this.#ids[(this.#first + this.length++) & (this.#ids.length - 1)] = id;
  }

  /** Takes the first device; there must be one. */
  shift(): number {
    const id = this.#ids[this.#first]!;
    this.#first = (this.#first + 1) & (this.#ids.length - 1);
    this.length--;
    return id;
  }

  /** Appends all of another list and empties it. */
  splice(from: PollList): void {
    while (from.length > 0) this.push(from.shift());
  }
}
