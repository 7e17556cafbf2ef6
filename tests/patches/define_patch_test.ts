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

const ownPatch = (changed: Partial<Record<keyof PatchDefinition, unknown>>) =>
  definePatch({ ...DEFINITION, ...changed } as PatchDefinition);

Deno.test("a patch is not applied twice, whatever its own test says", () => {
  const patch = ownPatch({ fits: () => undefined });
  assertThrows(
    () => kernel("3.12").am(patch, patch),
    Error,
    "patch largerMinimum does not apply to 3.12: it is applied already",
  );
});

Deno.test("what a patch's own code does wrong is said of the patch", () => {
  const fact = DEFINITION.changes.skbPageFrag!.minimum!;
  const cases: [Partial<Record<keyof PatchDefinition, unknown>>, string][] = [
    [
      {
        fits: () => {
          throw new Error("oops");
        },
      },
      "patch largerMinimum: fits(kernel 3.12) threw Error: oops",
    ],
    [{ fits: () => false }, "fits must answer why it does not apply"],
    [
      { changes: { skbPageFrags: {} } },
      "changes.skbPageFrags is no group of facts; there are page, slub",
    ],
    [
      { changes: { skbPageFrag: { minimun: fact } } },
      "changes.skbPageFrag.minimun is no fact; skbPageFrag has name, fits",
    ],
    [
      { changes: { skbPageFrag: { minimum: 64 } } },
      "changes.skbPageFrag.minimum.file must say where the value is from",
    ],
    [
      { changes: { skbPageFrag: { minimum: { ...fact, value: "64" } } } },
      "changes.skbPageFrag.minimum.value must be a number as 1 is, got string 64",
    ],
    [
      { changes: { skbPageFrag: { minimum: { ...fact, value: () => NaN } } } },
      "changes.skbPageFrag.minimum.value must be finite",
    ],
    [
      {
        changes: {
          skbPageFrag: {
            minimum: {
              ...fact,
              value: () => {
                throw new RangeError("no such build");
              },
            },
          },
        },
      },
      "patch largerMinimum: changes threw RangeError: no such build",
    ],
  ];
  for (const [changed, message] of cases) {
    assertThrows(() => kernel("3.12").am(ownPatch(changed)), Error, message);
  }
  assertThrows(
    () => ownPatch({ changes: undefined }),
    TypeError,
    "changes must be facts by group",
  );
});
