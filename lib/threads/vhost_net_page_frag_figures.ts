/**
 * The figures of the vhost_net page-frag thread.
 *
 * @module
 */

import { VhostNetPageFrag } from "../drivers/vhost_net_page_frag.ts";
import { vhostBufferLength } from "../drivers/vhost_net.ts";
import {
  bufferSource,
  type BufferSourceKind,
  cutBlock,
} from "../experiments/buffer_source.ts";
import { runVhostNetTest } from "../experiments/vhost_net_test.ts";
import type { Kernel } from "../kernel.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { kernel } from "../releases/mod.ts";
import { type BlockBuffer, drawBlock } from "../view/block.ts";
import { colorOf } from "../view/colors.ts";
import { plotLines, type Point } from "../view/lines.ts";
import { plot } from "../view/plot.ts";
import { tableOf, type ThreadFigure } from "./figures.ts";
import { vhostNetPageFragKernels } from "./vhost_net_page_frag_tables.ts";

/** The kernel before the series and after it. */
function ends(): { before: Kernel; series: Kernel } {
  const [before, , series] = vhostNetPageFragKernels();
  return { before: before!.kernel, series: series!.kernel };
}

const layouts: ThreadFigure = {
  table: "events",
  draw() {
    const { before } = ends();
    const sources: [string, BufferSourceKind, Kernel][] = [
      ["vhost_net's own (6.8)", "vhost_net", before],
      ["skb_page_frag_refill", "skb_page_frag_refill", before],
      ["page_frag_cache (6.8)", "page_frag_cache", before],
      ["page_frag_cache (6.18)", "page_frag_cache", kernel("6.18")],
    ];
    const size = vhostBufferLength(before, 1514);
    return drawBlock(
      sources.map(([label, kind, k]) => {
        const cut = cutBlock(bufferSource(kind, new PageAllocator(k)), size);
        const buffers = cut.buffers.map((buffer, i) => ({
          ...buffer,
          label: String(i + 1),
        }));
        return { ...cut, label, buffers };
      }),
      { title: "The same 16 buffers, from the start up or from the end down" },
    );
  },
};

const BLOCK = 32768;

/** The block after some packets, one in flight, and how it came about. */
function moment(name: string, k: Kernel, packets: number) {
  const frag = new VhostNetPageFrag(new PageAllocator(k));
  const { counters } = frag;
  let rounds = 0;
  let buffers: BlockBuffer[] = [];
  for (let i = 1; i <= packets; i++) {
    const address = frag.alloc(768);
    if (counters.refills + counters.reuses > rounds) buffers = [];
    rounds = counters.refills + counters.reuses;
    const inFlight = i === packets;
    buffers.push({
      offset: address % BLOCK,
      size: 768,
      label: String(i),
      free: !inFlight,
    });
    if (!inFlight) frag.free(address);
  }
  const label =
    `${name}, packet ${packets}: ${counters.refills} taken, ${counters.reuses} started again`;
  return { label, size: BLOCK, order: 3, buffers };
}

const usedUp: ThreadFigure = {
  table: "events",
  draw() {
    const { before, series } = ends();
    return drawBlock([
      moment("own", before, 42),
      moment("own", before, 43),
      moment("series", series, 42),
      moment("series", series, 43),
    ], {
      title:
        "Packet 43 takes another block before the series, and starts the same one again after it",
    });
  },
};

const groups: ThreadFigure = {
  table: "held",
  draw() {
    const { before, series } = ends();
    const perThousand = (k: Kernel): Point[] =>
      Array.from({ length: 84 }, (_, i) => i + 1).map((inFlight) => {
        const run = runVhostNetTest({
          kernel: k,
          packets: 21_000,
          directions: "tx",
          inFlight,
        });
        return [inFlight, 1000 * run.order3Allocations / run.txPackets];
      });
    return plotLines({
      title:
        "A block is started again where groups of packets happen to end with it",
      subtitle: "256-byte frames from the guest, 42 to a block",
      series: [
        { label: "6.8", points: perThousand(before) },
        { label: "series", points: perThousand(series) },
      ],
      x: { label: "packets offered at once" },
      y: { label: "order-3 blocks per 1,000 packets", domain: [0, 30] },
    });
  },
};

const UNTOLD = ["cpu-migrations", "stalled", "page-faults"];

const changes: ThreadFigure = {
  table: "changes",
  draw(tables) {
    const changed = tableOf(tables, "changes").rows
      .filter(({ label }) => !UNTOLD.some((name) => label.startsWith(name)))
      .map(({ label, cells }) => {
        const [change, error] = cells.map(({ simulated }) => simulated!);
        return {
          event: label,
          change: change!,
          low: change! - error!,
          high: change! + error!,
        };
      });
    return plot({
      title: "Time falls by 0.5 %, while cycles rise by 2.7 %",
      subtitle: "published change with its standard error, ten runs each",
      data: changed,
      height: 60 + 30 * changed.length,
      marginLeft: 120,
      x: { label: "change, %", grid: true, domain: [-6, 4] },
      y: { label: null, domain: changed.map(({ event }) => event) },
      marks: (Plot) => [
        Plot.ruleX([0]),
        Plot.ruleY(changed, {
          x1: "low",
          x2: "high",
          y: "event",
          strokeWidth: 2,
          stroke: colorOf("published"),
        }),
        Plot.dot(changed, {
          x: "change",
          y: "event",
          r: 4,
          fill: colorOf("published"),
        }),
      ],
    });
  },
};

const frames: ThreadFigure = {
  table: "events",
  draw() {
    const { before } = ends();
    const buffer = (frame: number): number => vhostBufferLength(before, frame);
    const sizes = Array.from({ length: 120 }, (_, i) => 60 + 30 * i)
      .filter((frame) => buffer(frame) <= 4096);
    const line = (of: (frame: number) => number): Point[] =>
      sizes.map((frame) => [frame, of(frame)]);
    return plotLines({
      title: "Every frame costs the host 700 to 800 bytes more than it is long",
      subtitle:
        "truesize: the buffer and 256 bytes of sk_buff; share of a block: 32 KiB by what fits",
      series: [
        {
          label: "truesize",
          points: line((frame) => buffer(frame) + 256),
          step: true,
        },
        {
          label: "share of a block",
          points: line((frame) => BLOCK / Math.floor(BLOCK / buffer(frame))),
          step: true,
        },
        {
          label: "the frame",
          points: line((frame) => frame),
          dashed: true,
        },
      ],
      x: { label: "frame, bytes" },
      y: { label: "bytes" },
    });
  },
};

/** The figures, by name. */
export const FIGURES: Readonly<Record<string, ThreadFigure>> = {
  layouts,
  "used-up": usedUp,
  frames,
  groups,
  changes,
};
