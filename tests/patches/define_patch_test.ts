import { assertEquals, assertThrows } from "@std/assert";
import {
  definePatch,
  type PatchDefinition,
} from "../../lib/patches/define_patch.ts";
import { kernel } from "../../lib/releases/mod.ts";

const DEFINITION: PatchDefinition = {
  name: "largerMinimum",
  subject: "[PATCH] net: larger fragments",
  date: "2013-10-12",
  thread: "skb-page-frag-refill",
  fits: (k) => k.name === "4.3" ? "too new" : undefined,
  changes: {
    skbPageFrag: {
      minimum: {
        value: 64,
        file: "net/core/sock.c",
        symbol: "sk_page_frag_refill",
        origin: "test",
      },
    },
  },
};

Deno.test("a patch changes its facts, is recorded and leaves the base alone", () => {
  const base = kernel("3.12");
  const patched = base.am(definePatch(DEFINITION));
  assertEquals([base.skbPageFrag.minimum, patched.skbPageFrag.minimum], [
    1,
    64,
  ]);
  assertEquals([base.patches, patched.patches], [[], ["largerMinimum"]]);
  const row = patched.provenance().find(({ name }) =>
    name === "skbPageFrag.minimum"
  );
  assertEquals([row?.release, row?.origin], ["largerMinimum", "test"]);
});

Deno.test("a patch says its name, subject, date and thread", () => {
  const { name, subject, date, thread } = definePatch(DEFINITION);
  assertEquals(
    [name, subject, date, thread],
    ["largerMinimum", DEFINITION.subject, DEFINITION.date, DEFINITION.thread],
  );
});

Deno.test("a base that does not fit is an error with the reason", () => {
  assertThrows(
    () => kernel("4.3").am(definePatch(DEFINITION)),
    Error,
    "patch largerMinimum does not apply to 4.3: too new",
  );
});

Deno.test("a definition without a text or a test is refused", () => {
  for (const key of ["name", "subject", "date", "thread"]) {
    assertThrows(
      () => definePatch({ ...DEFINITION, [key]: "" }),
      TypeError,
      key,
    );
  }
  assertThrows(
    () =>
      definePatch({ ...DEFINITION, fits: true as unknown as () => undefined }),
    TypeError,
    "fits",
  );
});
