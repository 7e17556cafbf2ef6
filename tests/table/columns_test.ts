import { assertEquals } from "@std/assert";
import { textColumns } from "../../lib/table/columns.ts";

Deno.test("labels stand on the left, figures on the right, two spaces apart", () => {
  const heads = [{ title: "bytes", span: 1 }, { title: "n", span: 1 }];
  assertEquals(
    textColumns(1, heads, [["skb", "256", "1"], [
      "head of skb",
      "1,024",
      "12",
    ]]),
    [
      "              bytes   n",
      " skb            256   1",
      " head of skb  1,024  12",
    ],
  );
});

Deno.test("a wide head widens its columns evenly, the first ones by the odd characters", () => {
  const heads = [{ title: "Mbit/s, both", span: 2 }, { title: "n", span: 1 }];
  assertEquals(textColumns(1, heads, [["a", "1", "2", "3"]]), [
    "    Mbit/s, both  n",
    " a      1      2  3",
  ]);
});

Deno.test("a mark of several bytes is one character wide", () => {
  const lines = textColumns(1, [{ title: "x", span: 1 }], [["a", "1 ≈"], [
    "b",
    "10 †",
  ]]);
  assertEquals(lines, ["       x", " a   1 ≈", " b  10 †"]);
});
