/**
 * Simulated time: sources of events, each with the time of its next one, in a tournament.
 *
 * A source is something that goes on for the whole run (a link, a CPU, a socket's timers), not one packet: packets wait
 * in rings of their own, whose head is the source's next event. The tournament so stays as small as the model.
 *
 * @module
 */

/** Something that acts at times of its own. */
export interface EventSource {
  /**
   * Its time has come. It must set its next time, or stop.
   *
   * @param now The time, ns.
   */
  fire(now: number): void;
}

/**
 * Sources ordered by the time of their next event; of equal times the source registered first acts first, so that a run
 * repeats exactly.
 *
 * @example
 * ```ts
 * import { EventQueue } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const events = new EventQueue();
 * const seen: number[] = [];
 * const source = events.add({
 *   fire(now) {
 *     seen.push(now);
 *     events.set(source, now + 10);
 *   },
 * });
 * events.set(source, 5);
 * events.run(30);
 * assertEquals(seen, [5, 15, 25]);
 * ```
 */
export class EventQueue {
  /** The time, ns. */
  now = 0;
  /** Events so far. */
  count = 0;
  readonly #sources: EventSource[] = [];
  // A tournament: leaf i + size holds source i, each inner node the earlier of its two. Node 1 is the champion.
  #size = 16;
  #times: Float64Array = new Float64Array(16).fill(Infinity);
  #winners: Int32Array = new Int32Array(16).fill(0);
  #end = Infinity;

  /** Registers a source that has nothing to do yet. */
  add(source: EventSource): number {
    const id = this.#sources.length;
    this.#sources.push(source);
    if (id === this.#size) {
      const times = this.#times;
      this.#size *= 2;
      this.#times = new Float64Array(this.#size).fill(Infinity);
      this.#times.set(times);
      this.#winners = new Int32Array(this.#size);
    }
    if (id % 16 === 0) this.#replayAll();
    return id;
  }

  /** When any source acts next, ns; Infinity for never. */
  get nextAt(): number {
    return this.#times[this.#winners[1]!]!;
  }

  /** When a source acts next, ns. */
  timeOf(id: number): number {
    return this.#times[id]!;
  }

  /** Sets when a source acts next, ns; Infinity for never. */
  set(id: number, time: number): void {
    const times = this.#times;
    if (times[id] === time) return;
    times[id] = time;
    const winners = this.#winners;
    const half = this.#size >> 1;
    let node = half + (id >> 1);
    let winner = this.#earlier(id & ~1, id | 1);
    for (;;) {
      // Above a node whose winner stays, and is another source, nothing changes.
      if (winners[node] === winner && winner !== id) return;
      winners[node] = winner;
      if (node === 1) return;
      winner = this.#earlier(winners[node & ~1]!, winners[node | 1]!);
      node >>= 1;
    }
  }

  /** When any other source than the one that acts now is due, ns: until then it may go on. */
  othersAt(): number {
    const winners = this.#winners;
    const times = this.#times;
    const first = winners[1]!;
    const half = this.#size >> 1;
    // The second was beaten by the first somewhere on its way up.
    let at = times[first ^ 1]!;
    for (let node = half + (first >> 1); node > 1; node >>= 1) {
      const time = times[winners[node ^ 1]!]!;
      if (time < at) at = time;
    }
    return at < this.#end ? at : this.#end;
  }

  /** Whether `id` is the source that stands first. */
  isFirst(id: number): boolean {
    return this.#winners[1] === id;
  }

  /**
   * Lets the sources act up to a time.
   *
   * @param end The time, ns; events at it still happen.
   * @throws {Error} More than `most` events happened without the time moving on.
   */
  run(end: number, most = 10_000_000): void {
    this.#end = end;
    let still = 0;
    for (;;) {
      const id = this.#winners[1]!;
      const time = this.#times[id]!;
      if (!(time <= end) || time === Infinity) break;
      if (time > this.now) {
        this.now = time;
        still = 0;
      } else if (++still > most) {
        throw new Error(`${most} events at ${time} ns: the time stands still`);
      }
      this.count++;
      this.#sources[id]!.fire(time);
    }
    this.now = Math.max(this.now, end);
  }

  // Of equal times the source registered first.
  #earlier(a: number, b: number): number {
    const x = this.#times[a]!;
    const y = this.#times[b]!;
    return x < y || x === y && a < b ? a : b;
  }

  #replayAll(): void {
    const half = this.#size >> 1;
    for (let node = this.#size - 1; node >= 1; node--) {
      this.#winners[node] = node >= half
        ? this.#earlier(2 * (node - half), 2 * (node - half) + 1)
        : this.#earlier(this.#winners[2 * node]!, this.#winners[2 * node + 1]!);
    }
  }
}
