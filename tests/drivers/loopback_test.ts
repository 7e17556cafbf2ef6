import { assertEquals } from "@std/assert";
import { kernel, tcpSenderSkb } from "@truesize/lab";

Deno.test("a TCP write arrives in the sender's skb: a small head, payload in page fragments", () => {
  const skb = tcpSenderSkb(kernel("6.18"), 1448);
  assertEquals([skb.truesize, skb.headlen, skb.frags.length], [
    832 + 1448,
    0,
    1,
  ]);
  assertEquals(
    tcpSenderSkb(kernel("6.18"), 40000).frags.map((frag) => frag.size),
    [32768, 7232],
  );
});

Deno.test("up to 4.x the head held the first bytes", () => {
  const skb = tcpSenderSkb(kernel("3.12", { maxTcpHeader: 304 }), 1448);
  assertEquals([skb.headlen, skb.dataLen, skb.truesize], [1424, 24, 2304 + 24]);
});
