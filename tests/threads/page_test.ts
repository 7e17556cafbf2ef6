import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { threads } from "@truesize/lab";
import { threadsPage } from "../../lib/threads/page.ts";
import { reproduceThreads } from "../../lib/threads/reproduce_threads.ts";

const thread = threads["skb-page-frag-refill"]!;
const [result] = await reproduceThreads([thread], {
  figures: true,
  workers: 0,
});
const page = threadsPage([result!], { version: "1.2.3" });

const count = (pattern: RegExp, text = page): number =>
  text.match(pattern)?.length ?? 0;

Deno.test("page: every table and figure, findings, bands, version", () => {
  for (const { title } of result!.tables) {
    assertStringIncludes(
      page,
      `<caption>${title.replaceAll(">", "&gt;")}</caption>`,
    );
  }
  assertEquals(count(/<figure /g), Object.keys(thread.figures).length);
  assertEquals(count(/<svg /g), Object.keys(thread.figures).length);
  for (const part of [thread.question, "truesize 1.2.3"]) {
    assertStringIncludes(page, part);
  }
  assertStringIncludes(page, "each is inside its band");
  assertStringIncludes(page, "0 to 122 %");
  for (const name of thread.kernels) assertStringIncludes(page, name);
});

Deno.test("page: needs nothing else", () => {
  assertEquals(count(/<(script|link|img|iframe|object)\b/gi), 0);
  for (const [, target] of page.matchAll(/(?:href|src)="([^"]*)"/g)) {
    assert(target!.startsWith("#"), target);
    assertStringIncludes(page, `id="${target!.slice(1)}"`);
  }
  assertEquals(count(/url\((?!#)/g), 0);
  assertEquals(count(/@import/g), 0);
});

Deno.test("page: ids are unique, and the same results give the same bytes", async () => {
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assertEquals(ids.length, new Set(ids).size);
  const [again] = await reproduceThreads([thread], {
    figures: true,
    workers: 0,
  });
  assertEquals(threadsPage([again!], { version: "1.2.3" }), page);
});

Deno.test("page: a cell outside its band is shown, and texts are escaped", async () => {
  const changed = {
    ...thread,
    title: "a < b",
    bands: [{ table: "dalton-overhead", percent: 5 }],
  };
  const [bad] = await reproduceThreads([changed], { workers: 0 });
  const text = threadsPage([bad!], { version: "1.2.3" });
  assertStringIncludes(text, "3 of 3 cells are outside their band");
  assertStringIncludes(text, "121.30 %");
  assertStringIncludes(text, "none stated");
  assertStringIncludes(text, "a &lt; b");
  assertEquals(count(/<figure /g, text), 0);
});
