import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  VhostNetWorker,
  type VhostNetWorkerOptions,
} from "../../lib/drivers/vhost_net_worker.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";

function make(
  release: string,
  options: VhostNetWorkerOptions = {},
): VhostNetWorker {
  return new VhostNetWorker(
    new PageAllocator(kernel(release), { pages: 4096 }),
    options,
  );
}

function offer(worker: VhostNetWorker, n: number, frame = 256): void {
  for (let i = 0; i < n; i++) worker.tx.add(12 + frame);
  worker.kickTx();
  worker.run();
}

function completed(ring: { getBuf(): number }): number {
  let n = 0;
  while (ring.getBuf() >= 0) n++;
  return n;
}

function left(worker: VhostNetWorker): number {
  const { pgalloc, pgfree } = worker.frag.pages.counters;
  return pgalloc - pgfree;
}

Deno.test("one packet: one kick, one call, one batch, one signal", () => {
  const worker = make("6.8");
  offer(worker, 1);
  const { counters, tap } = worker;
  assertEquals([
    counters.kicks,
    counters.wakeups,
    counters.handleTx,
    counters.enableNotify,
    counters.signals,
    tap.counters.batches,
    tap.counters.built,
  ], [1, 1, 1, 1, 1, 1, 1]);
  assertEquals([completed(worker.tx), tap.queue.rmemAlloc], [1, 1024]);
  assertEquals([tap.recv(), tap.recv(), tap.queue.rmemAlloc], [1024, 0, 0]);
});

Deno.test("batches of 64, and the ring's rest", () => {
  for (const release of ["6.8", "6.12", "6.18"]) {
    const worker = make(release);
    offer(worker, 200);
    assertEquals(worker.tap.counters.batches, 4);
    assertEquals(worker.counters.signals, 4);
    assertEquals(completed(worker.tx), 200);
    assertEquals(worker.counters.requeues, 0);
  }
});

Deno.test("256 packets are one turn, whatever batches they filled", () => {
  const worker = make("6.8", { num: 512, rcvbuf: 1 << 20 });
  offer(worker, 300);
  assertEquals(
    [
      worker.counters.requeues,
      worker.counters.handleTx,
      worker.counters.wakeups,
    ],
    [1, 2, 1],
  );
  assertEquals([worker.tap.counters.batches, worker.tap.queued], [5, 300]);
});

Deno.test("524,288 bytes are one turn", () => {
  const worker = make("6.8", { num: 512, rcvbuf: 1 << 22 });
  // 3,648 bytes each: the 144th is the first to reach the weight.
  offer(worker, 200, 3636);
  assertEquals([worker.counters.requeues, worker.counters.handleTx], [1, 2]);
  assertEquals(worker.tap.counters.batches, 3 + 1);
});

Deno.test("a packet over a page ends the batch and goes singly", () => {
  const worker = make("6.8");
  worker.tx.add(12 + 256);
  worker.tx.add(12 + 3637);
  worker.tx.add(12 + 256);
  worker.kickTx();
  worker.run();
  const { counters, tap } = worker;
  assertEquals(
    [counters.ENOSPC, tap.counters.singles, tap.counters.batches],
    [1, 1, 2],
  );
  // 3,637 bytes and the headroom in a kmalloc'ed head of 4,096.
  assertEquals([tap.recv(), tap.recv(), tap.recv()], [1024, 4352, 1024]);
  assertEquals([counters.txPackets, completed(worker.tx)], [3, 3]);
});

Deno.test("a limited send buffer means no batches and no fragments", () => {
  const worker = make("6.8", { sndbuf: 1 << 20 });
  offer(worker, 10);
  assertEquals([worker.tap.counters.singles, worker.tap.counters.batches], [
    10,
    0,
  ]);
  assertEquals([worker.frag.counters.frags, completed(worker.tx)], [0, 10]);
  // A head of 64 + 256 and shared info: the small head's 640.
  assertEquals(worker.tap.recv(), 896);
});

Deno.test("without memory the packet stays on the ring until there is some", () => {
  for (const release of ["6.8", "6.12"]) {
    const worker = make(release);
    const { pages } = worker.frag;
    offer(worker, 42);
    pages.failOrders(0);
    // The 42 are unread, so that no block can be started again.
    offer(worker, 3);
    assertEquals(
      [worker.counters.ENOMEM, completed(worker.tx), worker.tx.inFlight],
      [1, 42, 3],
    );
    worker.run();
    assertEquals(worker.counters.ENOMEM, 2);
    pages.failOrders();
    worker.run();
    assertEquals([completed(worker.tx), worker.tap.queued], [3, 45]);
    while (worker.tap.recv() > 0);
    worker.release();
    assertEquals(left(worker), 0);
    pages.check();
  }
});

Deno.test("a packet that cannot be read costs the new allocator its bytes", () => {
  const offsets = ["6.8", "6.12"].map((release) => {
    const worker = make(release);
    offer(worker, 1);
    const before = worker.frag.offset;
    worker.tx.add(268, true);
    worker.kickTx();
    worker.run();
    assertEquals([worker.counters.EFAULT, worker.tx.inFlight], [1, 2]);
    while (worker.tap.recv() > 0);
    const after = worker.frag.offset;
    worker.release();
    assertEquals(left(worker), 0);
    return Math.abs(after - before);
  });
  assertEquals(offsets, [0, 768]);
});

Deno.test("what is shorter than the header or than Ethernet", () => {
  const worker = make("6.8");
  worker.tx.add(12 + 13);
  worker.kickTx();
  worker.run();
  assertEquals([worker.tap.counters.shortFrames, worker.tap.queued], [1, 0]);
  worker.tx.add(11);
  worker.kickTx();
  worker.run();
  assertEquals([worker.counters.EFAULT, worker.frag.counters.frags], [1, 1]);
  worker.release();
  assertEquals(left(worker), 0);
});

Deno.test("an XDP program needs headroom; what it drops goes back page by page", () => {
  for (const release of ["6.8", "6.12"]) {
    const pass = make(release, { xdp: "pass" });
    offer(pass, 1, 1514);
    assertEquals(pass.tap.recv(), 2496);

    const drop = make(release, { xdp: "drop" });
    offer(drop, 64);
    // 1,024 bytes each with the headroom: two blocks of 32.
    const { counters } = drop.tap;
    assertEquals([counters.xdpDropped, counters.pagePuts], [64, 2]);
    assertEquals([drop.tap.queued, completed(drop.tx)], [0, 64]);
    drop.release();
    assertEquals(left(drop), 0);
    drop.frag.pages.check();
  }
});

Deno.test("a full socket drops and frees", () => {
  const worker = make("6.8", { rcvbuf: 4096 });
  offer(worker, 50);
  const { queue } = worker.tap;
  assertEquals([worker.tap.queued, queue.counters.RcvbufErrors], [4, 46]);
  while (worker.tap.recv() > 0);
  worker.release();
  assertEquals(left(worker), 0);
});

Deno.test("the queue of addresses grows", () => {
  const worker = make("6.8", { rcvbuf: 1 << 20 });
  for (let round = 0; round < 3; round++) {
    offer(worker, 200);
    completed(worker.tx);
    for (let i = 0; i < 90; i++) assertEquals(worker.tap.recv(), 1024);
  }
  assertEquals(worker.tap.queued, 330);
  let rest = 0;
  while (worker.tap.recv() > 0) rest++;
  worker.release();
  assertEquals([rest, left(worker)], [330, 0]);
});

Deno.test("to the guest: the tap wakes the worker, a buffer is filled", () => {
  const worker = make("6.8");
  worker.rx.add(268);
  assertEquals(worker.send(256), true);
  worker.run();
  assertEquals([worker.rx.getBuf(), worker.rx.getBuf()], [268, -1]);
  assertEquals(worker.counters.wakeups, 1);
  assertEquals(worker.tap.counters.transmitTruesize, 896);
});

Deno.test("without a buffer the frame waits, and the next kick fetches it", () => {
  const worker = make("6.8");
  worker.send(256);
  worker.run();
  assertEquals([worker.tap.waiting, worker.counters.rxPackets], [1, 0]);
  // The worker does not poll the tap while it waits for buffers.
  worker.send(256);
  worker.run();
  assertEquals(worker.counters.wakeups, 1);
  worker.rx.add(268);
  worker.rx.add(268);
  worker.kickRx();
  worker.run();
  assertEquals([worker.tap.waiting, completed(worker.rx)], [0, 2]);
});

Deno.test("a frame that its buffer cannot hold is thrown away, or spread", () => {
  const single = make("6.8");
  single.rx.add(100);
  single.send(256);
  single.run();
  assertEquals([single.counters.rxDiscarded, single.tap.waiting], [1, 0]);
  assertEquals(single.rx.empty, false);

  const several = make("6.8", { mergeable: true });
  several.rx.add(100);
  several.rx.add(100);
  several.send(256);
  several.run();
  assertEquals([several.counters.rxPackets, several.tap.waiting], [0, 1]);
  several.rx.add(100);
  several.kickRx();
  several.run();
  const lengths = [0, 0, 0].map(() => several.rx.getBuf());
  assertEquals(lengths, [100, 100, 68]);
});

Deno.test("RX: signals every 65 buffers, turns of 256, drops beyond the tap's queue", () => {
  const worker = make("6.8", { num: 512 });
  for (let i = 0; i < 512; i++) worker.rx.add(268);
  for (let i = 0; i < 510; i++) worker.send(256);
  assertEquals([worker.tap.waiting, worker.tap.counters.txDropped], [500, 10]);
  worker.run();
  assertEquals([worker.counters.rxPackets, completed(worker.rx)], [500, 500]);
  assertEquals([worker.counters.requeues, worker.counters.wakeups], [1, 1]);
  assertEquals(worker.counters.signals, 4 + 4);
});

Deno.test("a frame over the MTU is refused", () => {
  const worker = make("6.8");
  assertEquals([worker.send(1519), worker.send(1518)], [false, true]);
  assertEquals(worker.tap.counters.EMSGSIZE, 1);
});

Deno.test("bad options are named", () => {
  assertThrows(() => make("4.3"), RangeError, "no page fragments");
  assertThrows(() => make("6.8", { sndbuf: 0 }), RangeError, "sndbuf 0");
  assertThrows(() => make("6.8", { num: 3 }), RangeError, "num 3");
  assertThrows(
    () => make("6.8", { txQueueLen: 0 }),
    RangeError,
    "txQueueLen 0",
  );
  assertThrows(
    () => make("6.8", { xdp: "tx" as "drop" }),
    RangeError,
    'xdp "tx"',
  );
  assertThrows(
    () => make("6.8", { mergeable: "yes" as unknown as boolean }),
    TypeError,
    "mergeable yes",
  );
  assert(make("6.8", { sndbuf: undefined, mergeable: undefined }).canBatch);
});
