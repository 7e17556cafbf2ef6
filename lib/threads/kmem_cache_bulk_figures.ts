/**
 * The figures of the `kmem_cache` bulk thread.
 *
 * @module
 */

import { ipForward } from "../experiments/ip_forward.ts";
import { slabMicrobench } from "../experiments/slab_microbench.ts";
import type { Kernel } from "../kernel.ts";
import { kmemCache } from "../mm/kmem_cache.ts";
import { slabViews } from "../mm/slub_view.ts";
import { flushOnEveryExit } from "../patches/kmem_cache_bulk.ts";
import { kernel } from "../releases/mod.ts";
import { cpu } from "../sim/cpus.ts";
import { plotBills } from "../view/bill.ts";
import { plotLines, type Point } from "../view/lines.ts";
import { drawSlabs } from "../view/slabs.ts";
import { tableOf, type ThreadFigure } from "./figures.ts";
import {
  FORWARDING_STATES,
  forwardingKernel,
  pricedForward,
} from "./kmem_cache_bulk_model.ts";
import { CLEAN_SERIES } from "./kmem_cache_bulk_published.ts";

const slabs: ThreadFigure = {
  table: "events",
  draw() {
    const cache = kmemCache({
      kernel: forwardingKernel("base"),
      objectSize: 232,
      flags: ["SLAB_HWCACHE_ALIGN"],
    });
    const heads = Int32Array.from({ length: 128 }, () => cache.alloc());
    const before = slabViews(cache);
    for (const head of heads.subarray(0, 64)) cache.free(head);
    return drawSlabs([
      { label: "before: 128 heads in flight", slabs: before },
      { label: "after a Tx clean of 64", slabs: slabViews(cache) },
    ], { title: "Two full slabs come back to the CPU, object by object" });
  },
};

const bills: ThreadFigure = {
  table: "operations",
  draw: () =>
    plotBills(
      FORWARDING_STATES.flatMap((state) =>
        (["slub", "slab"] as const).map((allocator) => ({
          label: `${allocator.toUpperCase()}, ${state}`,
          bill: pricedForward(forwardingKernel(state), allocator).bill,
        }))
      ),
      {
        title: "Slow frees are what the patches remove",
        subtitle:
          "slab work of a packet, i7-4790K at 4.2 GHz, priced without k; line: interval of the prices",
      },
    ),
};

const reuse: ThreadFigure = {
  table: "reuse",
  draw() {
    const reused = (k: Kernel): Point[] =>
      Array.from({ length: 64 }, (_, i) => i + 1).map((perPoll) => {
        const { napi, packets } = ipForward({
          kernel: k,
          perPoll,
          polls: 256,
          warmup: 128,
        });
        return [perPoll, 100 * napi.reused! / packets];
      });
    const patched = forwardingKernel("patches 1-4");
    return plotLines({
      title: "At 64 packets a poll patch 4 reuses nothing",
      subtitle: "heads handed out again, share of all packets",
      series: [
        { label: "as posted", points: reused(patched) },
        {
          label: "flushed on every exit",
          points: reused(patched.am(flushOnEveryExit)),
          dashed: true,
        },
      ],
      x: { label: "packets in a poll" },
      y: { label: "reused, %", domain: [0, 100] },
    });
  },
};

const microbench: ThreadFigure = {
  table: "microbench",
  draw(tables) {
    const { rows } = tableOf(tables, "microbench");
    const sizes = [
      ...Array.from({ length: 80 }, (_, i) => i + 1),
      ...Array.from({ length: 34 }, (_, i) => 85 + 5 * i),
    ];
    // Series C: single, then bulk.
    const lines = CLEAN_SERIES.slice(0, 2).map(({ bulk, release }, column) => ({
      label: bulk === "none" ? "single" : "bulk",
      points: sizes.map((objects): Point => [
        objects,
        slabMicrobench({
          kernel: kernel(release),
          bulk,
          objects,
          cpu: cpu("i7-4790K"),
        }).ns,
      ]),
      published: rows.map(({ label, cells }): Point => [
        parseInt(label),
        cells[column]!.published!,
      ]),
    }));
    return plotLines({
      title:
        "From the 33rd object on a single free is slow, a bulk free is not",
      subtitle:
        "SLUB, objects of 256 bytes, i7-4790K; rings: published (series C)",
      series: lines,
      x: { label: "objects allocated, then freed" },
      y: { label: "ns an object", domain: [0, 30] },
    });
  },
};

/** The figures, by name. */
export const FIGURES: Readonly<Record<string, ThreadFigure>> = {
  bills,
  slabs,
  reuse,
  microbench,
};
