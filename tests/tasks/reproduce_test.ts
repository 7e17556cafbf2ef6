import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { type Thread, threads } from "@truesize/lab";
import { reproduce as runTask } from "../../tasks/reproduce.ts";
import { withFolder } from "../jupyter/support.ts";

const refill = threads["skb-page-frag-refill"]!;
const THREAD = ["--thread", refill.id];

/** The task as a process. */
async function reproduce(
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "tasks/reproduce.ts", ...args],
    cwd: new URL("../..", import.meta.url),
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

/** The task in this process, with threads of the test's own. */
async function called(
  args: string[],
  known: Readonly<Record<string, Thread>> = threads,
): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ["", ""];
  const code = await runTask(args, {
    threads: known,
    print: (text) => void (stdout += text),
    complain: (text) => void (stderr += `${text}\n`),
  });
  return { code, stdout, stderr };
}

Deno.test("--json prints the threads' tables and nothing else", async () => {
  const { code, stdout, stderr } = await reproduce(
    ...THREAD,
    "--thread",
    "virtio-receive-buffers",
    "--json",
  );
  assertEquals(code, 0);
  const result = JSON.parse(stdout) as Record<string, { id: string }[]>;
  assertEquals(Object.keys(result), [refill.id, "virtio-receive-buffers"]);
  assert(result[refill.id]!.some(({ id }) => id === "buffers-per-block"));
  // In a pipe there is no progress.
  assert(!stderr.includes("reproducing"), stderr);
});

Deno.test("all threads unless some are named", async () => {
  const known = Object.fromEntries(
    Object.entries(threads).filter(([, { plan }]) => plan === undefined),
  );
  const { code, stdout } = await called(["--json"], known);
  assertEquals(code, 0);
  assertEquals(Object.keys(JSON.parse(stdout)), Object.keys(known));
});

Deno.test("text, Markdown and CSV", async () => {
  const text = (await called(THREAD)).stdout;
  assertStringIncludes(text, "4,864");
  assertStringIncludes(text, "3 explained cells, each inside its error band");
  assertStringIncludes(
    (await called([...THREAD, "--markdown"])).stdout,
    "| 2048 bytes |",
  );
  assertStringIncludes(
    (await called([...THREAD, "--csv"])).stdout,
    "2048 bytes",
  );
});

Deno.test("several files at once; standard output says which", () =>
  withFolder(async (folder) => {
    const [page, data] = ["page.html", "data.json"].map((name) =>
      join(folder, name)
    );
    const { code, stdout } = await reproduce(
      ...THREAD,
      "--html",
      page!,
      `--json=${data}`,
    );
    assertEquals(code, 0);
    assertEquals(stdout.trim().split("\n").slice(-2), [
      `json: ${data}`,
      `html: ${page}`,
    ]);
    const html = await Deno.readTextFile(page!);
    assertEquals(
      html.match(/<figure /g)?.length,
      Object.keys(refill.figures).length,
    );
    const tables = JSON.parse(await Deno.readTextFile(data!))[refill.id];
    for (const { id } of tables) {
      assertStringIncludes(html, `id="${refill.id}-${id}"`);
    }
  }));

Deno.test("a cell outside its band: exit 1, the cell is named", async () => {
  const narrow = {
    [refill.id]: {
      ...refill,
      bands: refill.bands.map((band) =>
        band.table === "dalton-overhead" ? { ...band, percent: 100 } : band
      ),
    },
  };
  const { code, stdout, stderr } = await called(["--json"], narrow);
  assertEquals(code, 1);
  assertEquals(
    stderr,
    "outside its band: skb-page-frag-refill, dalton-overhead, whole page (the thread's base), overhead: " +
      "published 100, simulated 221.3, error 121.300 %, band: within 100 %\n",
  );
  // What was asked for is printed all the same.
  assertEquals(Object.keys(JSON.parse(stdout)), [refill.id]);
  assertStringIncludes(
    (await called([], narrow)).stdout,
    "1 of 3 explained cells OUTSIDE",
  );
});

Deno.test("a cell that no band names: exit 1", async () => {
  const { code, stderr } = await called([], {
    [refill.id]: { ...refill, bands: refill.bands.slice(1) },
  });
  assertEquals(code, 1);
  assertStringIncludes(stderr, "band: none stated");
});

Deno.test("bad arguments: exit 2, the message names them, standard output stays empty", async () => {
  for (
    const [args, message] of [
      [["--thread", "nonesuch"], '"nonesuch"'],
      [["--fast"], "--fast"],
      [["--json", "--csv"], "--json and --csv exclude each other"],
      [["--html", "--json=-"], "--json and --html exclude each other"],
      [["--json", "/nonesuch/data.json"], "--json /nonesuch/data.json"],
      [["--html=."], "--html .: a folder stands there"],
      [["extra"], "extra"],
    ] as const
  ) {
    const { code, stdout, stderr } = await called([...args]);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, message);
  }
  assertEquals((await reproduce("--fast")).code, 2);
});
