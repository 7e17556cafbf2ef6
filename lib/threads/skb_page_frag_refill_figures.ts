/**
 * The figures of the `skb_page_frag_refill` thread.
 *
 * @module
 */

import { buffersPerBlock } from "../experiments/page_frag_blocks.ts";
import { sendFragments } from "../experiments/send_fragments.ts";
import type { Kernel } from "../kernel.ts";
import {
  skbPageFragRefillV1,
  skbPageFragRefillV2,
} from "../patches/skb_page_frag_refill.ts";
import { kernel } from "../releases/mod.ts";
import { drawBlock } from "../view/block.ts";
import { colorOf } from "../view/colors.ts";
import { plotLines, type Point } from "../view/lines.ts";
import { plot } from "../view/plot.ts";
import type { ThreadFigure } from "./figures.ts";

const states = () => {
  const base = kernel("net-next-2013-10");
  return {
    base,
    v1: base.am(skbPageFragRefillV1),
    v2: base.am(skbPageFragRefillV2),
  };
};

const blocks: ThreadFigure = {
  table: "buffers-per-block",
  draw() {
    const { v1, v2 } = states();
    const of = (name: string, version: Kernel, size: number) => {
      const { blockSize, buffers } = buffersPerBlock({ kernel: version, size });
      const label = `${name}, ${
        size === 2048 ? "2,048" : "4,096"
      }-byte buffers`;
      return { label, size: blockSize, order: 3, buffers };
    };
    return drawBlock(
      [2048, 4096].flatMap((size) => [of("v1", v1, size), of("v2", v2, size)]),
      { title: "Version 1 leaves the last buffer of each block unused" },
    );
  },
};

const loss: ThreadFigure = {
  table: "buffers-per-block",
  draw() {
    const { v1, v2 } = states();
    const lost = Array.from({ length: 64 }, (_, i) => 64 * (i + 1)).map(
      (size) => {
        const [one, two] = [v1, v2].map((version) =>
          buffersPerBlock({ kernel: version, size }).count
        );
        return { size, lost: 100 * (two! - one!) / two! };
      },
    );
    return plot({
      title:
        "Version 1 loses up to an eighth of each block, and only where the size divides it",
      subtitle: "share of buffers lost against version 2, 32 KiB blocks",
      data: lost,
      x: { label: "buffer size, bytes" },
      y: { label: "buffers lost, %", domain: [0, 14], grid: true },
      marks: (Plot) => [
        Plot.ruleX(lost, {
          x: "size",
          y: "lost",
          stroke: colorOf("v1"),
          strokeWidth: 3,
        }),
        Plot.text(lost.filter(({ lost }) => lost > 2), {
          x: "size",
          y: "lost",
          text: ({ size }: { size: number }) => String(size),
          dy: -8,
        }),
        Plot.ruleY([0]),
      ],
    });
  },
};

const crumbs: ThreadFigure = {
  table: "minimum-of-32",
  draw() {
    const { base, v2 } = states();
    const tiny = (version: Kernel): Point[] =>
      Array.from({ length: 60 }, (_, i) => 100 + 47 * i).map((write) => {
        const run = sendFragments({ kernel: version, write, writes: 4000 });
        return [write, 100 * run.tiny / run.blocks];
      });
    return plotLines({
      title: "The minimum of 32 ends the crumbs at the end of a block",
      subtitle: "4,000 writes of each size, all held",
      series: [
        { label: "before", points: tiny(base) },
        { label: "v2 and later", points: tiny(v2) },
      ],
      x: { label: "bytes of each write" },
      y: { label: "pieces under 32 bytes per 100 blocks" },
    });
  },
};

/** The figures, by name. */
export const FIGURES: Readonly<Record<string, ThreadFigure>> = {
  blocks,
  loss,
  crumbs,
};
