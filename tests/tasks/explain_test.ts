import { assert, assertEquals, assertStringIncludes } from "@std/assert";

const TASK = new URL("../../tasks/explain.ts", import.meta.url).pathname;

async function run(input: string, ...args: string[]) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", TASK, ...args],
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  // A refused flag ends the task before it reads.
  await writer.write(new TextEncoder().encode(input)).catch(() => {});
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr) };
}

const UDP = `State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
UNCONN 4608   0          127.0.0.1:45003      0.0.0.0:*
\t skmem:(r4608,rb8192,t0,tb212992,f3584,w0,o0,bl0,d3)
`;
const TCP = `State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0 0 10.0.0.1:5001 10.0.0.2:40000
\t skmem:(r0,rb4194304,t0,tb87040,f0,w0,o0,bl0,d0) cubic wscale:7,7 rto:304 rtt:100/1 mss:1448 rcvmss:1448 advmss:1448 cwnd:10 rcv_ssthresh:1048576
LISTEN 0 128 0.0.0.0:5001 0.0.0.0:*
\t skmem:(r0,rb131072,t0,tb16384,f0,w0,o0,bl0,d0)
`;

Deno.test("ss -um on standard input: how many more until the drop", async () => {
  const flags = ["--udp", "--path", "loopback", "--size", "1000"];
  const { code, out, err } = await run(UDP, ...flags);
  assertEquals([code, err], [0, ""]);
  assertStringIncludes(out, "127.0.0.1:45003 -> 0.0.0.0:*");
  assertStringIncludes(
    out,
    "charged 2,304 B (exact); 1 more until the first drop",
  );
  const json = await run(UDP, ...flags, "--json", "--no-suggest");
  const [socket] = JSON.parse(json.out);
  assertEquals([socket.packets, socket.until, socket.rmemAlloc], [
    1,
    "drop",
    6912,
  ]);
});

Deno.test("ss -tmi: the window's cap by rcvmss and rtt; a listener is told apart", async () => {
  const { code, out, err } = await run(
    TCP,
    "--kernel",
    "6.1",
    "--truesize",
    "2944",
    "--no-suggest",
  );
  assertEquals(code, 2);
  assertStringIncludes(out, "tcp_grow_window: an skb charged 2,944 B");
  assertStringIncludes(out, "At 100 ms");
  assertStringIncludes(err, "0.0.0.0:5001 -> 0.0.0.0:*: not explained");
});

const FILLED = `State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 32768 0 10.0.0.2:45003 10.0.0.1:40000
\t skmem:(r33600,rb131072,t0,tb87040,f3264,w0,o0,bl0,d0) cubic wscale:7,7 data_segs_in:24 rcv_ssthresh:94287 rcv_wnd:80768
`;

Deno.test("--path veth: what is left of the window; offloads that do not fit are an estimate", async () => {
  const flags = ["--path", "veth", "--size", "4096", "--no-suggest"];
  const { code, out, err } = await run(FILLED, ...flags);
  assertEquals([code, err], [0, ""]);
  assertStringIncludes(
    out,
    "22 more until the window has no room for another (exact), at 126,784 B",
  );
  const estimate = await run(FILLED, ...flags, "--no-tso", "--json");
  const [socket] = JSON.parse(estimate.out);
  assertEquals(socket.kinds.packets, "unexplained");
  assertStringIncludes(socket.note, "an estimate: ");
});

Deno.test("--sysctl and --nstat: files of the host", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const sysctl = `${folder}/sysctl`;
    const nstat = `${folder}/nstat`;
    await Deno.writeTextFile(
      sysctl,
      "net.ipv4.tcp_rmem = 4096\t131072\t4194304\nnet.ipv4.tcp_timestamps = 1\n",
    );
    await Deno.writeTextFile(
      nstat,
      "#kernel\nTcpExtPruneCalled 12 0.0\nTcpExtTCPRcvCollapsed 9431 0.0\n",
    );
    const flags = ["--kernel", "6.1", "--truesize", "2944", "--no-suggest"];
    const { code, out } = await run(
      TCP,
      ...flags,
      "--sysctl",
      sysctl,
      "--nstat",
      nstat,
    );
    assertEquals(code, 2, "of the listener");
    assertStringIncludes(out, "The window stops at 1,048,576 B (exact)");
    assertStringIncludes(out, "TcpExtTCPRcvCollapsed 9431: ");
    for (
      const [flag, file, message] of [
        ["--sysctl", `${folder}/none`, "--sysctl"],
        ["--sysctl", nstat, "--sysctl"],
        ["--nstat", sysctl, "--nstat"],
      ] as const
    ) {
      const { code, out, err } = await run(TCP, ...flags, flag, file);
      assertEquals([code, out], [2, ""], `${flag} ${file}`);
      assertStringIncludes(err, `explain: ${message} ${file}: `);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("--help lists every flag", async () => {
  const { code, out } = await run("", "--help");
  assertEquals(code, 0);
  for (const flag of ["--size BYTES", "--sysctl FILE", "--json", "--help"]) {
    assertStringIncludes(out, `\n  ${flag}`);
  }
});

Deno.test("what is wrong with a call is said", async () => {
  const wrong: [string[], string, string][] = [
    [[], UDP, "--path or --truesize"],
    [["--truesize", "x"], UDP, '--truesize must be a number, got "x"'],
    [["--path", "veth", "--kernel", "9"], UDP, "--kernel: "],
    [["--path", "veth", "--wrong"], UDP, "--wrong"],
    [["--path", "veth", "--udp", "--tcp"], UDP, "exclude each other"],
    [["--path", "nowhere", "--udp", "--size", "1"], UDP, '"nowhere"'],
    [["--path", "veth"], "", "no socket on standard input"],
    [["--path", "veth"], "rubbish\n", "rubbish"],
  ];
  for (const [flags, input, message] of wrong) {
    const { code, out, err } = await run(input, ...flags);
    assertEquals([code, out], [2, ""], `${flags}`);
    assert(err.includes(message), `${flags}: ${err}`);
  }
});
