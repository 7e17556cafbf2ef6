import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type ReceiveEra,
  receiveRing,
  receiveYears,
} from "../../lib/experiments/receive_years.ts";
import { kernel } from "../../lib/releases/mod.ts";

const era = (name: string): ReceiveEra => ({
  label: name,
  kernel: kernel(name),
  path: "virtio-mergeable",
});

Deno.test("blocks that a packet takes follow from its buffers", () => {
  const [old, today] = receiveYears({
    eras: [era("3.12"), era("6.8")],
    frames: [1514],
    packets: 21_000,
  });
  assert(Math.abs(old!.order0 - 1) < 0.01 && old!.order3 === 0);
  assert(Math.abs(today!.order3 - 1 / 21) < 1e-3 && today!.order0 === 0);
  assertEquals([old!.ring.buffers, today!.ring.buffers], [256, 256]);
  assert(today!.pagesHeld * 4096 >= today!.ring.blockBytes);
});

Deno.test("a ring that is too small for the frame receives none and ends", () => {
  const [row] = receiveYears({
    eras: [era("3.14")],
    frames: [65226],
    ringSize: 16,
    packets: 10,
  });
  assertEquals([row!.buffers, row!.truesize, row!.ratio], [0, 0, 0]);
  assertEquals(row!.ring.buffers, 16);
});

Deno.test("page_pool takes no page while the stack keeps up", () => {
  const rows = receiveYears({
    eras: [{ ...era("6.8"), path: "page-pool" }],
    frames: [60, 1514, 9014],
  });
  assertEquals(rows.map(({ order0 }) => order0), [0, 0, 0]);
});

Deno.test("bad arguments are named", () => {
  const eras = [era("6.8")];
  assertThrows(
    () => receiveYears({ eras, frames: [13] }),
    RangeError,
    "frames[0]",
  );
  assertThrows(
    () => receiveYears({ eras, ringSize: 1 }),
    RangeError,
    "ringSize",
  );
  assertThrows(() => receiveYears({ eras, ringSize: 48 }), RangeError, "size");
  assertThrows(() => receiveYears({ eras, packets: 0 }), RangeError, "packets");
  assertThrows(
    () => receiveRing({ ...era("6.8"), path: "tap" as "page-pool" }),
    RangeError,
    '"tap"',
  );
});
