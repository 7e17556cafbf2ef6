/** Van Jacobson's estimator with the kernel's floor, and the pacing rate, worked by hand. */

import { assertEquals } from "@std/assert";
import { kernel } from "../../lib/releases/mod.ts";
import { pacingRate, rttEstimate } from "../../lib/tcp/rto.ts";
import { MS, Sender } from "./sockets.ts";

/** A sender of a release that has seen no RTT yet. */
function fresh(name: string) {
  return new Sender({ kernel: kernel(name), handshakeRtt: 0 }).sk;
}

Deno.test("RTO: the first sample is srtt, its half the deviation, 200 ms the least variance", () => {
  for (const name of ["3.12", "6.1"]) {
    const sk = fresh(name);
    assertEquals(sk.rto, 1000 * MS);
    rttEstimate(sk, 100 * MS);
    assertEquals([sk.srtt * sk.tick, sk.mdev * sk.tick], [
      800 * MS,
      200 * MS,
    ]);
    assertEquals(sk.rto, 300 * MS);
    const slow = fresh(name);
    rttEstimate(slow, 1000 * MS);
    assertEquals(slow.rto, 3000 * MS);
  }
});

Deno.test("RTO: an eighth of the error goes to srtt, a quarter to mdev; a falling RTT counts an eighth of that", () => {
  const sk = fresh("3.12");
  rttEstimate(sk, 100 * MS);
  rttEstimate(sk, 180 * MS);
  // Error 80: srtt 8 * 100 + 80; mdev 4 * 50 + 80 - 50.
  assertEquals([sk.srtt, sk.mdev], [880, 230]);
  rttEstimate(sk, 10 * MS);
  // Error -100: 100 - 57 = 43, an eighth of which is 5.
  assertEquals([sk.srtt, sk.mdev], [780, 235]);
  // The variance is the largest deviation seen in this window.
  assertEquals(sk.rttvar, 235);
  assertEquals(sk.rto, (97 + 235) * MS);
});

Deno.test("pacing rate: twice the window in an RTT in slow start; 120 % after it from 4.x on", () => {
  for (
    const [name, start, after] of [
      ["net-next-2013-10", 200, 200],
      ["6.1", 200, 120],
    ] as const
  ) {
    const sk = fresh(name);
    rttEstimate(sk, 100 * MS);
    sk.cwnd = 100;
    assertEquals(pacingRate(sk), Math.floor(1448 * 100 * start / 100 * 10));
    sk.ssthresh = 150;
    assertEquals(pacingRate(sk), Math.floor(1448 * 100 * after / 100 * 10));
  }
});
