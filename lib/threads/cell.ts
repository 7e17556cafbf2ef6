/**
 * Cells of a thread's tables.
 *
 * @module
 */

import type { Cell, CellKind } from "../table.ts";

/**
 * A cell.
 *
 * @param kind How the simulated figure came about.
 * @param simulated The simulated figure; null for none.
 * @param published The published figure; null for none.
 * @param extra Note and unit; those that are `undefined` count as absent.
 */
export function cell(
  kind: CellKind,
  simulated: number | null,
  published: number | null = null,
  { note, unit }: {
    readonly note?: string | undefined;
    readonly unit?: string | undefined;
  } = {},
): Cell {
  return {
    published,
    simulated,
    kind,
    ...(unit === undefined ? {} : { unit }),
    ...(note === undefined ? {} : { note }),
  };
}
