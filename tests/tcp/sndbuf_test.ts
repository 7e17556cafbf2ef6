/** The send buffer: what a writer may put in, when it wakes, how it grows; why a sender does not send. */

import { assertAlmostEquals, assertEquals } from "@std/assert";
import { netperf } from "../../lib/experiments/netperf.ts";
import { patches } from "../../lib/patches/mod.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { TcpMemory } from "../../lib/tcp/memory.ts";
import { Limit, type SenderOptions } from "../../lib/tcp/sender_sock.ts";
import { checkSpace } from "../../lib/tcp/sndbuf.ts";
import { MS, MSS, Sender } from "./sockets.ts";

Deno.test("skbs of 2013: 2,304 a segment without TSO up to H 272, 4,352 with H 304; 65,992 for 65,160 bytes with TSO", () => {
  for (
    const [maxTcpHeader, truesize] of [
      [160, 2304],
      [256, 2304],
      [272, 2304],
      [304, 4352],
    ] as const
  ) {
    const s = new Sender({
      kernel: kernel("net-next-2013-10", { maxTcpHeader }),
      lockedSndbuf: 4194304,
    });
    s.tcp.write(0, 3 * MSS);
    assertEquals(s.sk.wmemQueued, 3 * truesize, `H ${maxTcpHeader}`);
  }
  const s = new Sender({
    kernel: kernel("net-next-2013-10"),
    lockedSndbuf: 4194304,
    tso: true,
    peerWindow: 1 << 20,
    // No RTT yet: nothing paces.
    handshakeRtt: 0,
  });
  s.sk.cwnd = 100;
  // An RTT of a millisecond: the rate allows the largest skb.
  s.sk.srtt = 8;
  s.tcp.write(0, 65160);
  assertEquals(s.sk.wmemQueued, 65992);
});

Deno.test("a buffer of 4 MiB holds 1,820 segments of 2,304, or 963 of 4,352, and the one that overshoots", () => {
  for (const [maxTcpHeader, segs] of [[256, 1821], [304, 964]] as const) {
    const s = new Sender({
      kernel: kernel("net-next-2013-10", { maxTcpHeader }),
      lockedSndbuf: 4194304,
    });
    const taken = s.tcp.write(0, 1e7);
    assertEquals(taken, segs * MSS);
    assertEquals(s.sk.nospace, true);
  }
});

Deno.test("the writer wakes when a third of the buffer is free: at 2,796,203 of 4,194,304 queued, not at 2,796,204", () => {
  const s = new Sender({ lockedSndbuf: 4194304 });
  for (
    const [queued, wakes] of [
      [2796202, true],
      [2796203, true],
      [2796204, false],
    ] as const
  ) {
    s.sk.nospace = true;
    s.sk.wmemQueued = queued;
    assertEquals(checkSpace(s.sk), wakes, `${queued}`);
    assertEquals(s.sk.nospace, !wakes);
  }
  s.sk.nospace = false;
  s.sk.wmemQueued = 0;
  assertEquals(checkSpace(s.sk), false);
});

Deno.test("growth: twice cwnd segments, by either rule, up to tcp_wmem[2], and only for a writer that waits", () => {
  const grown = (
    patched: boolean,
    maxTcpHeader: number,
    cwnd: number,
    given: Partial<SenderOptions> = {},
    nospace = true,
  ): number => {
    let k = kernel("net-next-2013-10", { maxTcpHeader });
    if (patched) k = k.am(patches.sndbufAutotuning!);
    const { sk } = new Sender({ kernel: k, ...given });
    sk.cwnd = cwnd;
    sk.nospace = nospace;
    checkSpace(sk);
    return sk.sndbuf;
  };
  assertEquals(
    [256, 272, 304].map((H) => [grown(false, H, 100), grown(true, H, 100)]),
    [[458400, 460800], [461600, 870400], [468000, 870400]],
  );
  // 910 windows of two segments are just below 4 MiB.
  assertEquals([grown(true, 256, 910), grown(true, 256, 911)], [
    4193280,
    4194304,
  ]);
  assertEquals([grown(true, 304, 481), grown(true, 304, 482)], [
    4186624,
    4194304,
  ]);
  // Ten segments at least with the patch, the reordering degree + 1 without.
  assertEquals([grown(true, 256, 1), grown(false, 256, 1)], [46080, 22920]);
  assertEquals(grown(true, 256, 100, {}, false), 46080);
  assertEquals(grown(true, 256, 100, { lockedSndbuf: 50000 }), 50000);
});

Deno.test("growth: not under memory pressure, not above tcp_mem[0]", () => {
  for (const pages of [11, 30]) {
    const memory = new TcpMemory([10, 20, 40]);
    memory.force(pages);
    const { sk } = new Sender({ kernel: kernel("4.3"), memory });
    const before = sk.sndbuf;
    sk.cwnd = 100;
    sk.nospace = true;
    checkSpace(sk);
    assertEquals(sk.sndbuf, before);
  }
});

Deno.test("tcp_mem: a sender that gets no memory keeps what it has queued and shrinks its buffer to half of that", () => {
  const memory = new TcpMemory([2, 4, 6]);
  memory.sockets = 1;
  const s = new Sender({ kernel: kernel("4.3"), memory });
  const taken = s.tcp.write(0, 1e6);
  assertEquals(taken > 0 && taken < 1e6, true);
  assertEquals(memory.allocated <= 6, true);
  assertEquals(
    s.sk.sndbuf,
    Math.max(Math.floor(s.sk.wmemQueued / 2), 4608),
  );
});

Deno.test("why a sender waits: cwnd, the peer's window, the send buffer, nothing to send", () => {
  const share = (given: Partial<SenderOptions>, bytes: number): number => {
    const s = new Sender({ kernel: kernel("6.1"), tso: true, ...given });
    s.tcp.write(1000 * MS, bytes);
    s.tcp.settle(1100 * MS);
    // The first second passed before anything was written.
    assertEquals(s.tcp.limited[Limit.APP]! >= 1000 * MS, true);
    s.tcp.limited[Limit.APP]! -= 1000 * MS;
    return s.tcp.limited.indexOf(Math.max(...s.tcp.limited));
  };
  assertEquals(share({ lockedSndbuf: 1 << 20 }, 100000), Limit.CWND);
  assertEquals(
    share({ lockedSndbuf: 1 << 20, peerWindow: 5 * MSS }, 100000),
    Limit.RWND,
  );
  assertEquals(
    share({
      kernel: kernel("net-next-2013-10"),
      tso: false,
      lockedSndbuf: 4608,
    }, 100000),
    Limit.SNDBUF,
  );
  assertEquals(share({}, 2 * MSS), Limit.APP);
});

Deno.test("rwnd_limited and sndbuf_limited of a stream: the whole-page cap against a buffer of half the window", () => {
  const run = (soSndbuf?: number) =>
    netperf({
      kernel: kernel("net-next-2013-10"),
      path: "virtio-mergeable",
      rttMs: 50,
      seconds: 10,
      tso: false,
      soSndbuf,
      sysctl: { wmem_max: 4194304 },
    }).limits;
  const capped = run();
  assertEquals(capped.rwnd_limited > 0.9, true);
  assertAlmostEquals(capped.sndbuf_limited, 0, 0.01);
  const small = run(524288);
  assertEquals(small.sndbuf_limited > 0.9, true);
  assertAlmostEquals(small.rwnd_limited, 0, 0.01);
});

Deno.test("a closed window is probed, later each time, and an update starts the stream again", () => {
  const s = new Sender({ kernel: kernel("6.1"), peerWindow: 2 * MSS });
  s.tcp.write(1000 * MS, 4 * MSS);
  assertEquals(s.sent.length, 2);
  s.ack(1100 * MS, 2 * MSS, 0);
  assertEquals(s.sk.limit, Limit.RWND);
  const waits: number[] = [];
  let now = 1100 * MS;
  for (let i = 0; i < 3; i++) {
    waits.push((s.tcp.timerAt - now) / MS);
    now = s.tcp.timerAt;
    s.tcp.timer(now);
  }
  assertEquals(s.probes, 3);
  assertEquals([waits[1]! / waits[0]!, waits[2]! / waits[1]!], [2, 2]);
  s.ack(now + MS, 2 * MSS, 2 * MSS);
  assertEquals([s.sent.length, s.sk.probeAt], [4, Infinity]);
});
