import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { defineSweep, mergeShards, sweep } from "@truesize/lab";
import { parquetReadObjects } from "hyparquet";
import example from "./example_sweep.ts";

const forms = async (result: Awaited<ReturnType<typeof sweep>>) => ({
  csv: result.toCSV(),
  json: result.toJSONLines(),
  parquet: [...await result.toParquet()],
  text: result.toTable({ title: "t", kind: "exact" }).toText({ ascii: true }),
});

Deno.test("1, 2 and 4 workers and 5 merged shards give the same bytes", async () => {
  const one = await forms(await sweep({ ...example, workers: 1 }));
  assertEquals(one.csv.split("\r\n").length, 22);
  for (const workers of [0, 2, 4]) {
    assertEquals(await forms(await sweep({ ...example, workers })), one);
  }
  for (const  of of[1, 5]) {
    const files = [];
    for (let index = of; index >= 1; index--) {
      const { text } = await sweep({
        ...example,
        workers: 2,
        shard: { index, of },
      });
      files.push({ name: `${index}`, text });
    }
    const { result, missing } = mergeShards(files);
    assertEquals(missing, []);
    assertEquals(await forms(result), one);
  }
});

Deno.test("a cell that fails keeps its row, with its error in it", async () => {
  const result = await sweep({ ...example, workers: 2 });
  assertEquals([result.rows.length, result.failed], [20, 5]);
  assertEquals(result.columns, [
    "release",
    "path",
    "payload",
    "truesize",
    "ratio",
    "large",
    "note",
    "error",
  ]);
  assertEquals(result.rows[9], {
    release: "3.12",
    path: "page-pool",
    payload: 1472,
    truesize: null,
    ratio: null,
    large: null,
    note: null,
    error:
      'RangeError: truesizeOf(): path "page-pool" needs 5.15 or later, kernel is 3.12',
  });
  assertEquals(
    result.toCSV().split("\r\n")[4],
    '3.12,veth,700,2304,,true,"a ""quoted"", text",',
  );
  const table = result.toTable({
    title: "t",
    kind: { truesize: "exact", ratio: "priced" },
    unit: { truesize: "bytes", ratio: "" },
  });
  assertEquals(table.columns, ["truesize", "ratio"]);
  assertEquals(table.rows[4], {
    label: "release 3.12, path veth, payload 1472",
    cells: [
      { published: null, simulated: 2304, kind: "exact", unit: "bytes" },
      { published: null, simulated: 1472 / 2304, kind: "priced", unit: "" },
    ],
  });
  assert(table.rows[9]!.cells[0]!.note!.startsWith("RangeError"));
  assertThrows(
    () => result.toTable({ title: "t", kind: { truesize: "exact" } }),
    RangeError,
    '"ratio"',
  );
});

Deno.test("Parquet holds what the rows hold, with types", async () => {
  const result = await sweep({ ...example, workers: 0 });
  const file = (await result.toParquet()).buffer as ArrayBuffer;
  assertEquals(
    await parquetReadObjects({ file }),
    result.rows.map((row) => ({ ...row })),
  );
});

Deno.test("a function's text runs in workers, a closure in this thread", async () => {
  const over = { payload: [100, 1472] };
  const charges = await sweep({
    over,
    run: ({ payload }, { kernel, truesizeOf }) =>
      truesizeOf({ kernel: kernel("6.18"), path: "veth", payload }).truesize,
    workers: 2,
  });
  assertEquals(charges.rows.map(({ value }) => value), [832, 2304]);
  const seen: number[] = [];
  await sweep({
    over,
    run: ({ payload }) => seen.push(payload),
    workers: 0,
    progress: false,
  });
  assertEquals(seen, [100, 1472]);
});

Deno.test("what run may not return is an error of its cell", async () => {
  const bad: unknown[] = [
    NaN,
    [1],
    undefined,
    { payload: 1 },
    { error: 1 },
    { deep: { value: 1 } },
    Symbol.iterator,
  ];
  const result = await sweep({
    over: { payload: bad.map((_, i) => i) },
    run: ({ payload }) => bad[payload] as number,
    workers: 0,
  });
  assertEquals(result.rows.map(({ error }) => error), [
    "RangeError: what run returned is NaN: a finite number is allowed",
    "TypeError: run returned a list: a record of values is allowed",
    "TypeError: what run returned is undefined: a number, string, boolean or null is allowed",
    'TypeError: run returned "payload", which is an axis',
    'TypeError: run returned "error", which is the error\'s column',
    "TypeError: deep is an object or object: a number, string, boolean or null is allowed",
    "DataCloneError: Symbol(Symbol.iterator) could not be cloned.",
  ]);
});

Deno.test("lines and a plot of a column", async () => {
  const result = await sweep({ ...example, workers: 0 });
  const lines = result.series("payload", "truesize", ["release", "path"]);
  assertEquals(lines.map(({ label, points }) => [label, points.length]), [
    ["release 3.12, path veth", 5],
    ["release 6.18, path veth", 5],
    ["release 6.18, path page-pool", 5],
  ]);
  const figure = await result.plot({
    title: "t",
    x: "payload",
    y: "truesize",
    step: true,
  });
  assert(figure.svg().includes("release 6.18, path veth"));
  assertThrows(() => result.series("size", "truesize"), RangeError, '"size"');
  await assertRejects(
    () => result.plot({ title: "t", x: "release", y: "truesize" }),
    RangeError,
    "no row",
  );
});

Deno.test("Jupyter shows both ends of a long sweep", async () => {
  const result = await sweep({
    title: "long",
    over: { i: Array.from({ length: 200 }, (_, i) => i) },
    run: ({ i }) => ({ double: 2 * i, text: i === 3 ? "<b>" : "" }),
    workers: 0,
  });
  const display = (result as unknown as Record<
    symbol,
    () => Record<string, string>
  >)[Symbol.for("Jupyter.display")]!.call(result);
  const lines = display["text/plain"]!.split("\n");
  assertEquals(lines[0], "long: 200 cells");
  assert(lines.includes("… 170 more") && lines.includes("199     398"));
  assert(display["text/html"]!.includes("&lt;b&gt;"));
});

Deno.test("a definition without a grid or a function is refused", () => {
  const run = () => 1;
  assertThrows(() => defineSweep({ over: {}, run }), RangeError, "0 cells");
  assertThrows(
    () => defineSweep({ over: { a: [1] }, run: 1 as unknown as typeof run }),
    TypeError,
    "run must be",
  );
  assertThrows(
    () => defineSweep({ over: { a: [1] }, run, title: "" }),
    TypeError,
    "title",
  );
});
