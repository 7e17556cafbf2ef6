/**
 * What the drawings of memory share: boxes and texts at places in px.
 *
 * @module
 */

import { grouped } from "../table/number.ts";
import type { Figure, FigureRow } from "./figure.ts";
import { type KeyEntry, placeKey } from "./key.ts";
import { plot } from "./plot.ts";

/** Writes a whole number with its thousands apart. */
export function count(value: number): string {
  return grouped(value);
}

/** "1 byte", "2,304 bytes". */
export function bytesText(bytes: number): string {
  return `${count(bytes)} ${bytes === 1 ? "byte" : "bytes"}`;
}

/** A text at its place, in px. */
export interface Label {
  /** Its anchor, in px from the left. */
  readonly x: number;
  /** Its middle, in px from the top. */
  readonly y: number;
  /** What it says. */
  readonly text: string;
  /** A CSS colour. */
  readonly fill: string;
  /** Which end of it is at x. */
  readonly anchor: "start" | "middle";
  /** Whether it is a heading. */
  readonly bold: boolean;
}

/** A rectangle at its place, in px. */
export interface Box {
  /** Its left side. */
  readonly x1: number;
  /** Its right side. */
  readonly x2: number;
  /** Its upper side. */
  readonly y1: number;
  /** Its lower side. */
  readonly y2: number;
  /** A CSS colour. */
  readonly fill: string;
}

/** A key's entries as boxes and labels, and where it ends. */
export function drawKey(
  entries: readonly KeyEntry[],
  width: number,
  top: number,
): { boxes: Box[]; labels: Label[]; bottom: number } {
  const { swatches, texts, height } = placeKey(entries, width);
  return {
    boxes: swatches.map(({ x, middle, size, fill }) => ({
      x1: x,
      x2: x + size,
      y1: top + middle - size / 2,
      y2: top + middle + size / 2,
      fill,
    })),
    labels: texts.map(({ x, middle, text }) => ({
      x,
      y: top + middle,
      text,
      fill: "currentColor",
      anchor: "start",
      bold: false,
    })),
    bottom: top + height,
  };
}

/** Refuses a width that no drawing fits in. */
export function checkWidth(width: number): void {
  if (!Number.isFinite(width) || width < 320 || width > 4096) {
    throw new RangeError(`width is ${width}; 320 to 4096 px are possible`);
  }
}

/** Breaks a line that is wider than the terminal, wherever it has to. */
export function cut(line: string, width: number): string[] {
  return Array.from(
    { length: Math.max(1, Math.ceil(line.length / width)) },
    (_, i) => line.slice(i * width, (i + 1) * width),
  );
}

/**
 * Plots boxes and labels whose places are already in px.
 *
 * @param title The finding.
 * @param text The terminal form, without the title.
 * @param width In px.
 * @param height In px.
 * @param boxes The boxes, the lowest first.
 * @param labels The texts.
 * @param data What is drawn, as rows.
 * @returns The figure.
 */
export async function plotPixels(
  title: string,
  text: string,
  width: number,
  height: number,
  boxes: readonly Box[],
  labels: readonly Label[],
  data: readonly FigureRow[],
): Promise<Figure> {
  const identity = { type: "identity" as const, axis: null };
  return await plot({
    title,
    text,
    data,
    width,
    height,
    margin: 0,
    marginLeft: 0,
    marginRight: 0,
    marginTop: 0,
    marginBottom: 0,
    x: identity,
    y: identity,
    color: { type: "identity" },
    marks: (Plot) => [
      Plot.rect([...boxes], {
        x1: "x1",
        x2: "x2",
        y1: "y1",
        y2: "y2",
        fill: "fill",
        // Neighbours of one colour must stay apart on white and on black.
        stroke: "currentColor",
        strokeWidth: 0.5,
      }),
      ...(["start", "middle"] as const).flatMap((anchor) =>
        [true, false].map((bold) =>
          Plot.text(
            labels.filter((label) =>
              label.anchor === anchor && label.bold === bold
            ),
            {
              x: "x",
              y: "y",
              text: "text",
              fill: "fill",
              textAnchor: anchor,
              ...(bold ? { fontWeight: "bold" } : {}),
            },
          )
        )
      ),
    ],
  });
}
