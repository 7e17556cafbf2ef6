/** Losses as short dialogues on a sender: recovery by PRR, undo, timeouts, local drops; segments of 1,000 bytes. */

import { assertEquals } from "@std/assert";
import { kernel } from "../../lib/releases/mod.ts";
import {
  CWR,
  DISORDER,
  INFINITE_SSTHRESH,
  LOSS,
  OPEN,
  RECOVERY,
  type SenderOptions,
} from "../../lib/tcp/sender_sock.ts";
import { MS, Sender } from "./sockets.ts";

/** An established sender with segments of 1,000 bytes and a window of 40,960. */
function connected(
  rttMs: number,
  given: Partial<SenderOptions> = {},
): Sender {
  return new Sender({
    peerMss: 1000,
    timestamps: false,
    peerWindow: 40960,
    handshakeRtt: rttMs * MS,
    nodelay: true,
    ...given,
  });
}

/** So many milliseconds after the first write. */
const at = (ms: number): number => (1000 + ms) * MS;

/** What was sent since the last look, as [first byte / 1,000, segments]. */
function sent(sender: Sender): [number, number][] {
  const list = sender.sent.map((it): [number, number] => [
    it.seq / 1000,
    (it.end - it.seq) / 1000,
  ]);
  sender.sent.length = 0;
  return list;
}

/** The first segments of what was sent, one by one. */
function segments(sender: Sender): number[] {
  return sent(sender).flatMap(([first, count]) =>
    Array.from({ length: count }, (_, i) => first + i)
  );
}

Deno.test("packetdrill prr-ss-10pkt-lost-1: in flight is ssthresh, so that each SACK lets one segment go", () => {
  const s = connected(100);
  s.tcp.write(at(0), 10000);
  assertEquals(segments(s).length, 10);
  let now = at(110);
  const sack = (end: number): number[] => {
    s.ack(now += 10 * MS, 0, 40960, [[1000, 1000 * end]]);
    return segments(s);
  };
  assertEquals([sack(2), sack(3)], [[], []]);
  assertEquals(s.sk.caState, DISORDER);
  assertEquals(sack(4), [0]);
  assertEquals([s.sk.caState, s.sk.cwnd, s.sk.ssthresh], [RECOVERY, 7, 7]);
  s.tcp.write(now += 10 * MS, 7000);
  assertEquals(segments(s), []);
  for (let end = 5; end <= 10; end++) assertEquals(sack(end), [end + 5]);
  s.ack(now += 20 * MS, 10000, 40960);
  assertEquals(segments(s), [16]);
  assertEquals([s.sk.caState, s.sk.cwnd, s.sk.ssthresh], [OPEN, 7, 7]);
});

Deno.test("packetdrill prr-ss-30pkt-lost1_4: four lost of ten are sent again one an ACK, and ssthresh segments after", () => {
  const s = connected(10);
  s.tcp.write(at(0), 10000);
  segments(s);
  let now = at(10);
  const sack = (end: number): number[] => {
    s.ack(now, 0, 40960, [[4000, 1000 * end]]);
    return segments(s);
  };
  assertEquals(sack(5), []);
  now += 2 * MS;
  assertEquals(sack(6), []);
  assertEquals([7, 8, 9, 10].map((end) => sack(end)), [[0], [1], [2], [3]]);
  now += 10 * MS;
  for (const ack of [1000, 2000, 3000]) {
    s.ack(now, ack, 40960, [[4000, 10000]]);
  }
  s.ack(now, 10000, 40960);
  assertEquals(segments(s), []);
  s.tcp.write(now += 10 * MS, 10000);
  assertEquals(segments(s), [10, 11, 12, 13, 14, 15, 16]);
  assertEquals(s.sk.counters.TCPFastRetrans, 4);
});

Deno.test("PRR of 2013: below ssthresh one segment more leaves than was delivered; from 4.3 on not without progress", () => {
  for (
    const [name, third] of [["net-next-2013-10", [2, 3]], ["4.3", [2]]] as const
  ) {
    const s = connected(10, { kernel: kernel(name), lockedSndbuf: 400000 });
    s.tcp.write(at(0), 10000);
    segments(s);
    const sack = (end: number): number[] => {
      s.ack(at(12), 0, 40960, [[4000, 1000 * end]]);
      return segments(s);
    };
    // 0 and 1 are lost, 7 in flight = ssthresh: the one that a recovery begins with.
    assertEquals(sack(5), [0]);
    // 10 - 2 SACKed - 3 lost + 1 sent again = 6, room for one.
    assertEquals(sack(6), [1]);
    // 10 - 3 - 4 + 2 = 5, room for two; three delivered, two sent.
    assertEquals(sack(7), [...third], name);
  }
});

Deno.test("FACK of 2013: a segment is lost once three lie between it and the highest SACK", () => {
  const s = connected(100, { kernel: kernel("net-next-2013-10") });
  s.tcp.write(at(0), 10000);
  segments(s);
  // Segments 2 and 3: the highest is two above the first.
  s.ack(at(110), 0, 40960, [[1000, 3000]]);
  assertEquals([s.sk.lostOut, s.sk.caState], [0, DISORDER]);
  // Segment 5 alone: FACK counts the hole at 4 as well.
  s.ack(at(120), 0, 40960, [[4000, 5000], [1000, 3000]]);
  assertEquals([s.sk.lostOut >= 1, s.sk.caState], [true, RECOVERY]);
  assertEquals(segments(s)[0], 0);
});

Deno.test("RACK: without three SACKs a quarter of the least RTT must pass, then the timer tells", () => {
  const s = connected(100);
  s.tcp.write(at(0), 4000);
  segments(s);
  s.ack(at(100), 0, 40960, [[1000, 2000]]);
  assertEquals([s.sk.lostOut, segments(s)], [0, []]);
  // Sent at 0, as the delivered one; RTT 100 ms and a quarter.
  assertEquals(Math.round(s.sk.reorderAt / MS), 1125);
  s.tcp.timer(s.sk.reorderAt);
  assertEquals([s.sk.caState, segments(s)], [RECOVERY, [0]]);
});

Deno.test("RACK: a retransmission that is lost is noticed by what was sent after it", () => {
  const s = connected(100);
  s.tcp.write(at(0), 10000);
  segments(s);
  for (const end of [2, 3, 4]) {
    s.ack(at(100), 0, 40960, [[1000, 1000 * end]]);
  }
  assertEquals(segments(s), [0]);
  s.tcp.write(at(110), 5000);
  // SACKs of the rest let new segments go; those come back a round trip later, the retransmission does not.
  s.ack(at(120), 0, 40960, [[1000, 10000]]);
  const fresh = segments(s);
  assertEquals(fresh.length > 0, true);
  s.ack(at(225), 0, 40960, [[1000, 10000 + 1000 * fresh.length]]);
  assertEquals(segments(s).includes(0), true);
});

Deno.test("reordering: a late segment that was not sent again raises the distance, and nothing is lost", () => {
  const s = connected(100);
  s.tcp.write(at(0), 10000);
  segments(s);
  s.ack(at(100), 0, 40960, [[5000, 6000]]);
  s.ack(at(101), 1000, 40960, [[5000, 6000]]);
  assertEquals([s.sk.reorderSeen, s.sk.lostOut], [true, 0]);
  assertEquals(s.sk.reordering, 6);
  assertEquals(s.sk.counters.TCPSACKReorder, 1);
});

Deno.test("undo: an echo from before the retransmission says that nothing was lost, and the window comes back", () => {
  const s = connected(100, { timestamps: true, peerMss: 1012 });
  s.tcp.write(at(0), 10000);
  segments(s);
  for (const end of [2, 3, 4]) {
    s.ack(at(100), 0, 40960, [[1000, 1000 * end]], at(0) / MS);
  }
  assertEquals([s.sk.caState, s.sk.cwnd], [RECOVERY, 7]);
  // The first segment was only late: its echo is older than the retransmission at 100 ms.
  s.ack(at(105), 10000, 40960, [], at(0) / MS);
  assertEquals(s.sk.caState, OPEN);
  // Undone, and slow start goes on as the threshold is what it was.
  assertEquals([s.sk.cwnd >= 10, s.sk.ssthresh], [true, INFINITE_SSTHRESH]);
});

Deno.test("RTO: a tail loss probe first; then everything is lost, the window is one segment, and the timeout doubles", () => {
  const s = connected(100);
  s.tcp.write(at(0), 10000);
  segments(s);
  // Two RTTs and 2 ms: the last segment once more, and the timeout runs from here.
  assertEquals(s.tcp.timerAt, at(202));
  s.tcp.timer(at(202));
  assertEquals([segments(s), s.sk.caState], [[9], OPEN]);
  // srtt 100 ms and a variance of 200 ms.
  assertEquals(s.tcp.timerAt, at(502));
  s.tcp.timer(at(502));
  assertEquals(segments(s), [0]);
  assertEquals([s.sk.caState, s.sk.cwnd, s.sk.ssthresh], [LOSS, 1, 7]);
  assertEquals([s.sk.lostOut, s.sk.counters.TCPTimeouts], [10, 1]);
  assertEquals(s.tcp.timerAt, at(1102));
  s.tcp.timer(at(1102));
  assertEquals([segments(s), s.tcp.timerAt], [[0], at(2302)]);
  // No second cut for the same window.
  assertEquals(s.sk.ssthresh, 7);
  // Slow start through what was lost: one, then two, then four.
  s.ack(at(1200), 1000, 40960);
  assertEquals([segments(s), s.sk.cwnd], [[1, 2], 2]);
  s.ack(at(1300), 3000, 40960);
  assertEquals([segments(s).length, s.sk.cwnd], [4, 4]);
  s.ack(at(1400), 10000, 40960);
  assertEquals(s.sk.caState, OPEN);
});

Deno.test("local drop: the qdisc refuses a segment, the window shrinks by PRR to 0.7, nothing is sent again", () => {
  const s = connected(100, {
    kernel: kernel("net-next-2013-10"),
    lockedSndbuf: 400000,
  });
  s.tcp.write(at(0), 10000);
  segments(s);
  s.tcp.write(at(50), 20000);
  s.ack(at(100), 5000, 40960);
  s.open = false;
  s.ack(at(101), 6000, 40960);
  assertEquals([s.sk.caState, s.sk.counters.TCPLocalDrop > 0], [CWR, true]);
  const { cwnd, ssthresh } = s.sk;
  assertEquals(ssthresh, Math.floor(cwnd * 717 / 1024));
  s.open = true;
  segments(s);
  const out = s.sk.sndNxt;
  for (let ack = 7000; ack <= out; ack += 1000) {
    s.ack(at(200), ack, 40960);
  }
  assertEquals([s.sk.caState, s.sk.cwnd >= ssthresh], [OPEN, true]);
  assertEquals(s.sk.counters.RetransSegs, 0);
  const again = segments(s);
  assertEquals(again, again.toSorted((a, b) => a - b));
  assertEquals(again[0], out / 1000);
});
