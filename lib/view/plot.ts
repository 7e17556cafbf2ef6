/**
 * Observable Plot with the house's defaults, drawn without a browser.
 *
 * @module
 */

import { Figure, type FigureRow } from "./figure.ts";
import { loadRasteriser } from "./raster.ts";
import { type KeyEntry, placeKey } from "./key.ts";
import {
  balanceText,
  boldness,
  edge,
  fontFamily,
  fontSize,
  textWidth,
} from "./text_width.ts";

/** The Observable Plot module, as it is handed to a `marks` function. */
export type PlotModule = typeof import("@observablehq/plot");

/** Observable Plot's own options. */
export type ObservablePlotOptions = NonNullable<
  Parameters<PlotModule["plot"]>[0]
>;

/** What Observable Plot takes as a mark. */
export type PlotMark = NonNullable<ObservablePlotOptions["marks"]>[number];

/** What to plot: Observable Plot's own options, with the differences below. */
export interface PlotOptions extends
  Omit<
    ObservablePlotOptions,
    "marks" | "title" | "subtitle" | "caption" | "figure" | "document"
  > {
  /** The plot's finding, in words; drawn above it, in the SVG. */
  readonly title: string;
  /** A second line, for conditions and for what the marks mean. */
  readonly subtitle?: string | undefined;
  /** What colours stand for, where marks cannot be labelled: drawn below the subtitle. */
  readonly key?: readonly KeyEntry[] | undefined;
  /** One line about the plot for terminals; the subtitle by default. */
  readonly text?: string | undefined;
  /** The data behind the marks, for the figure's CSV, JSON and Markdown forms. */
  readonly data?: readonly FigureRow[] | undefined;
  /** The marks, or a function that makes them with the Plot module it is given. */
  readonly marks:
    | readonly PlotMark[]
    | ((plot: PlotModule) => readonly PlotMark[]);
}

/** Sizes of a plot in px, where none are given. */
export const defaults = {
  width: 640,
  height: 380,
  marginLeft: 66,
  marginRight: 20,
  marginTop: 34,
  marginBottom: 46,
} as const;
const titleSize = 17;
/** Between the subtitle and a key, in px. */
const keyGap = 4;

/** The little of the DOM that is used; jsdom comes without types of its own. */
interface SvgElement {
  setAttribute(name: string, value: string): void;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<SvgElement>;
  append(...nodes: SvgElement[]): void;
  textContent: string | null;
}

interface Window {
  readonly document: {
    createElementNS(namespace: string, name: string): SvgElement;
  };
  readonly XMLSerializer: new () => {
    serializeToString(node: SvgElement): string;
  };
}

const svgNamespace = "http://www.w3.org/2000/svg";
let environment: Promise<{ plot: PlotModule; window: Window }> | undefined;

/** Plot and jsdom take most of a second to load: only for who draws, and once. */
function loadPlot(): Promise<{ plot: PlotModule; window: Window }> {
  return environment ??= (async () => {
    const [plot, { JSDOM }] = await Promise.all([
      import("@observablehq/plot"),
      import("jsdom"),
    ]);
    return { plot, window: new JSDOM("").window as unknown as Window };
  })();
}

/** A tick, its padding and a little air beside the widest label of the y axis, in px. */
function neededMarginLeft(made: SvgElement): number {
  const labels = [
    ...made.querySelectorAll('[aria-label="y-axis tick label"] text'),
  ];
  return Math.ceil(
    Math.max(
      0,
      ...labels.map((label) => textWidth(label.textContent ?? "", fontSize)),
    ),
  ) + 12;
}

/** FNV-1a, in hexadecimal: a short name for a content. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/**
 * Plot counts its ids up within a process. Here they follow from the content:
 * equal plots are equal, and two plots on one page still do not share an id.
 */
function normaliseIds(svg: string): string {
  const ids = [...svg.matchAll(/ id="(plot-[a-z]+-\d+)"/g)].map((match) =>
    match[1]!
  );
  const numbered = ids.reduce(
    (text, id, i) =>
      text.replaceAll(`"${id}"`, `"@${i + 1}"`).replaceAll(
        `#${id})`,
        `#@${i + 1})`,
      ),
    svg,
  );
  const name = fingerprint(numbered);
  return numbered.replace(/"@(\d+)"/g, `"plot-${name}-$1"`).replace(
    /#@(\d+)\)/g,
    `#plot-${name}-$1)`,
  );
}

/**
 * Plots with the house's defaults: 640 px wide, a left margin that holds six
 * digits, and title and subtitle drawn inside the SVG, so that they are also in
 * its PNG. Plot and jsdom are loaded by the first call.
 *
 * @param options Observable Plot's options, a title, and marks or a function that makes them.
 * @returns The figure.
 * @throws {TypeError} Where the title is no string.
 * @throws {RangeError} Where the title is empty, or where Plot's options ask
 * for a legend.
 *
 * @example
 * ```ts
 * import { assertStringIncludes } from "@std/assert";
 * import { plot } from "@truesize/lab";
 *
 * const figure = await plot({
 *   title: "A page costs 4,096 bytes however little it holds",
 *   x: { label: "payload (bytes)" },
 *   y: { label: "truesize (bytes)", domain: [0, 5000] },
 *   marks: (Plot) => [Plot.line([[1, 4096], [4096, 4096]])],
 * });
 * assertStringIncludes(figure.svg(), "however little it holds");
 * ```
 */
export async function plot(options: PlotOptions): Promise<Figure> {
  const {
    title,
    subtitle = "",
    text = subtitle,
    key = [],
    marks,
    data,
    ...rest
  } = options;
  if (typeof title !== "string") {
    throw new TypeError(`title is ${String(title)}; a string is needed`);
  }
  if (title.trim() === "") {
    throw new RangeError(
      `title is ${JSON.stringify(title)}; the plot's finding is needed`,
    );
  }
  const given: ObservablePlotOptions = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== undefined),
  );
  for (const scale of ["color", "opacity", "symbol"] as const) {
    // Plot draws legends beside the SVG, where the picture would lose them.
    if (given[scale]?.legend) {
      throw new RangeError(
        `${scale}.legend is ${
          given[scale].legend
        }; label the marks directly instead`,
      );
    }
  }
  const [{ plot: Plot, window }, rasterise] = await Promise.all([
    loadPlot(),
    loadRasteriser(),
  ]);
  const build = (more: ObservablePlotOptions): SvgElement =>
    Plot.plot({
      ...defaults,
      ...given,
      ...more,
      figure: false,
      document: window.document as never,
      marks: [...(typeof marks === "function" ? marks(Plot) : marks)],
    }) as unknown as SvgElement;
  let made = build({});
  const marginLeft = neededMarginLeft(made);
  if (
    marginLeft > Number(given.marginLeft ?? given.margin ?? defaults.marginLeft)
  ) made = build({ marginLeft });
  const width = Number(made.getAttribute("width"));
  const body = Number(made.getAttribute("height"));
  const lines = [
    ...balanceText(title, titleSize * boldness, width - 2 * edge).map((
      line,
    ) => ({
      line,
      size: titleSize,
      weight: "bold",
    })),
    ...balanceText(subtitle, fontSize, width - 2 * edge).map((line) => ({
      line,
      size: fontSize,
      weight: "normal",
    })),
  ];
  const placed = placeKey(key, width);
  const head =
    lines.reduce((sum, { size }) => sum + Math.ceil(size * 1.35), 0) +
    placed.height + (key.length > 0 ? keyGap : 0) + 8;
  const draw = (
    name: string,
    attributes: Readonly<Record<string, string | number>>,
    words?: string,
  ): void => {
    const node = window.document.createElementNS(svgNamespace, name);
    for (const [attribute, value] of Object.entries(attributes)) {
      node.setAttribute(attribute, String(value));
    }
    if (words !== undefined) node.textContent = words;
    made.append(node);
  };
  let y = -head;
  for (const { line, size, weight } of lines) {
    y += Math.ceil(size * 1.35);
    draw("text", {
      x: edge,
      y: y - 1,
      "font-size": size,
      "font-weight": weight,
      "text-anchor": "start",
      fill: "currentColor",
    }, line);
  }
  y += keyGap;
  for (const { x, middle, size, fill } of placed.swatches) {
    draw("rect", {
      x,
      y: y + middle - size / 2,
      width: size,
      height: size,
      fill,
      stroke: "currentColor",
      "stroke-width": 0.5,
    });
  }
  for (const { x, middle, text } of placed.texts) {
    draw("text", {
      x,
      y: y + middle,
      dy: "0.32em",
      "text-anchor": "start",
      fill: "currentColor",
    }, text);
  }
  // Above the plot, in negative coordinates: nothing in it has to move. Plot
  // would cut what hangs below an axis's label, such as an underscore.
  const height = head + body + edge;
  made.setAttribute("viewBox", `0 ${-head} ${width} ${height}`);
  made.setAttribute("height", String(height));
  made.setAttribute("font-family", fontFamily);
  made.setAttribute("font-size", String(fontSize));
  // Plot paints what should hide lines behind a text in white, also on a dark page.
  const svg = new window.XMLSerializer().serializeToString(made)
    .replace(
      "--plot-background: white",
      "--plot-background: var(--jp-layout-color0, white)",
    );
  return new Figure({
    title,
    text: text === "" ? title : `${title}\n${text}`,
    svg: normaliseIds(svg),
    width,
    height,
    data: data ?? [],
    rasterise,
  });
}
