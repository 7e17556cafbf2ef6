/**
 * Whether the page allocator's state holds together; for tests and for doubt.
 *
 * @module
 */

import type { PerCpuPages } from "./pcp.ts";
import {
  PAGE_FREE,
  PAGE_HELD,
  PAGE_ORDER,
  PAGE_PCP,
  PAGE_PFMEMALLOC,
  PAGE_STATE,
  PAGE_USED,
  type Zone,
} from "./zone.ts";

/** Throws with the first invariant that is broken. */
function expect(holds: boolean, message: string): void {
  if (!holds) throw new Error(`page allocator: ${message}`);
}

/** Walks a list, checks each member and returns how many there are. */
function walk(zone: Zone, list: number, want: number, name: string): number {
  let members = 0;
  for (
    let at = list, pfn = zone.next[list]!;
    pfn !== list;
    at = pfn, pfn = zone.next[pfn]!
  ) {
    expect(
      pfn >= 0 && pfn < zone.managed,
      `${name} holds ${pfn}, which is no page`,
    );
    expect(
      zone.kind[pfn] === want,
      `${name} holds pfn ${pfn} of kind ${zone.kind[pfn]}, not ${want}`,
    );
    expect(
      zone.prev[pfn] === at,
      `${name}: prev of pfn ${pfn} is ${zone.prev[pfn]}, not ${at}`,
    );
    expect(++members <= zone.managed, `${name} has a loop`);
  }
  return members;
}

/**
 * Checks that each page is in exactly one place, that no two free buddies stand apart, and that lists and counters agree.
 *
 * @param zone The zone.
 * @param pcps Its per-CPU lists.
 * @param lists Number of the first per-CPU list head.
 * @param refcount References by pfn.
 * @throws {Error} Naming the first invariant that is broken.
 */
export function checkPages(
  zone: Zone,
  pcps: readonly PerCpuPages[],
  lists: number,
  refcount: Int32Array,
): void {
  const { kind, managed, maxOrder, counters } = zone;
  const heads = new Map<number, number>();
  let used = 0;
  for (let pfn = 0; pfn < managed;) {
    const state = kind[pfn]! & PAGE_STATE, order = kind[pfn]! & PAGE_ORDER;
    expect(state !== 0, `pfn ${pfn} belongs to no block`);
    expect(order <= maxOrder, `pfn ${pfn} has order ${order}`);
    expect(
      pfn % (1 << order) === 0,
      `block of order ${order} at pfn ${pfn} is not aligned`,
    );
    expect(
      pfn + (1 << order) <= managed,
      `block of order ${order} at pfn ${pfn} leaves the zone`,
    );
    for (let tail = pfn + 1; tail < pfn + (1 << order); tail++) {
      expect(
        kind[tail] === 0,
        `pfn ${tail} lies inside the block at ${pfn} and is a head as well`,
      );
      expect(
        refcount[tail] === 0,
        `pfn ${tail} is no head and has ${refcount[tail]} references`,
      );
    }
    if (state === PAGE_USED) {
      used += 1 << order;
      expect(refcount[pfn]! >= 0, `pfn ${pfn} has ${refcount[pfn]} references`);
    } else {
      expect(
        refcount[pfn] === 0,
        `pfn ${pfn} is not handed out and has ${refcount[pfn]} references`,
      );
      expect(
        (kind[pfn]! & PAGE_PFMEMALLOC) === 0,
        `pfn ${pfn} is not handed out and is pfmemalloc`,
      );
    }
    if (state === PAGE_FREE && order < maxOrder) {
      expect(
        kind[pfn ^ (1 << order)] !== (PAGE_FREE | order),
        `free buddies of order ${order} at pfn ${pfn} stand apart`,
      );
    }
    if (state !== PAGE_USED && state !== PAGE_HELD) {
      heads.set(kind[pfn]!, (heads.get(kind[pfn]!) ?? 0) + 1);
    }
    pfn += 1 << order;
  }
  let free = 0;
  for (let order = 0; order <= maxOrder; order++) {
    const members = walk(
      zone,
      zone.lists + order,
      PAGE_FREE | order,
      `free list ${order}`,
    );
    expect(
      members === zone.nrFree[order],
      `free list ${order} holds ${members}, nr_free says ${zone.nrFree[order]}`,
    );
    expect(
      members === (heads.get(PAGE_FREE | order) ?? 0),
      `a free block of order ${order} is in no list`,
    );
    free += members << order;
  }
  expect(
    free === zone.freePages,
    `${free} pages are free, NR_FREE_PAGES says ${zone.freePages}`,
  );
  const onPcp = new Float64Array(maxOrder + 1);
  let list = lists;
  for (const [cpu, pcp] of pcps.entries()) {
    let count = 0;
    for (let order = 0; order <= pcp.maxOrder; order++, list++) {
      const members = walk(
        zone,
        list,
        PAGE_PCP | order,
        `per-CPU list ${order} of CPU ${cpu}`,
      );
      onPcp[order]! += members;
      count += members << order;
    }
    expect(
      count === pcp.count,
      `per-CPU lists of CPU ${cpu} hold ${count} pages, count says ${pcp.count}`,
    );
  }
  for (let order = 0; order <= maxOrder; order++) {
    const known = heads.get(PAGE_PCP | order) ?? 0;
    expect(
      known === onPcp[order],
      `${known} blocks of order ${order} are marked per-CPU, lists hold ${
        onPcp[order]
      }`,
    );
  }
  const balance = counters.pgalloc - counters.pgfree;
  expect(
    balance === used,
    `${used} pages are handed out, pgalloc - pgfree says ${balance}`,
  );
}
