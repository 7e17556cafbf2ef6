import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { join } from "node:path";
import { CellError } from "../../lib/jupyter/executor.ts";
import { Kernel, KernelDiedError } from "../../lib/jupyter/kernel.ts";
import { formatNotebook, readNotebook } from "../../lib/jupyter/notebook.ts";
import { executeNotebook } from "../../lib/jupyter/executor.ts";
import {
  codeCell,
  codeNotebook,
  FIXTURE,
  notebookOf,
  NOTEBOOKS,
  ROOT,
  run,
  textCell,
  textsOf,
} from "./support.ts";

/** Source that shows a text, without any wait, and optionally under an id. */
function display(text: string, id?: string, type = "display_data"): string {
  const transient = id === undefined ? {} : { display_id: id };
  const content = JSON.stringify({
    data: { "text/plain": text },
    metadata: {},
    transient,
  });
  return `Deno.jupyter.broadcast("${type}", ${content});`;
}

Deno.test("executor: outputs, counts and text cells", async () => {
  const executed = await run(notebookOf(
    textCell("t", "# Title"),
    codeCell("a", "const x = 20;"),
    codeCell("empty", "  "),
    codeCell("b", 'console.log("1");\nconsole.log("2");\nx + 1'),
  ));
  assertEquals(executed.cells[0], textCell("t", "# Title"));
  assertEquals(
    executed.cells.slice(1).map((c) => "outputs" in c ? c.execution_count : 0),
    [
      1,
      null,
      2,
    ],
  );
  assertEquals(textsOf(executed, 1), []);
  assertEquals(textsOf(executed, 3), ["1\n2\n", "21"]);
});

Deno.test("executor: the notebook given is left as it was", async () => {
  const notebook = codeNotebook(`await ${display("x")}`);
  const before = structuredClone(notebook);
  await run(notebook);
  assertEquals(notebook, before);
});

Deno.test("executor: a thrown error names notebook, cell, source and stack", async () => {
  const failing = codeNotebook(
    "const a = 1;",
    'throw new RangeError("mtu 9");',
    "a",
  );
  const error = await assertRejects(() => run(failing), CellError);
  assertEquals([error.notebook, error.cellNumber, error.cellId], [
    "test.ipynb",
    2,
    "c2",
  ]);
  for (
    const part of [
      "test.ipynb: cell 2 (id c2)",
      "RangeError: mtu 9",
      "    throw new Range",
    ]
  ) assertStringIncludes(error.message, part);
});

Deno.test("executor: a syntax error, which has no output, fails its cell", async () => {
  const error = await assertRejects(
    () => run(codeNotebook("const x: = 1;")),
    CellError,
  );
  assertStringIncludes(error.message, "cell 1 (id c1): it does not parse");
});

Deno.test("executor: what is thrown need not be an error", async () => {
  const error = await assertRejects(
    () => run(codeNotebook("throw 5;")),
    CellError,
  );
  assertStringIncludes(error.message, "5");
});

Deno.test("executor: late outputs go to the cells that sent them", async () => {
  const late = (text: string) =>
    `void setTimeout(() => { ${display(text)} }, 15);`;
  const executed = await run(
    codeNotebook(late("one"), late("two"), "const x = 1;"),
  );
  assertEquals([0, 1, 2].map((i) => textsOf(executed, i)), [
    ["one"],
    ["two"],
    [],
  ]);
});

Deno.test("executor: many displays without a wait all arrive", async () => {
  const source = Array.from({ length: 30 }, (_, i) => display(String(i))).join(
    "\n",
  );
  const executed = await run(codeNotebook(source, source));
  const expected = Array.from({ length: 30 }, (_, i) => String(i));
  assertEquals([textsOf(executed, 0), textsOf(executed, 1)], [
    expected,
    expected,
  ]);
});

Deno.test("executor: an update of a display leaves the last state where it was shown", async () => {
  const executed = await run(codeNotebook(
    `await ${display("0 %", "p")}`,
    `await ${display("50 %", "p", "update_display_data")}
     await ${display("100 %", "p", "update_display_data")}`,
  ));
  assertEquals(textsOf(executed, 0), ["100 %"]);
  assertEquals(textsOf(executed, 1), []);
});

Deno.test("executor: an output of some MB arrives whole", async () => {
  const executed = await run(codeNotebook(
    `await Deno.jupyter.broadcast("display_data", {
       data: { "text/plain": "x".repeat(3_000_000) }, metadata: {}, transient: {} });`,
  ));
  assertEquals((textsOf(executed, 0)[0] as string).length, 3_000_000);
});

Deno.test("executor: a cell that ends the kernel is named", async () => {
  const error = await assertRejects(
    () => run(codeNotebook("1;", "Deno.exit(3);")),
    CellError,
  );
  assertStringIncludes(
    error.message,
    "cell 2 (id c2): the kernel ended with code 3",
  );
  assertInstanceOf(error.cause, KernelDiedError);
});

Deno.test("executor: a cell past its time ends, even in a busy loop", async () => {
  const start = performance.now();
  const error = await assertRejects(
    () => run(codeNotebook("while (true);"), 500),
    CellError,
  );
  assertStringIncludes(error.message, "ran for more than 500 ms");
  assertLess(performance.now() - start, 10_000);
});

Deno.test("kernel: one that is killed fails what waits, and what comes after", async () => {
  await using kernel = await Kernel.start({ cwd: NOTEBOOKS });
  const running = kernel.execute(
    "await new Promise(() => setInterval(() => {}, 1000));",
    60_000,
  );
  const failed = assertRejects(() => running, KernelDiedError, "SIGKILL");
  Deno.kill(kernel.pid, "SIGKILL");
  await failed;
  await assertRejects(() => kernel.execute("1", 60_000), KernelDiedError);
});

Deno.test("kernel: it ends with its parent", async () => {
  const url = new URL("../../lib/jupyter/kernel.ts", import.meta.url).href;
  const code = `import { Kernel } from ${JSON.stringify(url)};
    const kernel = await Kernel.start({ cwd: ${JSON.stringify(NOTEBOOKS)} });
    console.log(kernel.pid);
    await kernel.execute("while (true);", 60_000);`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", code],
    cwd: ROOT,
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const pid = Number((await reader.read()).value);
  assert(pid > 0);
  child.kill("SIGTERM");
  assertEquals((await child.status).signal, "SIGTERM");
  await reader.cancel();
  assert(await isGone(pid), `the kernel ${pid} outlived its parent`);
});

Deno.test("executor: two runs give the same bytes", async () => {
  const fixture = await readNotebook(FIXTURE);
  fixture.cells = fixture.cells.filter((cell) => cell.id !== "bench");
  const options = { name: "hello.ipynb", cwd: join(FIXTURE, "..") };
  const first = await executeNotebook(fixture, options);
  const second = await executeNotebook(fixture, options);
  assertEquals(formatNotebook(second), formatNotebook(first));
});

/** Whether a process ends within two seconds; signal 0 is not offered, so ask ps. */
async function isGone(pid: number): Promise<boolean> {
  for (let i = 0; i < 40; i++) {
    const ps = new Deno.Command("ps", {
      args: ["-o", "stat=", "-p", String(pid)],
      stdout: "piped",
      stderr: "null",
    });
    const state = new TextDecoder().decode((await ps.output()).stdout).trim();
    // A zombie waits for a parent that is no longer there.
    if (state === "" || state.startsWith("Z")) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
