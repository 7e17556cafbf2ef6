/**
 * What must always hold of a SLUB cache.
 *
 * @module
 */

import type { SlubCore } from "./slub_core.ts";
import { ABSENT, ALLOCATED, PLACE } from "./slub_slabs.ts";

const PLACES = ["nowhere", "full", "cpu slab", "cpu partial", "node partial"];

function fail(text: string): never {
  throw new Error(`SLUB: ${text}`);
}

/**
 * Walks every list of a cache and compares it with what slabs and objects say of themselves.
 *
 * @param cache The cache.
 * @throws {Error} Naming the first thing that is wrong.
 */
export function checkSlub(cache: SlubCore): void {
  const { table, node, perCpu, rules, counters } = cache;
  const { shift, top } = table;
  const found = new Uint8Array(table.next.length);
  const seen = new Uint8Array(top);

  const visit = (slab: number, place: number, frozen: number): void => {
    if (slab >= top) fail(`slab ${slab} does not exist`);
    if (seen[slab] === 1) fail(`slab ${slab} is in two places`);
    seen[slab] = 1;
    if (table.place[slab] !== place) {
      fail(
        `slab ${slab} is found as ${PLACES[place]}, but says ${
          PLACES[table.place[slab]!]
        }`,
      );
    }
    if (table.frozen[slab] !== frozen) {
      fail(`slab ${slab}, ${PLACES[place]}: frozen is ${table.frozen[slab]}`);
    }
  };
  const walk = (head: number, slab: number): number => {
    let length = 0;
    for (let object = head; object >= 0; object = table.next[object]!) {
      if (object >> shift !== slab) {
        fail(`object ${object} is on a freelist of slab ${slab}`);
      }
      if (found[object] === 1) fail(`object ${object} is free twice`);
      found[object] = 1;
      length++;
    }
    return length;
  };

  for (const { cpu, slab, freelist, partial: newest } of perCpu) {
    if (slab >= 0) {
      visit(slab, PLACE.CPU, 1);
      walk(freelist, slab);
    } else if (freelist >= 0) {
      fail(`cpu ${cpu} has a freelist without a slab`);
    }
    const frozen = rules.partialsFrozen ? 1 : 0;
    for (let partial = newest; partial >= 0; partial = table.link[partial]!) {
      visit(partial, PLACE.CPU_PARTIAL, frozen);
      if (table.freelist[partial]! < 0) fail(`slab ${partial} has no free one`);
    }
  }
  let listed = 0;
  for (let slab = node.head; slab >= 0; slab = table.after[slab]!) {
    visit(slab, PLACE.NODE, 0);
    if (table.freelist[slab]! < 0) fail(`slab ${slab} has no free one`);
    listed++;
  }
  if (listed !== node.nrPartial) {
    fail(
      `the node's list has ${listed} slabs, nr_partial is ${node.nrPartial}`,
    );
  }

  let existing = 0;
  for (let slab = 0; slab < top; slab++) {
    const first = slab << shift;
    const objects = table.objects[slab]!;
    if (table.place[slab] === PLACE.NONE) continue;
    existing++;
    if (seen[slab] === 0) visit(slab, PLACE.FULL, 0);
    const free = walk(table.freelist[slab]!, slab);
    if (table.place[slab] === PLACE.FULL && free > 0) {
      fail(`slab ${slab} is on no list, but has free objects`);
    }
    if (table.inuse[slab] !== objects - free) {
      fail(`slab ${slab}: inuse ${table.inuse[slab]}, ${free} are free`);
    }
    for (let object = first; object < first + objects; object++) {
      const held = table.next[object] === ALLOCATED;
      if (held === (found[object] === 1)) {
        fail(`object ${object} is ${held ? "held and free" : "on no list"}`);
      }
    }
  }
  for (let object = 0; object < table.next.length; object++) {
    const slab = object >> shift;
    const exists = slab < top && table.place[slab] !== PLACE.NONE &&
      object - (slab << shift) < table.objects[slab]!;
    if (!exists && table.next[object] !== ABSENT) {
      fail(`object ${object} has no slab`);
    }
  }
  if (existing !== table.nr) fail(`${existing} slabs, counted ${table.nr}`);
  const made = counters.ALLOC_SLAB - counters.FREE_SLAB -
    cache.events.slabsDestroyed;
  if (made !== existing) fail(`${existing} slabs, counters say ${made}`);
}
