/**
 * Every fill of a TCP socket measured on 6.18 over veth and loopback: 54 cases, row by row.
 *
 * What the file does not hold is how fast the test program wrote, where the kernel's tick stood when it began, and where
 * its task stood in its page fragment. One pace serves all cases but those named in PACE and OFFSET, whose rows say that
 * theirs was another: the delayed ACK then falls on another write, or a write straddles another block.
 */

import { assert, assertEquals } from "@std/assert";
import {
  tcpFill,
  type TcpFillOptions,
  type TcpFillRow,
} from "../../lib/experiments/tcp_fill.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { fixture } from "./rows.ts";

type Row = [
  queued: number,
  rmemAlloc: number,
  rcvbuf: number,
  rcvWnd: number,
  rcvSsthresh: number,
  forwardAlloc: number,
  backlog: number,
  segments: number,
];
interface Case {
  readonly case: string;
  readonly write: number;
  readonly so_rcvbuf: number | null;
  readonly first_rmem_increments: number[];
  readonly rows: Row[];
  readonly end: {
    readonly writes: number;
    readonly stopped_by_time: boolean;
    readonly queued: number;
    readonly rmem_alloc: number;
    readonly rcvbuf: number;
    readonly rcv_wnd: number;
    readonly sender: { readonly wmem_queued: number };
  };
  readonly receiver_counters: Record<string, number>;
}

const { cases } = fixture<{ cases: Case[] }>("tcp_truesize.json");

/** The measured build: what its heads without scatter-gather hold fits a MAX_TCP_HEADER of 192 alone. */
const k = kernel("6.18", { maxTcpHeader: 192, maxHeader: 32 });

/** Gap between writes and the tick's phase, ms: of all cases but those below. */
const USUAL = { gapMs: 0.02, phaseMs: 3 };
const QUICK = { gapMs: 0.002, phaseMs: 2.5 };
const EARLY = { gapMs: 0.02, phaseMs: 0 };
const PACE: Record<number, { gapMs: number; phaseMs: number }> = {
  0: QUICK,
  1: EARLY,
  45: EARLY,
  46: QUICK,
  51: QUICK,
};
/** Bytes of the page fragment that the task had used before; 0 elsewhere. */
const OFFSET: Record<number, number> = {
  12: 8192,
  20: 11264,
  23: 888,
  29: 8192,
};

/** Writes over 4,096 bytes on veth with segments of 1,448: what a poll of the reader sends to the backlog is chance. */
const LARGE = [6, 7, 14, 15, 16, 21, 26, 34, 39];
/** Writes that do not wait for the receiver: the later ones depend on how fast they came. */
const UNPACED = [16, 17];
/** The writer paused after write 22 (a loss probe is counted), which no even pace gives. */
const PAUSED = [19];
/** Two of its delayed ACKs fall on writes that no single pace gives together. */
const UNEVEN = [52];

function optionsOf({ case: name, write, so_rcvbuf, end }: Case, index: number) {
  const loopback = name.startsWith("loopback");
  const options: TcpFillOptions = {
    kernel: k,
    path: loopback ? "loopback" : "veth",
    write,
    soRcvbuf: so_rcvbuf ?? undefined,
    mtu: loopback ? 65536 : name.startsWith("veth9000") ? 9000 : 1500,
    tso: !name.includes("tso,gso off"),
    sg: !name.includes("sg,tso"),
    gro: name.includes("receiver gro on"),
    paced: !name.includes("unpaced"),
    // Where time ended the measurement, it ends after as many writes.
    writes: end.writes,
    seconds: 1000,
    soSndbuf: 4194304,
    sysctl: {
      tcp_rmem: [4096, 131072, 6291456],
      tcp_wmem: [4096, 16384, 4194304],
      rmem_max: 4194304,
      wmem_max: 4194304,
    },
    fragOffset: OFFSET[index] ?? 0,
    ...PACE[index] ?? USUAL,
  };
  return options;
}

const flat = (row: TcpFillRow): Row => [
  row.queued,
  row.rmemAlloc,
  row.rcvbuf,
  row.rcvWnd,
  row.rcvSsthresh,
  row.forwardAlloc,
  row.backlog,
  row.segments,
];

/** Measured rows that are found in the simulated ones, in their order; the window and the count of segments apart or not. */
function found(rows: Row[], measured: Row[], whole: boolean): number {
  const key = (row: Row) =>
    row.filter((_, column) => whole || column !== 3 && column !== 7).join();
  let at = 0;
  let hits = 0;
  for (const row of measured) {
    const wanted = key(row);
    // A row that repeats the one before it is the same moment.
    let from = Math.max(0, at - 1);
    while (from < rows.length && key(rows[from]!) !== wanted) from++;
    if (from === rows.length) continue;
    hits++;
    at = from + 1;
  }
  return hits;
}

Deno.test("tcp_truesize.json: paced fills, byte for byte", () => {
  let checked = 0;
  let memory = 0;
  let whole = 0;
  const wrong: string[] = [];
  cases.forEach((measured, index) => {
    if ([...LARGE, ...UNPACED, ...PAUSED, ...UNEVEN].includes(index)) return;
    const fill = tcpFill(optionsOf(measured, index));
    const name = `${index}: ${measured.case}, ${measured.write} bytes`;
    const increments = fill.increments.slice(
      0,
      measured.first_rmem_increments.length,
    );
    const { end } = measured;
    assertEquals(increments, measured.first_rmem_increments, name);
    assertEquals(
      [fill.writes, fill.end.queued, fill.end.rmemAlloc, fill.end.rcvbuf],
      [end.writes, end.queued, end.rmem_alloc, end.rcvbuf],
      name,
    );
    assertEquals(fill.end.rcvWnd, end.rcv_wnd, name);
    if (measured.write <= 4096) {
      assertEquals(fill.wmemQueued, end.sender.wmem_queued, name);
    }
    const rows = fill.rows.map(flat);
    checked += measured.rows.length;
    const bytes = found(rows, measured.rows, false);
    memory += bytes;
    if (bytes < measured.rows.length) wrong.push(name);
    whole += found(rows, measured.rows, true);
    const { receiver } = fill;
    assertEquals(
      [receiver.PruneCalled, receiver.TCPRcvCollapsed],
      [
        measured.receiver_counters.TcpExtPruneCalled ?? 0,
        measured.receiver_counters.TcpExtTCPRcvCollapsed ?? 0,
      ],
      name,
    );
  });
  console.log(
    `tcp_truesize.json: ${checked} rows checked / ${memory} agreeing in memory / ${whole} with window and segments`,
  );
  assertEquals(wrong, []);
  assertEquals(memory, checked);
  // A window sampled before or after its ACK, and one probe that was sent twice.
  assert(checked - whole <= 6, `${checked - whole} rows differ`);
});

Deno.test("tcp_truesize.json: large writes, within one skb", () => {
  for (const index of LARGE) {
    const measured = cases[index]!;
    const fill = tcpFill(optionsOf(measured, index));
    const name = `${index}: ${measured.case}, ${measured.write} bytes`;
    // What half of the initial window sends at once.
    const mss = measured.case.startsWith("veth9000") ? 8948 : 1448;
    const skb = 5 * mss + 832;
    const { end } = measured;
    assert(
      Math.abs(fill.end.rmemAlloc - end.rmem_alloc) <= skb,
      `${name}: ${fill.end.rmemAlloc}, measured ${end.rmem_alloc}`,
    );
    assert(
      Math.abs(fill.end.queued - end.queued) <= skb,
      `${name}: ${fill.end.queued}, measured ${end.queued}`,
    );
    assertEquals(fill.end.rcvbuf, end.rcvbuf, name);
    assertEquals(fill.end.rcvWnd, end.rcv_wnd, name);
  }
});

Deno.test("tcp_truesize.json: where the pace decides, up to there", () => {
  const unpaced = tcpFill(optionsOf(cases[17]!, 17));
  assertEquals(
    unpaced.increments.slice(0, 26),
    cases[17]!.first_rmem_increments.slice(0, 26),
  );
  const paused = tcpFill(optionsOf(cases[19]!, 19));
  assertEquals(
    paused.increments.slice(0, 22),
    cases[19]!.first_rmem_increments.slice(0, 22),
  );
  const { rows } = cases[19]!;
  // The 23rd segment at 22 writes is the probe of the pause.
  assertEquals([rows[22]![0], rows[22]![7]], [2200, 23]);
});

Deno.test("tcp_truesize.json: an uneven pace ends within one write", () => {
  for (const index of UNEVEN) {
    const measured = cases[index]!;
    const fill = tcpFill(optionsOf(measured, index));
    assertEquals(
      fill.increments.slice(0, 40),
      measured.first_rmem_increments,
    );
    const { queued, rmem_alloc: rmemAlloc } = measured.end;
    assert(Math.abs(fill.end.queued - queued) <= 100, `${fill.end.queued}`);
    assert(Math.abs(fill.end.rmemAlloc - rmemAlloc) <= 932);
    assertEquals(
      [fill.receiver.PruneCalled, fill.receiver.TCPRcvCollapsed],
      [12, 723],
    );
  }
});

Deno.test("tcp_truesize.json: every case belongs to a test above", () => {
  assertEquals(cases.length, 54);
  const rows = cases.reduce((sum, each) => sum + each.rows.length, 0);
  assertEquals(rows, 2948);
});
