/**
 * A key: squares of colours and what they stand for, in rows.
 *
 * @module
 */

import {
  edge,
  fontSize,
  lineHeight,
  textWidth,
  wrapText,
} from "./text_width.ts";

/** One entry of a key. */
export interface KeyEntry {
  /** What the colour stands for. */
  readonly text: string;
  /** A CSS colour. */
  readonly fill: string;
}

/** A key's parts at their places: px from the figure's left and from the key's top. */
export interface PlacedKey {
  /** The squares. */
  readonly swatches: readonly {
    readonly x: number;
    readonly middle: number;
    readonly size: number;
    readonly fill: string;
  }[];
  /** The lines of text. */
  readonly texts: readonly {
    readonly x: number;
    readonly middle: number;
    readonly text: string;
  }[];
  /** The key's height; 0 without entries. */
  readonly height: number;
}

const size = 10;

/**
 * Places a key's entries one after the other, in as many rows as they need.
 *
 * @param entries The entries.
 * @param width The figure's width in px.
 * @returns The parts.
 */
export function placeKey(
  entries: readonly KeyEntry[],
  width: number,
): PlacedKey {
  const swatches: PlacedKey["swatches"][number][] = [];
  const texts: PlacedKey["texts"][number][] = [];
  let x = edge;
  let middle = lineHeight / 2;
  for (const { text, fill } of entries) {
    const lines = wrapText(text, fontSize, width - 2 * edge - size - 4);
    for (const [i, line] of lines.entries()) {
      const needed = size + 4 + textWidth(line, fontSize);
      if (i > 0 || (x > edge && x + needed > width - edge)) {
        x = edge;
        middle += lineHeight;
      }
      if (i === 0) swatches.push({ x, middle, size, fill });
      texts.push({ x: x + size + 4, middle, text: line });
      x += needed + 14;
    }
  }
  return {
    swatches,
    texts,
    height: entries.length === 0 ? 0 : middle + lineHeight / 2,
  };
}
