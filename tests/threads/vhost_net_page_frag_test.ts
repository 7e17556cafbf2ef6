import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import type { Table } from "../../lib/table.ts";
import { vhostNetPageFragThread as thread } from "../../lib/threads/vhost_net_page_frag.ts";
import { assertInBands } from "./support.ts";
import { perfChange } from "../../lib/threads/vhost_net_page_frag_perf.ts";

const tables = await thread.reproduce();
const byId = (id: string): Table => tables.find((table) => table.id === id)!;
const row = (id: string, label: string): (number | null)[] =>
  byId(id).rows.find((candidate) => candidate.label === label)!
    .cells.map(({ simulated }) => simulated);

Deno.test("every explained cell is inside its band", () => {
  assertInBands(thread, tables);
});

Deno.test("the event counts of the series", () => {
  assertEquals(row("events", "order-3 allocations"), [24967, 24967, 1, 1, 1]);
  assertEquals(row("events", "blocks started again in place"), [
    0,
    0,
    24966,
    24966,
    24966,
  ]);
  assertEquals(row("events-first-tool", "order-3 allocations"), [47663, 1, 1]);
  assertEquals(row("events-order-0", "order-0 allocations"), [209716, 1]);
});

Deno.test("what waits defeats the reuse", () => {
  assertEquals(row("held", "one in flight, all read"), [1000, 1, 999, 8, 8]);
  assertEquals(row("held", "one packet stays unread"), [1000, 1000, 0, 16, 16]);
});

Deno.test("every figure of perf stat stands once, as printed", () => {
  const published = ["perf-before", "perf-after"].map((id) =>
    byId(id).rows.flatMap(({ cells }) =>
      cells.flatMap(({ published }) => published === null ? [] : [published])
    )
  );
  // Eleven events, each with a metric and a spread; one line with a metric only; six counters that share time.
  assertEquals(published.map((figures) => figures.length), [40, 40]);
  const [before, after] = ["perf-before", "perf-after"].map((id) =>
    Object.fromEntries(
      byId(id).rows.map(({ label, cells }) => [label, cells[0]!.published]),
    )
  );
  assertEquals(
    [before!.cycles, before!.elapsed, before!["context-switches"]],
    [244651819491, 175.699, 1048668],
  );
  assertEquals(
    [after!.cycles, after!.elapsed, after!["context-switches"]],
    [251289376347, 174.764, 1048807],
  );
});

Deno.test("context switches follow from the worker's wake-ups; nothing else is claimed", () => {
  for (const id of ["perf-before", "perf-after"]) {
    const claimed = byId(id).rows.flatMap(({ label, cells }) =>
      cells.filter(({ simulated }) => simulated !== null).map((cell) => [
        label,
        cell.simulated,
        cell.kind,
      ])
    );
    assertEquals(claimed, [["context-switches", 1048576, "exact"]]);
  }
});

Deno.test("what the spreads allow", () => {
  const sigma = (event: string) => perfChange(event).sigma!;
  assertAlmostEquals(perfChange("elapsed").percent, -0.532, 1e-3);
  assertAlmostEquals(sigma("elapsed"), 3.27, 1e-2);
  assertAlmostEquals(perfChange("cycles").percent, 2.713, 1e-3);
  assertAlmostEquals(sigma("cycles"), 5.01, 1e-2);
  assert(sigma("cpu-migrations") < 2);
  assertEquals(perfChange("context-switches").sigma, null);
  assertThrows(
    () => perfChange("stalled cycles per insn"),
    RangeError,
    'event "stalled cycles per insn"',
  );
});

Deno.test("the blocks carry a few percent of the gain at most", () => {
  assertEquals(row("share", "order-3 pairs saved"), [47662, 24966]);
  const [first, posted] = row("share", "of the gain");
  assertAlmostEquals(first!, 3.33, 1e-2);
  assertAlmostEquals(posted!, 1.75, 1e-2);
  const elapsed = byId("share").rows.find(({ label }) =>
    label === "of the elapsed time"
  )!.cells[0]!;
  assertEquals([elapsed.published, elapsed.kind], [0.5, "priced"]);
  assert(elapsed.simulated! < 0.02);
});

Deno.test("patch 2 saves a pass of reclaim; __GFP_NOMEMALLOC saves the reserve", () => {
  assertEquals(row("gfp-bits-fragmented", "GFP_KERNEL, before it")[1], 1);
  assertEquals(row("gfp-bits-fragmented", "GFP_KERNEL, after patch 2")[1], 0);
  assertEquals(
    row("gfp-bits-reserve", "the same without __GFP_NOMEMALLOC")[5],
    8,
  );
});

Deno.test("patch 3 frees nothing that was not freed before", () => {
  for (const { label, cells } of byId("drain").rows) {
    const [held, without, before, after] = cells.map((c) => c.simulated!);
    assert(held! > 0 && without! > 0, label);
    assertEquals([before, after], [0, 0]);
  }
});

Deno.test("a second run gives the same, and progress runs to 1", async () => {
  const shares: number[] = [];
  const again = await thread.reproduce({
    onProgress: (share) => void shares.push(share),
  });
  assertEquals(JSON.stringify(again), JSON.stringify(tables));
  assertEquals(shares.length, tables.length);
  assertEquals(shares.at(-1), 1);
  assertEquals(new Set(tables.map(({ id }) => id)).size, tables.length);
});
