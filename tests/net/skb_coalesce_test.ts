import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  allocSkb,
  buildSkb,
  Head,
  kernel,
  pskbPullTail,
  skbAddRxFrag,
  skbCondense,
  skbPull,
  skbPush,
  skbPut,
  skbReserve,
  skbTryCoalesce,
  type SkBuff,
} from "@truesize/lab";

const k = kernel("6.18");
const linear = (length: number, headroom = 16): SkBuff =>
  skbPut(skbReserve(allocSkb(k, length + headroom), headroom), length);

Deno.test("into the tailroom: nothing more is charged", () => {
  const to = linear(1000);
  const from = linear(200);
  const { truesize } = to;
  assert(skbTryCoalesce(k, to, from));
  assertEquals([to.len, to.dataLen, to.truesize], [1200, 0, truesize]);
});

Deno.test("one byte more than the tailroom: a kmalloc head cannot be taken over", () => {
  const to = linear(1000);
  assertFalse(skbTryCoalesce(k, to, linear(to.tailroom + 1)));
  assert(skbTryCoalesce(k, to, linear(to.tailroom)));
});

Deno.test("a page-fragment head becomes one more fragment", () => {
  const to = linear(1700);
  const from = skbPut(skbReserve(buildSkb(k, 1920, Head.PAGE_FRAG), 64), 1500);
  assert(skbTryCoalesce(k, to, from));
  assertEquals([to.len, to.dataLen, to.frags.length, to.truesize], [
    3200,
    1500,
    1,
    4352 - 2048 + 1920,
  ]);
});

Deno.test("page fragments move, their skb's head is freed", () => {
  const to = linear(1700);
  const from = allocSkb(k, 64);
  skbAddRxFrag(from, 3000, 3000);
  assert(skbTryCoalesce(k, to, from));
  assertEquals([to.len, to.truesize], [4700, 2304 + 3000]);
});

Deno.test("MAX_SKB_FRAGS fragments are too many once a head must become one", () => {
  const to = linear(1700);
  for (let i = 0; i < 17; i++) skbAddRxFrag(to, 100, 100);
  const headed = skbPut(buildSkb(k, 1920, Head.PAGE_FRAG), 100);
  assertFalse(skbTryCoalesce(k, to, headed));
  const paged = allocSkb(k, 64);
  skbAddRxFrag(paged, 100, 100);
  assertFalse(skbTryCoalesce(k, to, paged));
});

Deno.test("a clone and a frag_list are left alone", () => {
  const to = linear(1000);
  to.cloned = true;
  assertFalse(skbTryCoalesce(k, to, linear(10)));
  const listed = linear(1000);
  listed.fragList.push(linear(500));
  listed.dataLen += 500;
  listed.len += 500;
  assertFalse(skbTryCoalesce(k, listed, linear(10)));
});

Deno.test("condensing copies what fits and charges the head alone", () => {
  const small = skbPut(skbReserve(allocSkb(k, 256), 64), 42);
  skbAddRxFrag(small, 150, 150);
  skbCondense(k, small);
  assertEquals([small.truesize, small.dataLen, small.frags.length, small.len], [
    832,
    0,
    0,
    192,
  ]);
  const large = skbPut(skbReserve(allocSkb(k, 256), 64), 42);
  skbAddRxFrag(large, 151, 151);
  skbCondense(k, large);
  assertEquals([large.truesize, large.dataLen], [983, 151]);
});

Deno.test("condensing a frag_list that fits linearises it", () => {
  const skb = linear(100);
  const next = linear(20);
  skb.fragList.push(next);
  skb.len += 20;
  skb.dataLen += 20;
  skb.truesize += next.truesize;
  skbCondense(k, skb);
  assertEquals([skb.truesize, skb.fragList.length, skb.headlen], [832, 0, 120]);
});

Deno.test("pulling moves bytes and leaves the charge", () => {
  const skb = skbPut(skbReserve(allocSkb(k, 256), 64), 14);
  skbAddRxFrag(skb, 20, 1536);
  skbAddRxFrag(skb, 500, 1536);
  const { truesize } = skb;
  pskbPullTail(skb, 28);
  assertEquals([
    skb.headlen,
    skb.dataLen,
    skb.frags.map((frag) => frag.size),
    skb.truesize,
  ], [42, 492, [492], truesize]);
  skbPull(skb, 14);
  assertEquals([skb.data, skb.len], [78, 520]);
  skbPush(skb, 14);
  assertEquals([skb.data, skb.len], [64, 534]);
});
