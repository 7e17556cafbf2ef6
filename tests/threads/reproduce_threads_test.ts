import { assert, assertEquals, assertRejects } from "@std/assert";
import { Module } from "node:module";
import { kernel, type Thread, threads } from "@truesize/lab";
import { tableOf } from "../../lib/threads/figures.ts";
import { doRuns, type PlannedRun } from "../../lib/threads/plan.ts";
import {
  reproduceThreads,
  wholeThread,
} from "../../lib/threads/reproduce_threads.ts";

const short = ["skb-page-frag-refill", "virtio-receive-buffers"].map((id) =>
  threads[id]!
);
const plots = (): string[] =>
  Object.keys((Module as unknown as { _cache: object })._cache).filter((path) =>
    path.includes("/jsdom/")
  );

Deno.test("tables alone load no jsdom, figures do", async () => {
  await wholeThread({ id: short[0]!.id, figures: false });
  assertEquals(plots(), []);
  await wholeThread({ id: short[0]!.id, figures: true });
  assert(plots().length > 0);
});

Deno.test("a pool gives what each thread gives alone, and progress rises to 1", async () => {
  const shares: number[] = [];
  const together = await reproduceThreads(short, {
    workers: 2,
    onProgress: (share) => void shares.push(share),
  });
  for (const [i, { thread, tables, figures }] of together.entries()) {
    assertEquals(thread.id, short[i]!.id);
    assertEquals(figures, []);
    assertEquals(
      JSON.stringify(tables),
      JSON.stringify(await thread.reproduce()),
    );
  }
  assertEquals(shares, [0.5, 1]);
});

Deno.test("a thread with many runs: tables and figures from one pool", async () => {
  const thread = threads["rcvbuf-autotuning"]!;
  const only = ["initial-buffers", "truesize-diagnosis"];
  const { starts } = thread.figures;
  const [result] = await reproduceThreads([{
    ...thread,
    figures: { starts: starts! },
    plan: () => thread.plan!({ only }),
  }], { figures: true, workers: 2 });
  assertEquals(result!.tables.map(({ id }) => id), only);
  const alone = await starts!.draw(result!.tables);
  assertEquals(result!.figures, [{
    name: "starts",
    table: "initial-buffers",
    title: alone.title,
    svg: alone.svg(),
  }]);
});

Deno.test("dear tables are left out unless all are asked for", async () => {
  const thread = threads["rcvbuf-autotuning"]!;
  const short: Thread = {
    ...thread,
    dear: ["initial-buffers"],
    plan: ({ only = ["initial-buffers", "truesize-diagnosis"] } = {}) =>
      thread.plan!({ only }),
  };
  const ids = async (all: boolean) => {
    const [result] = await reproduceThreads([short], { all, workers: 0 });
    return [result!.tables.map(({ id }) => id), result!.leftOut];
  };
  assertEquals(await ids(false), [["truesize-diagnosis"], ["initial-buffers"]]);
  assertEquals(await ids(true), [
    ["initial-buffers", "truesize-diagnosis"],
    [],
  ]);
  for (const { dear = [], plan } of Object.values(threads)) {
    for (const id of dear) assert(plan!().ids.includes(id), id);
  }
});

Deno.test("every figure belongs to a table of its thread, every kernel is known", async () => {
  for (const thread of Object.values(threads)) {
    const tables = thread.plan?.().ids ??
      (await thread.reproduce()).map(({ id }) => id);
    for (const [name, { table }] of Object.entries(thread.figures)) {
      assert(tables.includes(table), `${thread.id}: ${name}`);
    }
    for (const name of thread.kernels) assertEquals(kernel(name).name, name);
  }
});

const module = import.meta.resolve("../../lib/threads/reproduce_threads.ts");
const run = (id: string, cost = 1): PlannedRun => ({
  module,
  name: "wholeThread",
  input: { id, figures: false },
  cost,
});

Deno.test("equal runs are done once; a run that fails is named", async () => {
  const shares: number[] = [];
  const outcomeOf = await doRuns(
    [run(short[0]!.id), run(short[0]!.id)],
    { workers: 0, onProgress: (share) => void shares.push(share) },
  );
  assertEquals(shares, [1]);
  assert(outcomeOf(run(short[0]!.id, 9)) !== undefined);
  await assertRejects(
    () => doRuns([run("nonesuch")], { workers: 0 }),
    Error,
    'wholeThread({"id":"nonesuch","figures":false}): TypeError',
  );
});

Deno.test("a table that is not there is named", async () => {
  const [refill] = short;
  const tables = await refill!.reproduce();
  assertEquals(tableOf(tables, "dalton-overhead").id, "dalton-overhead");
  await assertRejects(
    async () => tableOf(await refill!.reproduce(), "limits"),
    RangeError,
    'table "limits" is needed; there are dalton-ring-entry, ',
  );
});
