/**
 * Error bands: how far a simulated figure may be from the published one before something is wrong.
 *
 * @module
 */

import { errorPercent, type Table } from "../table.ts";

/**
 * The band of a group of cells. It says nothing about cells without both figures, nor about unexplained ones, which have no
 * band.
 */
export interface ErrorBand {
  /** The table's id. */
  readonly table: string;
  /** Labels of its rows; all if absent. */
  readonly rows?: readonly string[] | undefined;
  /** Titles of its columns; all if absent. */
  readonly columns?: readonly string[] | undefined;
  /** Least and greatest error, in percent of the published figure; one number for both sides, 0 for equality. */
  readonly percent: number | readonly [least: number, greatest: number];
  /** A remark. */
  readonly note?: string | undefined;
}

/** A cell with a published and a simulated figure, beside its band. */
export interface BandedCell {
  /** The table's id. */
  readonly table: string;
  /** The row's label. */
  readonly row: string;
  /** The column's title. */
  readonly column: string;
  /** The published figure. */
  readonly published: number;
  /** The simulated figure. */
  readonly simulated: number;
  /** The error, % of the published figure; null where 0 was published and something else simulated. */
  readonly error: number | null;
  /** Its band; undefined where none is stated, which is a fault. */
  readonly band: ErrorBand | undefined;
}

/** What {@linkcode checkBands} finds. */
export interface BandReport {
  /** Cells with both figures that are explained. */
  readonly compared: number;
  /** Cells with both figures that are unexplained, and so have no band. */
  readonly unexplained: number;
  /** Cells that left their band, or that no band names. */
  readonly outside: readonly BandedCell[];
}

/** A band's least and greatest error, %. */
export function bandLimits(
  { percent }: ErrorBand,
): readonly [least: number, greatest: number] {
  return typeof percent === "number" ? [-percent, percent] : percent;
}

/** A band in words: `equal`, `within 6 %`, `1 to 9.5 %`. */
export function bandText(band: ErrorBand): string {
  const [least, greatest] = bandLimits(band);
  if (least === 0 && greatest === 0) return "equal";
  return least === -greatest
    ? `within ${greatest} %`
    : `${least} to ${greatest} %`;
}

/** Whether a band speaks of a cell. */
export function bandNames(
  { table, rows, columns }: ErrorBand,
  cell: {
    readonly table: string;
    readonly row: string;
    readonly column: string;
  },
): boolean {
  return table === cell.table && (rows?.includes(cell.row) ?? true) &&
    (columns?.includes(cell.column) ?? true);
}

function isInside(error: number | null, band: ErrorBand | undefined): boolean {
  if (error === null || band === undefined) return false;
  const [least, greatest] = bandLimits(band);
  return error >= least && error <= greatest;
}

/**
 * Compares every cell that has a published and a simulated figure with its band.
 *
 * @param tables The tables, as `reproduce` gives them.
 * @param bands The thread's bands; of several that name a cell the first holds.
 * @returns How many cells were compared, and those that are outside.
 *
 * @example
 * ```ts
 * import { checkBands, threads } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const thread = threads["skb-page-frag-refill"]!;
 * const { compared, outside } = checkBands(await thread.reproduce(), thread.bands);
 * assertEquals([compared, outside.length], [3, 0]);
 * ```
 */
export function checkBands(
  tables: readonly Table[],
  bands: readonly ErrorBand[],
): BandReport {
  let [compared, unexplained] = [0, 0];
  const outside: BandedCell[] = [];
  for (const { id, columns, rows } of tables) {
    for (const { label, cells } of rows) {
      for (const [c, { published, simulated, kind }] of cells.entries()) {
        if (published === null || simulated === null) continue;
        if (kind === "unexplained") {
          unexplained++;
          continue;
        }
        compared++;
        const place = { table: id, row: label, column: columns[c]! };
        const error = errorPercent({ published, simulated });
        const band = bands.find((band) => bandNames(band, place));
        if (isInside(error, band)) continue;
        outside.push({ ...place, published, simulated, error, band });
      }
    }
  }
  return { compared, unexplained, outside };
}
