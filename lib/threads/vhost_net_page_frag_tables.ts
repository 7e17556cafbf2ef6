/**
 * The tables of the vhost_net page-frag thread that count events.
 *
 * @module
 */

import {
  HIGH_ORDER_BITS,
  highOrderAttempt,
  type HighOrderAttemptResult,
  type Shortage,
} from "../experiments/high_order_attempt.ts";
import {
  PAGE_FRAG_USERS,
  pageFragTeardown,
} from "../experiments/page_frag_teardown.ts";
import {
  runVhostNetTest,
  type VhostNetTestOptions,
  type VhostNetTestResult,
} from "../experiments/vhost_net_test.ts";
import type { Kernel } from "../kernel.ts";
import { Gfp } from "../mm/gfp.ts";
import {
  pageFragAlignArgument,
  pageFragCacheDrain,
  pageFragGfpBits,
  pageFragZeroOffset,
  vhostNetPageFragSeries,
} from "../patches/vhost_net_page_frag.ts";
import { kernel } from "../releases/mod.ts";
import { type Cell, type Table, table } from "../table.ts";
import { cell } from "./cell.ts";

/** The tool of the first version of the series, of which the figures are: to the host only, 1,024-byte buffers. */
const FIRST_TOOL: Omit<VhostNetTestOptions, "kernel"> = Object.freeze({
  directions: "tx",
  frame: 1012,
});

const exact = (simulated: number, unit?: string): Cell =>
  cell("exact", simulated, null, { unit });

/** States of the kernel that the tables compare. */
export function vhostNetPageFragKernels(): { label: string; kernel: Kernel }[] {
  const base = kernel("6.8");
  return [
    { label: "6.8", kernel: base },
    {
      label: "patches 1-3",
      kernel: base.am(
        pageFragAlignArgument,
        pageFragGfpBits,
        pageFragCacheDrain,
      ),
    },
    { label: "series", kernel: base.am(...vhostNetPageFragSeries) },
    { label: "6.12", kernel: kernel("6.12") },
    { label: "6.18", kernel: kernel("6.18") },
  ];
}

type Run = VhostNetTestResult;
const ROWS: readonly [string, (run: Run) => number, string?][] = [
  ["packets to the guest", (r) => r.rxPackets],
  ["packets from the guest", (r) => r.txPackets],
  ["charge of an skb to the guest", (r) => r.rxTruesize, "bytes"],
  ["charge of an skb from the guest", (r) => r.txTruesize, "bytes"],
  ["fragments", (r) => r.frags],
  ["order-3 attempts", (r) => r.order3Attempts],
  ["order-3 allocations", (r) => r.order3Allocations],
  ["order-3 frees while packets run", (r) => r.order3FreesRunning],
  ["order-3 frees at the release", (r) => r.order3FreesAtRelease],
  ["order-0 allocations", (r) => r.order0Allocations],
  ["blocks started again in place", (r) => r.reuses],
  ["bytes unused in used-up blocks", (r) => r.wastedBytes, "bytes"],
  ["page_ref_add", (r) => r.pageRefs.add],
  ["page_ref_sub_and_test", (r) => r.pageRefs.sub],
  ["set_page_count", (r) => r.pageRefs.set],
  ["page_ref_dec_and_test", (r) => r.pageRefs.put],
  ["blocks from a per-CPU list", (r) => r.pcpHits],
  ["zone->lock taken", (r) => r.zoneLock],
  ["most pages held", (r) => r.pagesHeldMax, "pages"],
  ["pages left after the release", (r) => r.pagesLeft, "pages"],
  ["kicks", (r) => r.worker.kicks],
  ["worker woken (context switches)", (r) => r.worker.wakeups],
  ["batches to the tap", (r) => r.tap.batches],
];

/** A run of the tool and the kernel's name. */
interface LabelledRun {
  readonly label: string;
  readonly run: Run;
}

const runOn = (
  kernels: readonly { label: string; kernel: Kernel }[],
  options: Omit<VhostNetTestOptions, "kernel">,
): LabelledRun[] =>
  kernels.map(({ label, kernel }) => ({
    label,
    run: runVhostNetTest({ kernel, ...options }),
  }));

let firstToolRuns: readonly LabelledRun[] | undefined;

/** The first version's tool before and after the series, run when it is first asked for. */
export function firstTool(): readonly LabelledRun[] {
  if (firstToolRuns === undefined) {
    const [before, , series] = vhostNetPageFragKernels();
    firstToolRuns = runOn([before!, series!], FIRST_TOOL);
  }
  return firstToolRuns;
}

function eventTable(
  id: string,
  title: string,
  runs: readonly LabelledRun[],
): Table {
  return table({
    id,
    title,
    unit: "",
    columns: runs.map(({ label }) => label),
    rows: ROWS.map(([label, value, unit]) => ({
      label,
      cells: runs.map(({ run }) => exact(value(run), unit)),
    })),
  });
}

/** The tool as posted with version 4. */
export function events(): Table {
  return eventTable(
    "events",
    "vhost_net_test: 1,048,576 packets each way, 256-byte frames, one in flight",
    runOn(vhostNetPageFragKernels(), {}),
  );
}

/** The tool of version 1, with the state that version 1 measured: fragments from offset 0 up. */
export function firstToolEvents(): Table {
  const [, , series] = vhostNetPageFragKernels();
  return eventTable(
    "events-first-tool",
    "The first version's tool: 1,048,576 packets from the guest, 1,024-byte buffers",
    [
      ...firstTool(),
      ...runOn([{
        label: "series of version 1",
        kernel: series!.kernel.am(pageFragZeroOffset),
      }], FIRST_TOOL),
    ],
  );
}

/** No block above order 0 to be had. */
export function singlePages(): Table {
  const [before, , series] = vhostNetPageFragKernels();
  return eventTable(
    "events-order-0",
    "The same while no block above order 0 can be had: five buffers a page",
    runOn([before!, series!], { directions: "tx", highOrder: false }),
  );
}

/** Packets that stay in the socket. */
export function held(): Table {
  const [before, , series] = vhostNetPageFragKernels();
  const packets = 42_000;
  const rows: [string, { held?: number; inFlight?: number }][] = [
    ["one in flight, all read", {}],
    ["one packet stays unread", { held: 1 }],
    ["41 stay unread", { held: 41 }],
    ["42 stay unread", { held: 42 }],
    ["128 stay unread", { held: 128 }],
    ["64 in flight, all read", { inFlight: 64 }],
  ];
  return table({
    id: "held",
    title: "Packets that wait when a block ends: 42,000 packets from the guest",
    unit: "",
    columns: [
      "order-3 allocations, 6.8",
      "order-3 allocations, series",
      "reuses, series",
      "most pages held, 6.8",
      "most pages held, series",
    ],
    rows: rows.map(([label, options]) => {
      const [a, b] = [before!, series!].map(({ kernel }) =>
        runVhostNetTest({ kernel, packets, directions: "tx", ...options })
      );
      return {
        label,
        cells: [
          exact(a!.order3Allocations),
          exact(b!.order3Allocations),
          exact(b!.reuses),
          exact(a!.pagesHeldMax),
          exact(b!.pagesHeldMax),
        ],
      };
    }),
  });
}

/** What each bit of a high-order request is for, under one kind of shortage. */
export function gfpBits(shortage: Shortage): Table {
  const { GFP_KERNEL, GFP_ATOMIC, __GFP_MEMALLOC, __GFP_DIRECT_RECLAIM } = Gfp;
  const reserve = GFP_ATOMIC | __GFP_MEMALLOC | HIGH_ORDER_BITS;
  const rows: [string, number][] = [
    [
      "GFP_KERNEL, after patch 2",
      (GFP_KERNEL & ~__GFP_DIRECT_RECLAIM) | HIGH_ORDER_BITS,
    ],
    ["GFP_KERNEL, before it", GFP_KERNEL | HIGH_ORDER_BITS],
    [
      "the same without __GFP_NORETRY",
      (GFP_KERNEL | HIGH_ORDER_BITS) & ~Gfp.__GFP_NORETRY,
    ],
    [
      "the same without __GFP_NOWARN",
      (GFP_KERNEL | HIGH_ORDER_BITS) & ~Gfp.__GFP_NOWARN,
    ],
    ["GFP_ATOMIC|__GFP_MEMALLOC", reserve],
    [
      "the same without __GFP_NOMEMALLOC",
      reserve & ~Gfp.__GFP_NOMEMALLOC,
    ],
  ];
  const counted: [string, (r: HighOrderAttemptResult) => number][] = [
    ["blocks", (r) => Number(r.got)],
    ["reclaim passes", (r) => r.allocstall],
    ["kswapd wake-ups", (r) => r.kswapdWakeups],
    ["OOM kills", (r) => r.oomKill],
    ["warnings", (r) => r.warnings],
    ["reserve pages", (r) => r.reservePages],
  ];
  return table({
    id: `gfp-bits-${shortage}`,
    title: shortage === "fragmented"
      ? "One order-3 attempt while only single pages are free, 6.8"
      : "One order-3 attempt while only a quarter of the min mark is free, 6.8",
    unit: "",
    columns: counted.map(([name]) => name),
    rows: rows.map(([label, gfp]) => {
      const result = highOrderAttempt({ kernel: kernel("6.8"), gfp, shortage });
      return {
        label,
        cells: counted.map(([, value]) => exact(value(result))),
      };
    }),
  });
}

/** What the other users of `page_frag_cache_drain` leave behind. */
export function drain(): Table {
  const base = kernel("6.8");
  const patched = base.am(pageFragCacheDrain);
  return table({
    id: "drain",
    title: "Pages left behind by the other users of page_frag_cache_drain",
    unit: "pages",
    columns: [
      "held while working",
      "left without any teardown",
      "left by hand, before patch 3",
      "left after patch 3",
    ],
    rows: PAGE_FRAG_USERS.map((user) => {
      const none = pageFragTeardown({ kernel: base, user, teardown: "none" });
      return {
        label: user,
        cells: [
          exact(none.pagesHeld),
          exact(none.pagesLeft),
          exact(pageFragTeardown({ kernel: base, user }).pagesLeft),
          exact(pageFragTeardown({ kernel: patched, user }).pagesLeft),
        ],
      };
    }),
  });
}
