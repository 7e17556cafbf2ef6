import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertNotMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { Figure } from "../../lib/view/figure.ts";
import { defaults, plot } from "../../lib/view/plot.ts";
import { plotLines } from "../../lib/view/lines.ts";
import { colors, okabeIto } from "../../lib/view/colors.ts";
import { fontSize, lineHeight } from "../../lib/view/text_width.ts";
import { textBoxes, textFaults } from "./svg_texts.ts";

const long =
  "The window stops growing where overhead eats a third of the buffer, long before the sender runs out of data to send";

function growth(): Promise<Figure> {
  return plot({
    title: long,
    subtitle: "a & b < c",
    x: { label: "time (s)" },
    y: { label: "window (bytes)", grid: true },
    marks: (
      Plot,
    ) => [
      Plot.line([[0, 0], [5, 6_000_000], [10, 6_000_000]], {
        stroke: "#0072B2",
        clip: true,
      }),
    ],
  });
}

Deno.test("a plot is a standalone SVG with its title, labels and units inside", async () => {
  const svg = (await growth()).svg();
  assertMatch(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  const { texts } = textBoxes(svg);
  const joined = texts.map(({ text }) => text).join(" ");
  assertStringIncludes(joined, "The window stops growing");
  assertStringIncludes(joined, "data to send");
  assertStringIncludes(joined, "a & b < c");
  assertStringIncludes(joined, "↑ window (bytes)");
  assertStringIncludes(joined, "6,000,000");
  assertStringIncludes(svg, 'fill="currentColor"');
  assertStringIncludes(svg, 'width="640"');
});

Deno.test("no text of a plot is cut or covers another", async () => {
  assertEquals(textFaults((await growth()).svg()), []);
});

Deno.test("ids depend on the content alone, and differ between plots", async () => {
  const [one, again] = [await growth(), await growth()];
  assertEquals(one.svg(), again.svg());
  const id = /id="(plot-[0-9a-f]{8}-1)"/.exec(one.svg())?.[1];
  assert(id !== undefined);
  assertStringIncludes(one.svg(), `url(#${id})`);
  const other = await plot({
    title: "Other",
    marks: (Plot) => [Plot.line([[0, 0], [1, 1]], { clip: true })],
  });
  assertFalse(other.svg().includes(id));
  assertNotMatch(other.svg(), /plot-clip-\d/);
});

Deno.test("the picture is a small PNG with the same bytes each time, twice as wide", async () => {
  const [one, again] = [(await growth()).png(), (await growth()).png()];
  assertEquals([...one.slice(0, 8)], [
    0x89,
    0x50,
    0x4e,
    0x47,
    0x0d,
    0x0a,
    0x1a,
    0x0a,
  ]);
  assertEquals(new DataView(one.buffer).getUint32(16), 1280);
  assert(one.length < 100_000, `${one.length} bytes`);
  assertEquals(one, again);
});

Deno.test("a crowded picture gives up resolution, not its size limit", async () => {
  const points = Array.from({ length: 4000 }, (_, i) => [i, (i * 7919) % 4001]);
  const crowded = await plot({
    title: "Crowded",
    marks: (Plot) => [Plot.dot(points, { r: 2 })],
  });
  const width = new DataView(crowded.png().buffer).getUint32(16);
  assert(
    width === 640 || crowded.png().length < 100_000,
    `${width} px, ${crowded.png().length} bytes`,
  );
});

Deno.test("the picture holds the title too", async () => {
  const marks = () => [];
  const [one, other] = [
    await plot({ title: "One", marks }),
    await plot({ title: "Other", marks }),
  ];
  assert(one.png().some((byte, i) => byte !== other.png()[i]));
});

Deno.test("Jupyter gets a text, an inline figure and a picture", async () => {
  const figure = await growth();
  const bundle = figure[Symbol.for("Jupyter.display") as never] as () => Record<
    string,
    string
  >;
  const { "text/plain": text, "text/html": html, "image/png": png } = bundle
    .call(figure);
  assertEquals(text, `${long}\na & b < c\n`);
  assertMatch(
    html!,
    /^<figure style="margin:0" role="img" aria-label="The window[^"]*"><svg /,
  );
  assertMatch(png!, /^iVBORw0KGgo[A-Za-z0-9+/]+=*$/);
});

Deno.test("undefined options are absent, a missing title and a legend are refused", async () => {
  const marks = () => [];
  const figure = await plot({
    title: "T",
    subtitle: undefined,
    text: undefined,
    marks,
  });
  assertEquals([figure.width, figure.toText()], [640, "T\n"]);
  await assertRejects(
    () => plot({ title: " ", marks }),
    RangeError,
    'title is " "',
  );
  await assertRejects(
    () => plot({ title: undefined as never, marks }),
    TypeError,
    "title is undefined",
  );
  await assertRejects(
    () =>
      plot({
        title: "T",
        color: { legend: true, domain: ["a", "b"] },
        marks: (Plot) => [Plot.dot([[1, 1]], { fill: () => "a" })],
      }),
    RangeError,
    "legend",
  );
});

Deno.test("lines carry their names at their ends, apart from each other", async () => {
  const names = ["base", "sndbuf autotuning", "rcvbuf expand", "v2"];
  const figure = await plotLines({
    title: "All end alike",
    x: { label: "RTT (ms)" },
    y: { label: "goodput (Mbit/s)", domain: [0, 1000] },
    series: names.map((label, i) => ({
      label,
      points: [[0, 900], [100, i]],
      published: [[50, 450]],
    })),
  });
  const { texts } = textBoxes(figure.svg());
  for (const name of names) {
    assert(texts.some(({ text }) => text === name), name);
  }
  assertEquals(textFaults(figure.svg()), []);
  assertEquals(new Set(figure.svg().match(/stroke="#[0-9A-F]{6}"/g)).size, 4);
});

Deno.test("a long line is thinned and keeps its peak", async () => {
  const points = Array.from(
    { length: 50_000 },
    (_, i) => [i, i === 31_234 ? 1e6 : i % 10] as const,
  );
  const figure = await plotLines({
    title: "Peak",
    y: { domain: [0, 1e6] },
    series: [{ label: "x", points }],
  });
  const path = [...figure.svg().matchAll(/ d="(M[^"]+)"/g)].map((match) =>
    match[1]!
  ).sort((a, b) => b.length - a.length)[0]!;
  const heights = path.slice(1).split("L").map((pair) =>
    Number(pair.split(",")[1])
  );
  assert(heights.length <= 1000);
  assertEquals(Math.min(...heights), defaults.marginTop);
});

Deno.test("lines that cannot be drawn are refused", async () => {
  await assertRejects(
    () => plotLines({ title: "T", series: [] }),
    RangeError,
    "series is empty",
  );
  await assertRejects(
    () => plotLines({ title: "T", series: [{ label: "a", points: [] }] }),
    RangeError,
    "has no points",
  );
  await assertRejects(
    () =>
      plotLines({ title: "T", series: [{ label: "a", points: [[0, NaN]] }] }),
    RangeError,
    "series[0].points[0] is [0, NaN]",
  );
});

Deno.test("a figure gives the data behind it as CSV, JSON and Markdown", async () => {
  const figure = await plotLines({
    title: "Two | points",
    series: [{
      label: "a, b",
      points: [[1, 2], [3, 4]],
      published: [[1, 2.5]],
    }],
  });
  assertEquals(
    figure.toCSV(),
    'series,kind,x,y\r\n"a, b",line,1,2\r\n"a, b",line,3,4\r\n"a, b",published,1,2.5\r\n',
  );
  assertEquals(figure.toJSON().title, "Two | points");
  assertEquals(figure.toJSON().data.length, 3);
  const lines = figure.toMarkdown().split("\n");
  assertEquals(lines[0], "**Two \\| points**");
  assertEquals(lines[2], "| series | kind | x | y |");
  assertEquals(lines[3], "| :-- | :-- | --: | --: |");
  assertEquals(lines[4], "| a, b | line | 1 | 2 |");
  const bare = await plot({ title: "Bare", marks: (Plot) => [Plot.frame()] });
  assertEquals([bare.toCSV(), bare.toMarkdown()], ["\r\n", "**Bare**\n"]);
});

Deno.test("a long name takes two lines, and a piece of each line stands before its name in its colour", async () => {
  const long = "a name much too long for one line";
  const figure = await plotLines({
    title: "T",
    series: [
      { label: long, points: [[0, 1], [1, 1]], dashed: true },
      { label: "veth", points: [[0, 1], [1, 1]] },
    ],
  });
  assertEquals(textFaults(figure.svg()), []);
  const name = textBoxes(figure.svg()).texts.find(({ text }) =>
    text.startsWith("a name")
  )!;
  assert(name.bottom - name.top > 1.9 * fontSize);
  const pieces = [
    ...figure.svg().matchAll(/<line aria-label="([^"]+)"[^>]*>/g),
  ].map(([piece, label]) => [
    label,
    /stroke="([^"]+)"/.exec(piece)![1],
    piece.includes("dasharray"),
  ]);
  assertEquals(pieces, [
    [long, okabeIto.blue, true],
    ["veth", colors.veth, false],
  ]);
});

Deno.test("a key stands below the subtitle, in rows, and is no part of the plot", async () => {
  const names = ["allocation", "free", "bulk allocation", "bulk free", "held"];
  const entries = names.flatMap((text) => [
    { text, fill: okabeIto.blue },
    { text: `${text} again`, fill: "#888888" },
  ]);
  const marks = () => [];
  const figure = await plot({ title: "T", key: entries, marks });
  assertEquals(textFaults(figure.svg()), []);
  const rows = new Set(
    textBoxes(figure.svg()).texts.filter(({ text }) => text !== "T").map((
      { top },
    ) => top),
  );
  assertEquals(figure.svg().match(/<rect /g)?.length, entries.length);
  const bare = await plot({ title: "T", marks });
  assert(rows.size > 1);
  assertEquals(figure.height - bare.height, rows.size * lineHeight + 4);
});
