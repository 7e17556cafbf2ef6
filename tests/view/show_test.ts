import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { table } from "../../lib/table.ts";
import { colorOf, colors, okabeIto, textOn } from "../../lib/view/colors.ts";
import { plot } from "../../lib/view/plot.ts";
import { progress } from "../../lib/view/progress.ts";
import { html, markdown, show } from "../../lib/view/show.ts";
import { balanceText, textWidth, wrapText } from "../../lib/view/text_width.ts";

type Message = {
  type: string;
  content: {
    data: Record<string, string>;
    metadata: Record<string, unknown>;
    transient: object;
  };
};

/** Runs with a stand-in for the kernel's interface and gives what was sent. */
async function inKernel(run: () => Promise<void>): Promise<Message[]> {
  const sent: Message[] = [];
  const broadcast = (
    type: string,
    content: Message["content"],
  ): Promise<void> => {
    sent.push({ type, content });
    return Promise.resolve();
  };
  // The namespace's own property can be neither read nor replaced.
  const real = Deno;
  const value = Object.create(real, { jupyter: { value: { broadcast } } });
  Object.defineProperty(globalThis, "Deno", { configurable: true, value });
  try {
    await run();
  } finally {
    Object.defineProperty(globalThis, "Deno", {
      configurable: true,
      value: real,
    });
  }
  return sent;
}

/** Runs a script in a process of its own, with both outputs piped. */
async function child(
  script: string,
): Promise<{ stdout: string; stderr: string }> {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", script],
    cwd: new URL("../..", import.meta.url),
    env: { NO_COLOR: "1" },
  }).output();
  const text = {
    stdout: new TextDecoder().decode(stdout),
    stderr: new TextDecoder().decode(stderr),
  };
  assert(success, text.stderr);
  return text;
}

const small = table({
  id: "t",
  title: "Small",
  unit: "bytes",
  columns: ["c"],
  rows: [{
    label: "r",
    cells: [{ published: null, simulated: 5, kind: "exact" }],
  }],
});

Deno.test("outside a kernel show prints terminal forms on standard output", async () => {
  const { stdout, stderr } = await child(`
    import { show, markdown } from "./lib/view/show.ts";
    await show("a line\\n", markdown("*b*"), Promise.resolve({ toText: () => "c\\n" }), { n: [1] }, 5);
  `);
  assertEquals([stdout, stderr], ["a line\n*b*\nc\n{ n: [ 1 ] }\n5\n", ""]);
});

Deno.test("in a kernel show sends each thing's bundle, and a picture's real size", async () => {
  const figure = await plot({ title: "T", marks: () => [] });
  const sent = await inKernel(() =>
    show(
      small,
      figure,
      "text",
      markdown("*m*"),
      html("<b>h</b>"),
      new Map([[1, 2]]),
    )
  );
  assertEquals(sent.map(({ type }) => type), Array(6).fill("display_data"));
  assertEquals(sent.map(({ content }) => Object.keys(content.data)), [
    ["text/plain", "text/html", "text/markdown"],
    ["text/plain", "text/html", "image/png"],
    ["text/plain"],
    ["text/plain", "text/markdown"],
    ["text/plain", "text/html"],
    ["text/plain"],
  ]);
  assertEquals(sent[1]!.content.metadata, {
    "image/png": { width: figure.width, height: figure.height },
  });
  assertEquals(sent[5]!.content.data["text/plain"], "Map(1) { 1 => 2 }");
});

Deno.test("progress writes nothing into a pipe", async () => {
  const { stdout, stderr } = await child(`
    import { progress } from "./lib/view/progress.ts";
    const steps = progress(1000, "steps");
    for (let i = 0; i < 1000; i++) await steps.tick();
    await new Promise((resolve) => setTimeout(resolve, 150));
    await steps.tick();
    await steps.done();
  `);
  assertEquals([stdout, stderr], ["", ""]);
});

Deno.test("in a kernel progress updates one output and leaves a state without a time", async () => {
  const run = (): Promise<Message[]> =>
    inKernel(async () => {
      const steps = progress(4, "tables");
      await steps.tick();
      await new Promise((resolve) => setTimeout(resolve, 120));
      await steps.tick(3);
      await steps.done();
      await steps.done();
      await steps.tick();
    });
  const sent = await run();
  assertEquals(sent.map(({ type }) => type), [
    "display_data",
    "update_display_data",
    "update_display_data",
  ]);
  assertEquals(
    new Set(sent.map(({ content }) => JSON.stringify(content.transient))).size,
    1,
  );
  assertStringIncludes(sent[1]!.content.data["text/plain"]!, "█ 4 of 4");
  assertEquals(sent.at(-1)!.content.data, { "text/plain": "tables: 4 of 4" });
  assert(
    JSON.stringify((await run())[0]!.content.transient) !==
      JSON.stringify(sent[0]!.content.transient),
  );
});

Deno.test("progress refuses a total that is none", () => {
  assertThrows(() => progress(0, "x"), RangeError, "total is 0");
  assertThrows(() => progress(NaN, "x"), RangeError, "total is NaN");
  assertThrows(
    () => progress(1, undefined as never),
    TypeError,
    "label is undefined",
  );
});

Deno.test("a table loads neither jsdom nor Plot, nor does progress load its bar", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "lib/table.ts"],
    cwd: new URL("../..", import.meta.url),
  }).output();
  const modules = JSON.stringify(
    JSON.parse(new TextDecoder().decode(stdout)).modules,
  );
  for (const heavy of ["jsdom", "@observablehq", "resvg"]) {
    assert(!modules.includes(heavy), heavy);
  }
});

Deno.test("named things have their colour, others the next of the cycle", () => {
  assertEquals(colorOf("v2"), colors.v2);
  assertEquals(colorOf("toString", 0), okabeIto.blue);
  assertThrows(() => colorOf("toString"), RangeError, 'name is "toString"');
  assertEquals(colorOf("nobody's", 1), okabeIto.vermillion);
  assertEquals(colorOf("nobody's", 7), okabeIto.blue);
  assertThrows(() => colorOf("nobody's", -1), RangeError, "index is -1");
  for (const color of Object.values(colors)) {
    if (color !== "currentColor") textOn(color);
  }
  assertThrows(() => textOn("red"), RangeError, 'background is "red"');
});

Deno.test("text widths are DejaVu's, and lines break at spaces", () => {
  assertEquals(textWidth("iW", 1000), 278 + 989);
  assertEquals(textWidth("→", 10), 10);
  assertEquals(wrapText("aa bb  cc", 10, textWidth("aa bb", 10)), [
    "aa bb",
    "cc",
  ]);
  assertEquals(wrapText("", 10, 100), []);
  const words = "one two three four five six seven eight nine";
  const width = textWidth("one two three four five six seven eight", 10);
  assertEquals(wrapText(words, 10, width)[1], "nine");
  assertEquals(balanceText(words, 10, width), [
    "one two three four five",
    "six seven eight nine",
  ]);
  assertEquals(balanceText("one two", 10, width), ["one two"]);
  assertEquals(balanceText("", 10, width), []);
});
