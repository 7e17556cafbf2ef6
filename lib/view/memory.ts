/**
 * Where the bytes of a packet went: every allocation to scale, piece by piece.
 *
 * @module
 */

import { grouped } from "../table/number.ts";
import { colors, textOn } from "./colors.ts";
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
import type { MemoryBlock, PieceKind } from "../net/packet_memory.ts";
import {
  boldness,
  edge,
  fontSize,
  lineHeight,
  textWidth,
  wrapText,
} from "./text_width.ts";

/** How to draw memory. */
export interface DrawMemoryOptions {
  /** The finding; by default how much memory holds how much payload. */
  readonly title?: string | undefined;
  /** The drawing's width in px; 640 by default, at least 320. */
  readonly width?: number | undefined;
}

const kinds: readonly PieceKind[] = [
  "struct",
  "headroom",
  "header",
  "payload",
  "shared_info",
  "unused",
];
const barHeight = 28;

function check(blocks: readonly MemoryBlock[]): void {
  if (!Array.isArray(blocks)) {
    throw new TypeError(`blocks is ${String(blocks)}; an array is needed`);
  }
  if (blocks.length === 0) {
    throw new RangeError("blocks is empty; at least one allocation is needed");
  }
  blocks.forEach(({ label, size, pieces }: MemoryBlock, b) => {
    if (!Number.isInteger(size) || size <= 0) {
      throw new RangeError(
        `blocks[${b}].size is ${size}; a whole number of bytes from 1 up is needed`,
      );
    }
    let sum = 0;
    pieces.forEach(({ bytes, kind }, p) => {
      const name = `blocks[${b}].pieces[${p}]`;
      if (!Number.isInteger(bytes) || bytes < 0) {
        throw new RangeError(
          `${name}.bytes is ${bytes}; a whole number from 0 up is needed`,
        );
      }
      if (!kinds.includes(kind)) {
        throw new RangeError(
          `${name}.kind is ${JSON.stringify(kind)}; one of ${
            kinds.join(", ")
          } is needed`,
        );
      }
      sum += bytes;
    });
    if (sum !== size) {
      throw new RangeError(
        `the pieces of blocks[${b}] (${
          JSON.stringify(label)
        }) sum to ${sum} bytes; its size is ${size}`,
      );
    }
  });
}

function finding(blocks: readonly MemoryBlock[]): string {
  const size = blocks.reduce((sum, block) => sum + block.size, 0);
  const payload = blocks.flatMap((block) => block.pieces).reduce(
    (sum, { bytes, kind }) => sum + (kind === "payload" ? bytes : 0),
    0,
  );
  return `${bytesText(payload)} of payload take ${bytesText(size)} of memory (${
    grouped(100 * payload / size)
  }% used)`;
}

function heading(block: MemoryBlock): string {
  return `${block.label}: ${bytesText(block.size)} (${block.allocator})`;
}

/**
 * Places everything. A piece that cannot hold its own label gets it in a row
 * below its bar, behind a square of its colour, in the order of the pieces.
 */
function place(
  blocks: readonly MemoryBlock[],
  width: number,
): { boxes: Box[]; labels: Label[]; height: number } {
  const boxes: Box[] = [];
  const labels: Label[] = [];
  const scale = (width - 2 * edge) /
    Math.max(...blocks.map((block) => block.size));
  let y = 0;
  for (const block of blocks) {
    for (
      const text of wrapText(
        heading(block),
        fontSize * boldness,
        width - 2 * edge,
      )
    ) {
      labels.push({
        x: edge,
        y: y + lineHeight / 2,
        text,
        fill: "currentColor",
        anchor: "start",
        bold: true,
      });
      y += lineHeight;
    }
    let offset = 0;
    const aside: { readonly text: string; readonly fill: string }[] = [];
    for (const piece of block.pieces) {
      if (piece.bytes === 0) continue;
      const x1 = edge + offset * scale;
      offset += piece.bytes;
      const x2 = edge + offset * scale;
      const fill = colors[piece.kind]!;
      const text = `${piece.label} ${count(piece.bytes)}`;
      boxes.push({ x1, x2, y1: y, y2: y + barHeight, fill });
      if (textWidth(text, fontSize) + 8 <= x2 - x1) {
        labels.push({
          x: (x1 + x2) / 2,
          y: y + barHeight / 2,
          text,
          fill: textOn(fill),
          anchor: "middle",
          bold: false,
        });
      } else aside.push({ text, fill });
    }
    y += barHeight + 4;
    if (aside.length > 0) {
      const key = drawKey(aside, width, y);
      boxes.push(...key.boxes);
      labels.push(...key.labels);
      y = key.bottom;
    }
    y += 10;
  }
  return { boxes, labels, height: y };
}

/**
 * Draws allocations as bars to one scale, each divided into its pieces, every
 * piece with its name and size in bytes. Pieces too small for their names have
 * them in a row below their bar, in the order they lie in memory.
 *
 * @param blocks The allocations; each one's pieces sum to its size.
 * @param options Title and width.
 * @returns The figure; its terminal form is `memoryText(blocks)`.
 * @throws {RangeError} Where there is no block, a size is not a whole number of bytes, the pieces
 * do not sum to their block's size, a kind is unknown, or the width is out of range.
 *
 * @example
 * ```ts
 * import { assertStringIncludes } from "@std/assert";
 * import { drawMemory } from "@truesize/lab";
 *
 * const figure = await drawMemory([
 *   { label: "sk_buff", allocator: "skbuff_head_cache", size: 256, pieces: [{ label: "struct", bytes: 256, kind: "struct" }] },
 *   {
 *     label: "head",
 *     allocator: "kmalloc-1k",
 *     size: 1024,
 *     pieces: [
 *       { label: "headroom", bytes: 64, kind: "headroom" },
 *       { label: "payload", bytes: 500, kind: "payload" },
 *       { label: "tailroom", bytes: 140, kind: "unused" },
 *       { label: "skb_shared_info", bytes: 320, kind: "shared_info" },
 *     ],
 *   },
 * ]);
 * assertStringIncludes(figure.title, "500 bytes of payload take 1,280 bytes of memory");
 * ```
 */
export async function drawMemory(
  blocks: readonly MemoryBlock[],
  options: DrawMemoryOptions = {},
): Promise<Figure> {
  check(blocks);
  const { title = finding(blocks), width = 640 } = options;
  checkWidth(width);
  const { boxes, labels, height } = place(blocks, width);
  return await plotPixels(
    title,
    memoryText(blocks),
    width,
    height,
    boxes,
    labels,
    blocks.flatMap(({ label, allocator, pieces }) =>
      pieces.map((piece) => ({
        block: label,
        allocator,
        piece: piece.label,
        bytes: piece.bytes,
      }))
    ),
  );
}

const glyphs: Readonly<Record<PieceKind, string>> = {
  struct: "▓",
  headroom: "░",
  header: "▒",
  payload: "█",
  shared_info: "▞",
  unused: "·",
};

/**
 * The terminal form of {@link drawMemory}: bars of characters to one scale, at
 * most 80 columns wide.
 *
 * @param blocks The allocations.
 * @returns Lines, each ended.
 * @throws {RangeError} As {@link drawMemory}.
 *
 * @example
 * ```ts
 * import { assertStringIncludes } from "@std/assert";
 * import { memoryText } from "@truesize/lab";
 *
 * const text = memoryText([
 *   { label: "sk_buff", allocator: "skbuff_head_cache", size: 232, pieces: [{ label: "struct", bytes: 232, kind: "struct" }] },
 * ]);
 * assertStringIncludes(text, "▓ struct 232");
 * ```
 */
export function memoryText(blocks: readonly MemoryBlock[]): string {
  check(blocks);
  const columns = 78;
  const largest = Math.max(...blocks.map((block) => block.size));
  const lines: string[] = [];
  for (const block of blocks) {
    lines.push(...cut(heading(block), 80));
    let bar = "";
    let offset = 0;
    for (const { bytes, kind } of block.pieces) {
      offset += bytes;
      bar += glyphs[kind].repeat(
        Math.max(0, Math.round((offset / largest) * columns) - bar.length),
      );
    }
    lines.push(`  ${bar}`);
    const legend = block.pieces.filter(({ bytes }) => bytes > 0).map((
      { label, bytes, kind },
    ) => `${glyphs[kind]} ${label} ${count(bytes)}`);
    let line = "";
    for (const entry of legend) {
      if (line !== "" && line.length + 2 + entry.length > columns) {
        lines.push(`  ${line}`);
        line = "";
      }
      line += line === "" ? entry : `  ${entry}`;
    }
    lines.push(...cut(`  ${line}`, 80));
  }
  return lines.join("\n") + "\n";
}
