import { assert, assertEquals, assertGreater } from "@std/assert";
import { type Table, threads } from "@truesize/lab";
import { assertInBands } from "./support.ts";

const thread = threads["skb-page-frag-refill"]!;
const tables = await thread.reproduce();
const byId = (id: string): Table => tables.find((table) => table.id === id)!;
const simulated = (id: string): (number | null)[][] =>
  byId(id).rows.map(({ cells }) => cells.map((cell) => cell.simulated));

Deno.test("every cell is inside its band", () => {
  assertInBands(thread, tables);
});

Deno.test("Dalton's figures stand once each, beside simulated ones", () => {
  const published = tables.flatMap((table) =>
    table.rows.flatMap(({ cells }) =>
      cells.filter((cell) => cell.published !== null)
    )
  );
  assertEquals(published.map((cell) => cell.published), [4096, 128, 100]);
  const [page, copy, bound] = published;
  assertEquals([page!.simulated, copy!.simulated], [4096, 128]);
  assertGreater(bound!.simulated!, 100);
});

Deno.test("the ring entry's charge is the sum of its parts", () => {
  const [page, copy, header, truesize] = simulated("dalton-ring-entry").map((
    [value],
  ) => value!);
  assertEquals([page! + copy! + header!, truesize], [4864, 4864]);
});

Deno.test("buffers per block: version 1 loses one where the size divides the block", () => {
  const rows = Object.fromEntries(
    byId("buffers-per-block").rows.map(({ label }, i) => [
      label,
      simulated("buffers-per-block")[i],
    ]),
  );
  assertEquals(rows["32 bytes"], [1024, 1023, 1024, 1024, 1024]);
  assertEquals(rows["1536 bytes"], [21, 21, 21, 21, 21]);
  assertEquals(rows["2048 bytes"], [16, 15, 16, 16, 16]);
  assertEquals(rows["4096 bytes"], [8, 7, 8, 8, 8]);
});

Deno.test("the minimum of 32 ends tiny pieces and leaves a few bytes unused", () => {
  const [pieces, tiny, shortest, , wasted] = simulated("minimum-of-32");
  assert(tiny![0]! > 0);
  assertEquals(tiny!.slice(1), [0, 0, 0, 0]);
  assert(shortest![0]! < 32 && pieces![0]! > pieces![2]!);
  assertEquals(wasted![0], 0);
  assert(wasted![2]! > 0);
});

Deno.test("every cell is exact, v2 and v3 agree, and a second run gives the same", async () => {
  for (const table of tables) {
    for (const { cells } of table.rows) {
      for (const cell of cells) assertEquals(cell.kind, "exact");
    }
  }
  for (const id of ["buffers-per-block", "minimum-of-32"]) {
    for (const [, , v2, v3] of simulated(id)) assertEquals(v2, v3);
  }
  assertEquals(
    JSON.stringify(await thread.reproduce()),
    JSON.stringify(tables),
  );
});

Deno.test("progress runs to 1", async () => {
  const shares: number[] = [];
  await thread.reproduce({ onProgress: (share) => void shares.push(share) });
  assertEquals(shares, [0.25, 0.5, 0.75, 1]);
});
