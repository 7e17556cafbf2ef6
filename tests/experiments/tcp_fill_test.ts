/** A TCP socket that nobody reads: what merges, what a full buffer does, what reading gives back. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { tcpFill } from "../../lib/experiments/tcp_fill.ts";
import { kernel } from "../../lib/releases/mod.ts";

const k = kernel("6.18");
const veth = { kernel: k, path: "veth" as const };

Deno.test("17 fragments fill an skb, the 18th write pays for a head", () => {
  const { increments } = tcpFill({ ...veth, write: 1448, writes: 18 });
  assertEquals(increments, [2280, ...Array(16).fill(1448), 2280]);
});

Deno.test("a write that straddles two blocks takes two fragments", () => {
  const fill = tcpFill({
    ...veth,
    write: 1448,
    writes: 18,
    fragOffset: 32768 - 1000,
  });
  assertEquals(fill.increments.slice(15, 17), [1448, 2280]);
  // Less than 32 bytes at a block's end are left, so nothing straddles.
  const aligned = tcpFill({
    ...veth,
    write: 1448,
    writes: 18,
    fragOffset: 32768 - 1448 - 31,
  });
  assertEquals(aligned.increments.slice(15), [1448, 1448, 2280]);
});

Deno.test("nothing is merged into an skb whose clone the sender still holds", () => {
  // 16 quick ACKs; then ten writes of a full window and one that a loss probe forces out wait for the delayed ACK.
  const { increments } = tcpFill({ ...veth, write: 1, writes: 29 });
  assertEquals(increments.slice(17), [...Array(10).fill(833), 1, 1]);
});

Deno.test("segments that software cut have heads of their own and merge at once", () => {
  const { increments } = tcpFill({
    ...veth,
    tso: false,
    gro: true,
    write: 1,
    writes: 29,
  });
  assertEquals(increments.slice(17), [833, ...Array(11).fill(1)]);
});

Deno.test("a full buffer is raised; one that SO_RCVBUF fixed is collapsed", () => {
  const raised = tcpFill({ ...veth, write: 1, writes: 600 });
  assert(raised.end.rcvbuf > 2 * 131072);
  assertEquals(raised.receiver.TCPRcvCollapsed, 0);
  const fixed = tcpFill({
    ...veth,
    write: 1,
    writes: 600,
    soRcvbuf: 65536,
    sysctl: { rmem_max: 4194304 },
  });
  assertEquals(fixed.end.rcvbuf, 131072);
  assertEquals(fixed.end.rmemAlloc, 1280);
  assert(fixed.receiver.TCPRcvCollapsed > 0);
});

Deno.test("a closed window ends the fill; reading empties the buffer and opens it", () => {
  for (
    const release of ["3.12", "net-next-2013-10", "4.3", "6.1", "6.12", "6.18"]
  ) {
    for (const path of ["loopback", "veth"] as const) {
      const fill = tcpFill({
        kernel: kernel(release),
        path,
        write: 4096,
        soSndbuf: 1 << 20,
        sysctl: { wmem_max: 1 << 20 },
        reads: [1000, 1e6, 1e6, 1e6, 1e6],
      });
      assert(!fill.stoppedByTime, release);
      assertEquals(fill.drain.length, 5);
      const last = fill.drain[4]!;
      assertEquals([last.queued, last.rmemAlloc], [0, 0], `${release} ${path}`);
      assert(last.rcvWnd > 0);
      assertEquals(
        fill.drain[0]!.queued,
        fill.end.queued - 1000,
        `${release} ${path}`,
      );
    }
  }
});

Deno.test("tcpFill names what it refuses", () => {
  const bad = (more: Record<string, unknown>) => () =>
    tcpFill({ ...veth, write: 1, ...more } as Parameters<typeof tcpFill>[0]);
  assertThrows(bad({ path: "virtio-big" }), RangeError, "path");
  assertThrows(bad({ write: 0 }), RangeError, "write");
  assertThrows(bad({ writes: 1.5 }), RangeError, "writes");
  assertThrows(bad({ gapMs: -1 }), RangeError, "gapMs");
  assertThrows(bad({ gapMs: "1" }), TypeError, "gapMs");
  assertThrows(bad({ fragOffset: 32768 }), RangeError, "fragOffset");
  assertThrows(bad({ reads: [0] }), RangeError, "reads[0]");
  assertThrows(bad({ hurry: true }), TypeError, "hurry");
  assertThrows(bad({ kernel: {} }), TypeError, "kernel");
});
