import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  datagramsUntilDrop,
  hostKernel,
  type Kernel,
  kernel,
  nearestRelease,
  truesizeOf,
} from "@truesize/lab";
import {
  chargeTable,
  differences,
  fillTable,
  fittedKernel,
  probePayloads,
  slabTable,
  streamTable,
} from "../../lib/host/probe.ts";
import {
  measureCharges,
  measureFill,
  type ProbeHost,
} from "../../lib/host/probe_sockets.ts";
import { readSysSlab } from "../../lib/host/sys_slab.ts";
import { text } from "./support.ts";

const RCVBUF = 212992;

/** A machine whose kernel is a model, and whose ss prints what the model says. */
function machine(k: Kernel, deaf: readonly number[] = []): ProbeHost {
  const sockets = new Map<number, number[]>();
  let port = 40000;
  return {
    bind: () => {
      const own = port++;
      sockets.set(own, []);
      return {
        port: own,
        send: (payload, to) => {
          if (!deaf.includes(payload.length)) {
            sockets.get(to)!.push(payload.length);
          }
          return Promise.resolve();
        },
        close: () => sockets.delete(own),
      };
    },
    ss: () =>
      "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n" +
      [...sockets].map(([own, payloads]) => {
        let r = 0, queued = 0;
        for (const payload of payloads) {
          const { truesize } = truesizeOf({
            kernel: k,
            path: "loopback",
            payload,
          });
          if (r > 0 && r + truesize > RCVBUF) continue;
          r += truesize;
          queued++;
        }
        return `UNCONN ${r} 0 127.0.0.1:${own} 0.0.0.0:*\n` +
          `\t skmem:(r${r},rb${RCVBUF},t0,tb${RCVBUF},f0,w0,o0,bl0,d${
            payloads.length - queued
          })\n`;
      }).join(""),
    now: () => 0,
    sleep: () => Promise.resolve(),
  };
}

Deno.test("nearestRelease(): the newest that is not newer", () => {
  for (
    const [host, name, same] of [
      ["6.18.44", "6.18", true],
      ["6.18.0-rc3+", "6.18", true],
      ["6.14.0-29-generic", "6.12", false],
      ["6.1.0-40-amd64", "6.1", true],
      ["7.2", "6.18", false],
      ["2.6.32-754.el6", "3.12", false],
      ["5.15.0", "5.12", false],
    ] as const
  ) assertEquals([host, nearestRelease(host)], [host, { name, same }]);
  assertThrows(() => nearestRelease("generic"), RangeError, "osRelease");
});

Deno.test("hostKernel(): MAX_HEADER from the size of small heads", () => {
  const built = (smallHead: number) =>
    hostKernel({ osRelease: "6.18.44", smallHead, cpus: 8 }).build;
  assertEquals([built(576).maxTcpHeader, built(576).cpus], [256, 8]);
  // 6.18's small heads also hold what GRO pulls: the header itself is smaller.
  assertEquals([built(640).maxHeader, built(640).maxTcpHeader], [80, 256]);
  assertEquals([built(704).maxHeader, built(704).maxTcpHeader], [144, 320]);
  // No header gives this one: the release's own is kept, and the probe says so.
  assertEquals(built(600).maxTcpHeader, 256);
  const sizes = hostKernel({ osRelease: "6.18.44", build: { skBuff: 232 } });
  assertEquals(sizes.skb.skBuff, 232);
});

Deno.test("probePayloads(): both sides of every class change", () => {
  const payloads = probePayloads(kernel("6.18"), 4, 65536);
  for (const [below, above] of [[197, 198], [645, 646], [16004, 16005]]) {
    assert(payloads.includes(below!) && payloads.includes(above!));
  }
  assert(payloads.length < 100 && payloads.at(-1) === 65507);
  assert(probePayloads(kernel("6.18"), 4, 1500).at(-1)! <= 1472);
});

Deno.test("probe: a kernel that is the model agrees everywhere", async () => {
  const k = kernel("6.18");
  const host = machine(k);
  const payloads = probePayloads(k, 4, 65536);
  const charges = await measureCharges(host, 4, payloads);
  assert(charges.every(({ r }) => r !== null && r > 0));
  const fill = await measureFill(
    host,
    1472,
    (rcvbuf) =>
      datagramsUntilDrop({ kernel: k, path: "loopback", payload: 1472, rcvbuf })
        .queued + 20,
  );
  assertEquals(fill, {
    payload: 1472,
    sent: 112,
    r: 92 * 2304,
    rb: RCVBUF,
    d: 20,
  });
  const tables = [
    chargeTable(k, 4, 65536, charges),
    fillTable(k, 65536, [fill!]),
  ];
  assertEquals(differences(tables), []);
});

Deno.test("probe: another kernel's differences are flagged, each with its figures", async () => {
  const k = kernel("6.18");
  const charges = await measureCharges(
    machine(kernel("6.18", { skBuff: 264 })),
    4,
    [1, 1472],
  );
  const table = chargeTable(k, 4, 65536, charges);
  assertEquals(table.rows.map(({ cells }) => cells[0]!.kind), [
    "unexplained",
    "unexplained",
  ]);
  assertEquals(differences([table]), [
    "udp-truesize, 1 bytes, truesize: kernel 896, model 832",
    "udp-truesize, 1472 bytes, truesize: kernel 2368, model 2304",
  ]);
  // No MAX_HEADER explains a larger sk_buff.
  assertEquals(fittedKernel(k, 65536, charges), undefined);
});

Deno.test("fittedKernel(): finds a MAX_HEADER that only root can read", async () => {
  const k = kernel("6.18");
  const payloads = probePayloads(
    kernel("6.18", { maxHeader: 128 }),
    4,
    65536,
  );
  const charges = await measureCharges(
    machine(kernel("6.18", { maxHeader: 128 })),
    4,
    payloads,
  );
  assert(differences([chargeTable(k, 4, 65536, charges)]).length > 0);
  const fitted = fittedKernel(k, 65536, charges)!;
  assertEquals(fitted.skb.smallHead, 640);
  const table = chargeTable(fitted, 4, 65536, charges, "fitted");
  assertEquals(differences([table]), []);
  assertEquals(table.rows[0]!.cells[0]!.kind, "fitted");
});

Deno.test("probe: a packet that never arrives is no figure, and ends the wait", async () => {
  const k = kernel("6.18");
  const charges = await measureCharges(machine(k, [1000]), 4, [1, 1000]);
  assertEquals(charges, [{ payload: 1, r: 832 }, { payload: 1000, r: null }]);
  assertEquals(differences([chargeTable(k, 4, 65536, charges)]), []);
  // Nothing was dropped: there is nothing to compare.
  assertEquals(await measureFill(machine(k), 1472, () => 5), undefined);
  await assertRejects(
    () => measureCharges(machine(k), 4, Array(501).fill(1)),
    RangeError,
    "501",
  );
});

Deno.test("slabTable(): layouts of a listing beside the model", () => {
  const slab = readSysSlab(text("sys_slab_6_18.txt"));
  assertEquals(slabTable(kernel("6.18"), slab), undefined);
  const listing = (objects: number) =>
    readSysSlab(
      `kmalloc-1k/object_size:1024\nkmalloc-1k/order:2\nkmalloc-1k/objs_per_slab:${objects}\n`,
    );
  const k = kernel("6.18");
  assertEquals(differences([slabTable(k, listing(16))!]), []);
  assertEquals(differences([slabTable(k, listing(8))!]), [
    "slabs, kmalloc-1k, objects: kernel 8, model 16",
  ]);
});

Deno.test("streamTable(): writes that share skbs, by the times at which they were made", () => {
  const k = kernel("6.18");
  const cell = (gapMs: number, r: number | null, count = 20) =>
    streamTable(k, 65536, [{
      writes: Array(count).fill(100),
      gapsMs: Array(count).fill(gapMs),
      r,
    }]).rows[0]!.cells[0]!;
  // Behind the delayed ACK of the one before, only 17 fragments end an skb: two heads.
  const slow = cell(60, 2000 + 2 * 832);
  assertEquals([slow.simulated, slow.kind, slow.note], [
    3664,
    "exact",
    undefined,
  ]);
  // Faster, it hangs on the tick on which a delayed ACK falls how many of the last writes found a clone still held.
  const fast = cell(5, 4496);
  assertEquals([fast.simulated, fast.kind], [4496, "fitted"]);
  assertEquals(fast.note, "5328 or 4496 or 3664 by when the tick fell");
  const wrong = cell(60, 3665);
  assertEquals([wrong.simulated, wrong.kind], [3664, "unexplained"]);
  assertEquals(cell(60, null).published, null);
  assertEquals(cell(0, 932, 1).kind, "exact");
});
