/** A past that prints the same values, and what comes of it: against fills whose end is simulated, of several releases. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { explain, kernel, tcpFill, type TcpFillRow } from "@truesize/lab";
import { fillSetup } from "../../lib/experiments/tcp_fill.ts";
import { FillRun } from "../../lib/experiments/tcp_fill_run.ts";

const SNDBUF = 4 << 20;
const fill = {
  soSndbuf: SNDBUF,
  sysctl: { wmem_max: SNDBUF },
  gapMs: 0.02,
  phaseMs: 3,
};

function ask(
  release: string,
  size: number,
  row: TcpFillRow,
  more: { path?: "loopback" | "veth"; received?: number } = {},
) {
  const { queued, rmemAlloc, rcvbuf, forwardAlloc, rcvWnd, rcvSsthresh } = row;
  return explain({
    protocol: "tcp",
    unread: queued,
    received: more.received ?? queued,
    segments: row.segments,
    rmemAlloc,
    rcvbuf,
    forwardAlloc,
    rcvWnd,
    rcvSsthresh,
  }, {
    kernel: kernel(release),
    path: more.path ?? "veth",
    size,
    suggest: false,
  });
}

Deno.test("the end of a fill from any of its rows, on several releases", () => {
  for (const release of ["4.3", "6.1"]) {
    for (const path of ["loopback", "veth"] as const) {
      const { rows, end } = tcpFill({
        ...fill,
        kernel: kernel(release),
        path,
        write: 4096,
      });
      for (let i = 0; i < rows.length; i += 11) {
        const row = rows[i]!;
        const why = ask(release, 4096, row, { path });
        const name = `${release} ${path} row ${i}`;
        assertEquals(why.bytes, end.queued - row.queued, name);
        assertEquals(why.rmemAlloc, end.rmemAlloc, name);
        assertEquals(why.packets, Math.floor(why.bytes / 4096), name);
        assert(why.kinds.packets !== "unexplained", name);
      }
    }
  }
});

Deno.test("a writer that paused, and one that found no room for its fragment", () => {
  const options = {
    ...fill,
    kernel: kernel("6.18"),
    path: "veth" as const,
    write: 1448,
  };
  const run = new FillRun(...fillSetup({ ...options, write: 536 }));
  while (run.writes < 24) run.write();
  run.settle();
  const paused = run.row();
  while (run.stalled < 4) run.write();
  run.settle();
  const why = ask("6.18", 536, paused);
  assertEquals(why.bytes, run.queued - paused.queued);
  assertStringIncludes(why.note!, "the writer had paused");

  // Nothing of that is told: neither offloads nor where the page fragment stood.
  for (
    const [hidden, told] of [
      [{ fragOffset: 888 }, "SO_RCVBUF not set"],
      [{ tso: false, gro: true }, "no TSO, GRO"],
    ] as const
  ) {
    const { rows, end } = tcpFill({ ...options, ...hidden });
    const { queued, rmemAlloc, rcvbuf, rcvWnd } = rows[60]!;
    const found = explain({
      protocol: "tcp",
      unread: queued,
      rmemAlloc,
      rcvbuf,
      rcvWnd,
    }, { kernel: options.kernel, path: "veth", size: 1448, suggest: false });
    assertEquals(found.bytes, end.queued - queued);
    assertStringIncludes(found.note!, told);
  }
});

Deno.test("what no unread socket prints is an estimate that says so", () => {
  const row: TcpFillRow = {
    queued: 8192,
    rmemAlloc: 9024,
    rcvbuf: 131072,
    rcvWnd: 81920,
    rcvSsthresh: 81544,
    forwardAlloc: 3264,
    backlog: 0,
    segments: 6,
  };
  const notes = [
    ask("6.18", 4096, row, { received: 12288 }).note!,
    ask("6.18", 4096, { ...row, rcvWnd: 81921 }).note!,
    ask("6.18", 1000, row).note!,
    ask("6.18", 4096, { ...row, rcvbuf: 65536 }).note!,
  ];
  for (const note of notes) assertStringIncludes(note, "an estimate: ");
  assertStringIncludes(notes[0]!, "4096 of 12288 bytes were read");
  assertStringIncludes(notes[1]!, "rcv_wnd 81921 where such a history has");
  assertStringIncludes(
    notes[2]!,
    "8192 unread bytes, which writes of 1000 do not leave",
  );
  assertStringIncludes(notes[3]!, "where such a history has");
  for (const note of notes) assertStringIncludes(note, "is not printed");
});
