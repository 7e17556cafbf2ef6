/**
 * A cache's slabs drawn slot by slot: which objects are held, which are free and on whose list.
 *
 * @module
 */

import type { SlabView } from "../mm/slub_view.ts";
import { colorOf } from "./colors.ts";
import type { Figure } from "./figure.ts";
import {
  type Box,
  checkWidth,
  drawKey,
  type Label,
  plotPixels,
} from "./pixels.ts";
import { edge, fontSize, lineHeight, textWidth } from "./text_width.ts";

/** Some moments of a cache, to be drawn below each other. */
export interface SlabsMoment {
  /** What has just happened. */
  readonly label: string;
  /** The slabs, as `slabViews` gave them. */
  readonly slabs: readonly SlabView[];
}

/** How to draw slabs. */
export interface DrawSlabsOptions {
  /** The finding. */
  readonly title: string;
  /** The drawing's width in px; 640 by default, at least 320. */
  readonly width?: number | undefined;
}

const STATES = {
  held: "held by a caller",
  cpu: "on the CPU's freelist",
  own: "on the slab's freelist",
} as const;

const BAR = 14;

function slotState(view: SlabView, slot: number): keyof typeof STATES {
  if (view.held[slot]) return "held";
  return view.cpuFreelist.includes(slot) ? "cpu" : "own";
}

/**
 * The terminal form of {@linkcode drawSlabs}: `#` held, `c` on the CPU's freelist, `.` on the slab's own.
 *
 * @example
 * ```ts
 * import { kernel, kmemCache, slabsText, slabViews } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("6.1"), objectSize: 256 });
 * cache.alloc();
 * const text = slabsText([{ label: "one object", slabs: slabViews(cache) }]);
 * assert(text.includes("one object"));
 * ```
 */
export function slabsText(moments: readonly SlabsMoment[]): string {
  const glyph = { held: "#", cpu: "c", own: "." } as const;
  return moments.map(({ label, slabs }) =>
    [
      label,
      ...slabs.map((view) =>
        `  ${
          view.held.map((_, slot) => glyph[slotState(view, slot)]).join("")
        }  ${view.place}`
      ),
    ].join("\n")
  ).join("\n") + "\n";
}

/**
 * Draws a cache's slabs at some moments: a row a slab, a square a slot in the order of addresses.
 *
 * @param moments The moments, top to bottom.
 * @param options Title and width.
 * @returns The figure.
 * @throws {RangeError} There is no moment, or the width is out of range.
 *
 * @example
 * ```ts
 * import { drawSlabs, kernel, kmemCache, slabViews } from "@truesize/lab";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("4.3"), objectSize: 256, cpus: 2 });
 * const objects = Array.from({ length: 20 }, () => cache.alloc());
 * cache.free(objects[0]!);
 * const figure = await drawSlabs([{ label: "one free", slabs: slabViews(cache) }], { title: "One of twenty" });
 * assertStringIncludes(figure.svg(), "cpu partial");
 * ```
 */
export async function drawSlabs(
  moments: readonly SlabsMoment[],
  options: DrawSlabsOptions,
): Promise<Figure> {
  if (moments.length === 0) {
    throw new RangeError("moments is empty; at least one is needed");
  }
  const { title, width = 640 } = options;
  checkWidth(width);
  const slots = Math.max(
    1,
    ...moments.flatMap(({ slabs }) => slabs.map(({ held }) => held.length)),
  );
  const names = 12 + Math.max(
    ...moments.flatMap(({ slabs }) =>
      slabs.map(({ place }) => textWidth(place, fontSize))
    ),
  );
  const slotWidth = (width - 2 * edge - names) / slots;
  const boxes: Box[] = [];
  const labels: Label[] = [];
  let y = edge;
  for (const { label, slabs } of moments) {
    labels.push({
      x: edge,
      y: y + lineHeight / 2,
      text: label,
      fill: "currentColor",
      anchor: "start",
      bold: true,
    });
    y += lineHeight + 2;
    for (const view of slabs) {
      labels.push({
        x: edge,
        y: y + BAR / 2,
        text: view.place,
        fill: "currentColor",
        anchor: "start",
        bold: false,
      });
      view.held.forEach((_, slot) => {
        const x1 = edge + names + slot * slotWidth;
        boxes.push({
          x1,
          x2: x1 + slotWidth,
          y1: y,
          y2: y + BAR,
          fill: colorOf(STATES[slotState(view, slot)]),
        });
      });
      y += BAR + 4;
    }
    y += 8;
  }
  const key = drawKey(
    Object.values(STATES).map((text) => ({ text, fill: colorOf(text) })),
    width,
    y,
  );
  boxes.push(...key.boxes);
  labels.push(...key.labels);
  return await plotPixels(
    title,
    slabsText(moments),
    width,
    key.bottom + edge,
    boxes,
    labels,
    moments.flatMap(({ label, slabs }) =>
      slabs.map(({ slab, place, inuse, held }) => ({
        moment: label,
        slab,
        place,
        inuse,
        held: held.filter(Boolean).length,
        objects: held.length,
      }))
    ),
  );
}
