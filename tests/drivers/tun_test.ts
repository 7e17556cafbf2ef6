import { assertEquals } from "@std/assert";
import {
  kernel,
  type SkBuff,
  tunGetUser,
  type TunOptions,
} from "@truesize/lab";

const TUN: TunOptions = {
  tap: false,
  nonblocking: false,
  napiFrags: null,
  xdp: false,
};
const TAP: TunOptions = { ...TUN, tap: true };

const skb = (name: string, length: number, options: TunOptions): SkBuff =>
  tunGetUser(kernel(name), length, options) as SkBuff;

Deno.test("a tap written without blocking builds its skb around one fragment: buflen and truesize", () => {
  const rows = [[60, 448, 704], [256, 640, 896], [1514, 1920, 2176]];
  for (const [length, buflen, truesize] of rows) {
    const packet = skb("6.8", length!, { ...TAP, nonblocking: true });
    assertEquals([packet.headSize, packet.truesize], [buflen, truesize]);
  }
});

Deno.test("an XDP program costs its headroom", () => {
  assertEquals(
    skb("6.8", 1514, { ...TAP, nonblocking: true, xdp: true }).truesize,
    2432,
  );
});

Deno.test("the fragment is given up where headroom for XDP would not fit a page", () => {
  const fragment = skb("6.18", 3456, { ...TAP, nonblocking: true });
  assertEquals([fragment.headFrag, fragment.truesize], [true, 4096]);
  const plain = skb("6.18", 3457, { ...TAP, nonblocking: true });
  assertEquals([plain.headFrag, plain.truesize], [false, 4352]);
});

Deno.test("before 4.14 a tap knew no such fragment", () => {
  assertEquals(skb("4.3", 1514, { ...TAP, nonblocking: true }).headFrag, false);
});

Deno.test("a large write: all linear up to 6.5, then one page's head and whole pages", () => {
  const old = skb("6.1", 20000, TUN);
  assertEquals([old.truesize, old.frags.length], [32768 + 256, 0]);
  const today = skb("6.18", 20000, TUN);
  assertEquals([today.headlen, today.frags.map((frag) => frag.room)], [3712, [
    16384,
  ]]);
  assertEquals(today.truesize, 4352 + 16384);
});

Deno.test("what seventeen fragments of order 3 cannot hold stays linear", () => {
  const k = kernel("6.18");
  const length = 17 * 32768 + 10000;
  const packet = tunGetUser(k, length, TUN) as SkBuff;
  assertEquals([packet.headlen, packet.frags.length], [10000, 17]);
});

Deno.test("IFF_NAPI_FRAGS: the first element is linear, each further one a fragment", () => {
  const packet = skb("6.18", 1042, { ...TAP, napiFrags: [42, 400, 600] });
  assertEquals([
    packet.headlen,
    packet.frags.map((frag) => frag.size),
    packet.truesize,
  ], [42, [400, 600], 832 + 1000]);
});

Deno.test("IFF_NAPI_FRAGS: a first element larger than GRO's head makes the head grow", () => {
  assertEquals(skb("6.18", 192, { ...TAP, napiFrags: [192] }).truesize, 832);
  assertEquals(skb("6.18", 193, { ...TAP, napiFrags: [193] }).truesize, 1280);
});

Deno.test("IFF_NAPI_FRAGS: what the write fails with", () => {
  const refused = (iovec: number[]): unknown =>
    tunGetUser(kernel("6.18"), iovec.reduce((sum, length) => sum + length, 0), {
      ...TAP,
      napiFrags: iovec,
    });
  assertEquals(refused([42, 4097]), "EINVAL");
  assertEquals(refused([42, 0, 100]), "EINVAL");
  assertEquals(refused([42, ...Array(18).fill(100)]), "EMSGSIZE");
  assertEquals(refused([65472]), "EMSGSIZE");
  assertEquals(typeof refused([42, ...Array(17).fill(100)]), "object");
});

Deno.test("on 3.12 a large write is linear whatever its size", () => {
  assertEquals(skb("3.12", 5000, TAP).truesize, 8448);
});

Deno.test("in fragmented memory 6.8 gives up at sixteen pages, 6.12 takes seventeen", () => {
  const pages = (name: string, count: number): unknown => {
    const length = 3712 + count * 4096;
    const packet = tunGetUser(kernel(name), length, {
      ...TUN,
      maxPageOrder: 0,
    });
    return typeof packet === "string" ? packet : packet.frags.length;
  };
  assertEquals([pages("6.8", 16), pages("6.8", 17)], [16, "ENOBUFS"]);
  assertEquals([pages("6.12", 17), pages("6.12", 18)], [17, "ENOBUFS"]);
});
