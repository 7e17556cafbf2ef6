import { assertEquals } from "@std/assert";
import {
  kernel,
  type SkBuff,
  vhostBufferLength,
  vhostNetReceive,
} from "@truesize/lab";

Deno.test("what vhost_net asks for and what its skb is charged", () => {
  const k = kernel("6.8");
  const rows = [[60, 576, 832], [256, 768, 1024], [1514, 1984, 2240], [
    3636,
    4096,
    4352,
  ]];
  for (const [frame, buflen, truesize] of rows) {
    assertEquals(vhostBufferLength(k, frame!), buflen);
    assertEquals((vhostNetReceive(k, frame!) as SkBuff).truesize, truesize);
  }
  assertEquals(vhostBufferLength(k, 1514, true), 2240);
});

Deno.test("one byte over a page goes singly through the tap", () => {
  assertEquals(vhostBufferLength(kernel("6.8"), 3637), 4160);
  const skb = vhostNetReceive(kernel("6.8"), 3637) as SkBuff;
  assertEquals([skb.headFrag, skb.truesize], [false, 4352]);
});

Deno.test("before 4.20 every frame went through the tap", () => {
  assertEquals((vhostNetReceive(kernel("4.3"), 1514) as SkBuff).truesize, 2304);
});
