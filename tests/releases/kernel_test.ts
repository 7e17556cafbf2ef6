import {
  assert,
  assertEquals,
  assertNotEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  kernel,
  type Patch,
  patches,
  releases,
  skbMaxAlloc,
  skbMaxOrder,
  skbTruesize,
  skbWithOverhead,
} from "@truesize/lab";

Deno.test("an unknown release is a RangeError that lists the known ones", () => {
  const error = assertThrows(() => kernel("6.19"), RangeError, '"6.19"');
  for (const name of releases) assertStringIncludes(error.message, name);
  assertThrows(() => kernel(6.18 as unknown as string), TypeError, "name");
});

Deno.test("a build option out of range is a RangeError naming it", () => {
  assertThrows(
    () => kernel("6.18", { pageSize: 8192 }),
    RangeError,
    "build.pageSize",
  );
  assertThrows(
    () => kernel("6.18", { cacheLine: 48 }),
    RangeError,
    "build.cacheLine",
  );
  assertThrows(
    () => kernel("6.18", { maxSkbFrags: 16 }),
    RangeError,
    "build.maxSkbFrags",
  );
  assertThrows(
    () => kernel("6.18", { maxSkbFrags: 46 }),
    RangeError,
    "17 to 45",
  );
  assertThrows(() => kernel("6.18", { cpus: 0 }), RangeError, "build.cpus");
  assertThrows(() => kernel("6.18", { cpus: 1.5 }), RangeError, "build.cpus");
  assertThrows(
    () => kernel("6.18", { maxTcpHeader: NaN }),
    RangeError,
    "build.maxTcpHeader",
  );
  assertThrows(
    () => kernel("6.18", { cpus: "2" as unknown as number }),
    TypeError,
    "build.cpus",
  );
  assertThrows(
    () => kernel("6.18", { hz: 250 } as never),
    TypeError,
    "build.hz",
  );
});

Deno.test("an undefined build option counts as absent", () => {
  assertEquals(
    kernel("6.18", { maxTcpHeader: undefined, cpus: undefined }).build,
    kernel("6.18").build,
  );
});

Deno.test("default MAX_TCP_HEADER by release", () => {
  const defaults = releases.map((
    name,
  ) => [name, kernel(name).build.maxTcpHeader]);
  assertEquals(Object.fromEntries(defaults), {
    "3.12": 256,
    "net-next-2013-10": 256,
    "3.13": 256,
    "3.14": 256,
    "4.3": 256,
    "net-next-2015-10": 256,
    "4.6": 256,
    "5.12": 320,
    "6.1": 320,
    "6.8": 320,
    "6.12": 320,
    "6.18": 256,
  });
});

Deno.test("sizes follow from the build", () => {
  assertEquals(kernel("6.8").skb.smallHead, 640);
  // 192 + 320 would be a power of two, which the cache's size must not be.
  assertEquals(kernel("6.8", { maxTcpHeader: 192 }).skb.smallHead, 576);
  assertEquals(kernel("6.18", { maxSkbFrags: 45 }).skb.sharedInfo, 768);
  assertEquals(kernel("6.18", { cacheLine: 128 }).skb.sharedInfo, 384);
  assertEquals(kernel("6.18", { cacheLine: 128 }).skb.netSkbPad, 128);
  assertEquals(kernel("4.3", { pageSize: 65536 }).build.maxSkbFrags, 16);
  assertEquals(
    kernel("6.18", { pageSize: 65536 }).pageFragCache.maxSize,
    65536,
  );
  assertEquals(
    kernel("6.18", { pageSize: 16384 }).slub.kmallocClasses.at(-1),
    32768,
  );
});

Deno.test("a build that names MAX_HEADER gets the GRO head's room where the release has the rule", () => {
  // The measured 6.18: no wireless, no tunnels.
  const measured = kernel("6.18", { maxHeader: 32 });
  assertEquals([measured.build.maxTcpHeader, measured.skb.smallHead], [
    192,
    576,
  ]);
  const distribution = kernel("6.18", { maxHeader: 176 });
  assertEquals([distribution.build.maxTcpHeader, distribution.skb.smallHead], [
    320,
    704,
  ]);
  assertEquals(kernel("6.8", { maxHeader: 176 }).skb.smallHead, 640);
  assertEquals(kernel("3.12", { maxHeader: 176 }).build.maxTcpHeader, 304);
});

Deno.test("the specification's sums", () => {
  const k = kernel("3.12");
  assertEquals(skbMaxOrder(k, 0, 0), 3776);
  assertEquals(skbMaxOrder(k, 64, 0), 3712);
  assertEquals(skbMaxOrder(k, 304, 0), 3472);
  assertEquals(skbMaxAlloc(k), 16064);
  assertEquals(skbWithOverhead(k, 2048), 1728);
  assertEquals(skbWithOverhead(k, 1024), 704);
  assertEquals(skbWithOverhead(k, 2048 - 304), 1424);
  assertEquals(skbTruesize(k, 192), 768);
  assertEquals(skbTruesize(k, 1600), 2176);
  assertEquals([k.udp.rmemDefault, k.udp.minRcvbuf, k.udp.minSndbuf], [
    212992,
    2304,
    4608,
  ]);
});

Deno.test("every value has a file, a symbol, a release and an origin", () => {
  for (const name of releases) {
    const rows = kernel(name).provenance();
    assert(rows.length > 60, `${name}: ${rows.length} rows`);
    for (const row of rows) {
      assert(
        /^[a-z0-9_/.\-]+\.[ch]$/.test(row.file),
        `${row.name}: file ${row.file}`,
      );
      assert(
        row.symbol.length > 2 && row.origin.length > 3 &&
          row.value !== undefined,
        row.name,
      );
      assert(
        releases.includes(row.release),
        `${row.name}: release ${row.release}`,
      );
    }
  }
  const row = kernel("6.12").provenance().find(({ name }) =>
    name === "vhost.frag"
  );
  assertEquals([row?.value, row?.release, row?.file], [
    "page_frag_cache",
    "6.12",
    "drivers/vhost/net.c",
  ]);
});

Deno.test("a kernel is immutable and a patch makes a new one", () => {
  const base = kernel("6.18");
  const noCondense: Patch = (k) =>
    k.with("noCondense", {
      skb: {
        condense: {
          value: false,
          file: "net/core/skbuff.c",
          symbol: "skb_condense",
          origin: "a test",
        },
      },
    });
  const patched = base.am(noCondense);
  assertNotEquals(patched, base);
  assertEquals([base.skb.condense, patched.skb.condense], [true, false]);
  assertEquals([base.patches, patched.patches], [[], ["noCondense"]]);
  assertEquals(patched.name, "6.18");
  assertEquals(
    patched.provenance().find(({ name }) => name === "skb.condense")?.release,
    "noCondense",
  );
  assertThrows(() => Object.assign(base, { name: "x" }), TypeError);
  assertThrows(() => Object.assign(base.skb, { skBuff: 1 }), TypeError);
});

Deno.test("am() refuses what is no patch", () => {
  const base = kernel("6.18");
  assertEquals(base.am(), base);
  assertThrows(() => base.am("v1" as unknown as Patch), TypeError, "patch 1");
  assertThrows(
    () => base.am((k) => k, undefined as unknown as Patch),
    TypeError,
    "patch 2",
  );
  assertThrows(
    () => base.am((() => 5) as unknown as Patch),
    TypeError,
    "must return a kernel",
  );
});

Deno.test("the slab and NAPI facts change where the specification says", () => {
  const changes = (group: "slub" | "napi", name: string): string[] =>
    releases.flatMap((release) => {
      const row = kernel(release).provenance().find((row) =>
        row.name === `${group}.${name}` && row.release === release
      );
      return row === undefined ? [] : [`${release}: ${row.value}`];
    });
  assertEquals(changes("slub", "bulkAlloc"), [
    "3.12: single calls",
    "4.3: irq save",
    "4.6: irq off",
    "6.1: unlocked",
  ]);
  assertEquals(changes("slub", "bulkFree"), [
    "3.12: single calls",
    "4.3: each",
    "net-next-2015-10: detached",
    "4.6: detached",
    "6.1: detached, swap",
  ]);
  assertEquals(changes("slub", "slabBulk"), [
    "3.12: single calls",
    "net-next-2015-10: irq off, leaks",
    "4.6: irq off",
  ]);
  assertEquals(changes("slub", "partialsFrozen"), ["3.12: true", "6.8: false"]);
  assertEquals(changes("slub", "slab"), ["3.12: true", "6.8: false"]);
  assertEquals(changes("napi", "flush"), [
    "3.12: never",
    "4.6: not on early return",
    "5.12: never",
  ]);
  assertEquals(changes("napi", "bulkAlloc"), ["3.12: 0", "5.12: 16"]);
  assertEquals(changes("napi", "ixgbeFrees"), [
    "3.12: dev_kfree_skb_any",
    "3.14: dev_consume_skb_any",
    "4.6: napi_consume_skb",
  ]);
  assertEquals(changes("napi", "deferMax"), ["3.12: 0", "6.1: 64"]);
});

Deno.test("the patches are listed by name, each with where it was posted", () => {
  for (
    const name of [
      "skbPageFragRefillV1",
      "skbPageFragRefillV2",
      "skbPageFragRefillV3",
      "bulkFreeInfrastructure",
      "bulkFreeCompletionQueue",
      "ixgbeBulkFree",
      "bulkAllocReuse",
    ]
  ) assert(name in patches, name);
  for (const [name, patch] of Object.entries(patches)) {
    assertEquals(typeof patch, "function", name);
    assert(patch.subject!.length > 10 && /^\d{4}-\d\d/.test(patch.date!), name);
  }
});
