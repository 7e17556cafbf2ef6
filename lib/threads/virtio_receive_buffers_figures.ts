/**
 * The figures of virtio_net's receive buffers.
 *
 * @module
 */

import { MergeableRing } from "../drivers/virtio_ring.ts";
import { memoryStress } from "../experiments/memory_stress.ts";
import { mixedLifetimes } from "../experiments/mixed_lifetimes.ts";
import {
  type ReceiveEra,
  receiveRing,
  receiveYears,
} from "../experiments/receive_years.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { kernel } from "../releases/mod.ts";
import { type BlockBuffer, drawBlock } from "../view/block.ts";
import { type LineSeries, plotLines, type Point } from "../view/lines.ts";
import { count } from "../view/pixels.ts";
import type { ThreadFigure } from "./figures.ts";
import { GSO_FRAME, virtioEras } from "./virtio_eras.ts";

const FRAME = 1514;

const eraOf = (label: string): ReceiveEra =>
  virtioEras().find((era) => era.label.startsWith(label))!;

const waste: ThreadFigure = {
  table: "ratio",
  draw() {
    const frames = Array.from(
      { length: 160 },
      (_, i) => Math.round(66 * (GSO_FRAME / 66) ** (i / 159)),
    );
    const eras = [
      "whole page",
      "1,536 bytes",
      "auto-tune",
      "build_skb (6.8)",
      "page_pool, small",
    ].map(eraOf);
    const rows = receiveYears({ eras, frames, packets: 210 });
    return plotLines({
      title:
        "Below 1,200 bytes build_skb wastes least, from there to a page auto-tuning",
      subtitle: "share of truesize that is frame; buffers have settled",
      series: eras.map(({ label }) => ({
        label,
        points: rows.filter((row) => row.label === label)
          .map(({ frame, ratio }): Point => [frame, 100 * ratio]),
      })),
      x: {
        label: "frame, bytes",
        type: "log",
        ticks: [100, 1000, 10000],
        tickFormat: count,
      },
      y: { label: "frame / truesize, %", domain: [0, 100] },
    });
  },
};

/** A block of a ring that has seen six rounds of frames: what is posted, or what a packet of `filled` bytes writes. */
function blockOf(
  era: ReceiveEra,
  label: string,
  frame: number,
  filled?: number,
) {
  const ring = receiveRing(era);
  for (let i = 0; i < 6 * 256; i++) {
    ring.receive(frame);
    ring.consume();
  }
  // The block of which most buffers are posted: one that is neither being cut nor used up.
  const posted = Map.groupBy(ring.buffers(), ({ pfn }) => pfn);
  const [pfn, cut] = [...posted].reduce((a, b) =>
    b[1].length > a[1].length ? b : a
  );
  const order = ring.pages.orderOf(pfn);
  let rest = 0;
  const buffers = cut.map(({ offset, length }): BlockBuffer => {
    if (rest === 0) rest = filled ?? 0;
    const size = filled === undefined ? length : Math.min(rest, length);
    rest -= size;
    return { offset, size, label: size < 1000 ? "" : String(size) };
  });
  return { label, size: 4096 << order, order, buffers };
}

const FORMS: readonly (readonly [era: string, label: string, frame: number])[] =
  [
    ["whole page", "3.12", FRAME],
    ["1,518 bytes", "November 2013", FRAME],
    ["1,536 bytes", "3.13", FRAME],
    ["auto-tune", "3.14 and later", FRAME],
    ["auto-tune", "3.14 and later, 2,400-byte frames", 2400],
    ["auto-tune", "3.14 and later, 64 KiB packets", GSO_FRAME],
    ["page_pool, small", "page_pool", FRAME],
  ];

const cuts: ThreadFigure = {
  table: "buffers",
  draw: () =>
    drawBlock(
      FORMS.map(([era, label, frame]) => blockOf(eraOf(era), label, frame)),
      {
        title:
          "A page is cut not at all, an order-3 block by the size of the day",
      },
    ),
};

const fills: ThreadFigure = {
  table: "buffers",
  draw: () =>
    drawBlock(
      FORMS.filter(([, label]) => !label.includes("2,400")).map((
        [era, label, frame],
      ) =>
        // virtio's header of 12 bytes lies before the frame.
        blockOf(
          eraOf(era),
          label,
          frame,
          era.startsWith("page_pool") ? FRAME : FRAME + 12,
        )
      ),
      {
        title:
          "A frame of 1,514 fills 37 % of a page, and nearly all of 1,536 bytes",
        gap: "posted or left over, not written",
      },
    ),
};

/** What full-size frames are charged around sixty 64 KiB packets. */
function charges(label: string): Point[] {
  const ring = new MergeableRing(new PageAllocator(eraOf(label).kernel));
  const points: Point[] = [];
  for (let packet = 0; packet < 1300; packet++) {
    const large = packet >= 200 && packet < 260;
    const truesize = ring.receive(large ? GSO_FRAME : FRAME);
    ring.consume();
    if (!large) points.push([packet, truesize]);
  }
  return points;
}

const following: ThreadFigure = {
  table: "truesize",
  draw: () =>
    plotLines({
      title:
        "Sixty 64 KiB packets make the next 400 full-size frames cost a page each",
      subtitle:
        "truesize of full-size frames; packets 200 to 259 are 64 KiB long and not drawn",
      series: ["1,536 bytes", "auto-tune", "build_skb (6.8)"].map((label) => ({
        label: eraOf(label).label,
        points: charges(label),
        step: true,
      })),
      x: { label: "packet" },
      y: { label: "truesize, bytes", domain: [0, 6000] },
    }),
};

const counted = (counts: Int32Array): Point[] =>
  Array.from(counts, (count, poll): Point => [poll, count]);

const fragmented: ThreadFigure = {
  table: "ring",
  draw() {
    const run = memoryStress({
      kernel: kernel("6.8"),
      source: "page_frag_cache",
      shortage: "fragmented",
      recovery: 60,
    });
    const [from, to] = run.shortage;
    return plotLines({
      title:
        "Without large blocks a poll takes 32 single pages in place of three blocks",
      subtitle:
        `page_frag_cache of 6.8, 64 buffers a poll; no order 3 from poll ${from}, given back from ${to} to ${
          to + 59
        }`,
      series: [
        {
          label: "single pages",
          points: counted(run.order0),
          step: true,
        },
        {
          label: "order-3 blocks",
          points: counted(run.order3),
          step: true,
        },
      ],
      marks: (Plot) => [
        Plot.ruleX([from, to], { strokeDasharray: "4 3" }),
      ],
      x: { label: "poll" },
      y: { label: "blocks taken in a poll" },
    });
  },
};

const reserve: ThreadFigure = {
  table: "ring",
  draw() {
    const filled = (
      source: "page_frag_cache" | "kmalloc",
      label: string,
    ): LineSeries => ({
      label,
      step: true,
      points: counted(
        memoryStress({ kernel: kernel("6.8"), source, shortage: "reserve" })
          .filled,
      ),
    });
    return plotLines({
      title: "Without reserve a ring of fragments runs dry; kept pages go on",
      subtitle:
        "buffers in a ring of 256, 64 used a poll; a quarter of the min mark is free from poll 40 to 80",
      series: [
        filled("page_frag_cache", "page_frag_cache"),
        filled("kmalloc", "kmalloc and page_pool"),
      ],
      x: { label: "poll" },
      y: { label: "buffers in the ring", domain: [0, 300] },
    });
  },
};

const MIXES = [
  ["shared page_frag_cache", "page_frag_cache", true],
  ["a cache of their own", "page_frag_cache", false],
  ["page_pool for all", "page_pool", true],
] as const;

const lifetimes: ThreadFigure = {
  table: "ring",
  draw() {
    const mixed = MIXES.map(([label, source, shared]) => ({
      label,
      run: mixedLifetimes({
        kernel: kernel("6.8"),
        short: source,
        long: source,
        shared,
      }),
    }));
    const overTime = (bytes: Float64Array): Point[] =>
      Array.from(bytes, (count, i): Point => [i, count / 2 ** 20]);
    return plotLines({
      title: "1,024 survivors, 2 MiB in all, hold 32 MiB of a shared cache",
      subtitle:
        "64 short-lived buffers of 2,048 bytes, 1,024 long-lived ones of 1,920, one in sixteen; 6.8",
      series: [
        ...mixed.map(({ label, run }) => ({
          label,
          points: overTime(run.held),
        })),
        {
          label: "in use",
          dashed: true,
          points: overTime(mixed[0]!.run.live),
        },
      ],
      x: { label: "long-lived buffers handed out" },
      y: { label: "MiB", domain: [0, 36] },
    });
  },
};

/** The figures, by name. */
export const FIGURES: Readonly<Record<string, ThreadFigure>> = {
  following,
  waste,
  cuts,
  fills,
  fragmented,
  reserve,
  lifetimes,
};
