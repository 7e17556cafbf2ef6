/** Initial sizes in closed form, by MAX_TCP_HEADER, MSS and release. */

import { assertEquals } from "@std/assert";
import { patches } from "../../lib/patches/mod.ts";
import { kernel } from "../../lib/releases/mod.ts";
import {
  defaultInitRwnd,
  establishedRcvbuf,
  initialSndbuf,
  selectInitialWindow,
  sndbufPerMss,
} from "../../lib/tcp/initial.ts";
import { initialBuffers } from "../../lib/tcp/initial_buffers.ts";
import { winFromSpace } from "../../lib/tcp/space.ts";

const H = [160, 256, 272, 304] as const;
const WMEM = [4096, 16384, 4194304] as const;

Deno.test("default_init_rwnd: 20 segments, fewer of large ones, two at least", () => {
  const of = [536, 1448, 1460, 2304, 4352, 8948, 8960, 16640];
  assertEquals(of.map(defaultInitRwnd), [20, 20, 20, 12, 6, 3, 3, 2]);
});

Deno.test("initial rcvbuf: 2 * 20 * SKB_TRUESIZE(MSS + H) in 3.12, four times that from b0983d3c9b13 on", () => {
  // [H, MSS, 3.13, 3.12 before tcp_rmem[1] raises it]
  const table = [
    [160, 1448, 349440, 87360],
    [160, 1460, 351360, 87840],
    [160, 536, 203520, 50880],
    [160, 8948, 232416, 58104],
    [256, 1448, 364800, 91200],
    [256, 1460, 366720, 91680],
    [256, 536, 218880, 54720],
    [256, 8948, 234720, 58680],
    [272, 1448, 367360, 91840],
    [272, 1460, 369280, 92320],
    [272, 8948, 235104, 58776],
    [304, 1460, 374400, 93600],
    [304, 536, 226560, 56640],
    [304, 8948, 235872, 58968],
  ] as const;
  for (const [maxTcpHeader, mss, newer, older] of table) {
    const at = (name: string) =>
      establishedRcvbuf(kernel(name, { maxTcpHeader }), mss, mss - 12);
    assertEquals([at("net-next-2013-10"), at("3.12")], [newer, older]);
  }
});

Deno.test("initial rcvbuf of the thread's patch: a truesize in place of the MSS lowers the segment count to 12, 6 or 2", () => {
  const expected: Record<number, Record<number, number>> = {
    160: { 536: 204800, 1460: 221184, 8948: 266240 },
    256: { 536: 221184, 1460: 221184, 8948: 266240 },
    272: { 536: 221184, 1460: 208896, 8948: 266240 },
    304: { 536: 221184, 1460: 208896, 8948: 266240 },
  };
  for (const maxTcpHeader of H) {
    const k = kernel("net-next-2013-10", { maxTcpHeader })
      .am(patches.sndbufAutotuning!, patches.rcvbufExpand!);
    for (const [mss, rcvbuf] of Object.entries(expected[maxTcpHeader]!)) {
      assertEquals(establishedRcvbuf(k, Number(mss), Number(mss)), rcvbuf);
    }
  }
});

Deno.test("send buffer: a segment's cost and the first size before and after 6ae705323", () => {
  // [H, MSS option, old cost, old size, new cost, new size]
  const table = [
    [160, 1460, 2196, 21960, 2304, 46080],
    [256, 1460, 2292, 22920, 2304, 46080],
    [272, 1460, 2308, 23080, 4352, 87040],
    [304, 1460, 2340, 23400, 4352, 87040],
    [304, 536, 1416, 16384, 2304, 46080],
    [304, 8948, 9828, 98280, 16640, 332800],
  ] as const;
  for (const [maxTcpHeader, mss, ...expected] of table) {
    const before = kernel("net-next-2013-10", { maxTcpHeader });
    const after = before.am(patches.sndbufAutotuning!);
    assertEquals([
      sndbufPerMss(before, mss, mss),
      initialSndbuf(before, mss, mss - 12, WMEM),
      sndbufPerMss(after, mss, mss),
      initialSndbuf(after, mss, mss - 12, WMEM),
    ], expected);
  }
});

Deno.test("first windows by release: SYN-ACK 28,960, 65,160, 31,856, and a scale that covers tcp_rmem[2]", () => {
  for (
    const [name, synAckWindow, windowScale, rcvSsthresh] of [
      ["3.12", 28960, 7, 28960],
      ["net-next-2013-10", 28960, 7, 28960],
      ["4.3", 28960, 7, 28960],
      ["6.1", 65160, 7, 64088],
      ["6.8", 31856, 7, 31820],
      ["6.12", 65160, 7, 64088],
    ] as const
  ) {
    const got = initialBuffers({
      kernel: kernel(name),
      tcpRmem: name < "4.4" || name === "net-next-2013-10"
        ? [4096, 87380, 6291456]
        : [4096, 131072, 6291456],
    });
    assertEquals(
      [got.synAckWindow, got.windowScale, got.rcvSsthresh],
      [synAckWindow, windowScale, rcvSsthresh],
      name,
    );
  }
  const wide = initialBuffers({
    kernel: kernel("6.18"),
    tcpRmem: [4096, 131072, 33554432],
  });
  assertEquals(wide.windowScale, 10);
});

Deno.test("select_initial_window: whole segments, bounded by SO_RCVBUF, no scale where 64 KiB are all", () => {
  const k = kernel("3.12");
  assertEquals(selectInitialWindow(k, 43690, 1448, 6291456, 0), {
    rcvWnd: 28960,
    clamp: 65535 * 128,
    wscale: 7,
  });
  assertEquals(selectInitialWindow(k, 10000, 1448, 65535, 0), {
    rcvWnd: 8688,
    clamp: 65535,
    wscale: 0,
  });
  // A space of less than a segment stays what it is.
  assertEquals(selectInitialWindow(k, 1000, 1448, 65535, 1000).rcvWnd, 1000);
});

Deno.test("the passive end sizes its buffer with the full MSS, the active one less the timestamps; 2025 changes that", () => {
  // rcv_space is min(rcv_ssthresh, rcv_wnd, 10 * advmss).
  for (const [name, rcvSpace] of [["6.8", 14600], ["6.1", 14480]] as const) {
    assertEquals(initialBuffers({ kernel: kernel(name) }).rcvSpace, rcvSpace);
  }
});

Deno.test("win_from_space: half rounded up, three quarters, double", () => {
  assertEquals(
    [4864, 4863, 6291456].map((space) => winFromSpace(1, space)),
    [2432, 2432, 3145728],
  );
  assertEquals(winFromSpace(2, 6291456), 4718592);
  assertEquals(winFromSpace(-1, 6291456), 3145728);
});
