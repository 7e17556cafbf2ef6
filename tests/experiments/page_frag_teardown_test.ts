import { assertEquals, assertThrows } from "@std/assert";
import {
  PAGE_FRAG_USERS,
  pageFragTeardown,
  type PageFragUser,
} from "../../lib/experiments/page_frag_teardown.ts";
import { kernel } from "../../lib/releases/mod.ts";

Deno.test("nothing is left behind, by hand or with page_frag_cache_drain", () => {
  for (const release of ["6.8", "6.12", "6.18"]) {
    for (const user of PAGE_FRAG_USERS) {
      const result = pageFragTeardown({ kernel: kernel(release), user });
      assertEquals([result.pagesLeft, result.referencesLeft], [0, 0]);
    }
  }
});

Deno.test("without a teardown each cache keeps its block and what it did not hand out", () => {
  const rows = PAGE_FRAG_USERS.map((user) => {
    const { caches, pagesLeft, referencesLeft, requests } = pageFragTeardown({
      kernel: kernel("6.8"),
      user,
      teardown: "none",
    });
    return [caches, pagesLeft, referencesLeft, requests];
  });
  const bias = 32769;
  assertEquals(rows, [
    // 1,000 frames, 15 a block: the last block gave 10.
    [1, 8, bias - 10, 1000],
    // 21 a block: 256 fill 12 blocks and 4, another 1,000 end at 59 blocks and 17.
    [2, 16, 2 * bias - 4 - 17, 1512],
    // 1 + 30 and 128 requests.
    [2, 16, 2 * bias - 31 - 128, 159],
    [1, 8, rows[3]![2], 1028],
  ]);
});

Deno.test("bad options are named", () => {
  assertThrows(
    () =>
      pageFragTeardown({ kernel: kernel("6.8"), user: "tun" as PageFragUser }),
    RangeError,
    'user "tun"',
  );
  assertThrows(
    () =>
      pageFragTeardown({
        kernel: kernel("6.8"),
        user: "gve",
        teardown: "page_frag_cache_drain",
      }),
    RangeError,
    "6.8 has no page_frag_cache_drain",
  );
});
