/**
 * The tables of the `kmem_cache` bulk thread that neither of its fitted constants touches: events, micro-benchmarks,
 * qmempool, and what became of it.
 *
 * @module
 */

import { ipForward } from "../experiments/ip_forward.ts";
import { slabMicrobench } from "../experiments/slab_microbench.ts";
import type { Kernel } from "../kernel.ts";
import { type KmemCache, kmemCache } from "../mm/kmem_cache.ts";
import { MeteredCache } from "../mm/metered_cache.ts";
import { Qmempool } from "../mm/qmempool.ts";
import { flushOnEveryExit } from "../patches/kmem_cache_bulk.ts";
import { kernel } from "../releases/mod.ts";
import { price } from "../sim/cpu.ts";
import { cpu } from "../sim/cpus.ts";
import { pageCost } from "../sim/locks.ts";
import { type Table, table } from "../table.ts";
import { cell } from "./cell.ts";
import {
  FORWARDING_STATES,
  forwardingCpu,
  forwardingKernel,
  type ForwardingModel,
  nsOf,
  pricedForward,
} from "./kmem_cache_bulk_model.ts";
import {
  CLEAN_NS,
  CLEAN_SERIES,
  type ForwardingRun,
  LARGE_ROUNDS,
  MERGED_CYCLES,
  MERGED_NS,
  MERGED_SERIES,
  QMEMPOOL_PAIRS,
  QMEMPOOL_PPS,
  ROUNDS,
  type Series,
} from "./kmem_cache_bulk_published.ts";

const labelOf = (state: ForwardingRun["state"]): string =>
  state === "base" ? "unpatched" : state;

const EVENTS = [
  "FREE_SLOWPATH",
  "FREE_FASTPATH",
  "ALLOC_SLOWPATH",
  "CPU_PARTIAL_FREE",
  "CPU_PARTIAL_DRAIN",
  "ALLOC_FROM_PARTIAL",
] as const;

/** SLUB's counters by patch, packets per poll and lag. */
export function events(): Table {
  const cases = [[64, 0], [64, 1], [64, 3], [48, 0], [48, 1]] as const;
  const states = FORWARDING_STATES.map((state) =>
    [labelOf(state), forwardingKernel(state)] as const
  );
  return table({
    id: "events",
    title: "SLUB events per forwarded packet",
    unit: "per packet",
    columns: [...EVENTS],
    rows: cases.flatMap(([perPoll, lag]) =>
      states.map(([label, k]) => {
        const run = ipForward({ kernel: k, perPoll, lag });
        return {
          label: `${perPoll} a poll, sent ${lag} polls later, ${label}`,
          cells: EVENTS.map((name) =>
            cell("exact", run.slab[name]! / run.packets)
          ),
        };
      })
    ),
  });
}

/** What patch 4 reuses and what it allocates in vain, by packets per poll. */
export function reuse(): Table {
  const patched = forwardingKernel("patches 1-4");
  const flushing = patched.am(flushOnEveryExit);
  const percent = (part: number, all: number): number => 100 * part / all;
  return table({
    id: "reuse",
    title: "Heads reused and heads allocated in vain, patches 1-4",
    unit: "% of packets",
    columns: [
      "reused, forwarding",
      "from the slab, forwarding",
      "reused, flushed on every exit",
      "in vain, all packets dropped",
      "the same, flushed on every exit",
    ],
    rows: [1, 4, 8, 12, 16, 32, 48, 60, 63, 64].map((perPoll) => {
      const sent = ipForward({ kernel: patched, perPoll });
      const mended = ipForward({ kernel: flushing, perPoll });
      const dropped = ipForward({ kernel: patched, perPoll, drop: true });
      const flushed = ipForward({ kernel: flushing, perPoll, drop: true });
      return {
        label: `${perPoll} a poll`,
        cells: [
          cell("exact", percent(sent.napi.reused!, sent.packets)),
          cell("exact", percent(sent.napi.bulkHeads!, sent.packets)),
          cell("exact", percent(mended.napi.reused!, mended.packets)),
          cell("exact", percent(dropped.napi.unusedFreed!, dropped.packets)),
          cell("exact", percent(flushed.napi.unusedFreed!, flushed.packets)),
        ],
      };
    }),
  });
}

const rounds = (objects: number): string =>
  objects === 1 ? "1 object" : `${objects} objects`;

const simulate = (series: Series, objects: number): number =>
  slabMicrobench({
    kernel: kernel(series.release, { cpus: 8 }),
    allocator: series.allocator,
    bulk: series.bulk,
    held: series.held,
    objects,
    cpu: cpu(series.cpu),
  }).ns;

const SLAB_BULK_NOTE =
  "one price for a bulk call and one an object: within 15 %, the other columns within 5 %";

/** Series C, D and E: allocate N, free N. */
export function microbench(): Table {
  return table({
    id: "microbench",
    title: "Allocate N objects of 256 bytes, then free them",
    unit: "ns an object",
    columns: CLEAN_SERIES.map(({ title }) => title),
    rows: ROUNDS.map((objects, i) => ({
      label: rounds(objects),
      cells: CLEAN_SERIES.map((series, column) =>
        cell(
          "priced",
          simulate(series, objects),
          CLEAN_NS[i]![column]!,
          {
            note: series.allocator === "slab" && series.bulk !== "none"
              ? SLAB_BULK_NOTE
              : undefined,
          },
        )
      ),
    })),
  });
}

const MERGED_NOTE =
  "the caches were merged; which slabs others used how far was not published";

/** Series A and B: on slabs that others use too. */
export function mergedMicrobench(): Table {
  return table({
    id: "microbench-merged",
    title: "The same on slabs that other caches share",
    unit: "ns an object",
    columns: [...MERGED_SERIES.map(({ title }) => title), "bulk, cycles (C)"],
    rows: ROUNDS.map((objects, i) => ({
      label: rounds(objects),
      cells: [
        ...MERGED_SERIES.map((series, column) => {
          const ns = simulate(series, objects);
          const published = MERGED_NS[i]![column]!;
          return objects < 30
            ? cell("priced", ns, published)
            : cell("unexplained", ns, published, { note: MERGED_NOTE });
        }),
        cell("unexplained", null, MERGED_CYCLES[i]!, {
          note: MERGED_NOTE,
          unit: "cycles",
        }),
      ],
    })),
  });
}

/** Series D's rounds that outgrow SLAB's shared array. */
export function largeRounds(): Table {
  const series = CLEAN_SERIES[3]!;
  return table({
    id: "microbench-large",
    title: "SLAB bulk, rounds larger than array cache and shared array (600)",
    unit: "ns an object",
    columns: [series.title],
    rows: LARGE_ROUNDS.map(([objects, ns]) => ({
      label: rounds(objects),
      cells: [
        objects <= 600 ? cell("priced", simulate(series, objects), ns) : cell(
          "unexplained",
          simulate(series, objects),
          ns,
          {
            note:
              "what the node's lists and cache misses cost is not known apart",
          },
        ),
      ],
    })),
  });
}

const e5Kernel = (): Kernel => kernel("4.3", { cpus: 24 });

const e5Cache = (): KmemCache =>
  kmemCache({ kernel: e5Kernel(), objectSize: 256 });

const pool = (): Qmempool => new Qmempool({ kmem: e5Cache() });

/** qmempool against SLUB, a pair. */
export function qmempoolPairs(): Table {
  const machine = cpu("E5-2695");
  const pair = (cache: MeteredCache, objects: number): number => {
    const held = new Int32Array(objects);
    const round = (): void => {
      for (let i = 0; i < objects; i++) held[i] = cache.alloc();
      for (const object of held) cache.free(object);
    };
    for (let i = 0; i < 8; i++) round();
    cache.start();
    round();
    return price(cache.work(), machine, objects).ns;
  };
  return table({
    id: "qmempool-pairs",
    title: "qmempool and SLUB, allocation and free of an object on an E5-2695",
    unit: "ns",
    columns: ["SLUB", "qmempool"],
    rows: QMEMPOOL_PAIRS.map(({ title, objects, slub, qmempool }) => ({
      label: title,
      cells: [
        cell(
          "priced",
          pair(new MeteredCache(e5Cache()), objects),
          slub,
        ),
        cell("priced", pair(new MeteredCache(pool()), objects), qmempool),
      ],
    })),
  });
}

/** qmempool in the receive path: what is saved, from the published figure before. */
export function qmempoolPps(): Table {
  const machine = cpu("E5-2695");
  const ns = (drop: boolean, pooled: boolean): number => {
    const run = ipForward({
      kernel: e5Kernel(),
      drop,
      allocator: pooled ? pool() : "slub",
    });
    return price(run.work, machine, run.packets).ns;
  };
  return table({
    id: "qmempool-pps",
    title: "qmempool in the receive path of an E5-2695 (RFC, December 2014)",
    unit: "pps",
    columns: ["before", "after", "saved"],
    rows: QMEMPOOL_PPS.map(
      ({ title, before, after, ns: saved, drop, cpus }) => {
        const simulated = ns(drop, true) - ns(drop, false);
        const kind = cpus === 1 ? "priced" : "unexplained";
        const note = cpus === 1
          ? "k does not enter"
          : "bound by something that all CPUs share, not by the slab";
        const then = 1e9 * cpus / (nsOf(before) * cpus + simulated);
        return {
          label: title,
          cells: [
            cell(kind, null, before, { note: "taken as given" }),
            cell(kind, then, after, { note }),
            cell(kind, simulated / cpus, saved, { note, unit: "ns" }),
          ],
        };
      },
    ),
  });
}

/** Slab work of a packet by operation and patch. */
export function operations(model: ForwardingModel): Table {
  const runs = FORWARDING_STATES.flatMap((state) =>
    (["slub", "slab"] as const).map((allocator) => ({
      label: `${allocator.toUpperCase()} ${labelOf(state)}`,
      bill: model.of(state, allocator).bill,
    }))
  );
  const names = [
    ...new Set(runs.flatMap(({ bill }) => bill.rows.map((r) => r.operation))),
  ];
  const row = (label: string, ns: readonly number[]) => ({
    label,
    cells: ns.map((value) => cell("priced", value)),
  });
  return table({
    id: "operations",
    title:
      "Slab work of a forwarded packet by operation, i7-4790K at 4.2 GHz, without k",
    unit: "ns",
    columns: runs.map(({ label }) => label),
    rows: [
      ...names.map((name) =>
        row(
          name,
          runs.map(({ bill }) =>
            bill.rows.find(({ operation }) => operation === name)?.ns ?? 0
          ),
        )
      ),
      row("all", runs.map(({ bill }) => bill.ns)),
      row("all, low", runs.map(({ bill }) => bill.interval[0])),
      row("all, high", runs.map(({ bill }) => bill.interval[1])),
    ],
  });
}

/** Slab work of a packet on the kernels that followed, at the prices of 2015. */
export function later(model: ForwardingModel): Table {
  const runs = [
    ...FORWARDING_STATES.map((state) =>
      [labelOf(state), model.of(state, "slub")] as const
    ),
    ...["4.6", "5.12", "6.1", "6.8", "6.12", "6.18"].map((name) =>
      [name, pricedForward(kernel(name, { cpus: 8 }))] as const
    ),
  ];
  return table({
    id: "later-kernels",
    title: "What became of it: a saturated queue on later kernels",
    unit: "",
    columns: ["slab work", "reused", "from the slab", "FREE_SLOWPATH"],
    rows: runs.map(([label, { run, bill }]) => {
      const { napi, packets, slab } = run;
      const heads = napi.bulkHeads! + napi.singleHeads!;
      return {
        label,
        cells: [
          cell("priced", bill.ns, null, { unit: "ns, prices of 2015" }),
          cell("exact", 100 * napi.reused! / packets, null, { unit: "%" }),
          cell("exact", 100 * heads / packets, null, { unit: "%" }),
          cell("exact", slab.FREE_SLOWPATH! / packets, null, {
            unit: "per packet",
          }),
        ],
      };
    }),
  });
}

/** What refilling page fragments costs a packet when CPUs compete for the zone's lock. */
export function zoneLock(model: ForwardingModel): Table {
  const { run } = model.of("base", "slub");
  const { ghz } = forwardingCpu();
  const perPacket = run.frags.refills / run.packets;
  return table({
    id: "zone-lock",
    title:
      "32 KiB blocks for receive heads of 640 bytes, by CPUs at the zone's lock",
    unit: "",
    columns: ["blocks", "order 3", "a packet"],
    rows: [1, 2, 3, 4, 5, 6, 7, 8].map((cpus) => {
      const { cycles } = pageCost(3, cpus);
      return {
        label: cpus === 1 ? "1 CPU" : `${cpus} CPUs`,
        cells: [
          cell("exact", perPacket, null, { unit: "per packet" }),
          cell("priced", cycles, null, { unit: "cycles" }),
          cell("priced", perPacket * cycles / ghz, null, { unit: "ns" }),
        ],
      };
    }),
  });
}
