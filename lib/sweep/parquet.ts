/**
 * Rows as Apache Parquet.
 *
 * @module
 */

import type { SweepValue } from "./grid.ts";

type ParquetType = "BOOLEAN" | "INT32" | "DOUBLE" | "STRING";

/** The narrowest type that holds every value of a column. */
function typeOf(values: readonly SweepValue[]): ParquetType {
  const seen = new Set(values.map((value) => typeof value));
  seen.delete("object");
  if (seen.size !== 1 || seen.has("string")) return "STRING";
  if (seen.has("boolean")) return "BOOLEAN";
  const whole = values.every((value) =>
    value === null || ((value as number) | 0) === value
  );
  return whole ? "INT32" : "DOUBLE";
}

/**
 * The bytes of a Parquet file.
 *
 * @param columns Names, in order.
 * @param rows Rows with a value or null for each.
 */
export async function parquetBytes(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, SweepValue>>[],
): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import("hyparquet-writer");
  const bytes = parquetWriteBuffer({
    columnData: columns.map((name) => {
      const values = rows.map((row) => row[name]!);
      const type = typeOf(values);
      return {
        name,
        type,
        nullable: true,
        data: type === "STRING"
          ? values.map((value) => value === null ? null : String(value))
          : values,
      };
    }),
  });
  return new Uint8Array(bytes);
}
