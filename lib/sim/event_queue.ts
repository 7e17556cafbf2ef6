/**
 * Simulated time: sources of events, each with the time of its next one, in a small heap.
 *
 * A source is something that goes on for the whole run (a link, a CPU, a socket's timers), not one packet: packets wait
 * in rings of their own, whose head is the source's next event. The heap so stays as small as the model.
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
  /** Next time by source, ns. */
  readonly #times: number[] = [];
  // A binary heap of sources, and where each stands in it.
  readonly #heap: number[] = [];
  readonly #place: number[] = [];

  /** Registers a source that has nothing to do yet. */
  add(source: EventSource): number {
    const id = this.#sources.length;
    this.#sources.push(source);
    this.#times.push(Infinity);
    this.#place.push(id);
    this.#heap.push(id);
    return id;
  }

  /** When any source acts next, ns; Infinity for never. */
  get nextAt(): number {
    return this.#heap.length > 0 ? this.#times[this.#heap[0]!]! : Infinity;
  }

  /** When a source acts next, ns. */
  timeOf(id: number): number {
    return this.#times[id]!;
  }

  /** Sets when a source acts next, ns; Infinity for never. */
  set(id: number, time: number): void {
    const before = this.#times[id]!;
    if (before === time) return;
    this.#times[id] = time;
    if (time < before) this.#up(this.#place[id]!);
    else this.#down(this.#place[id]!);
  }

  /** When any other source than the one that acts now is due, ns: until then it may go on. */
  othersAt(): number {
    const heap = this.#heap;
    const times = this.#times;
    let at = Infinity;
    if (heap.length > 1) at = times[heap[1]!]!;
    if (heap.length > 2 && times[heap[2]!]! < at) at = times[heap[2]!]!;
    return at < this.#end ? at : this.#end;
  }

  /** Whether `id` is the source that stands first. */
  isFirst(id: number): boolean {
    return this.#heap[0] === id;
  }

  #end = Infinity;

  /**
   * Lets the sources act up to a time.
   *
   * @param end The time, ns; events at it still happen.
   * @throws {Error} More than `most` events happened without the time moving on.
   */
  run(end: number, most = 10_000_000): void {
    this.#end = end;
    let still = 0;
    while (this.#heap.length > 0) {
      const id = this.#heap[0]!;
      const time = this.#times[id]!;
      if (!(time <= end)) break;
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

  #before(a: number, b: number): boolean {
    const x = this.#times[a]!;
    const y = this.#times[b]!;
    return x < y || x === y && a < b;
  }

  #up(from: number): void {
    const heap = this.#heap;
    const place = this.#place;
    let at = from;
    const id = heap[at]!;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const other = heap[parent]!;
      if (!this.#before(id, other)) break;
      heap[at] = other;
      place[other] = at;
      at = parent;
    }
    heap[at] = id;
    place[id] = at;
  }

  #down(from: number): void {
    const heap = this.#heap;
    const place = this.#place;
    let at = from;
    const id = heap[at]!;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (
        child + 1 < heap.length && this.#before(heap[child + 1]!, heap[child]!)
      ) {
        child++;
      }
      const other = heap[child]!;
      if (!this.#before(other, id)) break;
      heap[at] = other;
      place[other] = at;
      at = child;
    }
    heap[at] = id;
    place[id] = at;
  }
}
