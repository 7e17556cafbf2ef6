import {
  assertEquals,
  assertGreater,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { plotBench, runBench } from "@truesize/lab";
import { textFaults } from "./svg_texts.ts";

const file = await Deno.makeTempFile({ suffix: "_bench.ts" });
await Deno.writeTextFile(
  file,
  `Deno.bench("adding", { group: "sums" }, () => { let s = 0; for (let i = 0; i < 10; i++) s += i; });
Deno.bench("multiplying", { group: "sums" }, () => { let s = 1; for (let i = 1; i < 10; i++) s *= i; });`,
);

Deno.test("a benchmark file's results come with group, name and ns", async () => {
  const results = await runBench(file, "adding");
  assertEquals(results.map(({ group, name }) => [group, name]), [[
    "sums",
    "adding",
  ]]);
  assertGreater(results[0]!.ns, 0);
});

Deno.test("a filter that matches nothing and a file that does not run are errors", async () => {
  await assertRejects(() => runBench(file, "dividing"), RangeError, "dividing");
  await assertRejects(() => runBench(`${file}.missing`), Error, "failed");
});

Deno.test("long names, small and large times are drawn whole", async () => {
  const figure = await plotBench([
    {
      group: "g",
      name: "a rather long name of a benchmark, batches of 64",
      ns: 640,
    },
    { group: "g", name: "short", ns: 6400000 },
  ], { title: "Per operation", operations: 64 });
  assertEquals(textFaults(figure.svg()), []);
  assertStringIncludes(figure.svg(), "10.0");
});
