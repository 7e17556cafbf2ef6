import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { Table } from "../../lib/table.ts";
import { bufferCost } from "../../lib/threads/virtio_receive_buffers.ts";
import { virtioReceiveBuffersThread as thread } from "../../lib/threads/virtio_receive_buffers.ts";
import { assertInBands } from "./support.ts";
import { virtioEras } from "../../lib/threads/virtio_eras.ts";
import { truesizeSweep } from "../../lib/experiments/truesize_sweep.ts";

const tables = await thread.reproduce();
const of = (id: string): Table => tables.find((table) => table.id === id)!;
const row = (id: string, label: string): (number | null)[] =>
  of(id).rows.find((row) => row.label.startsWith(label))!.cells.map((
    { simulated },
  ) => simulated);

Deno.test("every explained cell is inside its band", () => {
  assertInBands(thread, tables);
});

Deno.test("truesize by era and frame: the specification's column", () => {
  assertEquals(row("truesize", "whole page"), [
    768,
    4864,
    4864,
    4864,
    768 + 3 * 4096,
    66304,
  ]);
  assertEquals(row("truesize", "1,518").slice(3), [3804, 9876, 67578]);
  assertEquals(row("truesize", "1,536").slice(3), [2304, 9984, 66816]);
  assertEquals(row("truesize", "auto-tune").slice(3), [2304, 13056, 66304]);
  assertEquals(row("truesize", "page_pool, small").slice(3, 4), [3328]);
  // 20 buffers of 1,536 and one of 2,048 in each block.
  assertAlmostEquals(
    row("truesize", "hole counted")[3]!,
    768 + 32768 / 21,
    1e-4,
  );
  assertAlmostEquals(
    row("truesize", "build_skb (6.8)")[3]!,
    (20 * 2816 + 2304) / 21,
    1e-4,
  );
});

Deno.test("a full ring: 256 pages, or 13 blocks of order 3", () => {
  assertEquals(row("ring", "whole page"), Array(6).fill(1024));
  assertEquals(row("ring", "1,536"), Array(6).fill(13 * 32));
  assertEquals(row("ring", "auto-tune").slice(3), [416, 1056, 1024]);
  assertEquals(row("ring", "page_pool, small"), Array(6).fill(512));
});

Deno.test("single stream: two figures set two constants, the third is predicted", () => {
  const { rows } = of("single-stream");
  assertEquals(rows.map(({ cells }) => cells[2]!.simulated), [16, 43, 16]);
  // Pages alone point the other way.
  const [page, mtu] = rows.map(({ cells }) => cells[1]!.simulated!);
  assert(mtu! > page! * 1.02);
  const { bufferNs, packetNs } = bufferCost();
  assertEquals(
    thread.fitted.map(({ value }) => value),
    [bufferNs, packetNs].map(Math.round),
  );
});

Deno.test("big mode: 18 pages a frame before the driver's list, one with it", () => {
  assertEquals(
    of("others").rows.slice(2, 6).map(({ cells }) => cells[1]!.simulated),
    [null, 18, 18, 1],
  );
});

Deno.test("published figures stand once each, and no exact cell has one", () => {
  const published = tables.flatMap(({ rows }) =>
    rows.flatMap(({ cells }) =>
      cells.filter(({ published }) => published !== null)
    )
  );
  assertEquals(published.length, 3 + 8);
  for (const { kind } of published) {
    assert(kind === "fitted" || kind === "unexplained");
  }
});

Deno.test("the eras are what a sweep takes", () => {
  const strategies = virtioEras().map(({ label, kernel, path }) => ({
    label,
    kernel,
    path,
  }));
  const sweep = truesizeSweep({ strategies, from: 1472 });
  assertEquals(sweep.map(({ truesize }) => truesize[0]), [
    4864,
    3804,
    2304,
    2304,
    2304,
    2816,
    3328,
    3328,
  ]);
});
