import { assertEquals, assertThrows } from "@std/assert";
import {
  skbPageFragRefillV1 as v1,
  skbPageFragRefillV2 as v2,
  skbPageFragRefillV3 as v3,
} from "../../lib/patches/skb_page_frag_refill.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("net-next-2013-10");

Deno.test("each version changes the name, the test and the minimum", () => {
  for (
    const [patch, name, fits] of [
      [v1, "page_frag_refill", "offset + sz < size"],
      [v2, "page_frag_refill", "offset + sz <= size"],
      [v3, "skb_page_frag_refill", "offset + sz <= size"],
    ] as const
  ) {
    for (const on of [base, kernel("3.12")]) {
      const { skbPageFrag } = on.am(patch);
      assertEquals(
        skbPageFrag,
        { ...on.skbPageFrag, name, fits, minimum: 32 },
      );
    }
  }
});

Deno.test("subjects and dates are those of the messages", () => {
  assertEquals(
    [v1, v2, v3].map(({ subject, date }) => [subject, date]),
    [
      ["[PATCH net-next] net: refactor sk_page_frag_refill()", "2013-10-12"],
      ["[PATCH v2 net-next] net: refactor sk_page_frag_refill()", "2013-10-12"],
      ["[PATCH v3 net-next] net: refactor sk_page_frag_refill()", "2013-10-17"],
    ],
  );
});

Deno.test("a later version replaces an earlier one: it applies to the base only", () => {
  assertThrows(
    () => base.am(v1, v2),
    Error,
    "patch skbPageFragRefillV2 does not apply to net-next-2013-10: v2 replaces v1: apply it to the base",
  );
  assertThrows(() => base.am(v2, v3), Error, "v3 replaces v2");
  assertThrows(() => base.am(v3, v1), Error, "v3 has replaced v1");
  assertThrows(() => base.am(v1, v1), Error, "applied already");
});

Deno.test("on 4.3 and later it is merged already", () => {
  for (const name of ["4.3", "6.1", "6.18"]) {
    for (const patch of [v1, v2, v3]) {
      assertThrows(() => kernel(name).am(patch), Error, "already merged");
    }
  }
});
