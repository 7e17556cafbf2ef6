/**
 * The vhost_net page-frag thread, net-next, January 2024: Yunsheng Lin replaces vhost_net's own page fragments by
 * `page_frag_cache` and publishes a gain of about 0.5 %.
 *
 * @module
 */

import type { Table } from "../table.ts";
import { FIGURES } from "./vhost_net_page_frag_figures.ts";
import { makeTables, type ReproduceOptions, type Thread } from "./thread.ts";
import {
  drain,
  events,
  firstToolEvents,
  gfpBits,
  held,
  singlePages,
} from "./vhost_net_page_frag_tables.ts";
import { changes, perfStat, share } from "./vhost_net_page_frag_perf.ts";
import { vhostNetPageFragSeries } from "../patches/vhost_net_page_frag.ts";

/** The thread, its figures and how they follow. */
export const vhostNetPageFragThread: Thread = {
  id: "vhost-net-page-frag",
  title: "remove page frag implementation in vhost_net (January 2024)",
  question:
    "What did vhost_net gain when it gave up its own page fragments, and what can carry half a percent?",
  messages: [
    {
      subject:
        "[PATCH net-next v4 0/5] remove page frag implementation in vhost_net",
      from: "Yunsheng Lin",
      date: "2024-01-30",
    },
    ...vhostNetPageFragSeries.map(({ subject, date }) => ({
      subject: subject!,
      from: "Yunsheng Lin",
      date: date!,
    })),
    {
      subject:
        "[PATCH net-next 0/6] remove page frag implementation in vhost_net",
      from: "Yunsheng Lin",
      date: "2023-12-05",
    },
    {
      subject: "[PATCH net-next 6/6] tools: virtio: introduce vhost_net_test",
      from: "Yunsheng Lin",
      date: "2023-12-05",
    },
  ],
  kernels: ["6.8", "6.12", "6.18"],
  fitted: [],
  figures: FIGURES,
  bands: [
    ...["perf-before", "perf-after"].map((table) => ({
      table,
      rows: ["context-switches"],
      percent: [-0.025, 0] as const,
      note: "the process's own start and end are not simulated",
    })),
    {
      table: "share",
      percent: [-96.5, -96.4],
      note: "what the blocks carry of a gain that has other causes",
    },
  ],
  findings: [
    "The posted tool's 1,048,576 packets from the guest take 24,967 order-3 blocks before the series; after it one, which is started again in place 24,966 times. Packets to the guest take no page fragment at all.",
    "The figures are older than the posted tool: every digit stands in version 1 of 5 December 2023, whose tool sends from the guest only, in buffers of 1,024 bytes. There the series turns 47,663 blocks into one.",
    "The context switches say the same: the worker is woken once a packet, 1,048,576 times in one direction (published 1,048,668), and 2,097,152 times in two. The author's next series, run with the two-way tool, prints 2,097,713.",
    "The state that was measured is not the one that was merged: version 1 also let fragments start at offset 0, which version 3 dropped and 6.13 brought back. It changes no count here.",
    "All blocks come from and go to a per-CPU list: zone->lock is taken once in a run of 6.8. At the dearer price with the lock, 524 cycles a pair, and at the 0.801 GHz that perf printed, the blocks are 0.018 % of the elapsed time: at most 3.3 % of the gain of 0.935 s. The other 97 % have no cause in the page-frag path.",
    "To carry all of the gain a pair would have to cost 15,700 cycles.",
    "The gain is 3.3 standard errors, so ten runs do show a difference; but cycles rise by 2.7 % (5.0 standard errors), instructions fall by 3.1 % and branches by 4.7 %, 5,919 instructions a packet. A thread that spins while it waits decides these counters.",
    "Time fell while cycles rose: by perf's own metric the CPUs ran at 0.827 GHz after the series and at 0.801 GHz before, 3.2 % more. That difference between the two series of runs is six times the gain.",
    "Reuse needs every packet of a block to be back when the block ends: one unread packet is enough to make the series take as many blocks as before.",
    "With single pages only, 5 buffers a page, 209,716 pages are taken before the series and one after.",
    "That one page stays when memory has recovered: with one packet in flight the cache starts it again for ever and never asks for a large block, where vhost_net's own allocator did after five packets.",
    "Patch 2 spares callers of page_frag_cache that may sleep one pass of reclaim for a block that they can do without. The bits that version 4 gave net/core/sock.c were taken back in version 5.",
    "Patch 3 frees no page that was not freed before: gve, mtk_wed_wo and both ends of NVMe over TCP had drained their caches by hand. It replaces five copies of the same lines, of which the target's did not check for a cache without a block. Before October 2021 the NVMe drivers left a block a cache behind.",
  ],
  reproduce: (options?: ReproduceOptions): Promise<Table[]> =>
    makeTables([
      events,
      firstToolEvents,
      singlePages,
      held,
      () => perfStat("before"),
      () => perfStat("after"),
      changes,
      share,
      () => gfpBits("fragmented"),
      () => gfpBits("reserve"),
      drain,
    ], options),
};
