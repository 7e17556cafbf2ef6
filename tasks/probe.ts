/** `deno task probe`: the model beside the kernel it runs on. */

import process from "node:process";
import { datagramsUntilDrop } from "../mod.ts";
import { fromBtf } from "../lib/host/kernel_types.ts";
import {
  chargeTable,
  differences,
  fillTable,
  fittedKernel,
  hostKernel,
  nearestRelease,
  probePayloads,
  slabTable,
  streamTable,
} from "../lib/host/probe.ts";
import {
  type DatagramSocket,
  measureCharges,
  measureFill,
  measureStreams,
  type ProbeHost,
} from "../lib/host/probe_sockets.ts";
import { readSysSlab, type SysSlab } from "../lib/host/sys_slab.ts";
import type { CellKind, Table } from "../lib/table.ts";
import { failer, readFlags } from "./flags.ts";

const fail: (message: string) => never = failer("probe");
const { values } = readFlags(
  "probe",
  `Usage: deno task probe [--json]

Sends datagrams and bytes of many sizes over loopback to sockets that nobody
reads, asks ss what they hold, and prints the kernel's figures beside the
model's. Needs no privilege; sends less than 10 MB and stops by itself.`,
  { json: ["", "as JSON on standard output, and nothing else"] },
  `Ends with 0 where the two agree, 1 where they differ, 2 where nothing could be
compared.`,
);
if (Deno.build.os !== "linux") fail("this works on Linux only");

// Unstable in Deno: there only with --unstable-net.
interface Datagrams {
  listenDatagram?(options: {
    transport: "udp";
    hostname: string;
    port: number;
  }): {
    readonly addr: Deno.NetAddr;
    send(p: Uint8Array, to: Deno.NetAddr): Promise<number>;
    close(): void;
  };
}

const { listenDatagram } = Deno as unknown as Datagrams;
if (listenDatagram === undefined) fail("run it with --unstable-net");

const notes: string[] = [];

const host: ProbeHost = {
  bind(ip): DatagramSocket {
    const hostname = ip === 4 ? "127.0.0.1" : "::1";
    const socket = listenDatagram({ transport: "udp", hostname, port: 0 });
    return {
      port: socket.addr.port,
      send: (payload, port) =>
        socket.send(payload, { transport: "udp", hostname, port }),
      close: () => socket.close(),
    };
  },
  ss(args): string {
    let output: Deno.CommandOutput;
    try {
      output = new Deno.Command("ss", {
        args: [...args],
        env: { LC_ALL: "C" },
        stderr: "null",
      }).outputSync();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      fail("ss is not there: install iproute2, or put it on PATH");
    }
    return new TextDecoder().decode(output.stdout);
  },
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

function readable<T>(what: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    notes.push(`${what} not used: ${(error as Error).message}`);
    return undefined;
  }
}

const SLABS = "/sys/kernel/slab";
const SLAB_FILES = ["object_size", "order", "objs_per_slab", "min_partial"];

/** Those files of /sys/kernel/slab that the probe looks at. */
function readSlabs(): SysSlab {
  const lines: string[] = [];
  for (const { name } of Deno.readDirSync(SLABS)) {
    if (!/^(?:kmalloc-\w+|skbuff_small_head)$/.test(name)) continue;
    for (const file of SLAB_FILES) {
      const path = `${SLABS}/${name}/${file}`;
      lines.push(`${path}:${Deno.readTextFileSync(path).trim()}`);
    }
  }
  return readSysSlab(lines.join("\n"));
}

host.ss(["-V"]);
const osRelease = Deno.osRelease();
const nearest = nearestRelease(osRelease);
const build = readable(
  "type information",
  () => fromBtf(Deno.readFileSync("/sys/kernel/btf/vmlinux")),
);
const slabs = readable(SLABS, readSlabs);
const possible = readable("CPUs", () => {
  const text = Deno.readTextFileSync("/sys/devices/system/cpu/possible");
  return Number(/(\d+)\s*$/.exec(text)![1]) + 1;
});
const mtu = readable(
  "MTU of lo",
  () => Number(Deno.readTextFileSync("/sys/class/net/lo/mtu")),
) ?? 65536;
const smallHead = slabs?.caches["skbuff_small_head"]?.["object_size"];
let model = hostKernel({ osRelease, build, smallHead, cpus: possible });
if (!nearest.same) {
  notes.push(
    `no model of ${osRelease}: differences may be changes since ${nearest.name}`,
  );
}
if (smallHead !== undefined && smallHead !== model.skb.smallHead) {
  notes.push(
    `skbuff_small_head has ${smallHead} bytes, which no MAX_HEADER gives in ${nearest.name}`,
  );
}

const tables: Table[] = [];
let kind: CellKind = "exact";
for (const ip of [4, 6] as const) {
  try {
    host.bind(ip).close();
  } catch (error) {
    notes.push(`IPv${ip} not probed: ${(error as Error).message}`);
    continue;
  }
  const payloads = probePayloads(model, ip, mtu);
  const charges = await measureCharges(host, ip, payloads);
  const fitted = ip === 4 && smallHead === undefined
    ? fittedKernel(model, mtu, charges)
    : undefined;
  if (fitted !== undefined) {
    model = fitted;
    kind = "fitted";
    notes.push(
      `MAX_HEADER ${model.build.maxHeader} is fitted to these figures: what says it, ${SLABS}/skbuff_small_head, is not readable`,
    );
  }
  tables.push(chargeTable(model, ip, mtu, charges, kind));
}
const fills = [];
for (const payload of [1, 1000, 1472, 9000, 32768]) {
  const fill = await measureFill(
    host,
    payload,
    (rcvbuf) =>
      datagramsUntilDrop({
        kernel: model,
        path: "loopback",
        payload,
        mtu,
        rcvbuf,
      }).queued + 20,
  );
  if (fill !== undefined) fills.push(fill);
  else notes.push(`no drop seen with datagrams of ${payload} bytes`);
}
if (fills.length > 0) tables.push(fillTable(model, mtu, fills));
/** One write; a few, each acknowledged at once; and many, each behind the delayed ACK of the one before. */
const QUICK = [[1], [1000], [1448], [16384], Array(4).fill(4096)];
const SLOW = [Array(20).fill(100), Array(20).fill(1448)];
const streams = [
  ...await measureStreams(host, QUICK),
  ...await measureStreams(host, SLOW, 60),
];
tables.push(
  streamTable(model, mtu, streams, kind),
);
const slabRows = slabs === undefined ? undefined : slabTable(model, slabs);
if (slabRows !== undefined) tables.push(slabRows);

const unseen = tables.flatMap(({ id, rows }) =>
  rows.filter(({ cells }) => cells[0]!.published === null)
    .map(({ label }) => `${id}, ${label}: not seen by ss`)
);
const differ = differences(tables);
if (values.json) {
  console.log(JSON.stringify(
    {
      osRelease,
      model: { name: model.name, build: model.build },
      tables,
      notes,
      unseen,
      differences: differ,
    },
    null,
    1,
  ));
} else {
  const { skBuff, maxTcpHeader, maxSkbFrags, cpus } = model.build;
  console.log(
    [
      `Kernel ${osRelease}, model ${model.name}: sk_buff ${skBuff} bytes, MAX_TCP_HEADER ${maxTcpHeader}, ` +
      `MAX_SKB_FRAGS ${maxSkbFrags}, ${cpus} CPUs. "Published" is what this kernel says.`,
      ...tables.map((t) => t.toText()),
      ...notes.map((note) => `Note: ${note}.`),
      ...unseen.map((line) => `Not compared: ${line}.`),
      differ.length === 0
        ? "The model agrees with this kernel wherever both have a figure."
        : `${differ.length} differences:\n  ${differ.join("\n  ")}`,
    ].join("\n\n"),
  );
}
process.exit(differ.length > 0 ? 1 : 0);
