import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  kernel,
  type PacketOptions,
  packetPaths,
  releases,
  senderWmem,
  truesizeOf,
} from "@truesize/lab";

const k = kernel("6.18");
const veth = (more: Partial<PacketOptions>): PacketOptions => ({
  kernel: k,
  path: "veth",
  payload: 100,
  ...more,
});
const refused = (
  more: Record<string, unknown>,
  kind: typeof RangeError | typeof TypeError,
  message: string,
): void => {
  assertThrows(
    () => truesizeOf(veth(more as Partial<PacketOptions>)),
    kind,
    message,
  );
};

Deno.test("payload, truesize, ratio and pieces", () => {
  const packet = truesizeOf({
    kernel: k,
    path: "veth",
    protocol: "udp",
    payload: 1472,
  });
  assertEquals([packet.payload, packet.truesize, packet.ratio], [
    1472,
    2304,
    1472 / 2304,
  ]);
  assertEquals(packet.skbs.length, 1);
  const [struct, head] = packet.blocks;
  assertEquals([struct!.allocator, struct!.size], ["skbuff_head_cache", 256]);
  assertEquals([head!.allocator, head!.size], ["kmalloc-2k", 2048]);
  assertEquals(head!.pieces.map(({ label, bytes }) => [label, bytes]), [
    ["headroom", 16],
    ["headers", 28],
    ["payload", 1472],
    ["tailroom", 212],
    ["skb_shared_info", 320],
  ]);
  assertEquals(`${packet}`, "payload 1472 B, truesize 2304 B, ratio 0.639");
});

Deno.test("a fragmented datagram shows every skb that stays charged", () => {
  const packet = truesizeOf(veth({ payload: 4000 }));
  assertEquals(packet.skbs.map((skb) => skb.truesize), [2304, 2304, 2304]);
  assertEquals(packet.skbs.reduce((sum, skb) => sum + skb.len, 0), 4000 + 28);
});

Deno.test("a packet socket gets every fragment, a UDP socket the datagram", () => {
  assertEquals(truesizeOf(veth({ payload: 1600 })).truesize, 2304);
  assertEquals(
    truesizeOf(veth({ payload: 1600, socket: "packet" })).truesize,
    2304 + 832,
  );
});

Deno.test("what the kernel refuses has an error and no charge", () => {
  const { truesize, error, ratio, skbs } = truesizeOf(veth({ payload: 65508 }));
  assertEquals([truesize, error, ratio, skbs.length], [0, "EMSGSIZE", 0, 0]);
  assertEquals("error" in truesizeOf(veth({})), false);
  for (const path of packetPaths) {
    assertEquals(
      truesizeOf({ kernel: k, path, payload: 70000 }).error,
      "EMSGSIZE",
    );
  }
});

Deno.test("every path takes every small payload on every release", () => {
  for (const name of releases) {
    for (const path of packetPaths) {
      if (path === "page-pool" && !kernel(name).pagePool.fragments) continue;
      for (let payload = 0; payload <= 1472; payload += 64) {
        const packet = truesizeOf({ kernel: kernel(name), path, payload });
        if (packet.error !== undefined) {
          // The one driver that drops what it receives.
          assertEquals([
            name.startsWith("3.") || name === "net-next-2013-10",
            path,
          ], [true, "virtio-big"]);
          continue;
        }
        assert(
          packet.truesize > payload,
          `${name} ${path} ${payload}: ${packet.truesize}`,
        );
        const sum = packet.blocks.reduce(
          (bytes, block) => bytes + block.charged,
          0,
        );
        assertEquals(sum, packet.truesize, `${name} ${path} ${payload}`);
      }
    }
  }
});

Deno.test("TCP over loopback and over a NIC", () => {
  assertEquals(
    truesizeOf(veth({ protocol: "tcp", payload: 1448 })).truesize,
    2280,
  );
  const frame = truesizeOf({
    kernel: kernel("6.1"),
    path: "virtio-mergeable",
    protocol: "tcp",
    payload: 1448,
  });
  assertEquals(frame.truesize, 2816);
  const noTimestamps = {
    kernel: k,
    path: "tun",
    protocol: "tcp",
    timestamps: false,
  } as const;
  assertEquals(truesizeOf({ ...noTimestamps, payload: 152 }).truesize, 832);
  assertEquals(truesizeOf({ ...noTimestamps, payload: 153 }).truesize, 1280);
});

Deno.test("a NIC without GSO gets TCP in segments", () => {
  const packet = truesizeOf({
    kernel: kernel("6.8"),
    path: "ixgbe",
    protocol: "tcp",
    payload: 4344,
  });
  assertEquals(packet.skbs.map((skb) => skb.truesize), [2304, 2304, 2304]);
});

Deno.test("the sender is charged for every fragment", () => {
  assertEquals(senderWmem(veth({ payload: 1600 })).truesize, 3136);
  assertEquals(senderWmem(veth({ payload: 65508 })).error, "EMSGSIZE");
  assertThrows(
    () => senderWmem({ kernel: k, path: "tun", payload: 1 }),
    RangeError,
    '"tun"',
  );
});

Deno.test("options given as undefined are absent", () => {
  const options = {
    protocol: undefined,
    ip: undefined,
    mtu: undefined,
    socket: undefined,
    sg: undefined,
    gro: undefined,
    nonblocking: undefined,
    napiFrags: undefined,
    bufferSize: undefined,
  };
  assertEquals(
    truesizeOf(veth({ payload: 3000, ...options })).truesize,
    truesizeOf(veth({ payload: 3000 })).truesize,
  );
});

Deno.test("bad input is refused before anything runs", () => {
  refused({ payload: -1 }, RangeError, "payload");
  refused({ payload: NaN }, RangeError, "NaN");
  refused({ payload: 1.5 }, RangeError, "1.5");
  refused({ payload: 2 ** 31 }, RangeError, "2147483647");
  refused({ payload: Infinity }, RangeError, "Infinity");
  refused({ payload: "100" }, TypeError, "payload");
  refused({ payload: undefined }, TypeError, "payload");
  refused({ path: "e1000" }, RangeError, '"e1000"');
  refused({ path: undefined }, RangeError, "path");
  refused({ kernel: "6.18" }, TypeError, "kernel");
  refused({ kernel: undefined }, TypeError, "kernel");
  refused({ protocol: "sctp" }, RangeError, '"udp", "tcp"');
  refused({ ip: 5 }, RangeError, "ip");
  refused({ mtu: 67 }, RangeError, "68 to 65536");
  refused({ mtu: 1279, ip: 6 }, RangeError, "1280");
  refused({ mtu: 65537 }, RangeError, "mtu");
  refused({ socket: "tcp" }, RangeError, "socket");
  refused({ sg: 1 }, TypeError, "sg");
  refused({ nonblocking: true }, RangeError, "nonblocking");
  refused({ napiFrags: [142] }, RangeError, "napiFrags");
  refused({ bufferSize: 1536 }, RangeError, "bufferSize");
  refused({ payloads: 5 }, TypeError, "payloads");
  refused({ protocol: "tcp", payload: 65536 }, RangeError, "65535");
  assertThrows(
    () => truesizeOf(undefined as unknown as PacketOptions),
    TypeError,
    "options",
  );
  const tap = { kernel: k, path: "tap", payload: 100 } as const;
  assertThrows(
    () => truesizeOf({ ...tap, napiFrags: [] }),
    TypeError,
    "napiFrags",
  );
  assertThrows(
    () => truesizeOf({ ...tap, napiFrags: [42, 99] }),
    RangeError,
    "142",
  );
  assertThrows(
    () => truesizeOf({ ...tap, napiFrags: [42, -1, 101] }),
    RangeError,
    "napiFrags[1]",
  );
  assertThrows(
    () => truesizeOf({ ...tap, kernel: kernel("4.3"), napi: true }),
    RangeError,
    "4.15",
  );
});
