import { assertEquals, assertThrows } from "@std/assert";
import { HostFormatError, readSs, type SsSocket } from "@truesize/lab";
import { text } from "./support.ts";

const sockets = (name: string): SsSocket[] => readSs(text(name)).sockets;

Deno.test("ss -tmianpe: every column, word and process of a TCP socket", () => {
  const list = sockets("ss_tmianpe.txt");
  assertEquals(list.map(({ state }) => state), [
    "LISTEN",
    "LISTEN",
    "ESTAB",
    "TIME-WAIT",
    "TIME-WAIT",
    "ESTAB",
    "LISTEN",
    "ESTAB",
    "ESTAB",
  ]);
  const socket = list[5]!;
  assertEquals(socket, {
    line: 12,
    detailLine: 13,
    state: "ESTAB",
    recvQ: 50000,
    sendQ: 0,
    local: { address: "127.0.0.1", port: 45001 },
    peer: { address: "127.0.0.1", port: 41776 },
    users: [{ command: "python3", pid: 8471, fd: 6 }],
    inode: 335347,
    cookie: "2",
    memory: {
      r: 61664,
      rb: 131072,
      t: 0,
      tb: 3939840,
      f: 3872,
      w: 0,
      o: 0,
      bl: 0,
      d: 0,
    },
    tcp: {
      ts: true,
      sack: true,
      congestion: "bbr",
      wscale: { snd: 10, rcv: 10 },
      rto: 204,
      rtt: { srtt: 0.018, rttvar: 0.009 },
      ato: 168,
      mss: 32768,
      pmtu: 65535,
      rcvmss: 24000,
      advmss: 65483,
      cwnd: 10,
      bytesReceived: 60000,
      segsOut: 13,
      segsIn: 15,
      dataSegsIn: 13,
      send: 145635555556,
      lastsnd: 904,
      lastrcv: 860,
      lastack: 860,
      pacingRate: 416204775192,
      delivered: 1,
      appLimited: true,
      rcvSpace: 65483,
      rcvSsthresh: 99406,
      minrtt: 0.018,
      sndWnd: 65536,
    },
    words: ["cgroup:/", "<->", "bbr:(bw:0bps,mrtt:0.018)"],
  });
  // A socket in TIME-WAIT has an empty line of details.
  assertEquals([list[3]!.memory, list[3]!.tcp], [undefined, undefined]);
  assertEquals(list[3]!.timer, { name: "timewait", ms: 51_000, retrans: 0 });
  assertEquals(list[6]!.local, { address: "::1", port: 45002 });
});

Deno.test("ss: one line a socket or two, with and without header, name the same sockets", () => {
  const comparable = (list: SsSocket[]) =>
    list.map(({ local, peer, recvQ, memory, users, words }) => ({
      local,
      peer,
      recvQ,
      memory,
      users,
      words,
    }));
  assertEquals(
    comparable(sockets("ss_tmianpeO.txt")),
    comparable(sockets("ss_tmianpe.txt")),
  );
  const bare = sockets("ss_H_tmin.txt");
  const established = sockets("ss_tmianpe.txt").filter(({ state }) =>
    state === "ESTAB"
  );
  assertEquals(
    bare.map(({ local, memory }) => ({ local, memory })),
    established.map(({ local, memory }) => ({ local, memory })),
  );
  assertEquals(bare.map(({ state }) => state), Array(4).fill("ESTAB"));
});

Deno.test("ss: rates with and without their units", () => {
  const rounded = sockets("ss_tmi.txt").map(({ tcp }) => tcp!.send!);
  const exact = sockets("ss_H_tmin.txt").map(({ tcp }) => tcp!.send!);
  assertEquals(rounded, [712e6, 146e9, 202e9, 1.21e9]);
  assertEquals(
    exact.map((bps) => Number(bps.toPrecision(3))),
    rounded,
  );
});

Deno.test("ss -um: without a State column, and with IPv6 wildcards", () => {
  const [socket] = sockets("ss_um.txt");
  assertEquals([socket!.state, socket!.recvQ, socket!.memory!.rb], [
    undefined,
    0,
    212992,
  ]);
  const [, reader, any] = sockets("ss_uamnpe.txt");
  assertEquals([reader!.memory!.r, reader!.memory!.f, reader!.recvQ], [
    6272,
    1920,
    6272,
  ]);
  assertEquals([any!.local, any!.words], [
    { address: "*", port: 45004 },
    ["cgroup:/", "v6only:0", "<->"],
  ]);
});

Deno.test("ss -tuam: the Netid column; other families are kept unread", () => {
  const list = sockets("ss_tuamn.txt");
  assertEquals(
    list.map(({ netid }) => netid),
    [...Array(3).fill("udp"), ...Array(9).fill("tcp")],
  );
  const unix = readSs(text("ss_xm.txt"));
  assertEquals([unix.sockets.length, unix.others.map(({ line }) => line)], [
    0,
    [2, 3],
  ]);
});

Deno.test("ss of iproute2 3.16: unbracketed IPv6, mem beside skmem, processes without keys", () => {
  const [listener, ssh, postgres] = sockets("ss_3_16.txt");
  assertEquals(listener!.local, { address: "::", port: 22 });
  assertEquals(listener!.peer, { address: "::", port: "*" });
  assertEquals(ssh!.users, [
    { command: "sshd", pid: 2044, fd: 3 },
    { command: "sshd", pid: 2042, fd: 3 },
  ]);
  assertEquals(ssh!.meminfo, { r: 0, w: 2304, f: 1792, t: 0 });
  assertEquals(ssh!.memory, {
    r: 0,
    rb: 367360,
    t: 0,
    tb: 87040,
    f: 1792,
    w: 2304,
    o: 0,
  });
  assertEquals([ssh!.uid, ssh!.cookie, ssh!.tcp!.send], [
    1000,
    "ffff88003d9c8000",
    37.1e6,
  ]);
  assertEquals(ssh!.timer, { name: "on", ms: 204, retrans: 0 });
  assertEquals(postgres!.timer?.ms, 119 * 60_000);
  assertEquals([postgres!.local.address, postgres!.tcp!.retrans], [
    "::1",
    { now: 0, total: 3 },
  ]);
});

Deno.test("ss of 4.15: names for ports, limits, and a timer's seconds with their odd unit", () => {
  const [stream, resolver, dhcp] = sockets("ss_4_15.txt");
  assertEquals(stream!.local, { address: "10.0.0.2", port: "ssh" });
  // ss writes 1.52 s as 1.520ms.
  assertEquals(stream!.timer, { name: "persist", ms: 1520, retrans: 4 });
  const tcp = stream!.tcp!;
  assertEquals(
    [tcp.congestion, tcp.ecn, tcp.ecnseen, tcp.busy, tcp.rwndLimited],
    ["dctcp", true, true, 5008, 4988],
  );
  assertEquals([tcp.sndbufLimited, tcp.pacingRate, tcp.pacingRateMax], [
    12,
    302.8e6,
    1e9,
  ]);
  assertEquals([tcp.deliveryRate, tcp.fackets, tcp.reordering], [80e3, 4, 7]);
  assertEquals(stream!.words, [
    "dctcp:(ce_state:0,alpha:1024,ab_ecn:0,ab_tot:0)",
  ]);
  assertEquals(resolver!.local, {
    address: "127.0.0.53",
    zone: "lo",
    port: "domain",
  });
  assertEquals([resolver!.memory!.r, resolver!.memory!.d], [213248, 1097]);
  assertEquals(dhcp!.local, {
    address: "fe80::5054:ff:fe12:3456",
    zone: "eth0",
    port: "dhcpv6-client",
  });
});

Deno.test("ss of 6.9: the newest words; a negative forward allocation; what is unknown is kept", () => {
  const [stream, syn] = sockets("ss_6_9.txt");
  assertEquals(stream!.users, [{
    command: "Web Content (1)",
    pid: 812,
    fd: 31,
  }]);
  assertEquals(stream!.local, {
    address: "2001:db8::10",
    zone: "eth1",
    port: 443,
  });
  assertEquals(stream!.memory!.f, -4096);
  const tcp = stream!.tcp!;
  assertEquals([tcp.rcvWnd, tcp.rehash, tcp.rcvOoopack, tcp.dsackDups], [
    4194304,
    1,
    11,
    2,
  ]);
  assertEquals([tcp.fastopen, tcp.bytesRetrans, tcp.reordSeen], [
    true,
    2856,
    1,
  ]);
  assertEquals(stream!.timer?.ms, 599_000);
  assertEquals(stream!.words.slice(4), [
    "tcp-ulp-tls",
    "version:",
    "1.3",
    "cipher:",
    "aes-gcm-256",
    "rxconf:",
    "sw",
    "txconf:",
    "sw",
    "zc_ro_tx",
    "inet-sockopt:",
    "( recverr bind_address_no_port)",
  ]);
  assertEquals([syn!.state, syn!.tcp!.backoff, syn!.tcp!.congestion], [
    "SYN-SENT",
    4,
    "cubic",
  ]);
});

Deno.test("ss: skmem letters of a release to come are kept", () => {
  const [socket] = readSs(
    "ESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n\t skmem:(r1,rb2,t3,tb4,f5,w6,o7,bl8,d9,zz10)\n",
  ).sockets;
  assertEquals(socket!.memory!.other, { zz: 10 });
});

Deno.test("ss: what cannot be read is refused with its line and text", () => {
  const head = "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n";
  const socket = "ESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n";
  const memory = "\t skmem:(r1,rb2,t3,tb4,f5,w6,o7,bl8,d9)\n";
  for (
    const [bad, line, problem] of [
      ["hello\n", 1, "Recv-Q"],
      [`${head}ESTAB 0 0 10.0.0.1:1\n`, 2, "peer address"],
      [`${head}ESTABLISHED 0 0 10.0.0.1:1 10.0.0.2:2\n`, 2, "state"],
      [`${head}ESTAB 0,5 0 10.0.0.1:1 10.0.0.2:2\n`, 2, "Recv-Q"],
      [`${head}ESTAB 0 0 10.0.0.1:70000 10.0.0.2:2\n`, 2, "65535"],
      [`${head}${memory}`, 2, "without a socket"],
      [`${head}${socket}${memory}${memory}`, 4, "without a socket"],
      [`${socket}\t skmem:(r1,rb2,t3\n`, 2, "not closed"],
      [`${socket}\t skmem:(r1,rb2,t3)\n`, 2, "lacks tb"],
      [`${socket}\t skmem:(r1,r1,rb2)\n`, 2, "r twice"],
      [`${socket}\t skmem:(r99999999999,rb2)\n`, 2, "above"],
      [`${socket}\t mss:1448 mss:1448\n`, 2, "twice"],
      [`${socket}\t rtt:0,018/0,009\n`, 2, "rtt"],
      [`${socket}\t rcv_space:65.495\n`, 2, "rcv_space"],
      [`${socket}\t cubic cwnd:10 send 12\n`, 2, "bps"],
      [`${socket}\t cubic cwnd:10 send\n`, 2, "without its rate"],
      [`${socket}\t users:(("a",pid=x,fd=1))\n`, 2, "users"],
      [`${socket}\t timer:(on,soon,0)\n`, 2, "timer"],
      [`${socket}\u001b[31mESTAB\n`, 2, "not text"],
    ] as const
  ) {
    const error = assertThrows(() => readSs(bad), HostFormatError, problem);
    assertEquals([error.source, error.line, error.offset], ["ss", line, -1]);
    assertEquals(error.text, bad.split("\n")[line - 1]);
  }
  assertThrows(() => readSs(undefined as never), TypeError, "text");
});
