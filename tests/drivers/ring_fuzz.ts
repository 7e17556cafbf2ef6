/** Random frames and frees over a receive ring. */

import { assertEquals, assertThrows } from "@std/assert";
import { randomLcg } from "d3-random";
import type { HeldPackets } from "../../lib/drivers/held_packets.ts";
import type { ReceiveRing } from "../../lib/drivers/receive_ring.ts";
import type { PageAllocator } from "../../lib/mm/page_alloc.ts";

/** How to run it. */
export interface RingFuzz {
  readonly seed: number;
  readonly runs: number;
  /** One frame in ten is up to so long, bytes; the others up to 1,600. */
  readonly longest: number;
  /** Most packets freed at once. */
  readonly burst: number;
}

/**
 * Receives and frees at random, then closes the ring twice: what is held is what was charged and not freed, and all pages
 * come back.
 *
 * @param pages The page allocator under the ring.
 * @param ring The ring.
 * @param check Called before it is closed, for its counters.
 */
export function fuzzRing(
  pages: PageAllocator,
  ring: ReceiveRing & { readonly held: HeldPackets },
  { seed, runs, longest, burst }: RingFuzz,
  check: () => void,
): void {
  const random = randomLcg(seed);
  let sum = 0;
  for (let i = 0; i < runs; i++) {
    const frame = Math.floor(random() * (random() < 0.1 ? longest : 1600));
    if (random() < 0.5) sum += ring.receive(frame);
    else sum -= ring.consume(1 + Math.floor(random() * burst));
  }
  assertEquals(ring.held.truesize, sum);
  check();
  pages.check();
  ring.close();
  ring.close();
  pages.check();
  assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
  assertThrows(() => ring.receive(60), Error, "closed");
}
