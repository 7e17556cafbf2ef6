import { assertEquals, assertThrows } from "@std/assert";
import { VhostRing } from "../../lib/drivers/vhost_ring.ts";

Deno.test("chains come back in order, after they were signalled", () => {
  const ring = new VhostRing({ num: 4 });
  for (const length of [10, 20, 30]) assertEquals(ring.add(length), true);
  assertEquals([ring.take(), ring.take()], [10, 20]);
  ring.stageUsed(7);
  ring.stageUsed(8);
  assertEquals([ring.getBuf(), ring.staged, ring.inFlight], [-1, 2, 3]);
  assertEquals(ring.signalUsed(), 2);
  assertEquals([ring.getBuf(), ring.getBuf(), ring.getBuf()], [7, 8, -1]);
  assertEquals([ring.inFlight, ring.take(), ring.take()], [1, 30, 0]);
});

Deno.test("a full ring takes no more until a chain has come back", () => {
  const ring = new VhostRing({ num: 2 });
  assertEquals([ring.add(1), ring.add(2), ring.add(3)], [true, true, false]);
  ring.take();
  ring.stageUsed(0);
  assertEquals(ring.add(3), false);
  ring.signalUsed();
  assertEquals(ring.add(3), false);
  ring.getBuf();
  assertEquals([ring.add(3), ring.take(), ring.take()], [true, 2, 3]);
});

Deno.test("what is discarded is taken again", () => {
  const ring = new VhostRing();
  ring.add(5);
  ring.add(6, true);
  assertEquals([ring.take(), ring.take()], [5, -6]);
  ring.discard(1);
  assertEquals([ring.empty, ring.take()], [false, -6]);
  assertThrows(() => ring.discard(3), RangeError, "from 0 to 2");
  ring.stageUsed(0);
  assertThrows(() => ring.discard(2), RangeError, "from 0 to 1");
});

Deno.test("event indices: a kick where the host asked, and one when the index comes round", () => {
  const ring = new VhostRing();
  let kicks = 0;
  for (let i = 0; i < 3 * 65536; i++) {
    ring.add(1);
    if (ring.kick()) kicks++;
    ring.take();
    ring.stageUsed(0);
    ring.signalUsed();
    ring.getBuf();
  }
  assertEquals(kicks, 3);
  ring.enableNotify();
  ring.add(1);
  ring.add(1);
  assertEquals([ring.kick(), ring.kick()], [true, false]);
});

Deno.test("without event indices a flag decides", () => {
  const ring = new VhostRing({ eventIdx: false });
  ring.add(1);
  assertEquals(ring.kick(), true);
  ring.disableNotify();
  ring.add(1);
  assertEquals(ring.kick(), false);
  ring.enableNotify();
  assertEquals(ring.kick(), true);
});

Deno.test("asking to be told says whether something slipped in", () => {
  const ring = new VhostRing();
  assertEquals(ring.enableNotify(), false);
  ring.add(1);
  assertEquals(ring.enableNotify(), true);
  ring.take();
  assertEquals(ring.enableNotify(), false);
  // What was put back is not new.
  ring.discard(1);
  assertEquals([ring.enableNotify(), ring.empty], [false, false]);
});

Deno.test("bad arguments are named", () => {
  for (const num of [0, 3, 65536, 1.5, NaN]) {
    assertThrows(() => new VhostRing({ num }), RangeError, `num ${num}`);
  }
  assertThrows(
    () => new VhostRing({ eventIdx: 1 as unknown as boolean }),
    TypeError,
    "eventIdx 1",
  );
  const ring = new VhostRing();
  for (const length of [0, -1, 1.5, NaN, 2 ** 30]) {
    assertThrows(() => ring.add(length), RangeError, `length ${length}`);
  }
});
