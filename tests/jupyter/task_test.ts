import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { readNotebook, writeNotebook } from "../../lib/jupyter/notebook.ts";
import { type Ran, runDeno } from "../deno_command.ts";
import { codeNotebook, textsOf, withFolder } from "./support.ts";

/** Runs `tasks/notebooks.ts` as `deno task notebooks` does. */
function task(...args: string[]): Promise<Ran> {
  return runDeno(["run", "-A", "tasks/notebooks.ts", ...args]);
}

const SHOW = `async function show(text: string) {
  await Deno.jupyter.broadcast("display_data", {
    data: { "text/plain": text },
    metadata: {},
    transient: {},
  });
}`;

Deno.test("task notebooks: a wrong command line exits with 2 and says what is allowed", async () => {
  const cases: [string[], string][] = [
    [["--frobnicate"], "--frobnicate"],
    [["no-such-notebook"], 'no notebook "no-such-notebook"; notebooks/ has: '],
    [["--write", "--check"], "exclude each other"],
  ];
  for (const [args, message] of cases) {
    const { code, out, err } = await task(...args);
    assertEquals([code, out], [2, ""]);
    assertStringIncludes(err, message);
    assertStringIncludes(err, "--help");
  }
});

Deno.test("task notebooks: --help", async () => {
  const { code, out } = await task("--help");
  assertEquals(code, 0);
  for (const option of ["--write", "--check", "NAME"]) {
    assertStringIncludes(out, option);
  }
});

Deno.test("task notebooks: runs, writes, checks and fails", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, `${folder.split(/[\\/]/).at(-1)}.ipynb`);
    await writeNotebook(path, codeNotebook(SHOW, 'await show("1");'));

    const ran = await task(path);
    assertEquals(ran.code, 0, ran.err);
    assertMatch(ran.err, /^ok +\d+\.\d s {2}test-.*\.ipynb\n$/);
    assertEquals(textsOf(await readNotebook(path), 1), []);

    const unequal = await task(path, "--check");
    assertEquals(unequal.code, 1);
    assertStringIncludes(
      unequal.err,
      "cell 2 (id c2): has 1 outputs; the committed",
    );

    assertEquals((await task(path, "--write")).code, 0);
    assertEquals(textsOf(await readNotebook(path), 1), ["1"]);
    assertEquals((await task(path, "--check")).code, 0);

    await writeNotebook(
      path,
      codeNotebook(SHOW, 'if (false) await show("1");'),
    );
    const silent = await task(path);
    assertEquals(silent.code, 1);
    assertStringIncludes(
      silent.err,
      "cell 2 (id c2): calls show() and has no output",
    );

    await writeNotebook(path, codeNotebook(SHOW, 'throw new Error("boom");'));
    const thrown = await task(path);
    assertEquals(thrown.code, 1);
    assertStringIncludes(thrown.err, "cell 2 (id c2): Error: boom");
    assertStringIncludes(thrown.err, "1 of 1 notebooks failed");
    await Deno.remove(join(folder, "..", path.split(/[\\/]/).at(-1)!));
  });
});
