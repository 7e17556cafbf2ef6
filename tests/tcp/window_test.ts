/** The window of an ACK: offered, rounded, never taken back, closed. */

import { assertEquals } from "@std/assert";
import { windowCap } from "../../lib/tcp/window_cap.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { TcpMemory } from "../../lib/tcp/memory.ts";
import type { ReceiverSock } from "../../lib/tcp/receiver_sock.ts";
import { selectSpace, selectWindow } from "../../lib/tcp/window.ts";
import { receiverSock } from "./sockets.ts";

/** A scaled socket with a full buffer to offer. */
function wide(name: string): ReceiverSock {
  const sk = receiverSock({ kernel: kernel(name) });
  sk.rcvbuf = 6291456;
  sk.windowClamp = 3145728;
  sk.rcvMss = 1448;
  return sk;
}

Deno.test("select_window: an offer rounds up to the scale", () => {
  const sk = wide("net-next-2013-10");
  sk.rcvSsthresh = 100001;
  assertEquals([sk.wscale, selectWindow(sk)], [7, 100096]);
});

Deno.test("select_window: what was offered is never taken back", () => {
  for (const name of ["3.12", "4.3", "6.1", "6.18"]) {
    const sk = wide(name);
    sk.rcvSsthresh = 1000000;
    selectWindow(sk);
    const edge = sk.rcvNxt + sk.rcvWnd;
    sk.rcvNxt += 400000;
    // Four hundred thousand bytes arrived and fill the buffer; the offer would be zero.
    sk.rmemAlloc = sk.rcvbuf;
    assertEquals(selectSpace(sk), 0);
    selectWindow(sk);
    assertEquals(sk.rcvNxt + sk.rcvWnd >= edge, true, name);
    assertEquals(sk.rcvNxt + sk.rcvWnd < edge + sk.wscaleUnit, true, name);
    assertEquals(sk.counters.TCPWantZeroWindowAdv, 1);
    assertEquals(sk.quick, 0);
  }
});

Deno.test("zero window: below one segment up to 3.14, below a sixteenth of the buffer from 3.15 on", () => {
  // 1,448 * 20 of 3,145,728 is less than a sixteenth.
  for (const [name, offer] of [["3.12", 28960], ["4.3", 0]] as const) {
    const sk = wide(name);
    sk.rcvSsthresh = 1000000;
    sk.rmemAlloc = sk.rcvbuf - 2 * 28960;
    // 28,960 rounds up to the scale where it is offered.
    assertEquals(selectSpace(sk), Math.ceil(offer / 128) * 128, name);
    sk.rmemAlloc = sk.rcvbuf - 2 * 1447;
    assertEquals(selectSpace(sk), 0, name);
  }
});

Deno.test("zero window: to and from it are counted once", () => {
  const sk = wide("6.1");
  sk.rcvSsthresh = 1000000;
  selectWindow(sk);
  sk.rcvNxt = sk.rcvWup + sk.rcvWnd;
  sk.rmemAlloc = sk.rcvbuf;
  assertEquals([selectWindow(sk), selectWindow(sk)], [0, 0]);
  assertEquals(sk.counters.TCPToZeroWindowAdv, 1);
  sk.rmemAlloc = 0;
  assertEquals(selectWindow(sk), 1000064);
  assertEquals(sk.counters.TCPFromZeroWindowAdv, 1);
});

Deno.test("no scaling: the window moves in whole segments, and only when one fits", () => {
  const sk = receiverSock({
    kernel: kernel("3.12"),
    lockedRcvbuf: 20000,
    rmem: [4096, 20000, 20000],
    rmemMax: 20000,
  });
  assertEquals(sk.wscale, 0);
  sk.rcvMss = 1448;
  sk.rcvSsthresh = 10000;
  sk.windowClamp = 10000;
  sk.rcvWnd = 0;
  // 10,000 is six segments and a rest.
  assertEquals(selectSpace(sk), 8688);
  sk.rcvWnd = 8688;
  assertEquals(selectSpace(sk), 8688);
  sk.rcvWnd = 9000;
  assertEquals(selectSpace(sk), 9000);
});

Deno.test("memory pressure: a socket that uses half of its buffer offers four segments", () => {
  const memory = new TcpMemory([10, 20, 40]);
  memory.force(30);
  const sk = receiverSock({ kernel: kernel("6.1"), memory });
  sk.rcvSsthresh = 60000;
  sk.rmemAlloc = 80000;
  selectSpace(sk);
  assertEquals(sk.rcvSsthresh, 5792);
});

Deno.test("free space: what waits in the backlog counts as used in later releases", () => {
  for (const [name, space] of [["4.3", 65536], ["6.1", 45536]] as const) {
    const sk = receiverSock({ kernel: kernel(name) });
    sk.rcvbuf = 131072;
    sk.backlogLen = 40000;
    assertEquals(sk.space(), space, name);
  }
});

Deno.test("windowCap: the closed form, for the streams of 2013 and today's", () => {
  const cap = (payload: number, truesize: number, name = "3.12") =>
    windowCap({
      kernel: kernel(name),
      payload,
      truesize,
      tcpRmem: [4096, 87380, 6291456],
    });
  assertEquals(cap(1448, 4864), 1572864);
  assertEquals(cap(536, 4864), 393216);
  assertEquals(cap(200, 4864), 196608);
  assertEquals(cap(128, 4864), 98304);
  assertEquals(cap(1448, 2304), 3145728);
  assertEquals(cap(8948, 13056), 3145728);
  assertEquals(cap(65160, 66304), 3145728);
  assertEquals(cap(1448, 4352, "6.1"), 1572864);
  assertEquals(cap(1448, 2816, "6.1"), 3145728);
  // A ratio of 85, 160 and 76 of 256.
  assertEquals(cap(1448, 4352, "6.12"), 2088960);
  assertEquals(cap(1448, 2304, "6.18"), 3932160);
  assertEquals(cap(1448, 4864, "6.8"), 1867776);
});

Deno.test("windowCap: tcp_adv_win_scale 2 gives three quarters, of which a whole page opens a quarter", () => {
  const stream = {
    kernel: kernel("3.12"),
    payload: 1448,
    tcpRmem: [4096, 87380, 6291456],
    advWinScale: 2,
  } as const;
  // win(4,864) = 3,648 needs two halvings to be below 1,448.
  assertEquals(windowCap({ ...stream, truesize: 4864 }), 1179648);
  assertEquals(windowCap({ ...stream, truesize: 2304 }), 2359296);
});
