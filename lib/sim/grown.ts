/**
 * Longer typed arrays in place of full ones.
 *
 * @module
 */

/** What the helpers need of a typed array. */
interface Growable {
  readonly length: number;
  set(from: this, at?: number): void;
}

/**
 * Copies a typed array to the start of a longer one.
 *
 * @param to The longer one, filled with what its new places shall hold.
 * @param from The old one.
 * @returns `to`.
 */
export function grown<T extends Growable>(to: T, from: T): T {
  to.set(from);
  return to;
}

/**
 * A full ring in an array of twice the length, its oldest entry first.
 *
 * @param ring The full ring.
 * @param head Where its oldest entry stands.
 * @returns The longer ring; its head is 0.
 */
export function grownRing<T extends Int32Array | Float64Array>(
  ring: T,
  head: number,
): T {
  const longer = new (ring.constructor as new (length: number) => T)(
    2 * ring.length,
  );
  longer.set(ring.subarray(head));
  longer.set(ring.subarray(0, head), ring.length - head);
  return longer;
}
