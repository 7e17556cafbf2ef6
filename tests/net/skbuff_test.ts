import { assertEquals } from "@std/assert";
import {
  allocSkb,
  buildSkb,
  Frag,
  Head,
  headAllocator,
  kernel,
  napiAllocSkb,
  napiGetFrags,
  netdevAllocSkb,
  skbAddPages,
  skbAddRxFrag,
  skbPut,
  skbReserve,
} from "@truesize/lab";

Deno.test("head table: data length, headroom 64, by page fragment and by kmalloc", () => {
  const k = kernel("3.12");
  const rows = [[128, 768, 768], [256, 896, 1280], [512, 1152, 1280], [
    1024,
    1664,
    2304,
  ], [1514, 2176, 2304]];
  for (const [length, frag, kmalloc] of rows) {
    assertEquals(netdevAllocSkb(k, length!).truesize, frag);
    assertEquals(netdevAllocSkb(k, length!, true).truesize, kmalloc);
  }
  assertEquals(
    [4096, 9000].map((length) => netdevAllocSkb(k, length).truesize),
    [8448, 16640],
  );
});

Deno.test("the smallest heads moved from fragments to kmalloc and to a cache of their own", () => {
  const small = (name: string): [number, string] => {
    const skb = netdevAllocSkb(kernel(name), 128);
    return [skb.truesize, headAllocator(kernel(name), skb)];
  };
  assertEquals(small("4.3"), [768, "page_frag_cache"]);
  assertEquals(small("6.1"), [768, "kmalloc-512"]);
  assertEquals(small("6.8"), [896, "skbuff_small_head"]);
  assertEquals(small("6.18"), [832, "skbuff_small_head"]);
});

Deno.test("napi_alloc_skb cuts 1 KiB fragments from 6.1 to 6.12, only on 4 KiB pages", () => {
  const head = (name: string, pageSize: number): string => {
    const k = kernel(name, { pageSize });
    const skb = napiAllocSkb(k, 128);
    return `${headAllocator(k, skb)} ${skb.truesize}`;
  };
  assertEquals(head("4.3", 4096), "page_frag_cache 768");
  assertEquals(head("6.1", 4096), "page_frag_1k 1280");
  assertEquals(head("6.12", 4096), "page_frag_1k 1280");
  assertEquals(head("6.12", 65536), "skbuff_small_head 896");
  assertEquals(head("6.18", 4096), "skbuff_small_head 832");
  assertEquals(napiAllocSkb(kernel("6.8"), 640).headKind, Head.SMALL_FRAG);
  assertEquals(napiAllocSkb(kernel("6.8"), 641).headKind, Head.PAGE_FRAG);
  assertEquals(napiAllocSkb(kernel("6.8"), 128).tailroom, 640);
});

Deno.test("GRO's head", () => {
  assertEquals(napiGetFrags(kernel("6.18")).truesize, 832);
  assertEquals(napiGetFrags(kernel("6.8")).truesize, 1280);
});

Deno.test("what a size class adds becomes tailroom", () => {
  const skb = skbPut(skbReserve(allocSkb(kernel("6.1"), 1531), 16), 1500);
  assertEquals([skb.end, skb.tailroom, skb.headlen, skb.truesize], [
    1728,
    212,
    1500,
    2304,
  ]);
});

Deno.test("build_skb charges the buffer it is given", () => {
  const skb = buildSkb(kernel("6.1"), 1920, Head.RX_BUFFER);
  assertEquals([skb.truesize, skb.end, skb.headFrag], [2176, 1600, true]);
});

Deno.test("pages behind a head: the largest order that the rest fills", () => {
  const pages = (
    name: string,
    bytes: number,
    order: number,
  ): [number, number[]] => {
    const skb = allocSkb(kernel(name), 64);
    const before = skb.truesize;
    skbAddPages(kernel(name), skb, bytes, order);
    return [skb.truesize - before, skb.frags.map((frag) => frag.room)];
  };
  assertEquals(pages("6.18", 1, 3), [4096, [4096]]);
  assertEquals(pages("6.18", 4097, 3), [8192, [8192]]);
  assertEquals(pages("6.18", 40000, 3), [40960, [32768, 8192]]);
  assertEquals(pages("4.3", 5000, 0), [8192, [4096, 4096]]);
  // 3.12 charged the bytes, not the pages.
  assertEquals(pages("3.12", 5000, 0), [5000, [4096, 4096]]);
});

Deno.test("a fragment has no tailroom behind it", () => {
  const skb = skbPut(allocSkb(kernel("6.18"), 100), 100);
  skbAddRxFrag(skb, 1000, 1536, Frag.RX_BUFFER);
  assertEquals(
    [skb.len, skb.dataLen, skb.headlen, skb.tailroom, skb.truesize],
    [1100, 1000, 100, 0, 832 + 1536],
  );
});

Deno.test("sizes follow MAX_SKB_FRAGS and the page size", () => {
  const many = kernel("6.18", { maxSkbFrags: 45 });
  // Shared info of 768: the small head is 256 + 768, a power of two, and so a cache line more.
  assertEquals(many.skb.smallHead, 1088);
  assertEquals(allocSkb(many, 256).truesize, 1344);
  assertEquals(
    netdevAllocSkb(kernel("6.1", { pageSize: 65536 }), 9000).truesize,
    9088 + 320 + 256,
  );
});

Deno.test("vhost_net_test's receive phase: 16 + 256 bytes by release", () => {
  assertEquals(
    ["4.3", "6.1", "6.8"].map((name) => allocSkb(kernel(name), 272).truesize),
    [1280, 1280, 896],
  );
  // A build with a small MAX_TCP_HEADER finds no small head for them.
  assertEquals(
    allocSkb(kernel("6.8", { maxTcpHeader: 256 }), 272).truesize,
    1280,
  );
});

Deno.test("an skb without data: 320 bytes of shared info in kmalloc-512, later in a small head", () => {
  assertEquals(allocSkb(kernel("4.3"), 0).truesize, 768);
  assertEquals(allocSkb(kernel("6.8"), 0).truesize, 896);
});
