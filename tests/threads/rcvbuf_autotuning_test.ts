import { assert, assertEquals } from "@std/assert";
import { rcvbufAutotuningThread as thread } from "../../lib/threads/rcvbuf_autotuning.ts";
import {
  TSO_OFF,
  TSO_ON,
} from "../../lib/threads/rcvbuf_autotuning_published.ts";
import type { Table } from "../../lib/table.ts";
import { assertInBands } from "./support.ts";

const shares: number[] = [];
const tables = await thread.reproduce({
  onProgress: (share) => void shares.push(share),
});
const byId = (id: string): Table => tables.find((table) => table.id === id)!;

Deno.test("every explained cell is inside its band", () => {
  assertInBands(thread, tables);
});

Deno.test("every published figure stands in one cell of each variant, as the message has it", () => {
  for (const suffix of ["", "-latency"]) {
    for (
      const [id, figures] of [["tso-off", TSO_OFF], ["tso-on", TSO_ON]] as const
    ) {
      assertEquals(
        byId(id + suffix).rows.map(({ cells }) =>
          cells.map(({ published }) => published)
        ),
        figures.map((row) => [...row]),
      );
    }
  }
});

Deno.test("no throughput is called exact, and what the mechanism does not explain says so", () => {
  for (const id of ["tso-off", "tso-on", "tso-off-latency", "tso-on-latency"]) {
    for (const { label, cells } of byId(id).rows) {
      cells.forEach(({ kind }, column) => {
        assert(kind !== "exact");
        const unexplained = label === "0 ms" ||
          (id.startsWith("tso-off") ? column === 1 : column < 2);
        assertEquals(kind === "unexplained", unexplained, `${id} ${label}`);
      });
    }
  }
});

Deno.test("rwnd binds without TSO; with it, rwnd and the send buffer share", () => {
  for (const { label, cells } of byId("limits").rows) {
    const [off, , , , , , rwnd, sndbuf] = cells.map(({ simulated }) =>
      simulated!
    );
    assert(off! > 90, label);
    assert(rwnd! + sndbuf! > 60, label);
  }
});

Deno.test("the first buffers: the patch lowers what it sets out to raise", () => {
  assertEquals(
    byId("initial-buffers").rows[0]!.cells.map(({ simulated }) => simulated),
    [366720, 366720, 221184, 374400, 374400, 208896],
  );
});

Deno.test("charges, and where they stop the window", () => {
  const rows = Object.fromEntries(
    byId("truesize-diagnosis").rows.map(({ label, cells }) => [
      label.split(" (")[0],
      [cells[0]!.simulated, cells[2]!.simulated],
    ]),
  );
  assertEquals(rows["mergeable, whole page"], [4864, 1572864]);
  assertEquals(rows["mergeable, MTU buffers"], [2304, 3145728]);
  assertEquals(rows["6.1, mergeable"], [2816, 3145728]);
  assertEquals(rows["6.1, big"], [4352, 1572864]);
});

Deno.test("the three claims: the first buffer is nothing, the driver is all", () => {
  const [second, third, full, , fixed] = byId("claims").rows.map(({ cells }) =>
    cells.map(({ simulated }) => simulated!)
  );
  second!.forEach((value, i) => {
    assert(Math.abs(third![i]! / value - 1) < 0.01);
    assert(Math.abs(full![i]! / value - 1) < 0.04);
    assert(fixed![i]! / value > 1.5);
  });
});

Deno.test("counterfactual tables publish nothing", () => {
  for (
    const id of [
      "fix-tso-off",
      "fix-tso-on",
      "claims",
      "hypotheses",
      "choices",
      "limits",
    ]
  ) {
    for (const { cells } of byId(id).rows) {
      for (const { published } of cells) assertEquals(published, null);
    }
  }
});

Deno.test("a table alone is the table among all, without workers too", async () => {
  const [alone] = await thread.reproduce({ only: ["fix-tso-on"], workers: 0 });
  assertEquals(JSON.stringify(alone), JSON.stringify(byId("fix-tso-on")));
});

Deno.test("every figure is drawn from the tables", async () => {
  const titles: string[] = [];
  for (const { draw } of Object.values(thread.figures)) {
    const figure = await draw(tables);
    titles.push(figure.title);
    assert(figure.svg().includes("</svg>"));
  }
  assertEquals(new Set(titles).size, 6);
});

Deno.test("progress rises to 1", () => {
  assertEquals(shares, shares.toSorted((a, b) => a - b));
  assert(Math.abs(shares.at(-1)! - 1) < 1e-9);
});
