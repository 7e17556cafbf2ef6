import { assertEquals, assertThrows } from "@std/assert";
import { Gfp, GFP_BITS_MASK, gfpNames } from "../../lib/mm/gfp.ts";

Deno.test("gfp: the masks of callers hold what they are made of", () => {
  assertEquals(Gfp.GFP_ATOMIC, Gfp.__GFP_HIGH | Gfp.__GFP_KSWAPD_RECLAIM);
  assertEquals(Gfp.GFP_KERNEL & Gfp.__GFP_HIGH, 0);
  assertEquals(Gfp.GFP_KERNEL & Gfp.__GFP_RECLAIM, Gfp.__GFP_RECLAIM);
});

Deno.test("gfp: __GFP_WAIT and __GFP_DIRECT_RECLAIM are one bit, apart from kswapd's", () => {
  assertEquals(Gfp.__GFP_WAIT, Gfp.__GFP_DIRECT_RECLAIM);
  assertEquals(
    Gfp.GFP_KERNEL & ~Gfp.__GFP_WAIT & Gfp.__GFP_KSWAPD_RECLAIM,
    Gfp.__GFP_KSWAPD_RECLAIM,
  );
  assertEquals(Gfp.GFP_ATOMIC & Gfp.__GFP_WAIT, 0);
});

Deno.test("gfp: no two flags share a bit but the two names of may-sleep", () => {
  const single = Object.entries(Gfp).filter(([name]) =>
    name.startsWith("__") && name !== "__GFP_WAIT" && name !== "__GFP_RECLAIM"
  );
  assertEquals(new Set(single.map(([, bit]) => bit)).size, single.length);
  for (const [name, bit] of single) assertEquals(bit & (bit - 1), 0, name);
  assertEquals(single.reduce((sum, [, bit]) => sum + bit, 0), GFP_BITS_MASK);
});

Deno.test("gfpNames: masks first, then bits; unknown bits are refused", () => {
  assertEquals(
    gfpNames(Gfp.GFP_ATOMIC | Gfp.__GFP_COMP | Gfp.__GFP_NOWARN),
    "GFP_ATOMIC|__GFP_NOWARN|__GFP_COMP",
  );
  assertEquals(gfpNames(Gfp.GFP_KERNEL), "GFP_KERNEL");
  assertEquals(gfpNames(0), "0");
  for (const bad of [-1, 0.5, NaN, 0x02, 2 ** 40]) {
    assertThrows(() => gfpNames(bad), RangeError, `gfp ${bad}`);
  }
});
