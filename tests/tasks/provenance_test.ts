import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { kernel, releases } from "../../lib/releases/mod.ts";
import { runDeno } from "../deno_command.ts";

const TREE = "tests/fixtures/kernel_tree";

function provenance(...args: string[]) {
  return runDeno(["run", "-A", "tasks/provenance.ts", ...args]);
}

Deno.test("every number and rule of the last release with its source", async () => {
  const { code, out, err } = await provenance();
  assertEquals([code, err], [0, ""]);
  const rows = kernel(releases.at(-1)!).provenance();
  for (const { name, file, symbol, release, origin } of rows) {
    assertStringIncludes(out, `\n  ${name.split(".")[1]} = `);
    assertStringIncludes(out, `${file}: ${symbol} (${release}: ${origin})`);
  }
  const json = await provenance("--release", "3.12", "--json");
  assertEquals(json.err, "");
  assertEquals(
    JSON.parse(json.out),
    JSON.parse(JSON.stringify(kernel("3.12").provenance())),
  );
});

Deno.test("a tree that says the same: exit code 0", async () => {
  const { code, out, err } = await provenance(
    ...["--release", "6.1", "--tree", TREE],
  );
  assertEquals([code, err], [0, ""]);
  assertStringIncludes(out, "\n0 differs, ");
  assertStringIncludes(
    out,
    "  napi.deferMax = 64  net/core/hotdata.c:3  64\n",
  );
});

Deno.test("a tree that says something else: the number, its line, exit code 1", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/net/core`, { recursive: true });
    await Deno.writeTextFile(
      `${folder}/net/core/dev.c`,
      "\n\nint netdev_budget __read_mostly = 600;\n",
    );
    const args = ["--release", "6.1", "--tree", folder];
    const { code, out } = await provenance(...args);
    assertEquals(code, 1);
    assertStringIncludes(
      out,
      "differs\n  napi.netdevBudget = 300, the tree has 600  net/core/dev.c:3  600\n",
    );
    const json = await provenance(...args, "--json");
    assertEquals(json.code, 1);
    const [check] = JSON.parse(json.out).filter(
      ({ verdict }: { verdict: string }) => verdict === "differs",
    );
    assertEquals([check.name, check.found], ["napi.netdevBudget", 600]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("bad arguments: exit code 2 and a sentence", async () => {
  const cases: [string[], string][] = [
    [["--release", "9.9"], '--release "9.9": 3.12, '],
    [["--tree", "no/such/folder"], '--tree "no/such/folder": no folder'],
    [["--tree", "tests/table"], "not one of the release's files"],
    [["--nonsense"], "--nonsense"],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await provenance(...args);
    assertEquals(code, 2, args.join(" "));
    assertStringIncludes(err, message);
  }
  const { code, out } = await provenance("--help");
  assertEquals(code, 0);
  assert(out.startsWith("Usage: deno task provenance"));
});
