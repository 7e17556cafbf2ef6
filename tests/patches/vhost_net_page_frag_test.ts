import { assertEquals, assertThrows } from "@std/assert";
import { runVhostNetTest } from "../../lib/experiments/vhost_net_test.ts";
import type { Kernel } from "../../lib/kernel.ts";
import {
  pageFragAlignArgument,
  pageFragCacheDrain,
  pageFragGfpBits,
  pageFragZeroOffset,
  vhostNetPageFragSeries,
  vhostNetTest,
  vhostPageFrag,
} from "../../lib/patches/vhost_net_page_frag.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("6.8");
const blocks = (k: Kernel): number =>
  runVhostNetTest({ kernel: k, packets: 420, directions: "tx" })
    .order3Allocations;

Deno.test("subjects and date are those of version 4", () => {
  assertEquals(
    vhostNetPageFragSeries.map(({ name, subject }) => [name, subject]),
    [
      [
        "pageFragAlignArgument",
        "[PATCH net-next v4 1/5] mm/page_alloc: modify page_frag_alloc_align() to accept align as an argument",
      ],
      [
        "pageFragGfpBits",
        "[PATCH net-next v4 2/5] page_frag: unify gfp bits for order 3 page allocation",
      ],
      [
        "pageFragCacheDrain",
        "[PATCH net-next v4 3/5] net: introduce page_frag_cache_drain()",
      ],
      [
        "vhostPageFrag",
        "[PATCH net-next v4 4/5] vhost/net: remove vhost_net_page_frag_refill()",
      ],
      [
        "vhostNetTest",
        "[PATCH net-next v4 5/5] tools: virtio: introduce vhost_net_test",
      ],
    ],
  );
  for (const { date, thread } of vhostNetPageFragSeries) {
    assertEquals([date, thread], ["2024-01-30", "vhost-net-page-frag"]);
  }
});

Deno.test("each patch changes its facts and no other", () => {
  const { pageFragCache, vhost } = base;
  assertEquals(base.am(pageFragAlignArgument).pageFragCache, {
    ...pageFragCache,
    align: "align",
  });
  assertEquals(base.am(pageFragGfpBits).pageFragCache, {
    ...pageFragCache,
    masksDirectReclaim: true,
  });
  assertEquals(base.am(pageFragCacheDrain).pageFragCache, {
    ...pageFragCache,
    drain: true,
  });
  assertEquals(base.am(vhostNetTest).pageFragCache, pageFragCache);
  assertEquals(base.am(vhostNetTest).vhost, vhost);
});

Deno.test("all five make 6.12's allocators of 6.8, one more those of 6.18", () => {
  const patched = base.am(...vhostNetPageFragSeries);
  const after = kernel("6.12");
  assertEquals(patched.pageFragCache, after.pageFragCache);
  assertEquals(patched.vhost, after.vhost);
  for (const k of [patched, after]) {
    assertEquals(
      k.am(pageFragZeroOffset).pageFragCache,
      kernel("6.18").pageFragCache,
    );
  }
});

Deno.test("only patch 4 changes what the tool takes", () => {
  const three = base.am(
    pageFragAlignArgument,
    pageFragGfpBits,
    pageFragCacheDrain,
  );
  assertEquals([base, three].map(blocks), [10, 10]);
  assertEquals(blocks(three.am(vhostPageFrag)), 1);
  assertEquals(
    blocks(base.am(pageFragAlignArgument, pageFragCacheDrain, vhostPageFrag)),
    1,
  );
});

Deno.test("patch 4 says what it needs", () => {
  assertThrows(
    () => base.am(vhostPageFrag),
    Error,
    "patch vhostPageFrag does not apply to 6.8: it passes an alignment, not a mask: apply pageFragAlignArgument first",
  );
  assertThrows(
    () => base.am(pageFragAlignArgument, vhostPageFrag),
    Error,
    "it calls page_frag_cache_drain: apply pageFragCacheDrain first",
  );
});

Deno.test("twice, merged, too old", () => {
  const patched = base.am(...vhostNetPageFragSeries);
  for (const patch of vhostNetPageFragSeries) {
    assertThrows(() => patched.am(patch), Error, "it is applied already");
    for (const name of ["6.12", "6.18"]) {
      assertThrows(() => kernel(name).am(patch), Error, "already merged");
    }
    for (const name of ["3.12", "4.3"]) {
      assertThrows(() => kernel(name).am(patch), Error, "does not apply to");
    }
  }
  assertThrows(
    () => kernel("6.18").am(pageFragZeroOffset),
    Error,
    "already merged",
  );
  assertThrows(() => base.am(pageFragZeroOffset), Error, "pageFragCacheDrain");
  assertThrows(() => kernel("3.12").am(pageFragZeroOffset), Error, "older");
});
