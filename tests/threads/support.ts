/** What the tests of all threads ask. */

import { assert, assertEquals } from "@std/assert";
import type { Table } from "../../lib/table.ts";
import { bandNames, checkBands } from "../../lib/threads/bands.ts";
import type { Thread } from "../../lib/threads/thread.ts";

/** Every explained cell is inside its band, and every band has cells to hold. */
export function assertInBands(
  { bands }: Thread,
  tables: readonly Table[],
): void {
  const { compared, outside } = checkBands(tables, bands);
  assertEquals(outside, []);
  assert(compared > 0);
  const cells = tables.flatMap(({ id, columns, rows }) =>
    rows.flatMap(({ label, cells }) =>
      cells.flatMap(({ published, simulated, kind }, c) =>
        published === null || simulated === null || kind === "unexplained"
          ? []
          : [{ table: id, row: label, column: columns[c]! }]
      )
    )
  );
  for (const band of bands) {
    for (const row of band.rows ?? [undefined]) {
      for (const column of band.columns ?? [undefined]) {
        assert(
          cells.some((cell) =>
            bandNames(band, cell) && (row === undefined || cell.row === row) &&
            (column === undefined || cell.column === column)
          ),
          `no cell for the band of ${band.table}, ${row}, ${column}`,
        );
      }
    }
  }
}
