import { assertEquals } from "@std/assert";
import { basename, dirname, join } from "node:path";
import { checkNotebooks } from "../lib/jupyter/cells.ts";
import { executeNotebook } from "../lib/jupyter/executor.ts";
import {
  formatNotebook,
  parseNotebook,
  readNotebook,
} from "../lib/jupyter/notebook.ts";
import {
  type CellFault,
  compareOutputs,
  describeFault,
  reviewOutputs,
} from "../lib/jupyter/review.ts";
import { allNotebooks, NOTEBOOKS } from "./jupyter/support.ts";

const paths = allNotebooks();

Deno.test("notebooks: names are not used twice", () => {
  const names = paths.map((path) => basename(path));
  assertEquals(names, [...new Set(names)]);
});

for (const path of paths) {
  const name = basename(path);
  const describe = (faults: CellFault[]) =>
    faults.map((fault) => describeFault(name, fault));

  Deno.test(`notebooks: ${name} runs with the Deno kernel, as committed`, async () => {
    const committed = await readNotebook(path);
    const executed = await executeNotebook(committed, {
      name,
      cwd: dirname(path),
    });
    assertEquals(describe(reviewOutputs(executed)), []);
    assertEquals(describe(compareOutputs(committed, executed)), []);
  });

  Deno.test(`notebooks: ${name} is committed executed, in Jupyter's layout`, async () => {
    const text = await Deno.readTextFile(path);
    const committed = parseNotebook(text, name);
    assertEquals(describe(reviewOutputs(committed)), []);
    assertEquals(
      formatNotebook(committed) === text,
      true,
      `${name}: run deno task notebooks --write`,
    );
    const kernelspec = committed.metadata.kernelspec as
      | { name?: string }
      | undefined;
    assertEquals(kernelspec?.name, "deno");
  });
}

Deno.test("notebooks: every code cell type-checks", async () => {
  const { messages } = await checkNotebooks(paths, join(NOTEBOOKS, ".cells"));
  assertEquals(messages, "");
});

Deno.test("notebooks: code and Markdown are as deno fmt has them", async () => {
  // `deno fmt --check` calls any notebook unformatted, so format copies.
  const folder = await Deno.makeTempDir();
  try {
    const copies = paths.map((path) => join(folder, basename(path)));
    await Promise.all(paths.map((path, i) => Deno.copyFile(path, copies[i]!)));
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["fmt", "--quiet", "--no-config", ...copies],
      stderr: "piped",
    }).output();
    assertEquals(success, true, new TextDecoder().decode(stderr));
    for (const [i, path] of paths.entries()) {
      const committed = await readNotebook(path);
      const formatted = await readNotebook(copies[i]!);
      for (const [k, cell] of committed.cells.entries()) {
        const where = `${basename(path)}, cell ${
          k + 1
        } (id ${cell.id}): run deno fmt on a copy`;
        assertEquals(cell.source, formatted.cells[k]!.source, where);
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
