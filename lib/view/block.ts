/**
 * Page-fragment blocks, offset by offset.
 *
 * @module
 */

import { colorOf, textOn } from "./colors.ts";
import type { Figure } from "./figure.ts";
import {
  type Box,
  bytesText,
  checkWidth,
  count,
  cut,
  drawKey,
  type Label,
  plotPixels,
} from "./pixels.ts";
import {
  boldness,
  edge,
  fontSize,
  lineHeight,
  textWidth,
  wrapText,
} from "./text_width.ts";

/** One buffer in a block. */
export interface BlockBuffer {
  /** Where it starts, in bytes from the block's start. */
  readonly offset: number;
  /** Its size in bytes. */
  readonly size: number;
  /** Its name; its number in the block, from 1, by default. */
  readonly label?: string | undefined;
  /** Whether it was freed again and holds its place only. */
  readonly free?: boolean | undefined;
}

/** One block of pages and the buffers cut from it. */
export interface FragBlock {
  /** What cut it: an allocator, a release, a version of a patch. */
  readonly label?: string | undefined;
  /** Its size in bytes. */
  readonly size: number;
  /** Its order: it is 2 to this power pages. */
  readonly order: number;
  /** Its buffers, in any order. */
  readonly buffers: readonly BlockBuffer[];
}

/** How to draw blocks. */
export interface DrawBlockOptions {
  /** The finding; by default how many buffers each block holds. */
  readonly title?: string | undefined;
  /** What bytes that no buffer covers are called in the key; "never cut" by default. */
  readonly gap?: string | undefined;
  /** The drawing's width in px; 640 by default, at least 320. */
  readonly width?: number | undefined;
}

const barHeight = 28;
const usedFill = colorOf("buffer");
const freeFill = colorOf("freed buffer");
const gapFill = colorOf("never cut");

interface Checked extends FragBlock {
  /** By offset. */
  readonly buffers: readonly BlockBuffer[];
  /** Bytes that no buffer covers. */
  readonly unused: number;
}

function check(block: FragBlock, b: number): Checked {
  const { size, order } = block;
  if (!Number.isInteger(size) || size <= 0) {
    throw new RangeError(
      `blocks[${b}].size is ${size}; a whole number of bytes from 1 up is needed`,
    );
  }
  if (!Number.isInteger(order) || order < 0) {
    throw new RangeError(
      `blocks[${b}].order is ${order}; a whole number from 0 up is needed`,
    );
  }
  const buffers = [...block.buffers].sort((one, other) =>
    one.offset - other.offset
  );
  let end = 0;
  for (const buffer of buffers) {
    const name = `the buffer at ${buffer.offset} of blocks[${b}]`;
    if (!Number.isInteger(buffer.offset) || buffer.offset < 0) {
      throw new RangeError(
        `${name}: its offset is no whole number of bytes from 0 up`,
      );
    }
    if (!Number.isInteger(buffer.size) || buffer.size <= 0) {
      throw new RangeError(
        `${name}: its size is ${buffer.size}; a whole number of bytes from 1 up is needed`,
      );
    }
    if (buffer.offset < end) {
      throw new RangeError(
        `${name} overlaps the one before, which ends at ${end}`,
      );
    }
    end = buffer.offset + buffer.size;
    if (end > size) {
      throw new RangeError(`${name} ends at ${end}; the block ends at ${size}`);
    }
  }
  return {
    ...block,
    buffers,
    unused: size - buffers.reduce((sum, buffer) => sum + buffer.size, 0),
  };
}

function checkAll(blocks: FragBlock | readonly FragBlock[]): Checked[] {
  const all = Array.isArray(blocks)
    ? blocks as readonly FragBlock[]
    : [blocks as FragBlock];
  if (all.length === 0) {
    throw new RangeError("blocks is empty; at least one block is needed");
  }
  return all.map(check);
}

function buffersText(block: Checked): string {
  return block.buffers.length === 1
    ? "1 buffer"
    : `${block.buffers.length} buffers`;
}

function heading(block: Checked): string {
  const name = block.label === undefined ? "" : `${block.label}: `;
  return name + detail(block);
}

function detail(block: Checked): string {
  const free = block.buffers.filter((buffer) => buffer.free === true).length;
  return `${buffersText(block)} in an order-${block.order} block of ${
    bytesText(block.size)
  }, ` +
    (free > 0 ? `${free} freed, ` : "") + `${bytesText(block.unused)} unused`;
}

function finding(blocks: readonly Checked[]): string {
  const [first] = blocks;
  if (blocks.length === 1) {
    return `${buffersText(first!)} fit a block, ${
      bytesText(first!.unused)
    } stay unused`;
  }
  return blocks.map((block, b) =>
    `${block.label ?? `block ${b + 1}`} cuts ${buffersText(block)}`
  ).join(", ");
}

/** The finest of 1, 2, 4 … KiB whose labels leave room between them. */
function tickStep(size: number, scale: number): number {
  let step = 1024;
  while (
    step < size &&
    step * scale < textWidth(`${count(size / 1024)} KiB`, fontSize) + 12
  ) step *= 2;
  return step;
}

/** A buffer, or the gap between two. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly fill: string;
  readonly label: string;
  /** Whether it is a buffer. */
  readonly isBuffer: boolean;
}

/** Buffers and the gaps between them, in the order they lie in the block. */
function spans(
  block: Checked,
): Span[] {
  const out: Span[] = [];
  let end = 0;
  block.buffers.forEach(({ offset, size, label, free = false }, i) => {
    if (offset > end) {
      out.push({
        from: end,
        to: offset,
        fill: gapFill,
        label: count(offset - end),
        isBuffer: false,
      });
    }
    out.push({
      from: offset,
      to: offset + size,
      fill: free ? freeFill : usedFill,
      label: label ?? String(i + 1),
      isBuffer: true,
    });
    end = offset + size;
  });
  if (end < block.size) {
    out.push({
      from: end,
      to: block.size,
      fill: gapFill,
      label: count(block.size - end),
      isBuffer: false,
    });
  }
  return out;
}

function place(
  blocks: readonly Checked[],
  width: number,
  gap: string,
): { boxes: Box[]; labels: Label[]; height: number } {
  const boxes: Box[] = [];
  const labels: Label[] = [];
  const largest = Math.max(...blocks.map((block) => block.size));
  // The last tick's label is centred on the right end: half of it needs room.
  const room = textWidth(`${count(largest / 1024)} KiB`, fontSize) / 2;
  const scale = (width - 2 * edge - room) / largest;
  let y = 0;
  for (const block of blocks) {
    for (
      const [text, bold] of [[block.label ?? "", true], [
        detail(block),
        false,
      ]] as const
    ) {
      const size = fontSize * (bold ? boldness : 1);
      for (const line of wrapText(text, size, width - 2 * edge)) {
        labels.push({
          x: edge,
          y: y + lineHeight / 2,
          text: line,
          fill: "currentColor",
          anchor: "start",
          bold,
        });
        y += lineHeight;
      }
    }
    const parts = spans(block);
    const fits = ({ from, to, label }: Span): boolean =>
      textWidth(label, fontSize) + 4 <= (to - from) * scale;
    // Buffers have all their names or none: numbers that stop at 9 would say that there are nine.
    const named = parts.filter(({ isBuffer }) => isBuffer).every(fits);
    for (const part of parts) {
      const { from, to, fill, label, isBuffer } = part;
      const box = {
        x1: edge + from * scale,
        x2: edge + to * scale,
        y1: y,
        y2: y + barHeight,
        fill,
      };
      boxes.push(box);
      if (isBuffer ? !named : !fits(part)) continue;
      labels.push({
        x: (box.x1 + box.x2) / 2,
        y: y + barHeight / 2,
        text: label,
        fill: textOn(fill),
        anchor: "middle",
        bold: false,
      });
    }
    y += barHeight + 10;
  }
  y -= 6;
  const step = tickStep(largest, scale);
  for (let offset = 0; offset <= largest; offset += step) {
    const x = edge + offset * scale;
    boxes.push({
      x1: x - 0.25,
      x2: x + 0.25,
      y1: y - 4,
      y2: y,
      fill: "currentColor",
    });
    labels.push({
      x,
      y: y + lineHeight / 2,
      text: offset === 0 ? "0" : `${count(offset / 1024)} KiB`,
      fill: "currentColor",
      anchor: offset === 0 ? "start" : "middle",
      bold: false,
    });
  }
  y += lineHeight + 4;
  const key = [{ text: "buffer", fill: usedFill }];
  if (
    blocks.some((block) => block.buffers.some((buffer) => buffer.free === true))
  ) key.push({ text: "freed buffer", fill: freeFill });
  if (blocks.some((block) => block.unused > 0)) {
    key.push({ text: gap, fill: gapFill });
  }
  const placed = drawKey(key, width, y);
  boxes.push(...placed.boxes);
  labels.push(...placed.labels);
  return { boxes, labels, height: placed.bottom + 4 };
}

/**
 * Draws blocks of pages offset by offset, one above the other and to one
 * scale, with the buffers cut from them, what was never cut, and offsets in KiB.
 *
 * @param blocks One block, or several to compare.
 * @param options Title and width.
 * @returns The figure; its terminal form is `blockText(blocks)`.
 * @throws {RangeError} Where there is no block, a size, order or offset is not a possible one, buffers
 * overlap or lie outside their block, or the width is out of range.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { drawBlock } from "@truesize/lab";
 *
 * const cut = (size: number, count: number) => Array.from({ length: count }, (_, i) => ({ offset: 32768 - (i + 1) * size, size }));
 * const figure = await drawBlock([
 *   { label: "v1", size: 32768, order: 3, buffers: cut(2176, 15) },
 *   { label: "v2", size: 32768, order: 3, buffers: cut(2048, 16) },
 * ]);
 * assertEquals(figure.title, "v1 cuts 15 buffers, v2 cuts 16 buffers");
 * ```
 */
export async function drawBlock(
  blocks: FragBlock | readonly FragBlock[],
  options: DrawBlockOptions = {},
): Promise<Figure> {
  const all = checkAll(blocks);
  const { title = finding(all), gap = "never cut", width = 640 } = options;
  checkWidth(width);
  const { boxes, labels, height } = place(all, width, gap);
  return await plotPixels(
    title,
    blockText(blocks),
    width,
    height,
    boxes,
    labels,
    all.flatMap(({ label = "", buffers }, b) =>
      buffers.map(({ offset, size, free = false }) => ({
        block: b,
        label,
        offset,
        size,
        free: free ? 1 : 0,
      }))
    ),
  );
}

/**
 * The terminal form of {@link drawBlock}, at most 80 columns wide: `[` starts a
 * buffer, `:` fills a freed one, `.` is what was never cut.
 *
 * @param blocks One block, or several to compare.
 * @returns Lines, each ended.
 * @throws {RangeError} As {@link drawBlock}.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { blockText } from "@truesize/lab";
 *
 * const text = blockText({ size: 4096, order: 0, buffers: [{ offset: 2048, size: 2048 }] });
 * assertEquals(text.split("\n")[0], "1 buffer in an order-0 block of 4,096 bytes, 2,048 bytes unused");
 * ```
 */
export function blockText(blocks: FragBlock | readonly FragBlock[]): string {
  const all = checkAll(blocks);
  const columns = 78;
  const largest = Math.max(...all.map((block) => block.size));
  return all.flatMap((block) => {
    let bar = "";
    for (const { to, fill } of spans(block)) {
      const length = Math.max(
        0,
        Math.round((to / largest) * columns) - bar.length,
      );
      if (fill === gapFill) bar += ".".repeat(length);
      else if (length > 0) {
        bar += "[" + (fill === freeFill ? ":" : "=").repeat(length - 1);
      }
    }
    return [...cut(heading(block), 80), `  ${bar}`];
  }).join("\n") + "\n";
}
