import { assertEquals } from "@std/assert";
import { type Cell, table } from "../../lib/table.ts";
import {
  bandText,
  checkBands,
  type ErrorBand,
} from "../../lib/threads/bands.ts";

const cell = (
  published: number | null,
  simulated: number | null,
  kind: Cell["kind"] = "priced",
): Cell => ({ published, simulated, kind });

const rates = table({
  id: "rates",
  title: "Rates",
  unit: "Mbit/s",
  columns: ["base", "patched"],
  rows: [
    { label: "10 ms", cells: [cell(100, 106), cell(100, 94)] },
    { label: "25 ms", cells: [cell(200, 200), cell(0, 1)] },
    { label: "50 ms", cells: [cell(null, 7), cell(50, null)] },
    { label: "75 ms", cells: [cell(10, 90, "unexplained"), cell(-10, -11)] },
  ],
});
const outside = (...bands: ErrorBand[]): string[] =>
  checkBands([rates], bands).outside.map(({ row, column, error }) =>
    `${row} ${column} ${error}`
  );

Deno.test("cells are compared with the first band that names them", () => {
  const rest = { table: "rates", percent: 10 };
  assertEquals(outside(rest), ["25 ms patched null"]);
  assertEquals(outside({ ...rest, rows: ["10 ms"], percent: 5 }, rest), [
    "10 ms base 6",
    "10 ms patched -6",
    "25 ms patched null",
  ]);
  assertEquals(
    outside({ ...rest, columns: ["patched"], percent: [-6, 0] }, rest),
    ["25 ms patched null", "75 ms patched -10"],
  );
});

Deno.test("a band of 0 wants equality, and one-sided bands have a side", () => {
  assertEquals(
    outside({ table: "rates", columns: ["base"], percent: 0 }, {
      table: "rates",
      percent: 1000,
    }),
    ["10 ms base 6", "25 ms patched null"],
  );
});

Deno.test("a cell that no band names is outside; an unexplained one has none", () => {
  const report = checkBands([rates], [{
    table: "rates",
    rows: ["10 ms", "25 ms"],
    percent: 6,
  }, { table: "other", percent: 100 }]);
  assertEquals([report.compared, report.unexplained], [5, 1]);
  assertEquals(report.outside.map(({ row, band }) => [row, band?.percent]), [
    ["25 ms", 6],
    ["75 ms", undefined],
  ]);
});

Deno.test("bands in words", () => {
  const say = (percent: ErrorBand["percent"]) =>
    bandText({ table: "rates", percent });
  assertEquals([say(0), say(6), say([1, 9.5]), say([-4, 4])], [
    "equal",
    "within 6 %",
    "1 to 9.5 %",
    "within 4 %",
  ]);
});
