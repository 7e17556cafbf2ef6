/** `deno task explain`: an explanation of every socket that ss prints. */

import process from "node:process";
import {
  explain,
  kernel,
  type PacketPath,
  readNstat,
  readSs,
  readSysctl,
  releases,
  type SsSocket,
} from "../mod.ts";
import { failer, readFlags } from "./flags.ts";

const fail: (message: string) => never = failer("explain");
const { values, help } = readFlags(
  "explain",
  `Usage: ss -tmi | deno task explain --size BYTES (--path PATH | --truesize BYTES)

Reads what ss -tmi or ss -um printed on standard input and says of each socket
what its memory holds, how many more packets it takes, where a TCP window stops
and why, and what changes would do, each tried in simulation. Each figure says
whether it is exact, priced, fitted or unexplained.`,
  {
    size: [
      "BYTES",
      "payload of the packets that arrive (TCP: ss's rcvmss if absent);\nof a write, where TCP comes over loopback or veth",
    ],
    path: [
      "PATH",
      "how they arrive: loopback, veth, virtio-mergeable, ixgbe, ...",
    ],
    truesize: ["BYTES", "what each is charged, where that is known"],
    kernel: ["NAME", `release (${releases.join(", ")});\n6.18 if absent`],
    rtt: ["MS", "round trip, ms (TCP: what ss printed if absent)"],
    rate: ["MBIT", "throughput that is wanted, Mbit/s"],
    mtu: ["BYTES", "MTU"],
    udp: ["", "protocol, where ss printed no Netid"],
    tcp: ["", "the same"],
    "no-tso": ["", "TCP over loopback or veth: the sender's device has no TSO"],
    "no-sg": ["", "the same: nor scatter-gather"],
    gro: ["", "the same: the receiver's veth has GRO"],
    locked: ["", "the same: SO_RCVBUF was set; found out if absent"],
    sysctl: ["FILE", "output of sysctl -a: tcp_rmem and its like"],
    nstat: ["FILE", "output of nstat -az"],
    "no-suggest": ["", "no simulated changes"],
    json: ["", "as JSON on standard output, and nothing else"],
  },
  "Ends with 0, or 2 where something could not be read.",
);

function number(
  name: "size" | "truesize" | "rtt" | "rate" | "mtu",
): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  if (!/^\d+(?:\.\d+)?$/.test(text)) {
    fail(`--${name} must be a number, got ${JSON.stringify(text)}`);
  }
  return Number(text);
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    fail(`${what}${(error as Error).message}`);
  }
}

if (values.udp && values.tcp) fail("--udp and --tcp exclude each other");
const protocol = values.udp ? "udp" : values.tcp ? "tcp" : undefined;
const [size, truesize, mtu] = [
  number("size"),
  number("truesize"),
  number("mtu"),
];
const [rttMs, rateMbit] = [number("rtt"), number("rate")];
const path = values.path as PacketPath | undefined;
if (path === undefined && truesize === undefined) {
  fail(`--path or --truesize must say what a packet costs\n\n${help}`);
}
const release = attempt("--kernel: ", () => kernel(values.kernel ?? "6.18"));
const { sysctl, nstat } = values;
const settings = sysctl === undefined ? undefined : attempt(
  `--sysctl ${sysctl}: `,
  () => readSysctl(Deno.readTextFileSync(sysctl)).stream(),
);
const counters = nstat === undefined ? undefined : attempt(
  `--nstat ${nstat}: `,
  () => readNstat(Deno.readTextFileSync(nstat)),
);
const input = await new Response(Deno.stdin.readable).text();
const { sockets } = attempt("", () => readSs(input));
if (sockets.length === 0) fail("no socket on standard input; try ss -tmi");

const end = ({ address, port }: SsSocket["local"]): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;

const results: unknown[] = [];
let unread = 0;
for (const socket of sockets) {
  const name = `${end(socket.local)} -> ${end(socket.peer)}`;
  // One socket that cannot be explained (a listener) does not take the others along.
  try {
    const bytes = size ?? socket.tcp?.rcvmss;
    if (bytes === undefined) {
      throw new RangeError("ss printed no rcvmss: --size must say it");
    }
    const explanation = explain(socket, {
      kernel: release,
      size: bytes,
      path: truesize === undefined ? path : undefined,
      truesize,
      mtu,
      locked: values.locked,
      tso: values["no-tso"] ? false : undefined,
      sg: values["no-sg"] ? false : undefined,
      gro: values.gro,
      protocol,
      rttMs,
      rateMbit,
      sysctl: settings,
      counters,
      suggest: !values["no-suggest"],
    });
    if (values.json) {
      results.push({
        name,
        ...explanation,
        ratio: explanation.ratio,
      });
    } else console.log(`${name}\n${explanation}\n`);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) {
      throw error;
    }
    unread++;
    if (values.json) results.push({ name, error: error.message });
    else console.error(`${name}: not explained: ${error.message}\n`);
  }
}
if (values.json) {
  console.log(
    JSON.stringify(
      results,
      (_, value) => typeof value === "bigint" ? `${value}` : value,
      1,
    ),
  );
}
process.exit(unread > 0 ? 2 : 0);
