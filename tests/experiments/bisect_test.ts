import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  bisect,
  definePatch,
  ipForward,
  type Kernel,
  kernel,
  type Patch,
  patches,
  runVhostNetTest,
} from "@truesize/lab";

const base = kernel("3.12");

/** Raises the least fragment by one. */
const step = (
  i: number,
  fits: (k: Kernel) => string | undefined = () => undefined,
): Patch =>
  definePatch({
    name: `step${i}`,
    subject: `[PATCH ${i}]`,
    date: "2013-10-12",
    thread: "test",
    fits,
    changes: {
      skbPageFrag: {
        minimum: { value: i + 2, file: "f", symbol: "s", origin: "test" },
      },
    },
  });

const series = Array.from({ length: 100 }, (_, i) => step(i));
const minimum = (k: Kernel): number => k.skbPageFrag.minimum;

Deno.test("every place in a series is found, with few questions", () => {
  for (let place = 0; place < series.length; place++) {
    const { patch, index, before, after, asked, alone } = bisect(
      series,
      (k) => minimum(k) >= place + 2,
      { kernel: base },
    );
    assertEquals([patch?.name, index, before, after], [
      `step${place}`,
      place,
      false,
      true,
    ]);
    assert(asked.length <= 2 + 7, `${asked.length} asked`);
    assertEquals(alone, { applies: true, outcome: true });
  }
});

Deno.test("the predicate may answer with a number or a text", () => {
  const found = bisect(
    series.slice(0, 9),
    (k) => minimum(k) < 6 ? "small" : `at ${minimum(k)}`,
    { kernel: base },
  );
  assertEquals([found.index, found.before, found.after], [4, "small", "at 6"]);
  assertStringIncludes(
    String(found),
    'step4 ([PATCH 4]) changes the outcome from "small" to "at 6". It does so alone, too.',
  );
});

Deno.test("an outcome that does not flip is no finding", () => {
  const none = bisect(series, () => true, { kernel: base });
  assertEquals([none.patch, none.index, none.alone], [null, -1, null]);
  assertEquals(none.asked.map(({ patches }) => patches), [0, 100]);
  assertStringIncludes(String(none), "true before and after all of them");
});

Deno.test("a patch that needs others says so", () => {
  const needs = step(
    3,
    (k) => k.patches.includes("step1") ? undefined : "it stands on step1",
  );
  const found = bisect([step(1), step(2), needs], (k) => minimum(k) >= 5, {
    kernel: base,
  });
  assertEquals(found.alone, {
    applies: false,
    reason: "patch step3 does not apply to 3.12: it stands on step1",
  });
  assertStringIncludes(
    String(found),
    "Without the patches before it, it does not apply",
  );
  const both = bisect(
    [step(1), step(2)],
    (k) => k.patches.includes("step1") && minimum(k) === 4,
    { kernel: base },
  );
  assertEquals(both.alone, { applies: true, outcome: false });
  assertStringIncludes(String(both), "it needs patches before it");
});

Deno.test("the threads' series: which patch does it", () => {
  const bulk = [
    "bulkFreeInfrastructure",
    "bulkFreeCompletionQueue",
    "ixgbeBulkFree",
    "bulkAllocReuse",
  ].map((name) => patches[name]!);
  const forward = (
    perPoll: number,
    outcome: (run: ReturnType<typeof ipForward>) => boolean,
  ) =>
    bisect(
      bulk,
      (k) => outcome(ipForward({ kernel: k, polls: 64, perPoll })),
      { kernel: kernel("net-next-2015-10") },
    ).patch!.name;
  assertEquals(forward(64, (run) => run.napi.bulkFreed! > 0), "ixgbeBulkFree");
  assertEquals(forward(48, (run) => run.napi.reused! > 0), "bulkAllocReuse");

  const vhost = [
    "pageFragAlignArgument",
    "pageFragGfpBits",
    "pageFragCacheDrain",
    "vhostPageFrag",
    "vhostNetTest",
  ].map((name) => patches[name]!);
  const { patch, index } = bisect(
    vhost,
    (k) => runVhostNetTest({ kernel: k, packets: 420 }).reuses > 0,
    { kernel: kernel("6.8") },
  );
  assertEquals([patch!.name, index], ["vhostPageFrag", 3]);
});

Deno.test("a series that does not apply, and bad arguments, are refused before anything runs", () => {
  let asked = 0;
  const predicate = () => ++asked > 0;
  const run =
    (list: unknown, ask: unknown = predicate, k: unknown = base) => () =>
      bisect(list as Patch[], ask as () => boolean, { kernel: k as Kernel });
  assertThrows(
    run([step(1), step(2), step(1)]),
    Error,
    "step1 does not apply after the 2 before it: patch step1 does not apply to 3.12: it is applied already",
  );
  assertThrows(run([step(1), 5]), Error, "patch 2 does not apply");
  assertThrows(run([]), TypeError, "at least one");
  assertThrows(run([step(1)], 5), TypeError, "predicate must be a function");
  assertThrows(run([step(1)], predicate, "3.12"), TypeError, "kernel must be");
  assertEquals(asked, 0);
  assertThrows(
    run([step(1)], () => Promise.resolve(true)),
    TypeError,
    "got a promise on the base",
  );
  assertThrows(
    run([step(1)], (k: Kernel) => {
      if (k.patches.length > 0) throw new Error("oops");
      return true;
    }),
    Error,
    "predicate threw on the base with 1 patches: oops",
  );
});
