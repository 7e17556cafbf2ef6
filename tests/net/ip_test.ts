import { assertEquals } from "@std/assert";
import {
  ipAppendData,
  ipFragReasm,
  kernel,
  loopbackDevice,
  vethDevice,
} from "@truesize/lab";

const k = kernel("6.18");
const charges = (
  version: 4 | 6,
  payload: number,
  mtu = 1500,
  name = "6.18",
): number[] =>
  ipAppendData(kernel(name), version, payload, vethDevice(mtu))!.map((skb) =>
    skb.truesize
  );

Deno.test("one skb a fragment, each with room for its link header", () => {
  const skbs = ipAppendData(k, 4, 3000, vethDevice())!;
  assertEquals(skbs.map((skb) => skb.len), [1500, 1500, 68]);
  assertEquals(skbs.map((skb) => skb.truesize), [2304, 2304, 832]);
  assertEquals(skbs.map((skb) => skb.data), [16, 16, 16]);
});

Deno.test("an IPv4 class changes with 59 bytes over the payload, an IPv6 one with 72", () => {
  assertEquals([charges(4, 197), charges(4, 198)], [[832], [1280]]);
  assertEquals([charges(6, 184), charges(6, 185)], [[832], [1280]]);
});

Deno.test("IPv6 fragments leave room for their header and hold multiples of eight", () => {
  const skbs = ipAppendData(k, 6, 3000, vethDevice())!;
  assertEquals(skbs.map((skb) => skb.len - 40), [1448, 1448, 112]);
});

Deno.test("an MTU that is no multiple of eight shortens all fragments but the last", () => {
  const skbs = ipAppendData(k, 4, 2000, vethDevice(1499))!;
  assertEquals(skbs.map((skb) => skb.len - 20), [1472, 536]);
  // The last one may use every byte.
  assertEquals(
    ipAppendData(k, 4, 1472 + 1479 - 8, vethDevice(1499))!.map((skb) =>
      skb.len - 20
    ),
    [1472, 1479],
  );
});

Deno.test("at SKB_MAX_ALLOC the payload moves to page fragments, unless the device has no scatter-gather", () => {
  const [linear, paged, noSg] = [[16004, true], [16005, true], [16005, false]]
    .map(([payload, sg]) =>
      ipAppendData(
        k,
        4,
        payload as number,
        loopbackDevice(65536, sg as boolean),
      )![0]!
    );
  assertEquals([linear!.truesize, linear!.frags.length], [16640, 0]);
  assertEquals([paged!.truesize, paged!.frags.length, paged!.headlen], [
    832 + 16005,
    1,
    28,
  ]);
  assertEquals([noSg!.truesize, noSg!.frags.length], [16640, 0]);
  assertEquals(
    ipAppendData(k, 4, 65507, loopbackDevice(65536, false))![0]!.truesize,
    131072 + 256,
  );
});

Deno.test("before 6.1 a large datagram was linear, and UFO kept it whole", () => {
  const old = kernel("4.3");
  assertEquals(
    ipAppendData(old, 4, 20000, loopbackDevice())![0]!.truesize,
    32768 + 256,
  );
  const [ufo] = ipAppendData(old, 4, 20000, vethDevice())!;
  assertEquals([ufo!.truesize, ufo!.frags.map((frag) => frag.size)], [
    768 + 20000,
    [20000],
  ]);
});

Deno.test("what the length fields cannot say is refused", () => {
  assertEquals(ipAppendData(k, 4, 65508, vethDevice()), null);
  assertEquals(ipAppendData(k, 6, 65528, vethDevice()), null);
  assertEquals(ipAppendData(k, 6, 65527, loopbackDevice())!.length, 2);
});

Deno.test("reassembly: into the tailroom for nothing, else on the frag_list for the whole charge", () => {
  const joined = (payload: number): [number, number] => {
    const skb = ipFragReasm(k, 4, ipAppendData(k, 4, payload, vethDevice())!);
    return [skb.truesize, skb.fragList.length];
  };
  assertEquals(joined(1472 + 212), [2304, 0]);
  assertEquals(joined(1472 + 213), [2304 + 1280, 1]);
  // Once something hangs on the list there is no tailroom any more.
  assertEquals(joined(1480 * 2 - 8 + 10), [2304 + 2304 + 832, 2]);
});

Deno.test("reassembly of IPv6 merges from 5.1 on", () => {
  const joined = (name: string): number => {
    // The datagram is shorter than the MTU, so UFO leaves it to fragment.
    const skbs = ipAppendData(kernel(name), 6, 1490, vethDevice())!;
    return ipFragReasm(kernel(name), 6, skbs).fragList.length;
  };
  assertEquals([joined("4.3"), joined("6.1")], [1, 0]);
});

Deno.test("fragments in pages of their own give up their heads", () => {
  const skbs = ipAppendData(k, 4, 60000, vethDevice(20000))!;
  assertEquals(skbs.map((skb) => skb.frags.length), [1, 1, 1, 0]);
  const whole = ipFragReasm(k, 4, skbs);
  // The last 80 bytes are linear in a kmalloc head and hang on the list.
  assertEquals([whole.truesize, whole.fragList.length, whole.frags.length], [
    832 + 59920 + 832,
    1,
    3,
  ]);
});
