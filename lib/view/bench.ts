/**
 * Runs the project's benchmarks from a notebook, so that a reader sees this machine's figures beside the counters.
 *
 * @module
 */

import { rounded } from "../table/number.ts";
import { colorOf } from "./colors.ts";
import type { Figure } from "./figure.ts";
import { defaults, plot } from "./plot.ts";
import { fontSize, textWidth } from "./text_width.ts";

/** One benchmark's result. */
export interface BenchResult {
  /** Its group. */
  readonly group: string;
  /** Its name. */
  readonly name: string;
  /** Average time of one iteration, ns. */
  readonly ns: number;
}

/** What `deno bench --json` prints, as far as it is read here. */
interface BenchReport {
  readonly benches: readonly {
    readonly group?: string | null;
    readonly name: string;
    readonly results: readonly { readonly ok?: { readonly avg: number } }[];
  }[];
}

/**
 * Runs `deno bench --json` on a file and returns the averages.
 *
 * @param file Path of the benchmark file, relative to the working directory.
 * @param filter Part of the names to run; all if absent.
 * @returns The results in the order they ran.
 * @throws {Error} The run failed, or nothing matched the filter.
 *
 * @example
 * ```ts
 * import { runBench } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const file = await Deno.makeTempFile({ suffix: "_bench.ts" });
 * await Deno.writeTextFile(file, 'Deno.bench("nothing", { n: 10, warmup: 1 }, () => {});');
 * const results = await runBench(file, "nothing");
 * await Deno.remove(file);
 * assertEquals(results.map(({ name }) => name), ["nothing"]);
 * ```
 */
export async function runBench(
  file: string,
  filter?: string,
): Promise<BenchResult[]> {
  const args = [
    "bench",
    "--json",
    "-A",
    ...(filter === undefined ? [] : ["--filter", filter]),
    file,
  ];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  if (!success) {
    throw new Error(
      `deno ${args.join(" ")} failed:\n${decoder.decode(stderr)}`,
    );
  }
  const report = JSON.parse(decoder.decode(stdout)) as BenchReport;
  const results = report.benches.flatMap(({ group, name, results: [first] }) =>
    first?.ok === undefined
      ? []
      : [{ group: group ?? "", name, ns: first.ok.avg }]
  );
  if (results.length === 0) {
    throw new RangeError(`no benchmark of ${file} matches "${filter}"`);
  }
  return results;
}

/**
 * Draws results as horizontal bars, each labelled with its time.
 *
 * @param results What {@linkcode runBench} gave.
 * @param options Title, and how many operations an iteration holds: times are divided by it.
 * @returns The figure.
 *
 * @example
 * ```ts
 * import { plotBench } from "@truesize/lab";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const figure = await plotBench([{ group: "", name: "one", ns: 12.3 }], { title: "One takes 12 ns" });
 * assertStringIncludes(figure.svg(), "12.3");
 * ```
 */
export function plotBench(
  results: readonly BenchResult[],
  options: {
    title: string;
    subtitle?: string | undefined;
    operations?: number | undefined;
  },
): Promise<Figure> {
  const { title, subtitle, operations = 1 } = options;
  const bars = results.map(({ name, ns }) => ({ name, ns: ns / operations }));
  const write = (ns: number): string => rounded(ns, 3);
  const most = Math.max(...bars.map(({ ns }) => ns));
  const widest = (texts: readonly string[]): number =>
    Math.ceil(Math.max(...texts.map((text) => textWidth(text, fontSize))));
  const marginTop = 8;
  return plot({
    title,
    ...(subtitle === undefined ? {} : { subtitle }),
    marginLeft: widest(bars.map(({ name }) => name)) + 12,
    marginRight: widest(bars.map(({ ns }) => write(ns))) + 10,
    marginTop,
    height: marginTop + bars.length * 28 + defaults.marginBottom,
    data: bars,
    x: { label: "ns per operation", domain: [0, most], grid: true },
    y: { label: null, domain: bars.map(({ name }) => name) },
    color: { type: "identity" },
    marks: (Plot) => [
      Plot.barX(bars, {
        x: "ns",
        y: "name",
        fill: ({ name }: { name: string }) =>
          colorOf(name.startsWith("priced") ? "priced" : "timed here"),
      }),
      Plot.text(bars, {
        x: "ns",
        y: "name",
        text: ({ ns }: { ns: number }) => write(ns),
        textAnchor: "start",
        dx: 4,
      }),
    ],
  });
}
