import { assertEquals, assertStringIncludes } from "@std/assert";
import { readLcov, report, total } from "../../tasks/coverage.ts";
import { runDeno } from "../deno_command.ts";

const LCOV = `SF:/p/lib/a.ts
FN:1,f
DA:1,3
DA:2,0
DA:4,1
LH:2
LF:3
end_of_record
SF:/p/lib/b.ts
DA:1,1
end_of_record
`;

Deno.test("an lcov report: lines and those that ran, by file and in all", () => {
  const files = readLcov(LCOV, "/p");
  assertEquals(files, [
    { file: "lib/a.ts", lines: 3, ran: 2 },
    { file: "lib/b.ts", lines: 1, ran: 1 },
  ]);
  assertEquals(total(files), { file: "lib/", lines: 4, ran: 3 });
  assertEquals(
    report(files, 90),
    [
      "below 90 %:",
      "  66.7 %           2 of 3  lib/a.ts",
      "",
      "  75.0 %           3 of 4  lib/ (2 files)",
    ].join("\n"),
  );
  assertStringIncludes(report(files, 60), "no file below 60 %");
});

function coverage(...args: string[]) {
  return runDeno(["run", "-A", "tasks/coverage.ts", ...args]);
}

Deno.test("the task counts what its tests run, and its exit code says whether that is enough", async () => {
  const enough = await coverage("tests/table/columns_test.ts");
  assertEquals(enough.code, 0, enough.err);
  assertStringIncludes(enough.out, "  lib/ (1 files)");
  const tooLittle = await coverage(
    "--at-least",
    "100",
    "tests/net/sock_test.ts",
  );
  assertEquals(tooLittle.code, 1);
  assertStringIncludes(tooLittle.out, "below 100 %:");
});

Deno.test("bad arguments and failing tests say so", async () => {
  const bound = await coverage("--at-least", "lots");
  assertEquals(bound.code, 2);
  assertStringIncludes(bound.err, "--at-least lots: 0 to 100 is allowed");
  const none = await coverage("tests/no_such_test.ts");
  assertEquals(none.code, 1);
  assertStringIncludes(none.err, "coverage: a test failed");
});
