import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  datagramsUntilDrop,
  explain,
  kernel,
  kindMarks,
  netperf,
  type PacketPath,
  readNstat,
  readSs,
  type SocketNumbers,
  whatIf,
} from "@truesize/lab";

type DropRow = [
  path: string,
  value: number | null,
  rcvbuf: number,
  payload: number,
  queued: number,
  rmemAlloc: number,
  sent: number,
  increments: [number, number][],
  ...unknown[],
];

const drops: { rows: DropRow[] } = JSON.parse(
  Deno.readTextFileSync(
    new URL("../fixtures/udp_drop.json", import.meta.url),
  ),
);

Deno.test("from the printed values of every row of udp_drop.json the drop is predicted", () => {
  const k = kernel("6.18");
  const wrong: string[] = [];
  let predictions = 0;
  for (
    const [where, , rcvbuf, size, queued, most, , increments] of drops.rows
  ) {
    const path = /^(loopback|veth|tap)/.exec(where)![1] as PacketPath;
    const napiFrags = path === "tap" ? [42, size] : undefined;
    const mtu = /mtu(\d+)/.exec(where)?.[1];
    const charges = increments.flatMap(([bytes, n]) => Array(n).fill(bytes));
    assertEquals(charges.length, queued);
    for (const held of new Set([0, 1, queued >> 1, queued - 1, queued])) {
      const r = charges.slice(0, held).reduce((sum, bytes) => sum + bytes, 0);
      const [socket] = readSs(
        `udp UNCONN ${r} 0 127.0.0.1:4500 0.0.0.0:*\n\t skmem:(r${r},rb${rcvbuf},t0,tb212992,f0,w0,o0,bl0,d0)\n`,
      ).sockets;
      const why = explain(socket!, {
        kernel: k,
        path,
        napiFrags,
        mtu: mtu === undefined ? undefined : Number(mtu),
        size,
        suggest: false,
      });
      predictions++;
      if (why.packets !== queued - held || why.rmemAlloc !== most) {
        wrong.push(`${where} rb${rcvbuf} ${size}: ${why.packets} from ${held}`);
      }
    }
  }
  assertEquals(wrong, []);
  assert(predictions > 2 * drops.rows.length);
});

Deno.test("complaint: datagrams lost long before SO_RCVBUF is full", () => {
  const row = drops.rows.find(([path, value, , size]) =>
    path === "loopback" && value === 4096 && size === 100
  )!;
  const [, , rcvbuf, size, queued] = row;
  const why = explain({ protocol: "udp", rcvbuf }, {
    kernel: kernel("6.18"),
    path: "loopback",
    size,
    counters: readNstat("UdpRcvbufErrors 7 0.0\n"),
  });
  assertEquals([why.packets, why.charge], [queued, 832]);
  assertEquals(why.packets * size, 900);
  assertEquals(why.signs[0]!.value, 7);
  const [buffer] = why.suggestions;
  assertEquals([buffer!.before, buffer!.after >= 81, buffer!.mends], [
    9,
    true,
    true,
  ]);
  const sk = Number(/sk_rcvbuf (\d+)/.exec(buffer!.change)![1]);
  assertEquals(
    datagramsUntilDrop({
      kernel: kernel("6.18"),
      path: "loopback",
      payload: size,
      rcvbuf: sk,
    }).queued,
    buffer!.after,
  );
});

Deno.test("complaint: buffers of 128 KiB, the 48th packet of any size is the last", () => {
  for (const size of [1, 100, 1448]) {
    const why = explain({ protocol: "tcp", rcvbuf: 6291456 }, {
      kernel: kernel("6.1"),
      truesize: 131328,
      size,
      rttMs: 10,
      suggest: size === 1448,
    });
    assertEquals([why.packets, why.until], [48, "prune"], `size ${size}`);
    assert(why.rmemAlloc > 6291456 && why.rmemAlloc - 131328 <= 6291456);
    if (size !== 1448) continue;
    const buffers = why.suggestions.filter(({ change }) =>
      change.startsWith("driver buffers")
    );
    assert(buffers.length > 0 && buffers.every(({ mends }) => mends), `${why}`);
  }
  const udp = (name: string) =>
    explain({ protocol: "udp", rcvbuf: 6291456 }, {
      kernel: kernel(name),
      truesize: 131328,
      size: 100,
      suggest: false,
    }).packets;
  assertEquals([udp("6.1"), udp("6.18")], [48, 47]);
});

Deno.test("complaint: 2,944 instead of 2,816 bytes freeze the window at 1 MiB", () => {
  const ask = (truesize: number, suggest: boolean) =>
    explain({ protocol: "tcp", rcvbuf: 4194304 }, {
      kernel: kernel("6.1"),
      truesize,
      size: 1448,
      rttMs: 100,
      rateMbit: 160,
      sysctl: { tcp_rmem: [4096, 131072, 4194304] },
      suggest,
    });
  const before = ask(2816, false).window!;
  assertEquals([before.cap, before.mechanism], [2097152, "tcp_win_from_space"]);
  const why = ask(2944, true);
  const { cap, mechanism, mostMbit, bdp, rmemNeeded } = why.window!;
  assertEquals([cap, mechanism], [1048576, "tcp_grow_window"]);
  assertEquals(Math.round(mostMbit! * 10), 839);
  // Half of ceil(x / 2) must be 2,000,000 at least.
  assertEquals([bdp, rmemNeeded], [2000000, 7999999]);
  const helps = why.suggestions.filter(({ mends, metric }) =>
    mends && metric.startsWith("Mbit/s")
  );
  assertEquals(helps.length, 2, `${why}`);
  for (const { before, after, kind } of helps) {
    assert(before < mostMbit! * 1.01 && after > before * 1.5, `${why}`);
    assertEquals(kind, "priced");
  }
  // From 6.6 on the same packets cost their share and no more.
  const later = explain({ protocol: "tcp", rcvbuf: 4194304 }, {
    kernel: kernel("6.8"),
    truesize: 2944,
    size: 1448,
    sysctl: { tcp_rmem: [4096, 131072, 4194304] },
    suggest: false,
  }).window!;
  assertEquals([later.cap, later.mechanism], [2048000, "scaling_ratio"]);
});

Deno.test("complaint: a latency spike from collapsing", () => {
  const why = explain({ protocol: "tcp", rcvbuf: 425984 }, {
    kernel: kernel("6.1"),
    truesize: 4864,
    size: 1448,
    rttMs: 5,
    counters: readNstat(
      "TcpExtPruneCalled 12 0.0\nTcpExtTCPRcvCollapsed 9431 0.0\n",
    ),
  });
  const sign = (name: string) =>
    why.signs.find((sign) => sign.name === name)?.value;
  assertEquals([sign("TcpExtPruneCalled"), sign("TcpExtTCPRcvCollapsed")], [
    12,
    9431,
  ]);
  const calm = why.suggestions.filter(({ metric }) =>
    metric.startsWith("PruneCalled")
  );
  assert(calm.length >= 2, `${why}`);
  assert(calm.every(({ before }) => before > 0), `${why}`);
  assert(calm.some(({ after }) => after === 0), `${why}`);
  // 88 packets of 1,448 bytes, all but the last of which the first pass copies, in one softirq.
  assertEquals(why.collapse, {
    packets: 88,
    passes: 6,
    skbs: 237,
    bytes: 341704,
    longest: 88 * 1448,
  });
  // netperf, with a sender and ACKs of its own, comes to as many passes.
  assertEquals(calm[0]!.before, why.collapse!.passes);
  const copied = why.suggestions.filter(({ metric }) =>
    metric.startsWith("bytes copied")
  );
  assertEquals(
    copied.map(({ before, after, mends }) => [before, after, mends]),
    [
      [341704, 0, true],
      [341704, 0, true],
      [341704, 0, true],
    ],
  );
  assertStringIncludes(
    `${why}`,
    "6 passes copy 341,704 B of 237 skbs, one of them 127,424 B (exact;",
  );
});

Deno.test("each figure says how it came about: in data, in text, in a notebook", () => {
  const filled: SocketNumbers = {
    protocol: "tcp",
    rcvbuf: 131072,
    rmemAlloc: 33600,
    forwardAlloc: 3264,
    unread: 32768,
    rcvWnd: 80768,
    rcvSsthresh: 94287,
    rcvWscale: 7,
  };
  const ask = (more: Partial<SocketNumbers>, size: number) =>
    explain({ ...filled, ...more }, {
      kernel: kernel("6.18"),
      path: "veth",
      size,
      sysctl: { tcp_rmem: [4096, 131072, 6291456] },
      rttMs: 1,
    });
  const known = ask({}, 4096);
  assertEquals(known.kinds.packets, "exact");
  assertStringIncludes(known.note!, "SO_RCVBUF not set");
  const estimate = ask({ rmemAlloc: 33601 }, 4096);
  assertEquals(estimate.kinds.packets, "unexplained");
  assertStringIncludes(
    estimate.note!,
    "sk_rmem_alloc 33601 where such a history has 33600",
  );
  // 1,448 bytes: the window closes a packet sooner or later by where the writer's page fragment stands.
  const fitted = explain({ protocol: "tcp", rcvbuf: 131072 }, {
    kernel: kernel("6.18"),
    path: "veth",
    size: 1448,
    sysctl: { tcp_rmem: [4096, 131072, 6291456] },
  });
  assertEquals(fitted.kinds.packets, "fitted");
  const [least, most] = fitted.range;
  assert(least < most && least <= fitted.packets && fitted.packets <= most);
  assertStringIncludes(`${fitted}`, `(${least} to ${most}) until`);
  for (const why of [known, estimate, fitted]) {
    const { packets } = why.kinds;
    assertStringIncludes(
      `${why}`,
      `B (${why.kinds.bytes})\n  rests on: ${why.note}`,
    );
    const row = why.toTable().rows.find(({ label }) =>
      label.startsWith("packets until")
    )!;
    assertEquals([row.cells[0]!.simulated, row.cells[0]!.kind], [
      why.packets,
      packets,
    ]);
    const shown = (why as unknown as Record<
      symbol,
      () => Record<string, string>
    >)[Symbol.for("Jupyter.display")]!();
    assertStringIncludes(shown["text/html"]!, `title="${packets}: `);
    assertStringIncludes(shown["text/html"]!, "Changes, each tried");
    assertStringIncludes(shown["text/plain"]!, `(${packets})`);
    assertStringIncludes(shown["text/markdown"]!, kindMarks[packets].mark);
  }
  const [writes] = known.suggestions;
  assertEquals([writes!.by, writes!.kind, writes!.mends], [
    "tcpFill",
    "fitted",
    false,
  ]);
  // A charge that packets of this size do not add up to holds others.
  const udp = (rmemAlloc: number) =>
    explain({ protocol: "udp", rcvbuf: 212992, rmemAlloc }, {
      kernel: kernel("6.18"),
      path: "loopback",
      size: 1000,
      suggest: false,
    }).kinds.payload;
  assertEquals([udp(4608), udp(4609)], ["exact", "unexplained"]);
});

Deno.test("complaint: a virtio device without mergeable buffers", () => {
  const why = explain({ protocol: "tcp", rcvbuf: 6291456 }, {
    kernel: kernel("6.1"),
    path: "virtio-big",
    size: 1448,
    rttMs: 50,
  });
  assertEquals(why.charge, 4352);
  assertEquals([why.window!.cap, why.window!.mechanism], [
    1572864,
    "tcp_grow_window",
  ]);
  const mergeable = why.suggestions.find(({ change }) =>
    change.startsWith("mergeable")
  )!;
  assert(mergeable.mends && mergeable.after > 1.5 * mergeable.before, `${why}`);
});

Deno.test("what cannot be explained is refused by name", () => {
  const k = kernel("6.18");
  const udp = { protocol: "udp", rcvbuf: 4096 } as const;
  assertThrows(
    () => explain(udp, { kernel: k, size: 1 }),
    RangeError,
    "path or truesize",
  );
  assertThrows(
    () => explain(udp, { kernel: k, size: 70000, path: "veth" }),
    RangeError,
    "size 70000",
  );
  assertThrows(
    () => explain(udp, { kernel: k, size: 1, wrong: 1 } as never),
    TypeError,
    '"wrong"',
  );
  assertThrows(
    () =>
      explain({ protocol: "tcp", rcvbuf: 131072 }, {
        kernel: k,
        size: 4000,
        path: "ixgbe",
      }),
    RangeError,
    "size 4000: more than one segment",
  );
  const tcp = { protocol: "tcp", rcvbuf: 131072 } as const;
  assertThrows(
    () => explain(tcp, { kernel: k, size: 1448, path: "ixgbe", tso: false }),
    RangeError,
    "tso is for TCP over loopback or veth",
  );
  assertThrows(
    () =>
      explain(tcp, { kernel: k, size: 1, path: "veth", locked: 1 as never }),
    TypeError,
    "locked",
  );
  assertThrows(
    () => explain(tcp, { kernel: k, size: 2 ** 20 + 1, path: "veth" }),
    RangeError,
    "size 1048577",
  );
  const [bare] = readSs("udp UNCONN 0 0 127.0.0.1:1 0.0.0.0:*\n").sockets;
  assertThrows(
    () => explain(bare!, { kernel: k, size: 1, path: "veth" }),
    RangeError,
    "line 1 has no skmem",
  );
});

Deno.test("whatIf runs netperf with and without the change, and merges sysctls", () => {
  const stream = {
    kernel: kernel("6.1"),
    path: "ixgbe",
    rttMs: 20,
    seconds: 1,
    hystart: false,
    sysctl: { tcp_rmem: [4096, 131072, 262144], tcp_timestamps: true },
  } as const;
  const result = whatIf({
    ...stream,
    change: { sysctl: { tcp_rmem: [4096, 131072, 1048576] } },
  });
  assertEquals(result.before.goodput, netperf(stream).goodput);
  assert(result.gain > 2, `${result}`);
  assert(result.before.limits.rwnd_limited > 0.5);
  assertThrows(
    () => whatIf({ ...stream, change: 3 as never }),
    TypeError,
    "change must be",
  );
});

Deno.test("a window that a socket printed closes after as many packets as it holds", () => {
  const why = (rcvWnd: number) =>
    explain({
      protocol: "tcp",
      rcvbuf: 131072,
      rmemAlloc: 130000,
      unread: 60000,
      rcvSsthresh: 65535,
      rcvWscale: 0,
      rcvWnd,
    }, { kernel: kernel("6.1"), truesize: 200, size: 100, suggest: false });
  assertEquals([why(300).packets, why(300).until], [3, "zero window"]);
  // Header prediction does not look at sk_rcvbuf: a page of forward_alloc takes 20 packets, the next asks for memory.
  assertEquals([why(5000).packets, why(5000).until], [20, "prune"]);
  assertEquals(why(0).packets, 0);
});

Deno.test("ss -um without Netid: what is UNCONN is UDP", () => {
  const [socket] = readSs(
    "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n" +
      "UNCONN 212480 0      0.0.0.0:8125       0.0.0.0:*\n" +
      "\t skmem:(r212480,rb212992,t0,tb212992,f512,w0,o0,bl0,d7)\n",
  ).sockets;
  const { state, packets } = explain(socket!, {
    kernel: kernel("6.18"),
    path: "veth",
    size: 100,
  });
  assertEquals([state.protocol, state.drops, packets], ["udp", 7, 0]);
});
