import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  compare,
  type Counters,
  definePatch,
  kernel,
  patches,
  truesizeOf,
  type Workload,
  workloads,
} from "@truesize/lab";

const names = (facts: readonly { readonly name: string }[]) =>
  facts.map(({ name }) => name);

Deno.test("an artificial workload: the first step of each counter, and the order within a step", () => {
  let longest = 0;
  const workload: Workload = {
    name: "steps",
    unit: "step",
    steps: 5000,
    run(k, steps) {
      longest = Math.max(longest, steps);
      const late = k.name === "6.18" ? 1 : 0;
      return {
        same: steps,
        third: Math.max(0, steps - 4095) * late,
        group: {
          second: steps >= 777 ? late : 0,
          deep: { last: steps < 5000 ? 0 : late },
        },
        second: steps >= 777 ? 2 * late : 0,
        first: steps > 0 ? late : 0,
      };
    },
  };
  const { first, follows } = compare(kernel("6.12"), kernel("6.18"), workload);
  assertEquals(
    [first!, ...follows].map(({ name, step }) => [name, step]),
    [
      ["first", 1],
      ["group.second", 777],
      ["second", 777],
      ["third", 4096],
      ["group.deep.last", 5000],
    ],
  );
  assertEquals(follows[2]!.values, [0, 1]);
  assertEquals(follows[2]!.end, [0, 905]);
  assertEquals(longest, 5000);
});

Deno.test("a grown head costs a socket 22 datagrams, because of one fact", () => {
  const fill = workloads.udpFill({
    path: "veth",
    payload: 100,
    rcvbuf: 212992,
  });
  const comparison = compare(kernel("6.1"), kernel("6.18"), fill);
  assertEquals(comparison.first, {
    name: "truesize",
    step: 1,
    values: [768, 832],
    end: [768, 832],
  });
  assertEquals(names(comparison.causes), ["skb.smallHead"]);
  assertEquals(
    comparison.follows.map(({ name, step, end }) => [name, step, ...end]),
    [
      ["rmemAlloc", 1, 213504, 212992],
      ["queued", 257, 278, 256],
      ["RcvbufErrors", 257, 746, 768],
    ],
  );
  assert(comparison.facts.length > 1);
  const text = String(comparison);
  assertStringIncludes(text, "6.1 and 6.18 first differ after datagram 1");
  assertStringIncludes(text, "because of skb.smallHead, 0 and 576");
  const table = comparison.toTable();
  assertEquals(table.rows.map(({ label }) => label), [
    "truesize",
    "rmemAlloc",
    "queued",
    "RcvbufErrors",
  ]);
  assertEquals(table.rows[2]!.cells.map(({ simulated }) => simulated), [
    257,
    278,
    256,
  ]);
});

Deno.test("causes that only work together are named together, and no more", () => {
  const fill = workloads.udpFill({
    path: "virtio-mergeable",
    payload: 100,
    rcvbuf: 212992,
  }, 1);
  const { causes, first, facts } = compare(
    kernel("3.12"),
    kernel("6.18"),
    fill,
  );
  assertEquals(first!.values, [4864, 1792]);
  assertEquals(names(causes), [
    "virtio.mergeable",
    "virtio.bufferMin",
    "virtio.bufferAlign",
    "virtio.buildSkb",
  ]);
  assert(facts.length > 100);
});

Deno.test("a patch's own facts are the causes", () => {
  const base = kernel("net-next-2015-10");
  const patched = base.am(
    patches.bulkFreeInfrastructure!,
    patches.ixgbeBulkFree!,
  );
  const { first, causes, kernels } = compare(
    base,
    patched,
    workloads.forwarding({}, 64),
  );
  assertEquals(kernels, [
    "net-next-2015-10",
    "net-next-2015-10 + bulkFreeInfrastructure + ixgbeBulkFree",
  ]);
  assertEquals([first!.name, first!.step], ["slab.FREE_SLOWPATH", 3]);
  assertEquals(names(causes), ["napi.skbCacheSize", "napi.ixgbeFrees"]);
  assertEquals(causes[1]!.release, "ixgbeBulkFree");
});

Deno.test("the vhost_net series diverges where the first block is used up", () => {
  const { first, causes } = compare(
    kernel("6.8"),
    kernel("6.12"),
    workloads.vhostNetTest({}, 4200),
  );
  // 42 fragments of 768 bytes fill 32 KiB.
  assertEquals([first!.name, first!.step, first!.values], [
    "order3Allocations",
    43,
    [2, 1],
  ]);
  assertEquals(names(causes), ["vhost.frag"]);
});

Deno.test("a TCP stream's windows part before its segments do", () => {
  const { first, follows } = compare(
    kernel("6.1"),
    kernel("6.12"),
    workloads.netperf({ path: "ixgbe", rttMs: 20, rateMbit: 1000 }, 100),
  );
  const step = (name: string) =>
    [first!, ...follows].find((found) => found.name === name)!.step;
  assert(step("rcvSsthresh") < step("receiver.OutSegs"));
  assertEquals(
    workloads.netperf({
      path: "veth",
      rttMs: 1,
      host: { sender: { packet: 1 } },
    }).kind,
    "priced",
  );
});

Deno.test("the same kernel counts the same; a build that differs is named", () => {
  const fill = workloads.udpFill({ path: "loopback", payload: 30000 }, 64);
  const same = compare(kernel("6.18"), kernel("6.18"), fill);
  assertEquals([same.first, same.follows, same.causes], [null, [], []]);
  assertStringIncludes(String(same), "count the same over 64 datagrams");
  assertEquals(same.toTable().rows, []);

  const charge = (k: ReturnType<typeof kernel>) => ({
    truesize:
      truesizeOf({ kernel: k, path: "virtio-small", payload: 1 }).truesize,
  });
  const { first, causes, build, workload } = compare(
    kernel("6.18"),
    kernel("6.18", { maxSkbFrags: 45 }),
    charge,
  );
  assertEquals([first!.name, names(causes), build], [
    "truesize",
    ["skb.sharedInfo"],
    ["maxSkbFrags"],
  ]);
  assertEquals(workload.name, "charge");
});

Deno.test("bad kernels, workloads and counters are refused", () => {
  const k = kernel("6.18");
  const bad = (counters: unknown) => () =>
    compare(k, k, () => counters as Counters);
  assertThrows(bad(5), TypeError, "a record of counters");
  assertThrows(bad({ a: { b: "x" } }), TypeError, "a.b is x");
  assertThrows(
    () => compare("6.18" as unknown as typeof k, k, () => ({})),
    TypeError,
    "kernel must be a kernel",
  );
  assertThrows(
    () => compare(k, k, {} as Workload),
    TypeError,
    "workload must be",
  );
  assertThrows(
    () => workloads.udpFill({ path: "veth", payload: 1 }, 0),
    RangeError,
    "datagrams 0",
  );
  const own = definePatch({
    name: "own",
    subject: "s",
    date: "2026",
    thread: "t",
    fits: () => undefined,
    changes: {},
  });
  assertEquals(compare(k, k.am(own), () => ({ a: 1 })).facts, []);
});
