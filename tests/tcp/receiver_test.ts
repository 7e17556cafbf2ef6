/** What a receiver takes and drops, release by release; the facts that packetdrill's scripts assert on 6.18. */

import { assertEquals } from "@std/assert";
import { kernel } from "../../lib/releases/mod.ts";
import { rxPathOf } from "../../lib/experiments/netperf.ts";
import { streamSetup } from "../../lib/experiments/netperf_setup.ts";
import { TcpMemory } from "../../lib/tcp/memory.ts";
import { soRcvbuf } from "../../lib/net/sock.ts";
import { MS, MSS, Receiver } from "./sockets.ts";

/** A socket of 6.18 with SO_RCVBUF, no scaling, no timestamps, as the scripts set it up. */
function scripted(set: number): Receiver {
  const k = kernel("6.18");
  return new Receiver({
    kernel: k,
    lockedRcvbuf: soRcvbuf(k, set),
    rmem: [4096, 540000, 15728640],
    timestamps: false,
    peerMss: 1000,
  });
}

/** A frame of 1,000-byte segments as the scripts' tun device hands it over. */
const tun = rxPathOf(streamSetup({
  kernel: kernel("6.18"),
  path: "tun",
  rttMs: 1,
  seconds: 1,
  sysctl: { tcp_timestamps: false },
}))!;
function frame(len: number) {
  tun.receive(len);
  return { ...tun.skb, gsoSize: len > 1000 ? 1000 : 0, push: true };
}

Deno.test("packetdrill tcp_rcv_big_endseq: SO_RCVBUF 10,000 doubles, 4,000 unread leave 5,000, beyond the window is dropped while data waits", () => {
  const receiver = scripted(10000);
  const { sk } = receiver;
  assertEquals(sk.rcvbuf, 20000);
  const window = () => receiver.acks.at(-1)!.window;
  receiver.data(0, 0, 4000, frame(4000));
  receiver.tcp.ackNow(0);
  assertEquals([sk.rcvMss, window()], [1000, 5000]);
  // In sequence; out of order; and all of it behind the window.
  for (
    const [seq, len] of [[4000, 50000], [5000, 50000], [70000, 10000]] as const
  ) {
    assertEquals(receiver.data(1, seq, len, frame(len)), 1);
    assertEquals([receiver.acks.at(-1)!.ack, window()], [4000, 5000]);
  }
  assertEquals(sk.counters.BeyondWindow, 3);
  receiver.tcp.read(10, Infinity);
  receiver.data(11, 4000, 50000, frame(50000));
  receiver.tcp.ackNow(12);
  assertEquals([receiver.acks.at(-1)!.ack, window()], [54000, 0]);
  assertEquals(sk.counters.BeyondWindow, 3);
});

Deno.test("packetdrill tcp_rcv_toobig: 18,980 in the SYN-ACK, 18,000 with 20,000 unread, too much is refused until they are read", () => {
  const receiver = scripted(20000);
  const { sk } = receiver;
  assertEquals([sk.rcvbuf, sk.firstWindow, sk.wscale], [40000, 18980, 0]);
  const last = () => [receiver.acks.at(-1)!.ack, receiver.acks.at(-1)!.window];
  receiver.data(0, 0, 20000, frame(20000));
  receiver.tcp.ackNow(1);
  assertEquals(last(), [20000, 18000]);
  sk.rcvbuf = soRcvbuf(sk.kernel, 12000);
  receiver.data(2, 20000, 60000, frame(60000));
  assertEquals(last(), [20000, 18000]);
  receiver.tcp.read(3, Infinity);
  receiver.data(4, 20000, 60000, frame(60000));
  receiver.tcp.ackNow(5);
  assertEquals(last(), [80000, 0]);
});

Deno.test("packetdrill tcp_rcv_zero_wnd_fin: 60,000 bytes into an empty queue of 40,000, then the window is 0", () => {
  const receiver = scripted(20000);
  receiver.data(0, 0, 60000, frame(60000));
  receiver.tcp.ackNow(1);
  assertEquals(
    [receiver.acks.at(-1)!.ack, receiver.acks.at(-1)!.window],
    [60000, 0],
  );
});

Deno.test("packetdrill tcp_ooo_rcv_mss: out of order, segments of 1,000 are learnt; the field is 81 for 9,000 held and for 19,000", () => {
  const receiver = new Receiver({
    kernel: kernel("6.18"),
    rmem: [4096, 131072, 33554432],
    timestamps: false,
    peerMss: 1000,
  });
  const { sk } = receiver;
  assertEquals(sk.wscale, 10);
  receiver.data(0, 2000, 9000, { ...frame(9000), push: false });
  assertEquals([receiver.acks[0]!.window / 1024, sk.rcvMss], [81, 1000]);
  assertEquals(receiver.acks[0]!.sacks, [[2000, 11000]]);
  receiver.data(1, 11000, 10000, { ...frame(10000), push: false });
  assertEquals(receiver.acks[1]!.window / 1024, 81);
  assertEquals(receiver.acks[1]!.sacks, [[2000, 21000]]);
});

Deno.test("packetdrill tcp_ooo-before-and-after-accept: 99,000 bytes out of order raise an accepted socket's buffer", () => {
  const receiver = new Receiver({
    kernel: kernel("6.18"),
    rmem: [4096, 131072, 33554432],
    timestamps: false,
    peerMss: 1000,
  });
  assertEquals(receiver.sk.rcvbuf, 131072);
  receiver.data(0, 2000, 49000, { ...frame(49000), push: false });
  receiver.data(1, 51000, 50000, { ...frame(50000), push: false });
  assertEquals(receiver.sk.rcvbuf > 131072, true);
});

Deno.test("packetdrill tcp_rcv_wnd_shrink_nomem: over a buffer that was cut, data is dropped, counted, and the window is 0", () => {
  const receiver = new Receiver({
    kernel: kernel("6.18"),
    lockedRcvbuf: 2000000,
    rmemMax: 1000000,
    timestamps: false,
  });
  const { sk } = receiver;
  assertEquals([sk.firstWindow > 65535, sk.wscale], [true, 4]);
  for (let i = 0; i < 16; i++) {
    receiver.data(i, i * 65000, 65000, {
      truesize: 66560,
      linear: 0,
      frags: 17,
    });
  }
  assertEquals(sk.rcvNxt, 1040000);
  sk.rcvbuf = 32000;
  receiver.data(20, 1040000, 65000, { truesize: 66560, linear: 0, frags: 17 });
  assertEquals([sk.rcvNxt, sk.counters.TCPRcvQDrop], [1040000, 1]);
  assertEquals(receiver.acks.at(-1)!.window, 0);
});

Deno.test("packetdrill zerocopy/maxfrags: 17 fragments an skb", () => {
  assertEquals(kernel("6.18").build.maxSkbFrags, 17);
});

Deno.test("an skb too large for what is left is dropped in silence up to 3.14, counted later, taken by an empty queue from 4.4 on", () => {
  for (
    const [name, taken, counted] of [
      ["3.12", false, 0],
      ["6.1", false, 1],
      ["6.8", false, 1],
    ] as const
  ) {
    const receiver = new Receiver({
      kernel: kernel(name),
      lockedRcvbuf: 4608,
    });
    const { sk } = receiver;
    sk.rcvWnd = 100000;
    // Three skbs that hold as much as they cost: nothing to collapse.
    receiver.data(0, 0, MSS, { truesize: 2304 });
    receiver.data(1, MSS, MSS, { truesize: 2304 });
    receiver.data(2, 2 * MSS, MSS, { truesize: 2304 });
    assertEquals(sk.rmemAlloc > sk.rcvbuf, true);
    sk.rmemAlloc += 100000;
    receiver.data(3, 3 * MSS, MSS, { truesize: 2304 });
    sk.rmemAlloc -= 100000;
    assertEquals(sk.rcvNxt === 4 * MSS, taken, name);
    assertEquals(sk.counters.RcvPruned, 1, name);
    assertEquals(sk.counters.TCPRcvQDrop >= counted, true, name);
  }
});

Deno.test("the queue may exceed rcvbuf by one skb: the test comes before the charge", () => {
  const receiver = new Receiver({ kernel: kernel("6.1"), lockedRcvbuf: 10000 });
  const { sk } = receiver;
  sk.rcvWnd = 100000;
  for (let i = 0; i < 5; i++) receiver.data(i, i * MSS, MSS);
  // 2,304 * 5 = 11,520; at 9,216 the fifth was still let in.
  assertEquals([sk.rmemAlloc, sk.counters.PruneCalled], [11520, 0]);
  receiver.data(5, 5 * MSS, MSS);
  assertEquals(sk.counters.PruneCalled, 1);
});

Deno.test("collapse: SO_RCVBUF small and tiny segments are repacked; autotuned, 6.1 raises the buffer and copies nothing", () => {
  const fill = (name: string, lockedRcvbuf: number): Receiver => {
    const receiver = new Receiver({ kernel: kernel(name), lockedRcvbuf });
    const { sk } = receiver;
    if (lockedRcvbuf === 0) sk.rcvbuf = 20000;
    sk.rcvWnd = 100000;
    for (let i = 0; i < 60; i++) {
      receiver.data(i, i * 10, 10, { truesize: 768 });
    }
    return receiver;
  };
  for (const name of ["net-next-2013-10", "6.1"]) {
    const { sk } = fill(name, 20000);
    assertEquals(sk.rcvNxt, 600, name);
    assertEquals(sk.counters.TCPRcvCollapsed > 20, true, name);
    assertEquals(sk.rmemAlloc <= sk.rcvbuf, true, name);
  }
  const raised = fill("6.1", 0).sk;
  assertEquals([raised.counters.TCPRcvCollapsed, raised.rcvNxt], [0, 600]);
  assertEquals(raised.counters.PruneCalled > 0, true);
  // The rule of 2013 raises it and collapses all the same: the collapse storm.
  const stormy = fill("net-next-2013-10", 0).sk;
  assertEquals(stormy.counters.TCPRcvCollapsed > 0, true);
});

Deno.test("collapse: a page's worth of payload in each copy, 4,352 bytes for 3,776", () => {
  const receiver = new Receiver({ kernel: kernel("6.1"), lockedRcvbuf: 20000 });
  const { sk } = receiver;
  sk.rcvWnd = 1000000;
  for (let i = 0; i < 8; i++) {
    receiver.data(i, i * 1000, 1000, { truesize: 4864 });
  }
  assertEquals(sk.counters.PruneCalled > 0, true);
  const { pool, receiveQueue } = sk;
  const first = receiveQueue.head;
  assertEquals([
    pool.end[first]! - pool.seq[first]!,
    pool.truesize[first],
  ], [3776, 4352]);
  assertEquals(sk.rcvNxt, 8000);
});

Deno.test("coalescing: nine segments of a whole page each share an skb of 41,728, nine thin ones 18,688; the tenth does not fit", () => {
  for (
    const [truesize, after] of [[4864, 41728], [2304, 18688]] as const
  ) {
    const receiver = new Receiver({ kernel: kernel("net-next-2013-10") });
    const { sk } = receiver;
    sk.rcvbuf = 6291456;
    sk.rcvWnd = 1000000;
    const shape = {
      truesize,
      linear: 62,
      frags: 1,
      headFrag: true,
      moved: truesize - 256,
    };
    for (let i = 0; i < 9; i++) receiver.data(i, i * MSS, MSS, shape);
    assertEquals([sk.receiveQueue.length, sk.rmemAlloc], [1, after]);
    assertEquals(sk.pool.frags[sk.receiveQueue.head], 17);
    assertEquals(sk.counters.TCPRcvCoalesce, 8);
    receiver.data(10, 9 * MSS, MSS, shape);
    assertEquals(sk.receiveQueue.length, 2);
  }
});

Deno.test("a closed window: data is dropped, counted from 4.20 on, and acknowledged at once", () => {
  for (const [name, counted] of [["4.3", 0], ["6.1", 1]] as const) {
    const receiver = new Receiver({ kernel: kernel(name) });
    const { sk } = receiver;
    sk.rcvWnd = 0;
    assertEquals(receiver.data(0, 0, MSS), 1, name);
    assertEquals([sk.rcvNxt, sk.counters.TCPZeroWindowDrop], [0, counted]);
  }
});

Deno.test("out of order: 3.12 throws all of it away, 6.1 an eighth of the buffer, 6.8 nothing below what arrives", () => {
  const fill = (name: string): Receiver => {
    const receiver = new Receiver({
      kernel: kernel(name),
      lockedRcvbuf: 64000,
    });
    const { sk } = receiver;
    sk.rcvWnd = 1000000;
    // Full skbs with holes between them: collapsing gains nothing.
    for (let i = 1; i <= 30; i++) {
      receiver.data(i, 2 * i * MSS, MSS, { truesize: 2304 });
    }
    return receiver;
  };
  const { sk: all } = fill("3.12");
  // The 29th found 64,512 of 64,000 and emptied the queue; two came after that.
  assertEquals([all.ofoQueue.length <= 3, all.counters.OfoPruned], [true, 1]);
  const { sk: eighth } = fill("6.1");
  assertEquals(eighth.ofoQueue.length >= 24, true);
  assertEquals(eighth.counters.OfoPruned >= 1, true);
  // 6.8: the newest lies above all, so nothing above it can go; it is refused itself.
  const { sk: above } = fill("6.8");
  assertEquals(above.ofoQueue.length, 28);
});

Deno.test("duplicate out-of-order data is merged away", () => {
  const receiver = new Receiver({ kernel: kernel("6.1") });
  const { sk } = receiver;
  receiver.data(0, 2 * MSS, MSS);
  receiver.data(1, 2 * MSS, MSS);
  assertEquals([sk.ofoQueue.length, sk.counters.TCPOFOMerge], [1, 1]);
  // A longer one covers it.
  receiver.data(2, 2 * MSS, 2 * MSS, { truesize: 4352 });
  assertEquals([sk.ofoQueue.length, sk.rmemAlloc], [1, 4352]);
});

Deno.test("tcp_mem: above its greatest nothing is granted, and the memory comes back when it is read", () => {
  const memory = new TcpMemory([4, 6, 8]);
  memory.sockets = 1;
  const receiver = new Receiver({ kernel: kernel("6.1"), memory });
  const { sk } = receiver;
  sk.rcvWnd = 1000000;
  let seq = 0;
  for (let i = 0; i < 40; i++) {
    receiver.data(i, seq, MSS, { truesize: 2304 });
    seq = sk.rcvNxt;
  }
  assertEquals(memory.pressure, true);
  assertEquals(memory.allocated <= 8, true);
  assertEquals(sk.rcvNxt < 40 * MSS, true);
  receiver.tcp.read(100 * MS, Infinity);
  assertEquals([sk.rmemAlloc, memory.allocated], [0, 0]);
  assertEquals(memory.pressure, false);
});
