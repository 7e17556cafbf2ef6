/**
 * What must always hold of a SLAB cache.
 *
 * @module
 */

import type { Slab } from "./slab.ts";
import { IN_ARRAY, IN_SLAB, LIST } from "./slab_node.ts";
import { ABSENT, ALLOCATED } from "./slub_slabs.ts";

function fail(text: string): never {
  throw new Error(`SLAB: ${text}`);
}

/**
 * Walks every array and list of a cache and compares it with what slabs and objects say of themselves.
 *
 * @param cache The cache.
 * @throws {Error} Naming the first thing that is wrong.
 */
export function checkSlab(cache: Slab): void {
  const { node, arrays, geometry, counters, events } = cache;
  const { entries, sharedEntries } = arrays;
  const { state, shift, objects, top } = node;
  const found = new Uint8Array(state.length);
  const walk = (array: Int32Array, from: number, count: number): void => {
    for (let i = from; i < from + count; i++) {
      const object = array[i]!;
      if (state[object] !== IN_ARRAY) {
        fail(`object ${object} is in an array, its state is ${state[object]}`);
      }
      if (found[object] === 1) fail(`object ${object} is in two arrays`);
      found[object] = 1;
    }
  };
  for (let cpu = 0; cpu < cache.cpus; cpu++) {
    if (cache.avail(cpu) > geometry.limit) fail(`cpu ${cpu}: array overflows`);
    walk(entries, cpu * geometry.limit, cache.avail(cpu));
  }
  if (cache.sharedAvail > geometry.shared) fail("the shared array overflows");
  walk(sharedEntries, 0, cache.sharedAvail);

  let listed = 0;
  let free = 0;
  let active = 0;
  for (const list of [LIST.FULL, LIST.PARTIAL, LIST.FREE]) {
    for (let slab = node.head[list]!; slab >= 0; slab = node.after[slab]!) {
      if (++listed > node.nr) fail(`${node.nr} slabs, more are on lists`);
      if (node.list[slab] !== list) fail(`slab ${slab} is on the wrong list`);
      const given = node.active[slab]!;
      const wanted = given === objects
        ? LIST.FULL
        : given === 0
        ? LIST.FREE
        : LIST.PARTIAL;
      if (wanted !== list) fail(`slab ${slab}: ${given} given, list ${list}`);
      const first = slab << shift;
      for (let place = 0; place < objects; place++) {
        const object = first + node.index[first + place]!;
        if (place >= given && state[object] !== IN_SLAB) {
          fail(`object ${object} is free in its slab and elsewhere`);
        }
      }
      let inside = 0;
      for (let object = first; object < first + objects; object++) {
        if (state[object] === IN_SLAB) inside++;
        else if (state[object] === IN_ARRAY && found[object] !== 1) {
          fail(`object ${object} is in no array`);
        } else if (state[object] !== IN_ARRAY && state[object] !== ALLOCATED) {
          fail(`object ${object} is in state ${state[object]}`);
        }
      }
      if (inside !== objects - given) fail(`slab ${slab}: ${inside} are free`);
      free += inside;
      active += given;
    }
  }
  if (listed !== node.nr) fail(`${node.nr} slabs, ${listed} are on lists`);
  if (free !== node.freeObjects) fail(`${free} free, says ${node.freeObjects}`);
  if (active !== counters.ACTIVE) fail(`${active} given, ${counters.ACTIVE}`);
  if (counters.GROWN - events.slabsDestroyed !== node.nr) {
    fail(`${node.nr} slabs, counters say ${counters.GROWN} were made`);
  }
  for (let slab = 0; slab < top; slab++) {
    if (
      node.list[slab] === LIST.NONE && state[slab << shift] !== ABSENT
    ) fail(`slab ${slab} is on no list`);
  }
}
