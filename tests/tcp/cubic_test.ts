/** CUBIC and Reno as the kernel computes them, with numbers worked by hand. */

import { assertAlmostEquals, assertEquals } from "@std/assert";
import { kernel } from "../../lib/releases/mod.ts";
import { type CongestionControl, Cubic, Reno } from "../../lib/tcp/cubic.ts";
import type { SenderSock } from "../../lib/tcp/sender_sock.ts";
import { MS, Sender } from "./sockets.ts";

/** A socket past slow start with a congestion control of its own. */
function avoiding(name: string, cwnd: number): SenderSock {
  const { sk } = new Sender({ kernel: kernel(name) });
  sk.cwnd = cwnd;
  sk.ssthresh = cwnd;
  return sk;
}

/** One round trip: an ACK for each of the window's segments, spread over it. */
function round(
  sk: SenderSock,
  cc: CongestionControl,
  start: number,
  rtt: number,
): void {
  const { cwnd } = sk;
  for (let i = 0; i < cwnd; i++) {
    const now = start + rtt * i / cwnd;
    cc.acked(now, rtt, 1);
    cc.avoid(now, 1);
  }
}

Deno.test("slow start: one segment an ACK in 2013, one for each acknowledged segment later", () => {
  for (const [name, cwnd] of [["net-next-2013-10", 11], ["4.3", 12]] as const) {
    const { sk } = new Sender({ kernel: kernel(name) });
    const cc = new Cubic(sk, false);
    cc.avoid(100 * MS, 2);
    assertEquals(sk.cwnd, cwnd, name);
  }
});

Deno.test("slow start stops at ssthresh; the rest of a stretch ACK counts for avoidance", () => {
  const sk = avoiding("6.1", 10);
  sk.cwnd = 8;
  const cc = new Reno(sk);
  cc.avoid(0, 6);
  // Two open the window, four count towards the next segment.
  assertEquals([sk.cwnd, sk.cwndCnt], [10, 4]);
  cc.avoid(0, 6);
  assertEquals([sk.cwnd, sk.cwndCnt], [11, 0]);
});

Deno.test("Reno: a segment an RTT, half after a loss, two at least", () => {
  const sk = avoiding("6.1", 20);
  const cc = new Reno(sk);
  for (let i = 0; i < 20; i++) cc.avoid(0, 1);
  assertEquals([sk.cwnd, cc.onLoss()], [21, 10]);
  sk.cwnd = 3;
  assertEquals(cc.onLoss(), 2);
});

Deno.test("CUBIC: after a loss 717/1,024 of the window", () => {
  const sk = avoiding("6.1", 1000);
  const cc = new Cubic(sk, false);
  assertEquals(cc.onLoss(), 700);
  sk.cwnd = 2;
  assertEquals(cc.onLoss(), 2);
});

Deno.test("CUBIC: before any loss at least a twentieth of the window in an RTT", () => {
  const sk = avoiding("6.1", 1000);
  const cc = new Cubic(sk, false);
  round(sk, cc, 1000 * MS, 100 * MS);
  assertEquals(sk.cwnd >= 1049 && sk.cwnd <= 1053, true, `${sk.cwnd}`);
});

Deno.test("CUBIC: w - 0.4 (K - t)^3 after a loss at w, K = cbrt(0.3 w / 0.4) seconds", () => {
  const w = 1000;
  const sk = avoiding("6.1", w);
  const cc = new Cubic(sk, false);
  sk.cwnd = cc.onLoss();
  sk.ssthresh = sk.cwnd;
  const rtt = 100 * MS;
  const windows: number[] = [];
  for (let i = 0; i < 120; i++) {
    round(sk, cc, 1000 * MS + i * rtt, rtt);
    windows.push(sk.cwnd);
  }
  const k = Math.cbrt(300 / 0.4);
  assertAlmostEquals(k, 9.086, 0.001);
  // The target is that of one RTT later, and is reached in one.
  for (const second of [1, 2, 4, 6]) {
    assertAlmostEquals(
      windows[10 * second - 1]!,
      w - 0.4 * (k - second) ** 3,
      3,
      `after ${second} s`,
    );
  }
  // Ten segments below w remain cbrt(10 / 0.4) = 2.92 s before K.
  const near = windows.findIndex((cwnd) => cwnd >= w - 10) / 10;
  assertAlmostEquals(near, k - 2.92, 0.2);
});

Deno.test("CUBIC: fast convergence aims below the last window when losses come at a falling one", () => {
  const sk = avoiding("6.1", 1000);
  const cc = new Cubic(sk, false);
  cc.onLoss();
  sk.cwnd = 800;
  assertEquals(cc.onLoss(), 560);
  // 800 * (1,024 + 717) / 2,048 = 680, not 800.
  sk.cwnd = 560;
  sk.ssthresh = 560;
  const rtt = 100 * MS;
  let rounds = 0;
  while (sk.cwnd < 670 && rounds < 200) {
    round(sk, cc, 1000 * MS + rounds++ * rtt, rtt);
  }
  // cbrt((680 - 560) / 0.4) = 6.69 s, less the 2.92 s of the last ten segments.
  assertAlmostEquals(rounds / 10, 3.77, 0.2);
});

Deno.test("CUBIC: at a short RTT it is as fast as Reno with 0.7: 8/15 of a segment an RTT", () => {
  const sk = avoiding("6.1", 20);
  const cc = new Cubic(sk, false);
  sk.cwnd = cc.onLoss();
  sk.ssthresh = sk.cwnd;
  assertEquals(sk.cwnd, 14);
  const rtt = 5 * MS;
  for (let i = 0; i < 40; i++) round(sk, cc, 1000 * MS + i * rtt, rtt);
  // After 0.2 s the cubic alone would be at 20 - 0.4 * (2.47 - 0.2)^3 = 15.
  // Reno's line, 14 + 40 * 8 / 15 = 35.3, is followed a few segments behind.
  assertEquals(sk.cwnd >= 31 && sk.cwnd <= 35, true, `${sk.cwnd}`);
});

/** A sender in slow start that is fed ACKs one by one. */
function starting(name: string, cwnd: number) {
  const s = new Sender({
    kernel: kernel(name),
    lockedSndbuf: 1 << 24,
    peerWindow: 1 << 24,
    handshakeRtt: 100 * MS,
  });
  s.sk.cwnd = cwnd;
  s.tcp.write(1000 * MS, cwnd * 1448);
  return s;
}

Deno.test("HyStart: ACKs at most 2 ms apart for half an RTT end slow start", () => {
  for (const name of ["net-next-2013-10", "6.1"]) {
    const s = starting(name, 200);
    let now = 1100 * MS;
    let cwnd = 0;
    // An ACK every millisecond: 51 ms of train are reached after some fifty of them.
    for (let i = 1; i <= 100 && s.sk.ssthresh > 1e6; i++) {
      s.ack(now, i * 1448, 1 << 24);
      cwnd = s.sk.cwnd;
      now += MS;
    }
    assertEquals(s.sk.counters.TCPHystartTrainDetect, 1, name);
    assertEquals(s.sk.ssthresh, cwnd);
    // The counter holds the window as it was when the train was seen.
    assertEquals(s.sk.counters.TCPHystartTrainCwnd, cwnd);
    const ms = (now - 1100 * MS) / MS;
    assertEquals(ms >= 50 && ms <= 55, true, `${name}: ${ms}`);
  }
});

Deno.test("HyStart: ACKs further apart are no train", () => {
  const s = starting("6.1", 200);
  for (let i = 1; i <= 100; i++) {
    s.ack(1100 * MS + i * 2.1 * MS, i * 1448, 1 << 24);
  }
  assertEquals(s.sk.counters.TCPHystartTrainDetect, 0);
});

Deno.test("HyStart: a delay a sixteenth (an eighth later) above the least, 4 ms at least, ends slow start after eight samples", () => {
  for (
    const [name, rise] of [["net-next-2013-10", 6.25], ["6.1", 12.5]] as const
  ) {
    for (const [extra, found] of [[rise - 1, 0], [rise + 2, 1]] as const) {
      const s = starting(name, 100);
      // The first round shows the least RTT, 100 ms.
      s.ack(1100 * MS, 50 * 1448, 1 << 24);
      s.ack(1100 * MS, 100 * 1448, 1 << 24);
      s.tcp.write(1100 * MS, 60 * 1448);
      // Ten ACKs of the next round, 3 ms apart so that they are no train.
      for (let i = 1; i <= 10; i++) {
        const sentAt = 1100 * MS;
        s.ack(sentAt + (100 + extra) * MS + i, (100 + i) * 1448, 1 << 24);
      }
      assertEquals(
        s.sk.counters.TCPHystartDelayDetect,
        found,
        `${name} ${extra}`,
      );
    }
  }
});

Deno.test("HyStart: below sixteen segments it does not look", () => {
  const s = starting("6.1", 10);
  s.sk.cwnd = 10;
  for (let i = 1; i <= 5; i++) {
    s.sk.cwnd = 10;
    s.ack(1100 * MS + i * MS, i * 1448, 1 << 24);
  }
  assertEquals(s.sk.counters.TCPHystartTrainDetect, 0);
});

Deno.test("packetdrill slow-start-app-limited: ten segments that fill the first window open it to twenty", () => {
  const s = new Sender({ kernel: kernel("6.18"), tso: true });
  s.tcp.write(1000 * MS, 10 * 1448);
  for (let ack = 2; ack <= 10; ack += 2) {
    s.ack(1100 * MS, ack * 1448, 65160);
  }
  assertEquals(s.sk.cwnd, 20);
  // Four segments do not fill twenty: twice what was out is all that it may reach.
  s.tcp.write(1200 * MS, 4 * 1448);
  s.ack(1300 * MS, 14 * 1448, 65160);
  assertEquals(s.sk.cwnd, 20);
});
