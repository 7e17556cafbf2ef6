import { assertEquals } from "@std/assert";
import type { CodeCell, Output } from "../../lib/jupyter/notebook.ts";
import {
  compareOutputs,
  describeFault,
  reviewOutputs,
} from "../../lib/jupyter/review.ts";
import { codeCell, notebookOf, textCell } from "./support.ts";

function shown(data: Record<string, unknown>): Output {
  return { output_type: "display_data", data, metadata: {} };
}

function cell(source: string, ...outputs: Output[]): CodeCell {
  return { ...codeCell("a", source), outputs };
}

function faults(source: string, ...outputs: Output[]): string[] {
  return reviewOutputs(notebookOf(cell(source, ...outputs))).map((fault) =>
    fault.message
  );
}

const text = shown({ "text/plain": "x" });
const png = new Uint8Array(1000).toBase64();

Deno.test("review: cells that show, and cells that need not", () => {
  assertEquals(faults("await show(x);", text), []);
  assertEquals(faults("const x = 1;"), []);
  assertEquals(faults("// await show(x);\nplot.show(1); showTable(2);"), []);
  assertEquals(faults("async function show(x: unknown) {}"), []);
});

Deno.test("review: what may be lost is a fault", () => {
  assertEquals(faults("await show(x);"), ["calls show() and has no output"]);
  assertEquals(faults("show(x);", text), [
    "calls show() without await, so its output may be lost",
  ]);
  const result: Output = {
    output_type: "execute_result",
    data: {},
    metadata: {},
    execution_count: 1,
  };
  assertEquals(faults("x", result).length, 1);
  assertEquals(
    faults("log()", { output_type: "stream", name: "stdout", text: "x" }),
    [
      'prints to stdout, which may be lost: use await show(…): "x"',
    ],
  );
});

Deno.test("review: a drawing has a picture of at most 100,000 bytes", () => {
  const svg = "<figure><svg></svg></figure>";
  assertEquals(faults("", shown({ "text/html": svg, "image/png": png })), []);
  assertEquals(faults("", shown({ "text/html": "<table></table>" })), []);
  assertEquals(faults("", shown({ "text/html": svg })), [
    "shows an SVG without image/png beside it",
  ]);
  const large = new Uint8Array(100_001).toBase64();
  assertEquals(faults("", shown({ "text/html": svg, "image/png": large })), [
    "shows a picture of 100001 bytes; allowed are 100000",
  ]);
});

Deno.test("compare: equal outputs, other pictures and benches pass", () => {
  const of = (picture: string) =>
    notebookOf(
      textCell("t", ""),
      cell("", shown({ "text/plain": "x", "image/png": picture })),
    );
  assertEquals(compareOutputs(of("a"), of("b")), []);
  const embedding = (picture: string) =>
    notebookOf(
      cell(
        "",
        shown({ "text/html": `<img src="data:image/png;base64,${picture}">` }),
      ),
    );
  assertEquals(compareOutputs(embedding("a"), embedding("b")), []);
  const bench = (time: string) =>
    notebookOf({
      ...cell("", shown({ "text/plain": time })),
      metadata: { tags: ["slow", "bench"] },
    });
  assertEquals(compareOutputs(bench("5 ns"), bench("6 ns")), []);
});

Deno.test("compare: the first difference of a cell is shown", () => {
  const of = (...outputs: Output[]) =>
    notebookOf(textCell("t", ""), cell("", ...outputs));
  const differences = (before: Output[], after: Output[]) =>
    compareOutputs(of(...before), of(...after)).map((fault) =>
      describeFault("n.ipynb", fault)
    );
  assertEquals(differences([text], [shown({ "text/plain": "y" })]), [
    "n.ipynb: cell 2 (id a): output 1, text/plain, differs from the committed one: " +
    '"x" has become "y"',
  ]);
  assertEquals(differences([], [text]), [
    "n.ipynb: cell 2 (id a): has 1 outputs; the committed notebook has 0",
  ]);
  assertEquals(differences([text], [shown({ "application/json": { a: 1 } })]), [
    "n.ipynb: cell 2 (id a): output 1, text/plain, differs from the committed one: it is gone",
  ]);
  const json = (a: number) => shown({ "application/json": { a } });
  assertEquals(differences([json(1)], [json(1)]), []);
  assertEquals(differences([json(1)], [json(2)]).length, 1);
});
