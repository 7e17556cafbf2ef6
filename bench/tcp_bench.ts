/**
 * TCP streams: each benchmark simulates a million MSS segments, so that a run of 400 ms is 2.5 million a second.
 */

import { netperf } from "../lib/experiments/netperf.ts";
import type { NetperfOptions } from "../lib/experiments/netperf_options.ts";
import { kernel } from "../lib/releases/mod.ts";

const SEGMENTS = 1e6;
const BYTES = SEGMENTS * 1448;
const OLD = kernel("net-next-2013-10");
const NEW = kernel("6.18");
let sink = 0;

/** Long enough for every stream here to end; after that nothing happens. */
const SECONDS = 300;

function bench(
  name: string,
  group: string,
  options: Omit<NetperfOptions, "seconds">,
  baseline = false,
): void {
  Deno.bench(
    `${name}, 10^6 segments`,
    { group, baseline, n: 3, warmup: 1 },
    () => {
      sink += netperf({ ...options, seconds: SECONDS, samples: 10 }).segments;
    },
  );
}

const stream = {
  kernel: OLD,
  path: "virtio-mergeable",
  rttMs: 25,
  tso: false,
  bytes: BYTES,
} as const;
const host = {
  packet: 2000,
  ack: 500,
  byte: 0.3,
  call: 300,
  wake: 5000,
} as const;

bench("a cell of the 2013 table, hosts that cost nothing", "one flow", {
  ...stream,
}, true);
bench("the same with priced hosts", "one flow", {
  ...stream,
  host: { sender: host, receiver: host },
  ring: 10_000,
});
bench("the same with TSO", "one flow", {
  ...stream,
  tso: true,
});
bench("6.18, 1 Gbit/s, 25 ms", "one flow", {
  kernel: NEW,
  path: "virtio-mergeable",
  rttMs: 25,
  rateMbit: 1000,
  queue: 4000,
  bytes: BYTES,
});

for (
  const [name, soRcvbuf] of [["64 KiB", 106_000], ["4 MiB", 6_800_000]] as const
) {
  bench(`a window of ${name}`, "window", {
    ...stream,
    rttMs: name === "64 KiB" ? 1 : 64,
    soRcvbuf,
    sysctl: { rmem_max: 1 << 24, tcp_wmem: [4096, 16384, 1 << 24] },
  }, name === "64 KiB");
}

bench("1,000 flows over one bottleneck of 1 Gbit/s", "many flows", {
  kernel: NEW,
  path: "ixgbe",
  rttMs: 25,
  rateMbit: 1000,
  queue: 4000,
  flows: 1000,
  tso: false,
  bytes: BYTES / 1000,
});

void sink;
