import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Outcome, runCells } from "../../lib/cells/run_cells.ts";

const example = new URL("../sweep/example_sweep.ts", import.meta.url).href;

Deno.test("values and errors come in the cells' order from any number of workers", async () => {
  const cells = Array.from({ length: 23 }, (_, i) => i);
  const run = (i: number) => {
    if (i % 5 === 3) throw new RangeError(`no ${i}`);
    return { i, squared: i * i };
  };
  const expected: Outcome<unknown>[] = cells.map((i) =>
    i % 5 === 3
      ? { error: `RangeError: no ${i}` }
      : { value: { i, squared: i * i } }
  );
  for (const workers of [0, 1, 2, 4]) {
    assertEquals(await runCells({ cells, run, workers }), expected);
  }
});

Deno.test("a function comes from a module by its export's name, or from an export's run", async () => {
  for (const workers of [0, 2]) {
    const twice = await runCells({
      cells: [1, 2, 3],
      run: { module: example, name: "twice" },
      workers,
    });
    assertEquals(twice.map(({ value }) => value), [2, 4, 6]);
    const [packet] = await runCells<unknown, { truesize: number }>({
      cells: [{ release: "6.18", path: "veth", payload: 1472 }],
      run: { module: example },
      workers,
    });
    assertEquals(packet!.value!.truesize, 2304);
    await assertRejects(
      () =>
        runCells({
          cells: [1],
          run: { module: example, name: "thrice" },
          workers,
        }),
      Error,
      '"thrice"',
    );
  }
});

Deno.test("the costliest cells are handed out first, equal ones in order", async () => {
  const order: number[] = [];
  await runCells({
    cells: [3, 9, 1, 9, 5],
    run: (cell) => cell,
    cost: (cell) => cell,
    workers: 1,
    onDone: (index) => {
      order.push(index);
    },
  });
  assertEquals(order, [1, 3, 4, 0, 2]);
  await assertRejects(
    () => runCells({ cells: [1], run: () => 1, cost: () => NaN, workers: 0 }),
    TypeError,
    "cost of cell 0 is NaN",
  );
});

Deno.test("a text that needs what it cannot see says how to give it", async () => {
  const outside = 5;
  const run = (cell: number) => cell + outside;
  const [here] = await runCells({ cells: [1], run, workers: 0 });
  assertEquals(here, { value: 6 });
  const [there] = await runCells({ cells: [1], run, workers: 1 });
  assert(
    there!.error!.startsWith("ReferenceError: outside is not defined (run"),
    there!.error,
  );
  await assertRejects(
    () => runCells({ cells: [1], run: Math.abs, workers: 1 }),
    TypeError,
    "cannot be sent to a worker as text",
  );
  await assertRejects(
    () => runCells({ cells: [1], run: run.bind(null), workers: 1 }),
    TypeError,
    "cannot be sent to a worker as text",
  );
});

Deno.test("methods, functions and async functions travel as text", async () => {
  const methods = {
    run(cell: number) {
      return cell + 1;
    },
    async later(cell: number) {
      return await Promise.resolve(cell + 2);
    },
    *never() {},
  };
  const sums = async (run: (cell: number) => unknown) =>
    (await runCells({ cells: [1], run, workers: 1 }))[0]!.value;
  assertEquals(await sums(methods.run), 2);
  assertEquals(await sums(methods.later), 3);
  assertEquals(
    await sums(function named(cell) {
      return cell + 3;
    }),
    4,
  );
});

Deno.test("a worker that dies costs its cell alone", async () => {
  const run = async (cell: string) => {
    if (cell === "exit") Deno.exit(1);
    if (cell === "close") self.close();
    if (cell === "reject") {
      Promise.reject(new Error("nobody awaits this"));
      await new Promise((done) => setTimeout(done, 500));
    }
    // What no message can hold.
    return cell === "function" ? Math.abs : cell;
  };
  const outcomes = await runCells({
    cells: ["a", "exit", "reject", "b", "close", "function", "c"],
    run,
    workers: 1,
  });
  assertEquals(
    outcomes.map(({ value, error }) => value ?? error!.slice(0, 20).trim()),
    [
      "a",
      "Error: a cell must r",
      "worker failed: Uncau",
      "b",
      "Error: a cell must r",
      "DataCloneError: func",
      "c",
    ],
  );
});

Deno.test("an abort ends the run and its workers", async () => {
  for (const workers of [0, 2]) {
    const controller = new AbortController();
    await assertRejects(
      () =>
        runCells({
          cells: [1, 2, 3, 4, 5, 6],
          run: (cell) => cell,
          workers,
          signal: controller.signal,
          onDone: () => controller.abort(new Error("enough")),
        }),
      Error,
      "enough",
    );
  }
});

Deno.test("bad arguments are refused before anything runs", async () => {
  await assertRejects(
    () => runCells({ cells: [1], run: "x" as unknown as () => 1 }),
    TypeError,
    "run must be",
  );
  await assertRejects(
    () => runCells({ cells: [1], run: () => 1, workers: -1 }),
    RangeError,
    "workers -1",
  );
  assertEquals(await runCells({ cells: [], run: () => 1 }), []);
});
