/**
 * Lines with their names beside them, published points drawn over them.
 *
 * @module
 */

import { colorOf, colors } from "./colors.ts";
import type { Figure } from "./figure.ts";
import { defaults, plot, type PlotOptions } from "./plot.ts";
import { fontSize, textWidth, wrapText } from "./text_width.ts";

/** A point: x and y in the units of the plot's axes. */
export type Point = readonly [x: number, y: number];

/** One named line of a plot. */
export interface LineSeries {
  /** Its name, written at its right end; also chooses its colour. */
  readonly label: string;
  /** The line, in the order it is drawn. */
  readonly points: readonly Point[];
  /** Published or measured points, drawn over the line. */
  readonly published?: readonly Point[] | undefined;
  /** A CSS colour, in place of the name's own (`colorOf`). */
  readonly color?: string | undefined;
  /** Whether a value holds until the next point, as counters and windows do. */
  readonly step?: boolean | undefined;
  /** Whether the line is dashed. */
  readonly dashed?: boolean | undefined;
}

/** What to plot, besides Plot's own options. */
export interface PlotLinesOptions extends Omit<PlotOptions, "marks"> {
  /** The lines. */
  readonly series: readonly LineSeries[];
  /** Marks drawn below the lines, such as a limit. */
  readonly marks?: PlotOptions["marks"] | undefined;
}

/** More points than this in a line cannot be seen, only paid for. */
const mostPoints = 1000;
/** A line of a name, in px; Plot sets lines this far apart. */
const lineHeight = fontSize * 1.15;
/** Names wider than this take a second line, in px: the lines need the room more. */
const widestName = 150;
/** The piece of line before a name, which says the colour where a letter is too thin to, in px. */
const sample = { gap: 8, length: 18 };
/** From a line's end to its name, in px. */
const beforeName = sample.gap + sample.length + 5;

/**
 * Keeps the first, last, lowest and highest point of each of equal runs, so
 * that neither peaks nor dips are lost.
 */
function thin(points: readonly Point[]): readonly Point[] {
  if (points.length <= mostPoints) return points;
  const runs = mostPoints / 4;
  const kept: Point[] = [];
  for (let run = 0; run < runs; run++) {
    const from = Math.floor((run * points.length) / runs);
    const to = Math.floor(((run + 1) * points.length) / runs) - 1;
    let low = from;
    let high = from;
    for (let i = from; i <= to; i++) {
      if (points[i]![1] < points[low]![1]) low = i;
      if (points[i]![1] > points[high]![1]) high = i;
    }
    for (const i of [...new Set([from, low, high, to])].sort((a, b) => a - b)) {
      kept.push(points[i]!);
    }
  }
  return kept;
}

/** Moves names, by their middles and heights in px, apart and into a range; keeps their order. */
function spread(
  wanted: readonly number[],
  heights: readonly number[],
  top: number,
  bottom: number,
): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!);
  const placed = [...wanted];
  let least = top;
  for (const i of order) {
    placed[i] = Math.max(placed[i]!, least + heights[i]! / 2);
    least = placed[i]! + heights[i]! / 2;
  }
  let most = bottom;
  for (const i of order.toReversed()) {
    placed[i] = Math.min(placed[i]!, most - heights[i]! / 2);
    most = placed[i]! - heights[i]! / 2;
  }
  return placed;
}

/** Given and named colours first; the others get what these leave of the cycle. */
function chooseColors(series: readonly LineSeries[]): string[] {
  const fixed = series.map(({ label, color }) => color ?? colors[label]);
  const used = new Set(fixed);
  let next = 0;
  return series.map(({ label }, s) => {
    if (fixed[s] !== undefined) return fixed[s];
    for (let tries = 0; tries < 7 && used.has(colorOf(label, next)); tries++) {
      next++;
    }
    return colorOf(label, next++);
  });
}

function checkPoints(name: string, points: readonly Point[]): void {
  points.forEach((point, i) => {
    if (!point.every(Number.isFinite)) {
      throw new RangeError(
        `${name}[${i}] is [${point.join(", ")}]; two finite numbers are needed`,
      );
    }
  });
}

/**
 * Plots lines and writes each one's name at its right end, behind a piece of it
 * and clear of the others, in place of a legend. Published points are rings over
 * the line of the same colour; say what they are in the subtitle. Lines are
 * thinned to about 1,000 points; no peak is lost.
 *
 * @param options The lines, a title that states the finding, axes with units.
 * @returns The figure.
 * @throws {RangeError} Where there is no line, a line has no point, or a point is not finite.
 *
 * @example
 * ```ts
 * import { assertStringIncludes } from "@std/assert";
 * import { plotLines } from "@truesize/lab";
 *
 * const figure = await plotLines({
 *   title: "Small packets waste most of their memory",
 *   subtitle: "Rings: measured",
 *   x: { label: "payload (bytes)" },
 *   y: { label: "truesize (bytes)", domain: [0, 2500] },
 *   series: [{ label: "loopback", points: [[1, 768], [1472, 2304]], published: [[1, 768]] }],
 * });
 * assertStringIncludes(figure.svg(), "loopback");
 * ```
 */
export async function plotLines(options: PlotLinesOptions): Promise<Figure> {
  const { series, marks = [], ...rest } = options;
  if (series.length === 0) {
    throw new RangeError("series is empty; at least one line is needed");
  }
  series.forEach(({ label, points, published = [] }, s) => {
    if (points.length === 0) {
      throw new RangeError(
        `series[${s}] (${
          JSON.stringify(label)
        }) has no points; at least one is needed`,
      );
    }
    checkPoints(`series[${s}].points`, points);
    checkPoints(`series[${s}].published`, published);
  });
  const strokes = chooseColors(series);
  const lines = series.map((line, s) => ({
    ...line,
    stroke: strokes[s]!,
    kept: thin(line.points),
    name: wrapText(line.label, fontSize, widestName),
  }));
  const widest = Math.max(
    ...lines.flatMap(({ name }) =>
      name.map((text) => textWidth(text, fontSize))
    ),
  );
  const height = rest.height ?? defaults.height;
  const marginTop = rest.marginTop ?? defaults.marginTop;
  const marginBottom = rest.marginBottom ?? defaults.marginBottom;
  return await plot({
    marginRight: Math.ceil(widest) + beforeName + 4,
    ...rest,
    x: { label: null, ...rest.x },
    y: { label: null, grid: true, ...rest.y },
    height,
    marginTop,
    marginBottom,
    data: series.flatMap(({ label, points, published = [] }) => [
      ...points.map(([x, y]) => ({ series: label, kind: "line", x, y })),
      ...published.map(([x, y]) => ({
        series: label,
        kind: "published",
        x,
        y,
      })),
    ]),
    marks: (Plot) => [
      ...(typeof marks === "function" ? marks(Plot) : marks),
      ...lines.map(({ kept, stroke, step, dashed }) =>
        Plot.line(kept as Point[], {
          x: "0",
          y: "1",
          stroke,
          strokeWidth: 2,
          ...(step ? { curve: "step-after" as const } : {}),
          ...(dashed ? { strokeDasharray: "6 3" } : {}),
        })
      ),
      ...lines.filter(({ published = [] }) => published.length > 0).map((
        { published = [], stroke },
      ) =>
        Plot.dot(published as Point[], {
          x: "0",
          y: "1",
          stroke,
          strokeWidth: 2,
          r: 4,
          fill: "var(--plot-background)",
        })
      ),
      Plot.text(lines, {
        x: ({ kept }) => kept.at(-1)![0],
        y: ({ kept }) => kept.at(-1)![1],
        text: ({ name }) => name.join("\n"),
        lineHeight: lineHeight / fontSize,
        textAnchor: "start",
        dx: beforeName,
        // Names move apart once the scales are known.
        render: (index, scales, values, dimensions, context, next) => {
          const order = [...index];
          const ys = spread(
            order.map((i) => values.y![i]!),
            order.map((i) => lines[i]!.name.length * lineHeight + 1),
            marginTop - lineHeight / 2,
            height - marginBottom,
          );
          const y = Float64Array.from(values.y!);
          order.forEach((i, n) => y[i] = ys[n]!);
          const group = next!(
            index,
            scales,
            { ...values, y } as never,
            dimensions,
            context,
          )!;
          for (const i of order) {
            const piece = context.document.createElementNS(
              "http://www.w3.org/2000/svg",
              "line",
            );
            const { label, stroke, dashed } = lines[i]!;
            const attributes = {
              "aria-label": label,
              x1: values.x![i]! + sample.gap - beforeName,
              x2: values.x![i]! + sample.gap + sample.length - beforeName,
              y1: y[i]!,
              y2: y[i]!,
              stroke,
              "stroke-width": 3,
              ...(dashed ? { "stroke-dasharray": "6 3" } : {}),
            };
            for (const [attribute, value] of Object.entries(attributes)) {
              piece.setAttribute(attribute, String(value));
            }
            group.append(piece);
          }
          return group;
        },
      }),
    ],
  });
}
