import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { allocSkb, kernel, ReceiveQueue, soRcvbuf } from "@truesize/lab";

const fill = (name: string, rcvbuf: number, options = {}): ReceiveQueue => {
  const queue = new ReceiveQueue(kernel(name), { rcvbuf, ...options });
  while (queue.enqueue(allocSkb(kernel(name, { maxTcpHeader: 256 }), 1500)));
  return queue;
};

Deno.test("when a UDP socket is full, by release: 2,304-byte skbs in 10,000 bytes", () => {
  // 4.3 takes one while less than rcvbuf is charged, 6.1 while not more is, 6.18 while the next one fits.
  assertEquals(
    ["4.3", "6.1", "6.12", "6.18"].map((name) => fill(name, 10000).length),
    [5, 5, 5, 4],
  );
  assertEquals(
    ["4.3", "6.1", "6.12", "6.18"].map((name) => fill(name, 4608).length),
    [2, 3, 3, 2],
  );
});

Deno.test("an empty queue takes any packet", () => {
  assertEquals(["4.3", "6.1", "6.18"].map((name) => fill(name, 2000).length), [
    1,
    1,
    1,
  ]);
  assertEquals(fill("6.18", 0).length, 1);
});

Deno.test("raw and packet sockets keep the old rule and give back at once", () => {
  for (const socket of ["raw", "packet"]) {
    const queue = fill("6.18", 4608, { socket });
    assertEquals(queue.length, 2);
    assertEquals(fill("6.18", 4609, { socket }).length, 3);
    queue.read();
    assertEquals(queue.rmemAlloc, 2304);
  }
});

Deno.test("UDP gives back in batches of a quarter of rcvbuf, and all when the queue empties", () => {
  const queue = fill("6.18", 23040);
  assertEquals(queue.length, 10);
  const after: number[] = [];
  while (queue.length > 0) {
    queue.read();
    after.push(queue.rmemAlloc);
  }
  assertEquals(after, [
    23040,
    23040,
    16128,
    16128,
    16128,
    9216,
    9216,
    9216,
    2304,
    0,
  ]);
  assertEquals(queue.read(), 0);
});

Deno.test("a reader that keeps up: what arrives meanwhile is on another list", () => {
  const k = kernel("6.18");
  const queue = new ReceiveQueue(k, { rcvbuf: 212992 });
  queue.enqueue(allocSkb(k, 100));
  queue.read();
  assertEquals(queue.rmemAlloc, 0);
  queue.enqueue(allocSkb(k, 100));
  queue.enqueue(allocSkb(k, 100));
  queue.read();
  // One is left on the reader's list, so the charge of the first waits.
  assertEquals(queue.rmemAlloc, 1664);
});

Deno.test("up to 4.9 every read gives back", () => {
  const queue = fill("4.3", 9216);
  const after: number[] = [];
  while (queue.length > 0) {
    queue.read();
    after.push(queue.rmemAlloc);
  }
  assertEquals(after, [6912, 4608, 2304, 0]);
});

Deno.test("protocol memory is taken by pages and runs out", () => {
  const k = kernel("6.18");
  const queue = new ReceiveQueue(k, { memPages: 2 });
  assert(queue.enqueue(allocSkb(k, 1500)));
  assertEquals([queue.memoryPages, queue.forwardAlloc], [1, 4096 - 2304]);
  assert(queue.enqueue(allocSkb(k, 1500)));
  assertEquals([queue.memoryPages, queue.forwardAlloc], [2, 8192 - 4608]);
  assert(queue.enqueue(allocSkb(k, 1500)));
  assertFalse(queue.enqueue(allocSkb(k, 1500)));
  assertEquals([
    queue.counters.MemErrors,
    queue.counters.RcvbufErrors,
    queue.length,
  ], [1, 0, 3]);
  while (queue.length > 0) queue.read();
  assertEquals(
    [queue.rmemAlloc, queue.memoryPages * 4096 - queue.forwardAlloc],
    [0, 0],
  );
});

Deno.test("a long queue keeps its order in the ring", () => {
  const k = kernel("6.18");
  const queue = new ReceiveQueue(k, { rcvbuf: 0x3fffffff });
  const sizes = Array.from(
    { length: 1000 },
    (_, i) => allocSkb(k, (i % 40) * 200).truesize,
  );
  for (let i = 0; i < 1000; i++) queue.enqueue(allocSkb(k, (i % 40) * 200));
  assertEquals(Array.from({ length: 1000 }, () => queue.read()), sizes);
});

Deno.test("SO_RCVBUF is doubled between its bounds", () => {
  const k = kernel("6.18");
  assertEquals([1, 1152, 2048, 262144].map((value) => soRcvbuf(k, value)), [
    2304,
    2304,
    4096,
    524288,
  ]);
  assertEquals(soRcvbuf(k, 8388608, 212992), 425984);
});

Deno.test("bad input is refused by name", () => {
  const k = kernel("6.18");
  assertThrows(() => new ReceiveQueue(k, { rcvbuf: -1 }), RangeError, "rcvbuf");
  assertThrows(
    () => new ReceiveQueue(k, { rcvbuf: 1.5 }),
    RangeError,
    "rcvbuf",
  );
  assertThrows(
    () => new ReceiveQueue(k, { rcvbuf: 2 ** 31 }),
    RangeError,
    "rcvbuf",
  );
  assertThrows(
    () => new ReceiveQueue(k, { memPages: -1 }),
    RangeError,
    "memPages",
  );
  assertThrows(
    () => new ReceiveQueue(k, { socket: "tcp" as "udp" }),
    RangeError,
    '"tcp"',
  );
  assertEquals(new ReceiveQueue(k, { rcvbuf: undefined }).rcvbuf, 212992);
});
