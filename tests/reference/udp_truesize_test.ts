/** Every measured truesize of a UDP datagram on 6.18, payload by payload. */

import { assert, assertEquals } from "@std/assert";
import {
  kernel,
  type PacketOptions,
  senderWmem,
  truesizeOf,
} from "@truesize/lab";
import { checkSegments, fixture, type MeasuredPath, Tally } from "./rows.ts";

const k = kernel("6.18");

type Path = Omit<PacketOptions, "kernel" | "payload">;

// How each path of the measurement is said to the model.
const PATHS: Record<string, Path | ((payload: number) => Path)> = {
  "loopback mtu65536": { path: "loopback" },
  "loopback mtu1500": { path: "loopback", mtu: 1500 },
  "veth mtu1500": { path: "veth" },
  "veth mtu1500 fragmented": { path: "veth" },
  "veth mtu1500 packet-socket": { path: "veth", socket: "packet" },
  "veth mtu1500 raw-socket": { path: "veth", socket: "raw" },
  "veth mtu9000": { path: "veth", mtu: 9000 },
  "veth mtu1500 sg-off fragmented": { path: "veth", sg: false },
  "veth mtu1500 gro-on": { path: "veth", gro: true },
  "tun blocking": { path: "tun" },
  "tun nonblocking": { path: "tun", nonblocking: true },
  "tap blocking": { path: "tap" },
  "tap nonblocking": { path: "tap", nonblocking: true },
  "tap vnet_hdr blocking": { path: "tap", vnetHdr: true },
  "tun napi": { path: "tun", napi: true },
  "tap napi": { path: "tap", napi: true },
  "tap napi_frags one-iov": (payload) => ({
    path: "tap",
    napi: true,
    napiFrags: [42 + payload],
  }),
  "tap napi_frags iov[42,rest]": (payload) => ({
    path: "tap",
    napi: true,
    napiFrags: [42, payload],
  }),
};

const packet = (
  path: Path | ((payload: number) => Path),
  payload: number,
): PacketOptions => ({
  kernel: k,
  payload,
  ...(typeof path === "function" ? path(payload) : path),
});

Deno.test("udp_truesize.json: every path, every payload, refusals included", () => {
  const { paths, sender_wmem } = fixture<{
    paths: Record<string, MeasuredPath>;
    sender_wmem: Record<string, MeasuredPath>;
  }>("udp_truesize.json");
  const tally = new Tally();
  assertEquals(Object.keys(paths).filter((name) => !(name in PATHS)), []);
  for (const [name, { segments, missing = [] }] of Object.entries(paths)) {
    const path = PATHS[name]!;
    checkSegments(
      tally,
      name,
      segments,
      (payload) => truesizeOf(packet(path, payload)).truesize,
    );
    for (const [payload, errno] of missing) {
      assertEquals(errno, 22);
      const { truesize, error } = truesizeOf(packet(path, payload));
      tally.row(() => `${name}, payload ${payload}`, [truesize, error], [
        0,
        "EINVAL",
      ]);
    }
  }
  for (const [name, { segments }] of Object.entries(sender_wmem)) {
    checkSegments(
      tally,
      name,
      segments,
      (payload) => senderWmem(packet({ path: "veth" }, payload)).truesize,
    );
  }
  tally.done("udp_truesize.json");
});

Deno.test("udp6_truesize.json: loopback and fragments over IPv6", () => {
  const { paths } = fixture<{ paths: Record<string, MeasuredPath> }>(
    "udp6_truesize.json",
  );
  const tally = new Tally();
  for (const [name, { segments }] of Object.entries(paths)) {
    const path: Path = name.startsWith("loopback")
      ? { path: "loopback", ip: 6 }
      : { path: "veth", ip: 6 };
    checkSegments(
      tally,
      name,
      segments,
      (payload) => truesizeOf(packet(path, payload)).truesize,
    );
  }
  tally.done("udp6_truesize.json");
});

Deno.test("pieces of every packet add up to its blocks, and charges to its truesize", () => {
  let packets = 0;
  for (const path of Object.values(PATHS)) {
    for (let payload = 0; payload <= 4000; payload += 37) {
      const memory = truesizeOf(packet(path, payload));
      const charged = memory.blocks.reduce(
        (sum, block) => sum + block.charged,
        0,
      );
      assertEquals(charged, memory.truesize);
      for (const block of memory.blocks) {
        assertEquals(
          block.pieces.reduce((sum, piece) => sum + piece.bytes, 0),
          block.size,
        );
      }
      packets++;
    }
  }
  assert(packets > 1000);
});
