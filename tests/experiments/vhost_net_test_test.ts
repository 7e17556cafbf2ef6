import { assertEquals, assertThrows } from "@std/assert";
import {
  runVhostNetTest,
  type VhostNetTestOptions,
} from "../../lib/experiments/vhost_net_test.ts";
import { kernel } from "../../lib/releases/mod.ts";

const run = (
  release: string,
  options: Omit<VhostNetTestOptions, "kernel"> = {},
) => runVhostNetTest({ kernel: kernel(release), ...options });

Deno.test("the whole tool before: 24,967 blocks of order 3", () => {
  const r = run("6.8");
  assertEquals([r.rxPackets, r.txPackets, r.frags], [
    1048576,
    1048576,
    1048576,
  ]);
  assertEquals(
    [r.order3Allocations, r.order3FreesRunning, r.order3FreesAtRelease],
    [24967, 24966, 1],
  );
  assertEquals([r.reuses, r.order0Allocations, r.pagesLeft], [0, 0, 0]);
  assertEquals([r.rxTruesize, r.txTruesize], [896, 1024]);
  assertEquals(r.pageRefs, { add: 24967, sub: 24967, set: 0, put: 1048576 });
  assertEquals(r.wastedBytes, 24966 * 512);
});

Deno.test("the whole tool after: 1 block and 24,966 reuses", () => {
  const r = run("6.12");
  assertEquals(
    [r.order3Allocations, r.order3FreesRunning, r.order3FreesAtRelease],
    [1, 0, 1],
  );
  assertEquals([r.reuses, r.pagesHeldMax, r.pagesLeft], [24966, 8, 0]);
  assertEquals(r.pageRefs, { add: 1, sub: 24967, set: 24966, put: 1048576 });
  assertEquals(r.wastedBytes, 24966 * 512);
});

Deno.test("single pages: 209,716 of them, five buffers each", () => {
  const before = run("6.8", { directions: "tx", highOrder: false });
  assertEquals(
    [before.order0Allocations, before.order3Allocations, before.order3Attempts],
    [209716, 0, 209716],
  );
  const after = run("6.12", { directions: "tx", highOrder: false });
  assertEquals([after.order0Allocations, after.reuses], [1, 209715]);
});

Deno.test("the first version's tool: 22 buffers of 1,472 a block", () => {
  const options = { directions: "tx", frame: 1012 } as const;
  const before = run("6.8", options);
  assertEquals([before.order3Allocations, before.txTruesize], [47663, 1728]);
  assertEquals(before.worker.wakeups, 1048576);
  assertEquals(run("6.12", options).reuses, 47662);
});

Deno.test("packets to the guest take no fragment, and tell the worker by the tap", () => {
  const r = run("6.8", { directions: "rx" });
  assertEquals([r.frags, r.order3Allocations, r.txTruesize], [0, 0, 0]);
  // Nothing asks for a kick; the ring's index comes round 16 times.
  assertEquals([r.worker.kicks, r.worker.wakeups], [16, 1048576]);
  const flags = run("6.8", {
    directions: "rx",
    packets: 70000,
    eventIdx: false,
  });
  assertEquals(flags.worker.kicks, 1);
});

Deno.test("one unread packet defeats the reuse", () => {
  const packets = 4200;
  const options = { directions: "tx", packets } as const;
  assertEquals(run("6.12", options).order3Allocations, 1);
  const held = run("6.12", { ...options, held: 1 });
  assertEquals([held.order3Allocations, held.reuses], [100, 0]);
  assertEquals([held.txPackets, held.pagesLeft, held.pagesHeldMax], [
    packets,
    0,
    16,
  ]);
});

Deno.test("more in flight than a socket's buffer holds is dropped and counted", () => {
  const r = run("6.8", { directions: "tx", packets: 512, inFlight: 256 });
  // 212,992 bytes are 208 packets.
  assertEquals([r.txPackets, r.txDropped, r.pagesLeft], [416, 96, 0]);
});

Deno.test("frames over a page take no fragments", () => {
  const r = run("6.8", { directions: "tx", packets: 100, frame: 3637 });
  assertEquals([r.frags, r.tap.singles, r.txTruesize], [0, 100, 4352]);
});

Deno.test("XDP: dropped packets and the references they give back", () => {
  const drop = run("6.12", {
    directions: "tx",
    packets: 640,
    inFlight: 64,
    xdp: "drop",
  });
  assertEquals([drop.txPackets, drop.txDropped, drop.pagesLeft], [0, 640, 0]);
  assertEquals(drop.pageRefs.put, drop.tap.pagePuts);
});

Deno.test("the same options give the same counts", () => {
  const options = { packets: 5000, inFlight: 7, held: 3 };
  assertEquals(
    JSON.stringify(run("6.8", options)),
    JSON.stringify(run("6.8", options)),
  );
});

Deno.test("bad options are named before anything runs", () => {
  const bad: [Omit<VhostNetTestOptions, "kernel">, string][] = [
    [{ packets: 0 }, "packets 0"],
    [{ packets: 1.5 }, "packets 1.5"],
    [{ frame: 13 }, "frame 13"],
    [{ frame: 1519 }, "frame 1519: a whole number from 14 to 1518"],
    [{ frame: 65536, directions: "tx" }, "frame 65536"],
    [{ inFlight: 257 }, "inFlight 257"],
    [{ held: -1 }, "held -1"],
    [{ directions: "up" as "tx" }, 'directions "up"'],
    [{ pages: 0 }, "pages 0"],
    [{ xdp: "tx" as "drop" }, 'xdp "tx"'],
  ];
  for (const [options, message] of bad) {
    assertThrows(() => run("6.8", options), RangeError, message);
  }
  assertThrows(
    () => run("6.8", { highOrder: 1 as unknown as boolean }),
    TypeError,
    "highOrder 1",
  );
  assertThrows(() => run("4.3"), RangeError, "no page fragments");
  assertEquals(run("6.8", { packets: 5, frame: undefined }).txPackets, 5);
});
