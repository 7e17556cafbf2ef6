/**
 * One stream over a delay between two 3.13.0 guests built as the thread's columns, run by run: where the window stops,
 * where cwnd stops, and the plateau.
 *
 * Three constants describe the measuring machine, the same in every run: the receiver's 17.5 us a packet is its 0 ms
 * row (633 to 697 Mbit/s); the sender's 5 us and the copy's 2 ns a byte are fitted, by the rows with H 304 and with TSO
 * on. The reader counts as a CPU of its own: 3.13 receives in the reader's context (prequeue). The guests add 2 ms to
 * the round trip, 4 ms with TSO on, as their smoothed RTT says.
 */

import { assert, assertAlmostEquals } from "@std/assert";
import {
  definePatch,
  type Kernel,
  kernel,
  netperf,
  patches,
  type StreamResult,
} from "@truesize/lab";
import { fixture } from "./rows.ts";

const HOST = {
  sender: { packet: 5000, call: 100 },
  receiver: { packet: 17500, byte: 2, cpus: 2 },
} as const;
const LATENCY_MS = 2;
const LATENCY_TSO_MS = 4;

/** win(tcp_rmem[2]) / 2, behind which whole-page skbs of 1,448 bytes open no window. */
const CAP = 1572864;
/** The most that one such skb opens it by: 2 * 1,448. */
const INCREMENT = 2896;

type Row = [
  rttMs: number,
  seconds: number,
  goodput: number,
  plateau: number,
  rcvSsthresh: number,
  rcvbuf: number,
  cwnd: number,
  sndbuf: number,
  retrans: number,
  netemDropped: number,
];

const { runs } = fixture<{ runs: Record<string, Row[]> }>(
  "virtio_2013_tcp.json",
);

const virtio = (value: unknown) => ({
  value,
  file: "drivers/net/virtio_net.c",
  symbol: "MERGE_BUFFER_LEN",
  origin: "3.13.0 as measured",
});
/** 3.13's own mergeable buffers: one MTU-sized frame each. */
const mtuBuffers = definePatch({
  name: "mtuBuffers",
  subject: "virtio_net: migrate mergeable rx buffers to page frag allocators",
  date: "2013-10-28",
  thread: "rcvbuf-autotuning",
  fits: () => undefined,
  changes: {
    virtio: {
      mergeable: virtio("mtu"),
      bufferMin: virtio(1536),
      coalesces: virtio(true),
    },
  } as Parameters<typeof definePatch>[0]["changes"],
});

function column(number: number, H: number): Kernel {
  let k = kernel("net-next-2013-10", { maxTcpHeader: H });
  if (number >= 2) k = k.am(patches.sndbufAutotuning!);
  if (number === 3) k = k.am(patches.rcvbufExpand!);
  return k;
}

/** Runs that are played, by plan and column; shared by the tests. */
const played = new Map<string, { row: Row; run: StreamResult }[]>();

function play(plan: string): Map<number, { row: Row; run: StreamResult }[]> {
  const columns = new Map<number, { row: Row; run: StreamResult }[]>();
  for (const [key, rows] of Object.entries(runs)) {
    const [name, text] = key.split(" | column ");
    if (name !== plan) continue;
    const number = Number(text);
    let results = played.get(key);
    if (results === undefined) {
      let k = column(number, plan === "H 304" ? 304 : 256);
      if (plan === "stock virtio_net") k = k.am(mtuBuffers);
      const tso = plan === "main TSO on";
      results = rows.map((row) => ({
        row,
        run: netperf({
          kernel: k,
          path: "virtio-mergeable",
          rttMs: row[0],
          latencyMs: tso ? LATENCY_TSO_MS : LATENCY_MS,
          seconds: row[1],
          tso,
          ring: 10000,
          netem: plan.startsWith("netem limit 1000") ? { limit: 1000 } : {},
          host: HOST,
        }),
      }));
      played.set(key, results);
    }
    columns.set(number, results);
  }
  assert(columns.size > 0, `no runs of plan ${plan}`);
  return columns;
}

function plateaus(plan: string, tolerance: number, from: number): void {
  for (const [number, results] of play(plan)) {
    for (const { row, run } of results) {
      const [rttMs, , , plateau] = row;
      if (rttMs < from) continue;
      assertAlmostEquals(
        run.goodputSecondHalf,
        plateau,
        tolerance * plateau,
        `${plan}, column ${number}, ${rttMs} ms`,
      );
    }
  }
}

Deno.test("virtio_2013, TSO off: rcv_ssthresh stops behind half of win(tcp_rmem[2]), within one increment", () => {
  for (
    const plan of ["main TSO off", "H 304", "netem limit 1000, 60 s"]
  ) {
    for (const results of play(plan).values()) {
      for (const { row, run } of results) {
        for (const ssthresh of [row[4], run.flows[0]!.rcvSsthresh]) {
          assert(
            ssthresh > CAP && ssthresh <= CAP + INCREMENT,
            `${plan}, ${row[0]} ms: ${ssthresh}`,
          );
        }
      }
    }
  }
});

Deno.test("virtio_2013, TSO off: the plateau within 5 % from 75 ms on, cwnd within 3 segments, nothing lost", () => {
  plateaus("main TSO off", 0.05, 100);
  plateaus("low RTT, tap queue 500", 0.05, 75);
  for (const results of play("main TSO off").values()) {
    for (const { row, run } of results) {
      const flow = run.flows[0]!;
      assertAlmostEquals(flow.cwnd, row[6], 3);
      assert(flow.sndbuf === row[7] && flow.rcvbuf === row[5]);
      assert(flow.sender.RetransSegs === row[8]);
    }
  }
});

Deno.test("virtio_2013, TSO on: the plateau within 8 % from 100 ms on, rcv_ssthresh within 1 %", () => {
  plateaus("main TSO on", 0.08, 100);
  for (const results of play("main TSO on").values()) {
    for (const { row, run } of results) {
      assertAlmostEquals(run.flows[0]!.rcvSsthresh, row[4], 0.01 * row[4]);
    }
  }
});

Deno.test("virtio_2013, H 304: the plateau within 10 %, and cwnd stops at the 963 skbs of 4,352 that 4 MiB hold", () => {
  plateaus("H 304", 0.1, 100);
  for (const results of play("H 304").values()) {
    for (const { row, run } of results) {
      assertAlmostEquals(run.flows[0]!.cwnd, row[6], 1);
    }
  }
});

Deno.test("virtio_2013, MTU-sized buffers: the plateau within 10 %, and cwnd stops at the 1,820 skbs that 4 MiB hold", () => {
  plateaus("stock virtio_net", 0.1, 100);
  for (const { row, run } of play("stock virtio_net").get(2)!) {
    const flow = run.flows[0]!;
    assertAlmostEquals(flow.cwnd, row[6], 1);
    assertAlmostEquals(flow.rcvSsthresh, row[4], INCREMENT);
  }
});

Deno.test("virtio_2013, netem limit 1,000: the plateau within 10 %, refused packets and no retransmission", () => {
  for (const plan of ["netem limit 1000", "netem limit 1000, 60 s"]) {
    plateaus(plan, 0.1, 50);
    for (const results of play(plan).values()) {
      for (const { row, run } of results) {
        assert(row[9] > 0 && run.link.overlimit > 0);
        assert(run.flows[0]!.sender.RetransSegs === row[8]);
      }
    }
  }
});

Deno.test("virtio_2013: the three columns have the same plateau, within 2 %", () => {
  for (const plan of ["main TSO off", "main TSO on", "netem limit 1000"]) {
    const columns = play(plan);
    for (const { row, run } of columns.get(1)!) {
      const [rttMs] = row;
      // At 50 ms with TSO on emulation bounds what was measured.
      if (plan === "main TSO on" && rttMs < 100) continue;
      for (const number of [2, 3]) {
        const other = columns.get(number)!.find((it) => it.row[0] === rttMs)!;
        assertAlmostEquals(
          other.run.goodputSecondHalf,
          run.goodputSecondHalf,
          0.02 * run.goodputSecondHalf,
          `${plan}, columns 1 and ${number}, ${rttMs} ms`,
        );
      }
    }
  }
});
