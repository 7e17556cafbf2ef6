import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { ForwardingModel } from "../../lib/threads/kmem_cache_bulk_model.ts";
import type { Cell, Table } from "../../lib/table.ts";
import { assertInBands } from "./support.ts";
import { kmemCacheBulkThread } from "../../lib/threads/kmem_cache_bulk.ts";

const tables = await kmemCacheBulkThread.reproduce();
const tableOf = (id: string): Table => tables.find((table) => table.id === id)!;
const cellOf = (id: string, row: string, column: string): Cell => {
  const table = tableOf(id);
  const cell = table.rows.find(({ label }) => label === row)
    ?.cells[table.columns.indexOf(column)];
  assert(cell !== undefined, `${id}: no cell at ${row}, ${column}`);
  return cell;
};
const ns = (pps: number | null): number => 1e9 / pps!;
const BASE = "net-next 26440c835";

Deno.test("the base is exact by construction and labelled fitted", () => {
  const base = cellOf("forwarding", BASE, "SLUB");
  assertEquals([base.published, base.kind], [1982144, "fitted"]);
  assertAlmostEquals(base.simulated!, 1982144, 1e-9);
});

Deno.test("every explained cell is inside its band", () => {
  assertInBands(kmemCacheBulkThread, tables);
});

Deno.test("the steps on SLUB: 18.6 of the 20.1 ns that were saved, and 4.7 of 4.3", () => {
  const steps = [BASE, "patches 1-3", "patches 1-4"].map((row) =>
    cellOf("forwarding", row, "SLUB")
  );
  const saved = (what: "published" | "simulated"): string[] =>
    [0, 1].map((i) =>
      (ns(steps[i]![what]) - ns(steps[i + 1]![what])).toFixed(1)
    );
  assertEquals([saved("published"), saved("simulated")], [
    ["20.1", "4.3"],
    ["18.6", "4.7"],
  ]);
});

Deno.test("what does not fit is said to be unexplained", () => {
  for (
    const [row, published] of [
      ["patches 1-3", 2035949],
      ["patches 1-4", 2033567],
    ] as const
  ) {
    const cell = cellOf("forwarding", row, "SLAB");
    assertEquals([cell.published, cell.kind], [published, "unexplained"]);
  }
  assertEquals(
    tableOf("improvements").rows.map(({ cells }) => cells[0]!.kind),
    ["fitted", "fitted", "unexplained"],
  );
  assert(
    kmemCacheBulkThread.findings.some((text) =>
      text.includes("Patch 4 on SLAB")
    ),
  );
});

Deno.test("two constants are fitted, the base and k, and they make the table", () => {
  const { fitted } = kmemCacheBulkThread;
  assertEquals(fitted.map(({ name }) => name), ["base", "k"]);
  const [base, k] = fitted.map(({ value }) => value) as [number, number];
  assert(k >= 1.15 && k <= 1.65);
  const work = cellOf("operations", "all", "SLUB patches 1-4").simulated!;
  const cell = cellOf("forwarding", "patches 1-4", "SLUB");
  assertAlmostEquals(ns(cell.simulated), base + k * work, 1e-9);
});

Deno.test("k moves the steps and not the base", () => {
  const [without, with2] = [new ForwardingModel(1), new ForwardingModel(2)];
  for (const model of [without, with2]) {
    assertAlmostEquals(model.ns("base", "slub"), ns(1982144), 1e-12);
  }
  const saved = (model: ForwardingModel): number =>
    model.ns("base", "slub") - model.ns("patches 1-4", "slub");
  assertAlmostEquals(saved(with2), 2 * saved(without), 1e-9);
  assertThrows(() => new ForwardingModel(-1), RangeError, "factor -1");
});

Deno.test("qmempool's pps come out of its own machine's prices, those of twelve CPUs do not", () => {
  assertEquals(
    tableOf("qmempool-pps").rows.map(({ cells }) => cells[1]!.kind),
    ["priced", "priced", "unexplained"],
  );
});

Deno.test("every figure of the messages stands in one cell", () => {
  const published = ["forwarding", "improvements"].flatMap((id) =>
    tableOf(id).rows.flatMap(({ cells }) => cells.map((cell) => cell.published))
  ).filter((value) => value !== null);
  assertEquals(
    published.sort((a, b) => a - b),
    [-2382, -20, -4.3, -0.1, 0.57, 0.9, 4.1, 18585, 82302].concat([
      1982144,
      2033567,
      2035949,
      2064446,
      2083031,
    ]),
  );
});

Deno.test("ids are unique, progress ends at 1, and a second run gives the same", async () => {
  const ids = tables.map(({ id }) => id);
  assertEquals(new Set(ids).size, ids.length);
  const shares: number[] = [];
  const again = await kmemCacheBulkThread.reproduce({
    onProgress: (share) => void shares.push(share),
  });
  assertEquals(shares.at(-1), 1);
  assertEquals(JSON.stringify(again), JSON.stringify(tables));
});
