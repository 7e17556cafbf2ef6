import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Ran, runDeno } from "../deno_command.ts";

const EXAMPLE = "tests/sweep/example_sweep.ts";

function task(
  name: "sweep" | "merge",
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  return runDeno(["run", "-A", `tasks/${name}.ts`, ...args], "", env);
}

async function inFolder(use: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("shards of an array and of an indexed job join into what one run writes", async () => {
  await inFolder(async (folder) => {
    const whole = await task("sweep", [EXAMPLE, "--workers", "2"]);
    // Five cells fail, and the task says so.
    assertEquals(whole.code, 1);
    assertStringIncludes(whole.err, "5 of 20 cells failed");
    const out = `${folder}/example.csv`;
    const run = (env: Record<string, string>) =>
      task("sweep", [EXAMPLE, "--out", out, "--workers", "1"], env);
    const slurm = (id: number) => ({
      SLURM_ARRAY_TASK_ID: `${id}`,
      SLURM_ARRAY_TASK_COUNT: "3",
      SLURM_ARRAY_TASK_MIN: "0",
      SLURM_ARRAY_TASK_MAX: "2",
    });
    await run(slurm(0));
    const { err } = await run({
      JOB_COMPLETION_INDEX: "2",
      JOB_COMPLETIONS: "3",
    });
    assertStringIncludes(err, "shard 3 of 3 (JOB_COMPLETION_INDEX)");
    const parts = () =>
      [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`)
        .filter((path) => path.includes(".shard-"));

    const early = await task("merge", [...parts(), "--out", out]);
    assertEquals(early.code, 1);
    assertStringIncludes(early.err, "of 3 shards 1 is missing: 2");
    assertEquals(parts().length, 2);
    const partial = await task("merge", [...parts(), "--partial"]);
    assertEquals([partial.code, partial.out.split("\r\n").length], [0, 14]);

    await run(slurm(1));
    const merged = await task("merge", parts());
    assertEquals([merged.code, merged.out], [0, whole.out]);
    assertEquals((await task("merge", [...parts(), "--out", out])).code, 0);
    assertEquals((await Deno.readTextFile(out)).trimEnd() + "\n", whole.out);
    for (const form of ["jsonl", "parquet"]) {
      const path = `${folder}/out.${form}`;
      const [a, b] = [`${folder}/a.${form}`, path];
      await task("sweep", [EXAMPLE, "--out", a]);
      assertEquals((await task("merge", [...parts(), "--out", b])).code, 0);
      assertEquals(await Deno.readFile(a), await Deno.readFile(b));
    }
    assert(
      [...Deno.readDirSync(folder)].every(({ name }) =>
        !name.endsWith(".part")
      ),
    );
  });
});

Deno.test("bad arguments: exit 2, the message names them, standard output stays empty", async () => {
  const cases: ["sweep" | "merge", string[], string][] = [
    ["sweep", [], "one FILE.ts"],
    ["sweep", ["tests/sweep/none.ts"], "none.ts gives no sweep"],
    ["sweep", ["tests/sweep/grid_test.ts"], "gives no sweep"],
    ["sweep", [EXAMPLE, "--shard", "0/3"], '"0/3"'],
    ["sweep", [EXAMPLE, "--workers", "two"], '"two"'],
    ["sweep", [EXAMPLE, "--out", "rows.xlsx"], "rows.xlsx"],
    ["sweep", [EXAMPLE, "--fast"], "--fast"],
    ["merge", [], "no shards"],
    ["merge", ["README.md"], "README.md:1: no JSON"],
    ["merge", ["none.jsonl"], "none.jsonl"],
  ];
  for (const [name, args, message] of cases) {
    const { code, out, err } = await task(name, args);
    assertEquals([code, out], [2, ""], err);
    assertStringIncludes(err, message);
  }
});
