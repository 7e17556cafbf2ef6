/** First windows and buffers of every connection measured on 6.18, and of the thread's columns built as 3.13.0. */

import {
  type InitialBuffers,
  initialBuffers,
  kernel,
  patches,
  type Sizes,
} from "@truesize/lab";
import { fixture, Tally } from "./rows.ts";

interface End {
  rcv_mss: number;
  rcv_ssthresh: number;
  rcv_space: number;
  rcv_wscale: number;
  rcvbuf: number;
  sndbuf: number;
}

interface Row {
  dev: string;
  mtu: number;
  tcp_rmem: string;
  tcp_wmem: string;
  so_rcvbuf: number | null;
  so_sndbuf: number | null;
  adv_win_scale: number;
  timestamps: 0 | 1;
  cc: "cubic" | "reno" | "bbr";
  syn: { win: number; wscale: number };
  synack: { win: number; wscale: number };
  server_established: End;
}

/** `tcp_rmem` or `tcp_wmem` as sysctl prints it. */
function sysctl(text: string): Sizes {
  return text.split(" ").map(Number) as unknown as Sizes;
}

Deno.test("tcp_initial.json: windows, buffers, scale and first estimates of every connection", () => {
  const k = kernel("6.18");
  const tally = new Tally();
  for (const row of fixture<{ rows: Row[] }>("tcp_initial.json").rows) {
    const model = initialBuffers({
      kernel: k,
      mtu: row.mtu,
      tcpRmem: sysctl(row.tcp_rmem),
      tcpWmem: sysctl(row.tcp_wmem),
      rmemMax: 4194304,
      wmemMax: 4194304,
      soRcvbuf: row.so_rcvbuf ?? undefined,
      soSndbuf: row.so_sndbuf ?? undefined,
      timestamps: row.timestamps === 1,
      advWinScale: row.adv_win_scale,
      congestionControl: row.cc,
    });
    const { syn, synack, server_established: end } = row;
    tally.row(
      () =>
        `${row.dev}, mtu ${row.mtu}, ${row.cc}, tcp_rmem ${row.tcp_rmem}, SO_RCVBUF ${row.so_rcvbuf}`,
      [
        model.rcvbuf,
        model.sndbuf,
        model.rcvSsthresh,
        model.rcvSpace,
        model.rcvMss,
        model.synWindow,
        model.synAckWindow,
        model.windowScale,
        model.windowScale,
      ],
      [
        end.rcvbuf,
        end.sndbuf,
        end.rcv_ssthresh,
        end.rcv_space,
        end.rcv_mss,
        syn.win,
        synack.win,
        syn.wscale,
        synack.wscale,
      ],
    );
  }
  tally.done("tcp_initial.json");
});

Deno.test("virtio_2013: what each column starts with, for both sizes of MAX_TCP_HEADER", () => {
  const { initial } = fixture<
    { initial: ({ H: number; column: number } & InitialBuffers)[] }
  >("virtio_2013_tcp.json");
  const tally = new Tally();
  for (const { H, column, ...measured } of initial) {
    let k = kernel("net-next-2013-10", { maxTcpHeader: H });
    if (column >= 2) k = k.am(patches.sndbufAutotuning!);
    if (column === 3) k = k.am(patches.rcvbufExpand!);
    const model = initialBuffers({ kernel: k });
    for (const [name, bytes] of Object.entries(measured)) {
      tally.row(
        () => `H ${H}, column ${column}: ${name}`,
        model[name as keyof InitialBuffers],
        bytes,
      );
    }
  }
  tally.done("virtio_2013_tcp.json, initial");
});
