import { assertEquals, assertThrows } from "@std/assert";
import {
  mergeShards,
  parseShard,
  type ShardFile,
  shardFromEnvironment,
  sweep,
} from "@truesize/lab";

Deno.test("--shard is i/n, from 1", () => {
  assertEquals(parseShard("5/5"), { index: 5, of: 5 });
  for (const text of ["0/5", "6/5", "1/0", "1", "a/b", "1/5 ", "-1/5", ""]) {
    assertThrows(() => parseShard(text), RangeError, "i/n");
  }
});

Deno.test("Slurm's arrays start anywhere and may step, but have no gaps", () => {
  const task = (
    id: number,
    count: number,
    min: number,
    max: number,
    step?: number,
  ) =>
    shardFromEnvironment({
      SLURM_ARRAY_TASK_ID: `${id}`,
      SLURM_ARRAY_TASK_COUNT: `${count}`,
      SLURM_ARRAY_TASK_MIN: `${min}`,
      SLURM_ARRAY_TASK_MAX: `${max}`,
      ...(step === undefined ? {} : { SLURM_ARRAY_TASK_STEP: `${step}` }),
    });
  const from = "SLURM_ARRAY_TASK_ID";
  assertEquals(task(3, 5, 1, 5), { index: 3, of: 5, from });
  assertEquals(task(0, 5, 0, 4), { index: 1, of: 5, from });
  assertEquals(task(8, 3, 2, 8, 3), { index: 3, of: 3, from });
  assertThrows(() => task(7, 3, 1, 7), RangeError, "gaps");
  assertThrows(
    () => shardFromEnvironment({ SLURM_ARRAY_TASK_ID: "1" }),
    RangeError,
    "SLURM_ARRAY_TASK_COUNT is not set",
  );
});

Deno.test("Kubernetes counts from 0 and does not say how far", () => {
  assertEquals(
    shardFromEnvironment({ JOB_COMPLETION_INDEX: "4", JOB_COMPLETIONS: "5" }),
    { index: 5, of: 5, from: "JOB_COMPLETION_INDEX" },
  );
  assertThrows(
    () => shardFromEnvironment({ JOB_COMPLETION_INDEX: "4" }),
    RangeError,
    "JOB_COMPLETIONS is not set",
  );
  assertThrows(
    () =>
      shardFromEnvironment({ JOB_COMPLETION_INDEX: "x", JOB_COMPLETIONS: "5" }),
    RangeError,
    '"x"',
  );
  assertThrows(
    () =>
      shardFromEnvironment({ JOB_COMPLETION_INDEX: "5", JOB_COMPLETIONS: "5" }),
    RangeError,
    "shard.index 6",
  );
  assertEquals(shardFromEnvironment({ HOME: "/" }), null);
});

const shards = (of: number, title = "s"): Promise<ShardFile[]> =>
  Promise.all(
    Array.from({ length: of }, async (_, i) => ({
      name: `part${i + 1}`,
      text: (await sweep({
        title,
        over: { a: [1, 2, 3, 4, 5, 6, 7] },
        run: ({ a }) => {
          if (a === 3) throw new Error("three");
          return { square: a * a };
        },
        workers: 0,
        shard: { index: i + 1, of },
      })).text,
    })),
  );

Deno.test("missing shards are named, and the rows of the others are there", async () => {
  const files = await shards(5);
  const { result, missing, of } = mergeShards([
    files[4]!,
    files[0]!,
    files[2]!,
  ]);
  assertEquals([missing, of], [[2, 4], 5]);
  assertEquals(result.rows.map(({ a }) => a), [1, 3, 5, 6]);
  assertEquals(result.rows[1]!.error, "Error: three");
});

Deno.test("more shards than cells: some are empty, and none is missing", async () => {
  const { result, missing } = mergeShards(await shards(9));
  assertEquals([result.rows.length, missing], [7, []]);
});

Deno.test("what is no shard, cut off, doubled or of another sweep is refused by name", async () => {
  const files = await shards(2);
  const [one, two] = files as [ShardFile, ShardFile];
  const other = (await shards(2, "t"))[1]!;
  const altered = (from: string, to: string): ShardFile => ({
    name: "part2",
    text: two.text.replace(from, to),
  });
  const lines = two.text.trimEnd().split("\n");
  const cases: [ShardFile[], string][] = [
    [[], "no shards"],
    [[one, one], "part1 and part1 are both shard 1"],
    [[one, other], "part2 is a shard of another sweep"],
    [[one, { name: "cut", text: two.text.slice(0, -5) }], "cut: the last line"],
    [
      [one, { name: "short", text: lines.slice(0, -1).join("\n") + "\n" }],
      "short: 2 cells where shard 2 of 2 has 3",
    ],
    [[one, { name: "csv", text: "a,b\n" }], "csv:1: no JSON: a,b"],
    [[one, { name: "rows", text: '{"a":1}\n' }], "rows:1: not the head"],
    [[one, altered('"cell":3', '"cell":2')], "part2:3: not a cell"],
    [[one, altered('"a":4', '"a":5')], "not those of the sweep's grid"],
    [[one, altered('"square":16', '"square":[1]')], "part2:3: square"],
  ];
  for (const [given, message] of cases) {
    assertThrows(() => mergeShards(given), Error, message);
  }
});
