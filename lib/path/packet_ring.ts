/**
 * A ring of packets with a time each, oldest first.
 *
 * @module
 */

import { grownRing } from "../sim/grown.ts";

/** Packets in the order of their times. */
export class PacketRing {
  /** Packets in it. */
  length = 0;
  #times = new Float64Array(64);
  #ids = new Int32Array(64);
  #head = 0;

  /** Time of the oldest, ns; Infinity where there is none. */
  get headTime(): number {
    return this.length === 0 ? Infinity : this.#times[this.#head]!;
  }

  /** Appends a packet; one whose time lies before others' goes in front of those. */
  push(packet: number, time: number): void {
    if (this.length === this.#ids.length) {
      this.#times = grownRing(this.#times, this.#head);
      this.#ids = grownRing(this.#ids, this.#head);
      this.#head = 0;
    }
    const mask = this.#ids.length - 1;
    let at = this.length++;
    // Only a reordered packet overtakes.
    while (at > 0 && this.#times[(this.#head + at - 1) & mask]! > time) {
      const from = (this.#head + at - 1) & mask;
      const to = (this.#head + at) & mask;
      this.#times[to] = this.#times[from]!;
      this.#ids[to] = this.#ids[from]!;
      at--;
    }
    const place = (this.#head + at) & mask;
    this.#times[place] = time;
    this.#ids[place] = packet;
  }

  /** Takes the oldest. */
  shift(): number {
    const packet = this.#ids[this.#head]!;
    this.#head = (this.#head + 1) & (this.#ids.length - 1);
    this.length--;
    return packet;
  }

  /** The packet `offset` places behind the oldest. */
  at(offset: number): number {
    return this.#ids[(this.#head + offset) & (this.#ids.length - 1)]!;
  }
}
