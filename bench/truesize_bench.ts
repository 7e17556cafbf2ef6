/** What a question costs: one packet, a sweep over all sizes, a full socket. */

import {
  datagramsUntilDrop,
  kernel,
  packetPaths,
  slabLayout,
  truesizeOf,
} from "../mod.ts";

const k = kernel("6.18");
let sink = 0;

for (const path of packetPaths) {
  Deno.bench(`truesizeOf ${path}, 1472 bytes`, {
    group: "one packet",
    baseline: path === "loopback",
  }, () => {
    sink += truesizeOf({ kernel: k, path, payload: 1472 }).truesize;
  });
}

Deno.bench("truesizeOf veth, 4000 bytes in 3 fragments", {
  group: "one packet",
}, () => {
  sink += truesizeOf({ kernel: k, path: "veth", payload: 4000 }).truesize;
});

Deno.bench("all 65508 payloads of loopback", { group: "sweep" }, () => {
  for (let payload = 0; payload < 65508; payload++) {
    sink += truesizeOf({ kernel: k, path: "loopback", payload }).truesize;
  }
});

Deno.bench("fill a socket of 212992 bytes with 1-byte datagrams", {
  group: "socket",
}, () => {
  sink +=
    datagramsUntilDrop({ kernel: k, path: "loopback", payload: 1 }).queued;
});

Deno.bench("slabLayout of sk_buff", { group: "slab" }, () => {
  sink += slabLayout({
    kernel: k,
    objectSize: 224,
    cpus: 8,
    flags: ["SLAB_HWCACHE_ALIGN"],
  }).objects;
});

if (sink < 0) throw new Error("unreachable: keeps the results alive");
