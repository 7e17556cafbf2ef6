import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertFalse,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  type Cell,
  type CellKind,
  errorPercent,
  kindMarks,
  Table,
  table,
  type TableData,
} from "../lib/table.ts";

function cell(
  published: number | null,
  simulated: number | null,
  kind: CellKind = "priced",
): Cell {
  return { published, simulated, kind };
}

const rates: TableData = {
  id: "rates",
  title: "Forwarding, one core",
  unit: "Mpps",
  columns: ["base", "bulk"],
  rows: [
    { label: "64 bytes", cells: [cell(1.61, 1.6), cell(1.82, 1.9, "fitted")] },
    {
      label: "objects",
      cells: [cell(1024, 1024, "exact"), {
        ...cell(null, null, "unexplained"),
        note: "not posted",
      }],
    },
  ],
};

/** A table of one cell. */
function one(input: unknown): TableData {
  return {
    id: "t",
    title: "T",
    unit: "",
    columns: ["c"],
    rows: [{ label: "r", cells: [input as Cell] }],
  };
}

Deno.test("the error is signed, in percent of the published figure", () => {
  assertAlmostEquals(errorPercent(cell(200, 210))!, 5);
  assertAlmostEquals(errorPercent(cell(-200, -190))!, 5);
  assertEquals(errorPercent(cell(0, 0)), 0);
  assertEquals(errorPercent(cell(0, 1)), null);
  assertEquals(errorPercent(cell(null, 1)), null);
  assertEquals(errorPercent(cell(1, null)), null);
});

Deno.test("a table keeps its shape through JSON", () => {
  const copy = table(JSON.parse(JSON.stringify(table(rates))));
  assertEquals(copy.toJSON(), table(rates).toJSON());
  assertEquals(Object.keys(copy.toJSON()), [
    "id",
    "title",
    "unit",
    "columns",
    "rows",
  ]);
  assertEquals(Object.keys(copy.rows[0]!.cells[0]!), [
    "published",
    "simulated",
    "kind",
  ]);
});

Deno.test("a table is immutable and a copy of what it was made from", () => {
  const columns = ["c"];
  const made = table({ ...one(cell(1, 1)), columns });
  columns[0] = "other";
  assertEquals(made.columns, ["c"]);
  assert(
    [
      made,
      made.columns,
      made.rows,
      made.rows[0],
      made.rows[0]!.cells,
      made.rows[0]!.cells[0],
    ].every(Object.isFrozen),
  );
  assertThrows(() => (made as { title: string }).title = "other", TypeError);
});

Deno.test("an undefined unit or note counts as absent", () => {
  const made = table(one({ ...cell(1, 1), unit: undefined, note: undefined }));
  assertEquals(made.rows[0]!.cells[0], {
    published: 1,
    simulated: 1,
    kind: "priced",
  });
});

Deno.test("what no table can be made of is refused by name and value", () => {
  const bad: [unknown, RangeErrorConstructor | TypeErrorConstructor, string][] =
    [
      [undefined, TypeError, "table is undefined"],
      [{ ...rates, id: "" }, RangeError, 'table.id is ""'],
      [{ ...rates, id: 7 }, TypeError, "table.id is 7"],
      [{ ...rates, title: " " }, RangeError, 'table.title is " "'],
      [{ ...rates, unit: null }, TypeError, "table.unit is null"],
      [{ ...rates, columns: [] }, RangeError, "table.columns is empty"],
      [{ ...rates, columns: "ab" }, TypeError, 'table.columns is "ab"'],
      [
        { ...rates, columns: ["base"] },
        RangeError,
        'table.rows[0] ("64 bytes") has 2 cells; one for each of the 1 columns',
      ],
      [{ ...rates, rows: {} }, TypeError, "table.rows is [object Object]"],
      [
        { ...rates, rows: [{ label: "", cells: [] }] },
        RangeError,
        'table.rows[0].label is ""',
      ],
      [one(null), TypeError, "table.rows[0].cells[0] is null"],
      [
        one({ ...cell(1, 1), kind: "guessed" }),
        RangeError,
        'kind is "guessed"; one of exact, priced, fitted, unexplained',
      ],
      [
        one({ ...cell(1, 1), kind: "toString" }),
        RangeError,
        'kind is "toString"',
      ],
      [
        one({ published: 1, simulated: NaN, kind: "exact" }),
        RangeError,
        "cells[0].simulated is NaN",
      ],
      [
        one({ published: Infinity, simulated: 1, kind: "exact" }),
        RangeError,
        "cells[0].published is Infinity",
      ],
      [
        one({ simulated: 1, kind: "exact" }),
        TypeError,
        "cells[0].published is undefined",
      ],
      [one({ ...cell(1, 1), note: "" }), RangeError, 'cells[0].note is ""'],
    ];
  for (const [data, type, message] of bad) {
    assertThrows(() => new Table(data as TableData), type, message);
  }
});

Deno.test("text: aligned on the right, signed errors, marks and a legend", () => {
  const lines = table(rates).toText({ ascii: true }).split("\n");
  assertEquals(
    lines,
    [
      "Forwarding, one core",
      "",
      "                           base (Mpps)                  bulk (Mpps)",
      "           published  simulated  error  published  simulated  error",
      "-------------------------------------------------------------------",
      " 64 bytes       1.61     1.60 ~  -0.6%       1.82     1.90 *  +4.4%",
      " objects       1,024    1,024 =     0%          -    - ? [1]",
      "",
      " = exact: a byte or event count that follows from the mechanism",
      " ~ priced: counted events times calibrated prices",
      " * fitted: rests on a constant chosen to meet a published figure",
      " ? unexplained: the mechanism does not explain this figure",
      " [1] not posted",
      "",
    ],
  );
});

Deno.test("text outside a terminal has neither colours nor other characters than ASCII", () => {
  // deno-lint-ignore no-control-regex
  const ascii = /^[\x0a\x20-\x7e]*$/;
  assertMatch(table(rates).toText({ ascii: true }), ascii);
  assertStringIncludes(
    table(rates).toText({ ascii: false }),
    kindMarks.fitted.mark,
  );
  if (!Deno.stdout.isTerminal()) {
    assertEquals(table(rates).toText(), table(rates).toText({ ascii: true }));
  }
  assertEquals(
    table(rates).toText({ ascii: undefined }),
    table(rates).toText(),
  );
});

Deno.test("with many compared columns the three figures stand below each other", () => {
  const wide = table({
    id: "wide",
    title: "Goodput",
    unit: "Mbit/s",
    columns: ["1 ms", "25 ms", "50 ms"],
    rows: [
      {
        label: "published",
        cells: [cell(940, 940), cell(500, 510), cell(250, 240)],
      },
      {
        label: "counterfactual",
        cells: [cell(null, 940), cell(null, 900), cell(null, 470)],
      },
    ],
  });
  const lines = wide.toText({ ascii: true }).split("\n");
  assert(lines.every((line) => line.length <= 80));
  assertEquals(lines.slice(4, 8), [
    " published       published            940             500             250",
    "                 simulated          940 ~           510 ~           240 ~",
    "                 error                 0%           +2.0%           -4.0%",
    " counterfactual  simulated          940 ~           900 ~           470 ~",
  ]);
});

Deno.test("an error that rounds to nothing does not look like equality", () => {
  const text = (published: number, simulated: number): string =>
    table(one(cell(published, simulated))).toText({ ascii: true });
  assertStringIncludes(text(100_000, 100_001), "+0.001%");
  assertStringIncludes(text(100_000, 100_000), " 0%");
});

Deno.test("where nothing was published only the simulated values are printed", () => {
  const plain = table({ ...one(cell(null, 87380, "exact")), unit: "bytes" });
  assertFalse(plain.toText().includes("published"));
  assertStringIncludes(plain.toText(), "c (bytes)");
  assertStringIncludes(plain.toText(), "87,380 =");
  assertFalse(plain.toHTML().includes("published"));
});

Deno.test("a cell's own unit stands in the head of a column that shares it, else beside the figure", () => {
  const cells = (unit?: string): Cell[] => [{ ...cell(null, 1.5), unit }];
  const shared = table({
    ...one(null),
    unit: "bytes",
    rows: [{ label: "r", cells: cells("ms") }],
  });
  assertStringIncludes(shared.toText(), "c (ms)");
  const mixed = table({
    ...one(null),
    unit: "bytes",
    rows: [{ label: "r", cells: cells("ms") }, { label: "s", cells: cells() }],
  });
  assertStringIncludes(mixed.toText(), "1.5 ms");
  assertStringIncludes(mixed.toText(), "1.5 bytes");
});

Deno.test("CSV: RFC 4180, one line a cell, figures unrounded", () => {
  const csv = table({
    ...one(cell(3, 1 / 3)),
    unit: "a,b",
    columns: ['say "x"'],
    rows: [{ label: "two\nlines", cells: [cell(3, 1 / 3)] }, {
      label: "=1+1",
      cells: [cell(null, null, "exact")],
    }],
  }).toCSV();
  assertEquals(
    csv,
    "row,column,unit,published,simulated,error_percent,kind\r\n" +
      '"two\nlines","say ""x""","a,b",3,0.3333333333333333,-88.8889,priced\r\n' +
      '=1+1,"say ""x""","a,b",,,,exact\r\n',
  );
});

Deno.test("Markdown: kernel names stay what they are, figures are right-aligned", () => {
  const lines = table({
    ...one(cell(null, 1)),
    rows: [{ label: "tcp_rmem[2] | *x*\n<b>", cells: [cell(null, 1)] }],
  })
    .toMarkdown().split("\n");
  assertEquals(lines.slice(0, 5), [
    "**T**",
    "",
    "|  | c |",
    "| :--- | ---: |",
    "| tcp\\_rmem\\[2\\] \\| \\*x\\* \\<b\\> | 1 ≈ |",
  ]);
});

Deno.test("HTML: escaped, aligned by attribute, units in the head, marks explained", () => {
  const html = table({
    ...one(null),
    title: 'a < b & "c"',
    unit: "bytes",
    rows: [{
      label: "<script>",
      cells: [{ ...cell(2, 1, "fitted"), note: "<i>'n'" }],
    }],
  }).toHTML();
  assertStringIncludes(html, "<caption>a &lt; b &amp; &quot;c&quot;</caption>");
  assertStringIncludes(html, "&lt;script&gt;");
  assertStringIncludes(html, "c (bytes)");
  assertStringIncludes(html, '<td align="right">-50.0%</td>');
  assertStringIncludes(html, `title="${kindMarks.fitted.meaning}"`);
  assertStringIncludes(html, "&lt;i&gt;&#39;n&#39;");
  assertFalse(/right" style=|<script|<i>/.test(html));
});

Deno.test("HTML rows fill the width of the head in both layouts", () => {
  const three = {
    ...rates,
    columns: ["a", "b", "c"],
    rows: [{ label: "r", cells: [cell(1, 1), cell(2, 2), cell(null, 3)] }],
  };
  for (const data of [rates, three, one(cell(1, 2))]) {
    const html = table(data).toHTML();
    const rows = html.slice(html.indexOf("<thead>")).split("<tr>").slice(1);
    const carried: number[] = [];
    const widths = rows.map((row, r) => {
      let width = carried[r] ?? 0;
      for (const [tag] of row.matchAll(/<t[dh][^>]*>/g)) {
        const span = Number(/colspan="(\d+)"/.exec(tag)?.[1] ?? 1);
        const down = Number(/rowspan="(\d+)"/.exec(tag)?.[1] ?? 1);
        width += span;
        for (let below = 1; below < down; below++) {
          carried[r + below] = (carried[r + below] ?? 0) + span;
        }
      }
      return width;
    });
    assertEquals(new Set(widths).size, 1, `${data.id}: ${widths}`);
  }
});

Deno.test("Jupyter gets text, HTML and Markdown", () => {
  const bundle = table(rates)[Symbol.for("Jupyter.display") as never] as () =>
    Record<string, string>;
  assertEquals(Object.keys(bundle.call(table(rates))), [
    "text/plain",
    "text/html",
    "text/markdown",
  ]);
});

Deno.test("an empty table has its head", () => {
  const empty = table({ ...rates, rows: [] });
  assertStringIncludes(empty.toText(), "base (Mpps)");
  assertEquals(empty.toCSV().split("\r\n").length, 2);
  assertStringIncludes(empty.toHTML(), "<tbody></tbody>");
});

Deno.test("HTML: short labels stay on a line, long names may break after an underscore", () => {
  const html = table({
    id: "breaks",
    title: "Breaks",
    unit: "",
    columns: ["CPU_PARTIAL_FREE"],
    rows: ["1 a poll", "skb_page_frag_refill, 6.8"].map((label) => ({
      label,
      cells: [{ published: null, simulated: 1, kind: "exact" }],
    })),
  }).toHTML();
  assertStringIncludes(html, ">1&nbsp;a&nbsp;poll</th>");
  assertStringIncludes(html, ">skb_<wbr>page_<wbr>frag_<wbr>refill, 6.8</th>");
  assertStringIncludes(html, ">CPU_<wbr>PARTIAL_<wbr>FREE</th>");
});
