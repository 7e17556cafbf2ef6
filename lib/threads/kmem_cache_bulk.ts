/**
 * The `kmem_cache` bulk thread, net-next, October 2015: Jesper Dangaard Brouer frees sk_buff heads in bulk where softirq
 * context has many of them, and shows that SLUB's slow free path was worth 20 ns a packet.
 *
 * @module
 */

import { type Table, table } from "../table.ts";
import type { ErrorBand } from "./bands.ts";
import { cell } from "./cell.ts";
import {
  FORWARDING_STATES,
  ForwardingModel,
  nsOf,
  SLAB_WORK_FACTOR,
} from "./kmem_cache_bulk_model.ts";
import {
  CLEAN_SERIES,
  FORWARDING,
  type ForwardingRun,
  MERGED_SERIES,
  QMEMPOOL_PPS,
  STEPS,
} from "./kmem_cache_bulk_published.ts";
import {
  events,
  largeRounds,
  later,
  mergedMicrobench,
  microbench,
  operations,
  qmempoolPairs,
  qmempoolPps,
  reuse,
  zoneLock,
} from "./kmem_cache_bulk_tables.ts";
import { FIGURES } from "./kmem_cache_bulk_figures.ts";
import {
  type FittedConstant,
  makeTables,
  type ReproduceOptions,
  type Thread,
} from "./thread.ts";

const SLAB_NOTE =
  "the model takes the base of SLUB's kernel; no SLAB figure without patches was published";
const PATCH_4_SLAB =
  "no set of prices that fits SLAB's micro-benchmark makes patch 4 a loss";

function published(
  state: ForwardingRun["state"],
  allocator: "slub" | "slab",
): number | null {
  return FORWARDING.find((run) =>
    run.state === state && run.allocator === allocator
  )?.pps ?? null;
}

const labelOf = (state: ForwardingRun["state"]): string =>
  state === "base" ? "net-next 26440c835" : state;

function forwarding(model: ForwardingModel): Table {
  const kindOf = (state: ForwardingRun["state"], allocator: "slub" | "slab") =>
    allocator === "slab" && state !== "base" ? "unexplained" : "fitted";
  const noteOf = (state: ForwardingRun["state"], allocator: "slub" | "slab") =>
    allocator === "slub"
      ? state === "base" ? "exact by construction: sets the base" : undefined
      : state === "patches 1-4"
      ? PATCH_4_SLAB
      : SLAB_NOTE;
  return table({
    id: "forwarding",
    title: "IPv4 forwarding, one flow on one CPU, ixgbe, i7-4790K at 4.2 GHz",
    unit: "pps",
    columns: ["SLUB", "SLAB"],
    rows: FORWARDING_STATES.map((state) => ({
      label: labelOf(state),
      cells: (["slub", "slab"] as const).map((allocator) =>
        cell(
          kindOf(state, allocator),
          nsOf(model.ns(state, allocator)),
          published(state, allocator),
          { note: noteOf(state, allocator) },
        )
      ),
    })),
  });
}

function improvements(model: ForwardingModel): Table {
  return table({
    id: "improvements",
    title: "What the patches bring",
    unit: "",
    columns: ["time", "rate", "change", "time, without k"],
    rows: STEPS.map(({ from, to, allocator, ns, pps, percent }) => {
      const [before, after] = [
        model.ns(from, allocator),
        model.ns(to, allocator),
      ];
      const kind = allocator === "slab" ? "unexplained" : "fitted";
      const note = allocator === "slab" ? PATCH_4_SLAB : undefined;
      const gain = nsOf(after) - nsOf(before);
      const bare = model.of(to, allocator).bill.ns -
        model.of(from, allocator).bill.ns;
      return {
        label: `${
          to === "patches 1-4" ? "patch 4" : to
        }, ${allocator.toUpperCase()}`,
        cells: [
          cell(kind, after - before, ns, { note, unit: "ns" }),
          cell(kind, gain, pps, { note, unit: "pps" }),
          cell(kind, 100 * gain / nsOf(before), percent, { note, unit: "%" }),
          cell(allocator === "slab" ? "unexplained" : "priced", bare, null, {
            unit: "ns",
          }),
        ],
      };
    }),
  });
}

const SERIES = CLEAN_SERIES.map(({ title }) => title);
const SLAB_BULK = SERIES.filter((title) => title.startsWith("SLAB bulk"));

const BANDS: readonly ErrorBand[] = [
  {
    table: "forwarding",
    rows: [labelOf("base")],
    percent: 0,
    note: "sets the base",
  },
  { table: "forwarding", percent: [-0.35, 0] },
  {
    table: "improvements",
    rows: ["patches 1-3, SLUB"],
    percent: 8.1,
    note: "18.6 of 20 ns, with one factor k for all slab work",
  },
  {
    table: "improvements",
    rows: ["patch 4, SLUB"],
    percent: 10.1,
    note: "4.7 of 4.3 ns, with the same k",
  },
  {
    table: "microbench",
    columns: SLAB_BULK,
    percent: [-14.1, 4.7],
    note: "one price for a bulk call and one an object",
  },
  { table: "microbench", percent: [-4, 1.5] },
  {
    table: "microbench-merged",
    columns: [MERGED_SERIES[0]!.title, MERGED_SERIES[2]!.title],
    percent: 1.6,
  },
  {
    table: "microbench-merged",
    columns: [MERGED_SERIES[1]!.title],
    percent: [-7.7, -1.4],
  },
  {
    table: "microbench-merged",
    columns: [MERGED_SERIES[3]!.title],
    percent: [-16.4, 14.7],
    note: "priced as the bulk calls of series C",
  },
  { table: "microbench-large", percent: [-3.3, 0] },
  { table: "qmempool-pairs", percent: [-0.1, 1] },
  { table: "qmempool-pps", columns: ["after"], percent: [-1.5, 0] },
  {
    table: "qmempool-pps",
    columns: ["saved"],
    rows: [QMEMPOOL_PPS[0]!.title],
    percent: [0, 15.5],
    note: "saves less than published; k does not enter",
  },
  {
    table: "qmempool-pps",
    columns: ["saved"],
    rows: [QMEMPOOL_PPS[1]!.title],
    percent: [0, 30.1],
    note: "saves less than published; k does not enter",
  },
];

/** The same for every reader; runs when it is first asked for. */
const shared: ForwardingModel = new ForwardingModel();

/** The thread, its figures and how they follow. */
export const kmemCacheBulkThread: Thread = {
  id: "kmem-cache-bulk",
  title:
    "net: mitigating kmem_cache slowpath for network stack in NAPI context (October 2015)",
  question:
    "What is it worth to free sixty-four packets at once, and why does a saturated queue reuse none?",
  messages: [
    {
      subject:
        "[PATCH 0/4] net: mitigating kmem_cache slowpath for network stack in NAPI context",
      from: "Jesper Dangaard Brouer",
      date: "2015-10-23",
    },
    {
      subject:
        "[PATCH 1/4] net: bulk free infrastructure for NAPI context, use napi_consume_skb",
      from: "Jesper Dangaard Brouer",
      date: "2015-10-23",
    },
    {
      subject:
        "[PATCH 2/4] net: bulk free SKBs that were delay free'ed due to IRQ context",
      from: "Jesper Dangaard Brouer",
      date: "2015-10-23",
    },
    {
      subject:
        "[PATCH 3/4] ixgbe: bulk free SKBs during TX completion cleanup cycle",
      from: "Jesper Dangaard Brouer",
      date: "2015-10-23",
    },
    {
      subject: "[PATCH 4/4] net: bulk alloc and reuse of SKBs in NAPI context",
      from: "Jesper Dangaard Brouer",
      date: "2015-10-23",
    },
    {
      subject:
        "Re: [PATCH 0/4] net: mitigating kmem_cache slowpath for network stack in NAPI context",
      from: "David Miller",
    },
  ],
  kernels: [
    "net-next-2015-10",
    "4.3",
    "4.6",
    "5.12",
    "6.1",
    "6.8",
    "6.12",
    "6.18",
  ],
  get fitted(): readonly FittedConstant[] {
    return [
      {
        name: "base",
        value: shared.base,
        unit: "ns a packet",
        reason:
          "all of a packet that is no slab work; makes the unpatched kernel's 1,982,144 pps come out",
      },
      {
        name: "k",
        value: SLAB_WORK_FACTOR,
        unit: "times",
        reason:
          "slab work inside a full packet path costs more than in a micro-benchmark (1.4 ± 0.25): colder caches",
      },
    ];
  },
  figures: FIGURES,
  bands: BANDS,
  findings: [
    "Once packets in flight outlast a poll every single free is slow: 1 FREE_SLOWPATH a packet, and 1 in 32 with patches 1-3.",
    "Micro-benchmark prices alone explain 60 to 75 % of what patches 1-3 and patch 4 bring on SLUB; one factor k covers the rest.",
    "A saturated queue frees 64 heads a poll, and the 64th empties the stack: patch 4 then reuses nothing and gains by bulk allocation alone.",
    "At 48 packets a poll it reuses every head and the slab is left alone; polls that drop what they receive allocate up to 7 heads in vain once the stack is flushed on every exit.",
    "Without that flush heads left over from one poll can fill the stack in the next: a queue at 63 packets a poll then reuses 2 % for good.",
    "Patch 4 on SLAB does not fit: the model saves 9 to 13 ns, the thread lost 0.57 ns. The thread's own guess, stalls on SLUB's freelist, does not apply to SLAB.",
    "SLAB after patch 3 is slower than SLUB by 6.8 ns in the thread and by 4 ns in the model.",
    "qmempool's gains of 12 and 40 ns are 10 and 28 ns by micro-benchmark prices; twelve CPUs at once are bound by something else.",
    "The stack was not flushed when net_rx_action returned early: up to 63 heads stayed until a later softirq.",
    "5.12 frees half of a full stack and keeps the other half, which turns the exact-64 effect into reuse.",
  ],
  reproduce: (options?: ReproduceOptions): Promise<Table[]> =>
    makeTables([
      () => forwarding(shared),
      () => improvements(shared),
      () => operations(shared),
      events,
      reuse,
      microbench,
      mergedMicrobench,
      largeRounds,
      qmempoolPairs,
      qmempoolPps,
      () => later(shared),
      () => zoneLock(shared),
    ], options),
};
