/**
 * What work costs, as stacked bars: one bar a bill, one piece an operation.
 *
 * @module
 */

import type { Bill } from "../sim/cpu.ts";
import { colorOf, textOn } from "./colors.ts";
import type { Figure } from "./figure.ts";
import { defaults, plot } from "./plot.ts";
import { fontSize, textWidth } from "./text_width.ts";

/** A bill and what it is for. */
export interface LabelledBill {
  /** Name of its bar. */
  readonly label: string;
  /** The bill. */
  readonly bill: Bill;
}

/** How to draw bills. */
export interface PlotBillsOptions {
  /** The finding. */
  readonly title: string;
  /** What the bars stand for. */
  readonly subtitle?: string | undefined;
}

// By what an operation does, so that the same thing has the same colour in every bar.
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/BulkAlloc/, "bulk allocation"],
  [/BulkFree/, "bulk free"],
  [/Alloc/, "allocation"],
  [/Free/, "free"],
  [/^napi/, "NAPI's stack"],
  [/(?:)/, "lists and locks"],
];

function kindOf(operation: string): readonly [RegExp, string] {
  return KINDS.find(([pattern]) => pattern.test(operation))!;
}

/** Room for a piece's name on both sides, px. */
const PADDING = 8;

/**
 * Draws bills as stacked bars in ns: pieces carry their operation's name where it fits, and a line at the end spans the
 * interval of the prices.
 *
 * @param bills The bills, top to bottom.
 * @param options Title and subtitle.
 * @returns The figure; its data hold every piece.
 * @throws {RangeError} There is no bill.
 *
 * @example
 * ```ts
 * import { forwardingKernel, plotBills, pricedForward } from "@truesize/lab";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const { bill } = pricedForward(forwardingKernel("base"));
 * const figure = await plotBills([{ label: "unpatched", bill }], { title: "Slow frees lead" });
 * assertStringIncludes(figure.svg(), "slubFreeSlow");
 * ```
 */
export function plotBills(
  bills: readonly LabelledBill[],
  options: PlotBillsOptions,
): Promise<Figure> {
  if (bills.length === 0) {
    throw new RangeError("bills is empty; at least one is needed");
  }
  const colour = (operation: string): string => colorOf(kindOf(operation)[1]);
  const pieces = bills.flatMap(({ label, bill }) => {
    let from = 0;
    return bill.rows.filter(({ ns }) => ns > 0).map(({ operation, ns }) => {
      const piece = { label, operation, ns, from, to: from + ns };
      from += ns;
      return piece;
    });
  });
  const most = Math.max(...bills.map(({ bill }) => bill.interval[1]));
  const marginLeft = 12 +
    Math.ceil(
      Math.max(...bills.map(({ label }) => textWidth(label, fontSize))),
    );
  const marginRight = 12 +
    Math.ceil(textWidth(`${most.toFixed(1)} ns`, fontSize));
  const marginTop = 8;
  const scale = (defaults.width - marginLeft - marginRight) / most;
  const named = pieces.filter(({ operation, ns }) =>
    textWidth(operation, fontSize) + PADDING <= ns * scale
  );
  const used = KINDS.filter((kind) =>
    pieces.some(({ operation }) => kindOf(operation) === kind)
  );
  return plot({
    title: options.title,
    subtitle: options.subtitle,
    key: used.map(([, text]) => ({ text, fill: colorOf(text) })),
    marginLeft,
    marginRight,
    marginTop,
    height: marginTop + bills.length * 42 + defaults.marginBottom,
    data: pieces.map(({ label, operation, ns }) => ({
      bill: label,
      operation,
      ns,
    })),
    x: { label: "ns", domain: [0, most] },
    y: { label: null, domain: bills.map(({ label }) => label), padding: 0.25 },
    color: { type: "identity" },
    marks: (Plot) => [
      Plot.barX(pieces, {
        x1: "from",
        x2: "to",
        y: "label",
        fill: (piece: { operation: string }) => colour(piece.operation),
        stroke: "currentColor",
        strokeWidth: 0.5,
      }),
      Plot.text(named, {
        x: (piece: { from: number; to: number }) => (piece.from + piece.to) / 2,
        y: "label",
        text: "operation",
        fill: (piece: { operation: string }) => textOn(colour(piece.operation)),
      }),
      Plot.ruleY(
        bills.map(({ label, bill }) => ({
          label,
          low: bill.interval[0],
          high: bill.interval[1],
        })),
        {
          x1: "low",
          x2: "high",
          y: "label",
          strokeWidth: 2,
          dy: 18,
        },
      ),
      Plot.text(
        bills.map(({ label, bill }) => ({
          label,
          ns: bill.ns,
          high: bill.interval[1],
        })),
        {
          x: "high",
          y: "label",
          text: (bar: { ns: number }) => `${bar.ns.toFixed(1)} ns`,
          textAnchor: "start",
          dx: 6,
        },
      ),
    ],
  });
}
