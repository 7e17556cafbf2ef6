/**
 * Where a stream's bytes lie in the sending task's page fragments.
 *
 * @module
 */

/** Bytes of the page fragments that senders write into (`SKB_FRAG_PAGE_ORDER`). */
export const FRAG_BLOCK = 32768;

/**
 * Blocks that a range of a stream touches.
 *
 * @param from First byte.
 * @param to Behind the last byte.
 * @param start Where some block begins in the stream.
 */
export function blocksTouched(from: number, to: number, start: number): number {
  return Math.floor((to - 1 - start) / FRAG_BLOCK) -
    Math.floor((from - start) / FRAG_BLOCK) + 1;
}
