/**
 * How the window opens and the buffer follows the reader, by release; the numbers are worked from the kernel's rules by
 * hand, with an MSS of 1,448 behind timestamps.
 */

import { assertEquals } from "@std/assert";
import type { Kernel } from "../../lib/kernel.ts";
import { RxSkb } from "../../lib/net/rx_skb.ts";
import { definePatch } from "../../lib/patches/define_patch.ts";
import { patches } from "../../lib/patches/mod.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { TcpMemory } from "../../lib/tcp/memory.ts";
import {
  clampWindow,
  growWindow,
  measureRcvMss,
  rcvRttByTimestamp,
  rcvRttByWindow,
  rcvSpaceAdjust,
} from "../../lib/tcp/rcvbuf.ts";
import type { ReceiverSock } from "../../lib/tcp/receiver_sock.ts";
import { MS, receiverSock } from "./sockets.ts";

const NET_NEXT = "net-next-2013-10";

function skb(truesize: number, linear = 0): RxSkb {
  const it = new RxSkb();
  it.truesize = truesize;
  it.linear = linear;
  return it;
}

/** `rcv_ssthresh` after each of `count` equal skbs. */
function grow(
  sk: ReceiverSock,
  truesize: number,
  len: number,
  count: number,
): number {
  const it = skb(truesize, len);
  for (let i = 0; i < count; i++) {
    measureRcvMss(sk, it, len, 0, false);
    if (len >= 128) growWindow(sk, it, len);
  }
  return sk.rcvSsthresh;
}

/** A socket of `kernel` whose window has all the room that `tcp_rmem[2]` gives. */
function roomy(k: Kernel): ReceiverSock {
  const sk = receiverSock({ kernel: k });
  sk.rcvbuf = 6291456;
  sk.windowClamp = 6291456;
  return sk;
}

Deno.test("growWindow: a thin skb opens the window by two segments, up to the clamp of 181,900", () => {
  const sk = receiverSock({ kernel: kernel(NET_NEXT) });
  assertEquals([sk.rcvSsthresh, sk.windowClamp], [28960, 181900]);
  assertEquals(grow(sk, 2304, 1448, 1), 31856);
  assertEquals(grow(sk, 2304, 1448, 51), 179552);
  assertEquals(grow(sk, 2304, 1448, 1), 181900);
  assertEquals(grow(sk, 2304, 1448, 10), 181900);
});

Deno.test("growWindow: a whole page a segment opens it to one increment behind win(tcp_rmem[2]) / 2", () => {
  const sk = roomy(kernel(NET_NEXT));
  assertEquals(grow(sk, 4864, 1448, 533), 1572528);
  assertEquals(grow(sk, 4864, 1448, 1), 1575424);
  assertEquals(grow(sk, 4864, 1448, 100), 1575424);
});

Deno.test("growWindow: small segments in a page stop at win(tcp_rmem[2]) >> k, k by how often the page halves", () => {
  // [payload, k]: the least k of at least 1 with 2,432 >> k at most the payload.
  for (const [len, k] of [[536, 3], [200, 4], [128, 5]] as const) {
    const cap = 3145728 / 2 ** k;
    const sk = roomy(kernel(NET_NEXT));
    // A sender of small segments only: rcv_mss is what it sends.
    sk.rcvMss = len;
    const increment = 2 * len;
    const stop = grow(sk, 4864, len, 20000);
    assertEquals(
      stop > cap && stop <= cap + increment,
      true,
      `${len}: ${stop}`,
    );
  }
});

Deno.test("growWindow: below 128 bytes of payload nothing opens; three pages for a jumbo frame and TSO frames do", () => {
  const sk = roomy(kernel(NET_NEXT));
  assertEquals(grow(sk, 768, 127, 100), 28960);
  for (const [truesize, len] of [[13056, 8948], [66304, 65160]] as const) {
    const open = roomy(kernel(NET_NEXT));
    const stop = grow(open, truesize, len, 1000);
    // Nothing but the room stops these: win(6 MiB), and the last increment.
    assertEquals(stop >= 3145728 && stop < 3145728 + 2 * len, true);
  }
});

Deno.test("growWindow: up to 5.7 there must be room, later it is filled and no more", () => {
  for (const [name, after] of [["4.3", 33296], ["6.1", 30800]] as const) {
    const sk = receiverSock({ kernel: kernel(name) });
    sk.rcvSsthresh = 30400;
    sk.windowClamp = 1e6;
    sk.rcvbuf = 61600;
    assertEquals(grow(sk, 2304, 1448, 1), after, name);
    assertEquals(grow(sk, 2304, 1448, 1), after, name);
  }
});

Deno.test("growWindow: under memory pressure nothing opens, and from 5.8 on the window falls to four segments", () => {
  for (const [name, after] of [["4.3", 28960], ["6.1", 5792]] as const) {
    const memory = new TcpMemory([10, 20, 40]);
    const sk = receiverSock({ kernel: kernel(name), memory });
    sk.rcvSsthresh = 28960;
    memory.force(30);
    assertEquals(grow(sk, 2304, 1448, 1), after, name);
  }
});

/** Plays DRS: in each RTT so much is read; the state after each. */
function drs(
  sk: ReceiverSock,
  reads: readonly number[],
): [rcvbuf: number, clamp: number][] {
  const rtt = 100 * MS;
  sk.rcvRtt = 8 * rtt / sk.tick;
  let now = 1000 * MS;
  if (sk.kernel.tcp.drs === "twice copied") rcvSpaceAdjust(sk, now);
  sk.rcvqTime = Math.floor(now / sk.tick);
  return reads.map((copied) => {
    sk.copiedSeq += copied;
    sk.rcvNxt = sk.copiedSeq;
    rcvSpaceAdjust(sk, now += rtt);
    return [sk.rcvbuf, sk.windowClamp];
  });
}

const DOUBLING = [57920, 115840, 231680, 463360, 926720, 1853440];

Deno.test("DRS of 3.13: copied doubles, the buffer grows to four times; the clamp freezes once the buffer is full", () => {
  const k = kernel(NET_NEXT, { maxTcpHeader: 272 });
  const expected = [
    [563712, 278016],
    [1033472, 509696],
    [1972992, 973056],
    [3852032, 1899776],
    [6291456, 3753216],
    [6291456, 3753216],
  ];
  for (
    const [column, rcvbuf, clamp] of [
      [k.am(patches.sndbufAutotuning!), 369280, 183180],
      [
        k.am(patches.sndbufAutotuning!, patches.rcvbufExpand!),
        208896,
        102988,
      ],
    ] as const
  ) {
    const sk = receiverSock({ kernel: column });
    assertEquals([sk.rcvbuf, sk.windowClamp], [rcvbuf, clamp]);
    // Not more than rcvq_space: nothing happens.
    assertEquals(drs(sk, [14480, 28960]), [[rcvbuf, clamp], [rcvbuf, clamp]]);
    // Then the columns are one: the initial size has mattered for two round trips.
    assertEquals(drs(sk, DOUBLING), expected);
  }
});

Deno.test("DRS of 3.13: half as much more in each RTT, or a tenth", () => {
  const k = kernel(NET_NEXT, { maxTcpHeader: 272 });
  const sk = receiverSock({ kernel: k });
  assertEquals(
    drs(sk, [
      32580,
      48870,
      73305,
      109957,
      164936,
      247404,
      371106,
      556659,
      834988,
    ]),
    [
      [369280, 183180],
      [490312, 241816],
      [687024, 339556],
      // 109,957 is one byte short of half as much more: 3/2 instead of 2.
      ...[[983560, 486164], [1429832, 706080], [2099240, 1035952]],
      [3103352, 1530760],
      [4606584, 2272972],
      [6291456, 3386288],
    ] as [number, number][],
  );
  const steady = receiverSock({ kernel: k });
  assertEquals(drs(steady, [100000, 110000]), [
    [904288, 446336],
    [904288, 446336],
  ]);
});

Deno.test("DRS of 3.12: twice what was copied, and nothing in the first RTTs", () => {
  const sk = receiverSock({ kernel: kernel("3.12") });
  // The clamp starts at win(91,680) less 1,460.
  assertEquals([sk.rcvbuf, sk.rcvqSpace, sk.rcvmem], [91680, 28960, 2920]);
  assertEquals(drs(sk, [14480, 28960, 57920, 115840]), [
    [91680, 44380],
    [116800, 57920],
    [233600, 115840],
    [467200, 231680],
  ]);
});

Deno.test("DRS of 6.1: in proportion to the growth, from 131,072 on, for two sizes of MAX_TCP_HEADER", () => {
  const reads = [28960, 57920, 115840, 231680, 463360, 926720];
  for (
    const [maxTcpHeader, rcvmem, buffers] of [
      [320, 2984, [501312, 859392, 1575552, 3007872, 5872512, 6291456]],
      [256, 2920, [490560, 840960, 1541760, 2943360, 5746560, 6291456]],
    ] as const
  ) {
    const sk = receiverSock({ kernel: kernel("6.1", { maxTcpHeader }) });
    assertEquals([sk.rcvbuf, sk.rcvqSpace, sk.rcvmem], [131072, 14480, rcvmem]);
    assertEquals(drs(sk, [14480])[0]![0], 131072);
    assertEquals(
      drs(sk, reads),
      buffers.map((rcvbuf) => [rcvbuf, rcvbuf / 2]),
    );
  }
});

Deno.test("DRS of 6.8: the same, worth what the socket's scaling_ratio says", () => {
  const reads = [28960, 57920, 115840, 231680, 463360, 926720];
  for (
    const [ratio, expected] of [
      [160, [
        [389222, 243263],
        [667238, 417023],
        [1223270, 764543],
        [2335334, 1459583],
        [4559462, 2849663],
        [6291456, 3932160],
      ]],
      [76, [
        [819415, 243263],
        [1404712, 417023],
        [2575306, 764543],
        [4916493, 1459583],
        [6291456, 1867776],
        [6291456, 1867776],
      ]],
      [65, [
        [958085, 243263],
        [1642432, 417023],
        [3011127, 764543],
        [5748515, 1459583],
        [6291456, 1597440],
        [6291456, 1597440],
      ]],
    ] as [number, [number, number][]][]
  ) {
    const sk = receiverSock({ kernel: kernel("6.8") });
    sk.scalingRatio = ratio;
    sk.rcvqSpace = 14480;
    assertEquals(drs(sk, reads), expected, `ratio ${ratio}`);
  }
});

Deno.test("DRS of 6.18: tcp_rcvbuf_grow, up to 32 MiB, for a thin and a fat skb", () => {
  const reads = [28960, 57920, 115840, 231680, 463360, 926720, 1853440];
  for (
    const [ratio, expected] of [
      [160, [
        [278016, 173760],
        [556032, 347520],
        [1112064, 695040],
        [2224128, 1390080],
        [4448256, 2780160],
        [8896512, 5560320],
        [17793024, 11120640],
      ]],
      [76, [
        [585296, 173759],
        [1170593, 347519],
        [2341187, 695039],
        [4682374, 1390079],
        [9364749, 2780159],
        [18729498, 5560319],
        [33554432, 9961472],
      ]],
    ] as [number, [number, number][]][]
  ) {
    const sk = receiverSock({
      kernel: kernel("6.18"),
      rmem: [4096, 131072, 33554432],
    });
    sk.scalingRatio = ratio;
    assertEquals(drs(sk, reads), expected, `ratio ${ratio}`);
  }
});

Deno.test("DRS of 6.18: bytes that wait unread are taken off what was copied; up to 6.8 they are not", () => {
  for (const [name, rises] of [["6.8", true], ["6.12", false]] as const) {
    const sk = receiverSock({ kernel: kernel(name) });
    const before = sk.rcvbuf;
    sk.rcvRtt = 8 * 100_000;
    sk.rcvqTime = 0;
    sk.copiedSeq = 57920;
    // All but 14,480 bytes of it lie in the queue again.
    sk.rcvNxt = sk.copiedSeq + 43440;
    rcvSpaceAdjust(sk, 100 * MS);
    assertEquals(sk.rcvbuf > before, rises, name);
  }
});

Deno.test("DRS of 6.18: a hole widens the buffer by what lies behind it", () => {
  const sk = receiverSock({ kernel: kernel("6.18") });
  sk.scalingRatio = 160;
  sk.rcvRtt = 8 * 100_000;
  sk.copiedSeq = 28960;
  sk.rcvNxt = 28960;
  const ofo = sk.pool.alloc();
  sk.pool.seq[ofo] = 30408;
  sk.pool.end[ofo] = 31856;
  sk.ofoQueue.push(ofo);
  rcvSpaceAdjust(sk, 100 * MS);
  // 173,760 of window, and 2,896 up to the end of the last one.
  assertEquals(sk.rcvbuf, Math.floor((173760 + 2896) * 256 / 160));
});

Deno.test("tcp_rcvbuf_low_rtt: at 100 us the buffer grows by a tenth of the window, where a patch brings it", () => {
  const lowRtt = definePatch({
    name: "lowRtt",
    subject: "tcp: add net.ipv4.tcp_rcvbuf_low_rtt",
    date: "2025-11-12",
    thread: "rcvbuf-autotuning",
    fits: (k) => k.tcp.drs === "rcvbuf_grow" ? undefined : "no rcvbuf_grow",
    changes: {
      tcp: {
        lowRtt: {
          value: 1000,
          file: "net/ipv4/tcp_input.c",
          symbol: "tcp_rcvbuf_grow",
          origin: "later 6.18.y, by the specification",
        },
      },
    },
  });
  const sk = receiverSock({ kernel: kernel("6.18").am(lowRtt) });
  sk.scalingRatio = 160;
  const buffers = [28960, 57920, 926720].map((copied, i) => {
    sk.rcvRtt = 8 * 100;
    sk.rcvqTime = Math.floor(i * MS / sk.tick);
    sk.copiedSeq += copied;
    sk.rcvNxt = sk.copiedSeq;
    rcvSpaceAdjust(sk, (i + 1) * MS);
    return sk.rcvbuf;
  });
  // 2 * 28,960 + a tenth of it = 63,712 is worth 101,939, less than 131,072.
  assertEquals(buffers, [131072, 203878, 3262054]);
});

Deno.test("DRS: not within an RTT, not with SO_RCVBUF, not with tcp_moderate_rcvbuf 0", () => {
  const k = kernel("6.1");
  const early = receiverSock({ kernel: k });
  early.rcvRtt = 8 * 100_000;
  early.copiedSeq = 100000;
  early.rcvNxt = 100000;
  rcvSpaceAdjust(early, 99 * MS);
  assertEquals([early.rcvbuf, early.rcvqSeq], [131072, 0]);
  for (const given of [{ lockedRcvbuf: 262144 }, { moderateRcvbuf: false }]) {
    const sk = receiverSock({ kernel: k, ...given });
    const { rcvbuf } = sk;
    drs(sk, DOUBLING);
    assertEquals([sk.rcvbuf, sk.rcvqSpace], [rcvbuf, 1853440]);
  }
});

Deno.test("clampWindow: raises rcvbuf to what is queued and leaves the clamp; SO_RCVBUF closes the window instead", () => {
  const sk = receiverSock({ kernel: kernel(NET_NEXT) });
  sk.rmemAlloc = 500000;
  clampWindow(sk);
  assertEquals([sk.rcvbuf, sk.windowClamp, sk.quick], [500000, 181900, 0]);
  const locked = receiverSock({
    kernel: kernel(NET_NEXT),
    lockedRcvbuf: 65536,
  });
  locked.rmemAlloc = 70000;
  locked.rcvSsthresh = 20000;
  clampWindow(locked);
  assertEquals([locked.rcvbuf, locked.rcvSsthresh], [65536, 2 * 1448]);
});

Deno.test("clampWindow: above tcp_mem[0] nothing is raised, however small the socket", () => {
  const memory = new TcpMemory([10, 20, 40]);
  memory.force(11);
  const sk = receiverSock({ kernel: kernel("6.1"), memory });
  sk.rmemAlloc = 200000;
  clampWindow(sk);
  assertEquals([sk.rcvbuf, sk.rcvSsthresh], [131072, 2896]);
});

Deno.test("rcv_rtt_est: the first sample counts whole, later ones an eighth, a window's time only if it is less", () => {
  const sk = receiverSock({ kernel: kernel(NET_NEXT) });
  sk.rcvMss = 1448;
  sk.rxTsecr = 0;
  rcvRttByTimestamp(sk, 100 * MS, 1448);
  assertEquals(sk.rcvRtt, 800);
  rcvRttByTimestamp(sk, 180 * MS, 1448);
  assertEquals(sk.rcvRtt, 880);
  // Smaller than the sender's segments: no sample.
  rcvRttByTimestamp(sk, 500 * MS, 1447);
  assertEquals(sk.rcvRtt, 880);
  sk.rcvRttTime = 10 * MS;
  sk.rcvRttSeq = 0;
  rcvRttByWindow(sk, 100 * MS);
  assertEquals(sk.rcvRtt, 720);
  rcvRttByWindow(sk, 400 * MS);
  assertEquals(sk.rcvRtt, 720);
});

Deno.test("rcv_rtt_est of 6.18: the least sample first, one for each echo, none while the reader lags, none of 0", () => {
  const sk = receiverSock({ kernel: kernel("6.18") });
  sk.rcvMss = 1448;
  const sample = (echoMs: number, ms: number): number => {
    sk.rxTsecr = echoMs;
    rcvRttByTimestamp(sk, (echoMs + ms) * MS, 1448);
    return sk.rcvRtt / 8;
  };
  assertEquals(sample(1, 0), 0);
  assertEquals(sample(2, 100), 100_000);
  assertEquals(sample(2, 50), 100_000);
  assertEquals(sample(3, 60), 60_000);
  assertEquals(sample(4, 140), 70_000);
  sk.rcvNxt = 1;
  assertEquals(sample(5, 900), 70_000);
  // The same in 6.12, where a busy reader inflates the estimate.
  const older = receiverSock({ kernel: kernel("6.12") });
  older.rcvMss = 1448;
  older.rcvNxt = 1;
  for (const [echo, ms] of [[2, 60], [3, 140]] as const) {
    older.rxTsecr = echo;
    rcvRttByTimestamp(older, (echo + ms) * MS, 1448);
  }
  assertEquals(older.rcvRtt / 8, 70_000);
});

Deno.test("scaling_ratio: from one skb whose size differs from rcv_mss, and the clamp follows it from 6.10 on", () => {
  const full = skb(2304, 1448);
  const stale = receiverSock({ kernel: kernel("6.8") });
  assertEquals(
    [stale.scalingRatio, stale.windowClamp, stale.rcvSsthresh],
    [65, 31820, 31820],
  );
  measureRcvMss(stale, full, 1448, 0, false);
  assertEquals([stale.scalingRatio, stale.windowClamp], [160, 31820]);
  // Equal to rcv_mss: a fatter skb changes nothing.
  measureRcvMss(stale, skb(4864, 1448), 1448, 0, false);
  assertEquals(stale.scalingRatio, 160);
  const follows = receiverSock({ kernel: kernel("6.12") });
  assertEquals([follows.scalingRatio, follows.windowClamp], [128, 64088]);
  measureRcvMss(follows, full, 1448, 0, false);
  assertEquals([follows.scalingRatio, follows.windowClamp], [160, 81920]);
});

Deno.test("scaling_ratio: payload over truesize of 256, for the skbs that are known", () => {
  for (
    const [len, truesize, ratio] of [
      [1448, 4864, 76],
      [1448, 4608, 80],
      [1448, 2304, 160],
      [1448, 2472, 149],
      [65160, 66304, 251],
    ] as const
  ) {
    const sk = receiverSock({ kernel: kernel("6.18") });
    measureRcvMss(sk, skb(truesize), len, len > 1448 ? 1448 : 0, false);
    assertEquals(sk.scalingRatio, ratio);
  }
});

Deno.test("rcv_mss: 536 at first, then the segment size, of an aggregate its gso_size", () => {
  const sk = receiverSock({ kernel: kernel("6.18") });
  assertEquals(sk.rcvMss, 536);
  measureRcvMss(sk, skb(20000), 10000, 1000, false);
  assertEquals(sk.rcvMss, 1000);
  measureRcvMss(sk, skb(2304), 1448, 0, false);
  assertEquals(sk.rcvMss, 1448);
  // A shorter one must come twice; a small one with PSH says only that it was seen.
  measureRcvMss(sk, skb(1280), 600, 0, false);
  assertEquals(sk.rcvMss, 1448);
  measureRcvMss(sk, skb(1280), 600, 0, false);
  assertEquals(sk.rcvMss, 600);
  measureRcvMss(sk, skb(832), 40, 0, true);
  assertEquals([sk.rcvMss, sk.ackPushed], [600, true]);
});
