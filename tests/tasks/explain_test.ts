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
  assertStringIncludes(out, "charged 2,304 B; 1 more until the first drop");
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

Deno.test("what is wrong with a call is said", async () => {
  const wrong: [string[], string, string][] = [
    [[], UDP, "--path or --truesize"],
    [["--truesize", "x"], UDP, '--truesize must be a number, got "x"'],
    [["--path", "veth", "--kernel", "9"], UDP, "--kernel: "],
    [["--path", "veth", "--wrong"], UDP, "--wrong"],
    [["--path", "veth"], "", "no socket on standard input"],
    [["--path", "veth"], "rubbish\n", "rubbish"],
  ];
  for (const [flags, input, message] of wrong) {
    const { code, out, err } = await run(input, ...flags);
    assertEquals([code, out], [2, ""], `${flags}`);
    assert(err.includes(message), `${flags}: ${err}`);
  }
});
