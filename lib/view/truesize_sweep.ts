/**
 * What each receive strategy charges over packet sizes, as a plot.
 *
 * @module
 */

import type {
  ReceiveStrategy,
  TruesizeSweepSeries,
} from "../experiments/truesize_sweep.ts";
import { kernel } from "../releases/mod.ts";
import type { Figure } from "./figure.ts";
import { plotLines } from "./lines.ts";

/**
 * Five ways to receive a datagram, from a fragment of just its size to a page of its own: the strategies of the README's
 * picture and of the first notebook.
 *
 * @example
 * ```ts
 * import { receiveStrategies, truesizeSweep } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const charges = truesizeSweep({ strategies: receiveStrategies(), from: 1472 }).map(({ truesize }) => truesize[0]);
 * assertEquals(charges, [2176, 2304, 2176, 2816, 4864]);
 * ```
 */
export function receiveStrategies(): ReceiveStrategy[] {
  const today = kernel("6.18");
  return [
    {
      label: "tap, non-blocking",
      kernel: today,
      path: "tap",
      nonblocking: true,
    },
    { label: "veth", kernel: today, path: "veth" },
    { label: "virtio small", kernel: today, path: "virtio-small" },
    {
      label: "virtio mergeable, 6.1",
      kernel: kernel("6.1"),
      path: "virtio-mergeable",
    },
    {
      label: "virtio, a page each (2013)",
      kernel: kernel("net-next-2013-10"),
      path: "virtio-mergeable",
    },
  ];
}

/** How to plot a sweep. */
export interface PlotSweepOptions {
  /** The finding. */
  readonly title: string;
  /** What was swept. */
  readonly subtitle?: string | undefined;
  /** Share of the charge that is payload in percent, or the charge in bytes; the share by default. */
  readonly show?: "ratio" | "truesize" | undefined;
  /** Measured points by series label: `[payload, truesize]` in bytes, drawn as rings. */
  readonly measured?:
    | Readonly<Record<string, readonly (readonly [number, number])[]>>
    | undefined;
}

/**
 * Plots a sweep: one line a strategy, its name at the line's end.
 *
 * @param sweep What `truesizeSweep` gave.
 * @param options Title, quantity, measured points.
 * @returns The figure.
 *
 * @example
 * ```ts
 * import { kernel, plotSweep, truesizeSweep } from "@truesize/lab";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const sweep = truesizeSweep({ strategies: [{ kernel: kernel("6.18"), path: "veth", label: "veth" }] });
 * const figure = await plotSweep(sweep, { title: "veth charges by size class" });
 * assertStringIncludes(figure.svg(), "veth");
 * ```
 */
export function plotSweep(
  sweep: readonly TruesizeSweepSeries[],
  options: PlotSweepOptions,
): Promise<Figure> {
  const { title, subtitle, measured = {} } = options;
  const ratio = (options.show ?? "ratio") === "ratio";
  const share = (payload: number, truesize: number): number =>
    ratio ? 100 * payload / truesize : truesize;
  return plotLines({
    title,
    subtitle,
    series: sweep.map(({ label, payload, truesize }) => ({
      label,
      points: Array.from(
        payload,
        (bytes, i) => [bytes, share(bytes, truesize[i]!)] as const,
      ),
      published: measured[label]?.map(([bytes, charge]) =>
        [bytes, share(bytes, charge)] as const
      ),
      step: !ratio,
    })),
    x: { label: "payload, bytes" },
    y: ratio
      ? { label: "payload / truesize, %", domain: [0, 100] }
      : { label: "truesize, bytes" },
  });
}
