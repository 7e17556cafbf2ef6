/** When ACKs leave, as short dialogues: segments in, ACKs out. */

import { assertEquals } from "@std/assert";
import { kernel } from "../../lib/releases/mod.ts";
import { MS, MSS, Receiver } from "./sockets.ts";

/** An established 3.13 receiver past its quick ACKs, whose window no longer opens. */
function settled(name = "net-next-2013-10"): Receiver {
  const receiver = new Receiver({ kernel: kernel(name) });
  const { sk } = receiver;
  sk.rcvbuf = 6291456;
  sk.rcvSsthresh = 1000000;
  sk.windowClamp = 1000000;
  sk.rcvWnd = 1000064;
  sk.rcvMss = MSS;
  sk.ato = 40 * MS;
  sk.quick = 0;
  return receiver;
}

Deno.test("quick ACKs: the first ten segments of 1,448 are acknowledged one by one, then every second", () => {
  const receiver = new Receiver({ kernel: kernel("net-next-2013-10") });
  const { sk } = receiver;
  // The window is open as far as it goes: only rcv_wnd / (2 * rcv_mss) = 28,960 / 2,896 counts.
  sk.windowClamp = sk.rcvSsthresh;
  const acks: number[] = [];
  for (let i = 0; i < 20; i++) {
    acks.push(receiver.data(i * 1000, i * MSS, MSS));
    receiver.tcp.read(i * 1000, Infinity);
  }
  assertEquals(acks.slice(0, 10), new Array(10).fill(1));
  assertEquals(receiver.acks.length, 15);
});

Deno.test("quick ACKs: while the window opens each segment is acknowledged", () => {
  const receiver = settled();
  receiver.sk.rcvSsthresh = 500000;
  receiver.sk.rcvWnd = 500000;
  for (let i = 0; i < 8; i++) {
    assertEquals(receiver.data(i * 1000, i * MSS, MSS), 1);
    receiver.tcp.read(i * 1000, Infinity);
  }
});

Deno.test("every second full segment is acknowledged at once, a single one after ato", () => {
  const receiver = settled();
  assertEquals(receiver.data(0, 0, MSS), 0);
  assertEquals(receiver.tcp.delackAt, 40 * MS);
  receiver.tcp.read(0, Infinity);
  assertEquals(receiver.data(MS, MSS, MSS), 1);
  assertEquals([receiver.acks[0]!.ack, receiver.tcp.delackAt], [
    2 * MSS,
    Infinity,
  ]);
  receiver.tcp.read(MS, Infinity);
  receiver.data(2 * MS, 2 * MSS, MSS);
  receiver.tcp.read(2 * MS, Infinity);
  receiver.tcp.delack(receiver.tcp.delackAt);
  assertEquals(receiver.acks[1]!.ack, 3 * MSS);
  assertEquals(receiver.sk.counters.DelayedACKs, 1);
});

Deno.test("an skb of several segments is acknowledged by itself", () => {
  const receiver = settled();
  const shape = { truesize: 6400, gsoSize: MSS };
  assertEquals(receiver.data(0, 0, 4 * MSS, shape), 1);
});

Deno.test("two segments that wait unread hold the ACK back if the window would shrink", () => {
  const receiver = settled();
  const { sk } = receiver;
  // The buffer is so full that less than rcv_wnd can be offered.
  sk.rmemAlloc = sk.rcvbuf - 200000;
  assertEquals(receiver.data(0, 0, MSS), 0);
  assertEquals(receiver.data(1, MSS, MSS), 0);
  // The reader finds more than one segment unacknowledged.
  receiver.tcp.read(2, Infinity);
  assertEquals(receiver.acks.length, 1);
});

Deno.test("window update: only where the offer is at least twice what is left, and half of the clamp is gone", () => {
  const offer = (left: number, space: number): number => {
    const receiver = settled();
    const { sk } = receiver;
    sk.windowClamp = 183180;
    sk.rcvSsthresh = 183180;
    sk.rcvWnd = left;
    // Nothing to acknowledge; one segment that waits, and so much space once it is read.
    sk.rmemAlloc = sk.rcvbuf - 2 * space;
    receiver.data(0, 0, MSS);
    sk.rcvWup = MSS;
    sk.rcvWnd = left;
    sk.ackScheduled = false;
    sk.quick = 0;
    receiver.acks.length = 0;
    receiver.tcp.read(1, Infinity);
    return receiver.acks.length;
  };
  // Twice 92,000 is more than the clamp of 183,180: not even looked at.
  assertEquals(offer(92000, 183180), 0);
  // 181,760 is a multiple of 128 below 2 * 91,000.
  assertEquals(offer(91000, 181760), 0);
  assertEquals(offer(91000, 182000), 1);
});

Deno.test("a small segment with PSH is acknowledged when it is read and nothing is left", () => {
  const receiver = settled();
  receiver.data(0, 0, 40, { push: true, truesize: 768 });
  assertEquals(receiver.acks.length, 0);
  receiver.tcp.read(1, Infinity);
  assertEquals(receiver.acks.map((it) => it.ack), [40]);
});

Deno.test("out of order: each segment is acknowledged at once, with its range as SACK, the newest first", () => {
  const receiver = settled();
  assertEquals(receiver.data(0, 2 * MSS, MSS), 1);
  assertEquals(receiver.data(1, 5 * MSS, MSS), 1);
  assertEquals(receiver.data(2, 3 * MSS, MSS), 1);
  assertEquals(receiver.acks.at(-1), {
    at: 2,
    ack: 0,
    window: receiver.acks.at(-1)!.window,
    sacks: [[2 * MSS, 4 * MSS], [5 * MSS, 6 * MSS]],
  });
  // The hole fills, and all up to the next one is acknowledged.
  assertEquals(receiver.data(3, 0, MSS), 1);
  assertEquals(receiver.data(4, MSS, MSS), 1);
  assertEquals([receiver.acks.at(-1)!.ack, receiver.acks.at(-1)!.sacks], [
    4 * MSS,
    [[5 * MSS, 6 * MSS]],
  ]);
});

Deno.test("an old segment is answered at once with what is expected", () => {
  const receiver = settled();
  receiver.data(0, 0, MSS);
  receiver.tcp.read(0, Infinity);
  receiver.data(1, MSS, MSS);
  receiver.tcp.read(1, Infinity);
  assertEquals(receiver.data(2, 0, MSS), 1);
  assertEquals(receiver.acks.at(-1)!.ack, 2 * MSS);
});
