/** Segments that come while the socket is in use: the limit, merging, and the way back. */

import { assertEquals } from "@std/assert";
import { RxSkb } from "../../lib/net/rx_skb.ts";
import { kernel } from "../../lib/releases/mod.ts";
import {
  addBacklog,
  backlogLimit,
  releaseBacklog,
} from "../../lib/tcp/backlog.ts";
import { RxSegment } from "../../lib/tcp/receiver.ts";
import { MSS, Receiver } from "./sockets.ts";

const SNDBUF = 46080;

function segment(index: number, shape: Partial<RxSkb> = {}): RxSegment {
  const it = new RxSegment();
  it.seq = index * MSS;
  it.end = it.seq + MSS;
  it.skb = Object.assign(new RxSkb(), {
    truesize: 4864,
    linear: MSS,
    end: 1728,
    moved: 4608,
  }, shape);
  return it;
}

Deno.test("backlog limit by release", () => {
  const rcvbuf = 131072;
  for (
    const [name, limit] of [
      ["3.12", rcvbuf + SNDBUF],
      ["4.3", rcvbuf + SNDBUF],
      ["6.8", rcvbuf + SNDBUF / 2 + 65536],
      ["6.1", 2 * rcvbuf + SNDBUF / 2 + 65536],
      ["6.12", 2 * rcvbuf + SNDBUF / 2 + 65536],
    ] as const
  ) {
    const { sk } = new Receiver({ kernel: kernel(name) });
    sk.rcvbuf = rcvbuf;
    assertEquals(backlogLimit(sk, SNDBUF), limit, name);
  }
});

Deno.test("fat skbs overrun it: it is tested before the skb is added, against truesize and what is queued", () => {
  const receiver = new Receiver({ kernel: kernel("net-next-2013-10") });
  const { sk } = receiver;
  sk.rcvbuf = 100000;
  sk.rmemAlloc = 20000;
  const limit = 100000 + SNDBUF;
  let taken = 0;
  while (addBacklog(sk, segment(taken), SNDBUF)) taken++;
  // The first skb that finds more than the limit is dropped.
  assertEquals(taken, Math.floor((limit - 20000) / 4864) + 1);
  assertEquals([sk.counters.TCPBacklogDrop, sk.counters.TCPBacklogCoalesce], [
    1,
    0,
  ]);
});

Deno.test("from 4.20 on contiguous segments are merged there, over the limit too", () => {
  const receiver = new Receiver({ kernel: kernel("6.1") });
  const { sk } = receiver;
  sk.rcvbuf = 4096;
  const shape = { linear: 0, frags: 1, truesize: 2304, moved: 1536 };
  assertEquals(addBacklog(sk, segment(0, shape), 4608), true);
  sk.rmemAlloc = 1e6;
  assertEquals(addBacklog(sk, segment(1, shape), 4608), true);
  // One that is not contiguous cannot be merged, and there is no room.
  assertEquals(addBacklog(sk, segment(5, shape), 4608), false);
  assertEquals([sk.counters.TCPBacklogCoalesce, sk.counters.TCPBacklogDrop], [
    1,
    1,
  ]);
  assertEquals([sk.backlog.length, sk.backlogLen], [1, 2304 + 1536]);
});

Deno.test("what waited is received when the owner lets go, in order, and charged then", () => {
  const receiver = new Receiver({ kernel: kernel("net-next-2013-10") });
  const { sk } = receiver;
  sk.rcvWnd = 1e6;
  for (let i = 0; i < 5; i++) addBacklog(sk, segment(i), SNDBUF);
  assertEquals([sk.rmemAlloc, sk.rcvNxt, sk.backlogLen], [0, 0, 5 * 4864]);
  releaseBacklog(receiver.tcp, 1000);
  assertEquals([sk.rmemAlloc, sk.rcvNxt, sk.backlogLen], [
    5 * 4864,
    5 * MSS,
    0,
  ]);
});
