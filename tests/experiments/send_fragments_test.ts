import { assertEquals, assertThrows } from "@std/assert";
import { kernel, sendFragments } from "@truesize/lab";

Deno.test("a write of 64 KiB into fresh blocks makes two fragments", () => {
  const sent = sendFragments({
    kernel: kernel("6.18"),
    write: 65536,
    writes: 1,
  });
  assertEquals([sent.fragments, sent.blocks, sent.wasted], [2, 2, 0]);
});

Deno.test("a block that is part used splits it into three", () => {
  // The first write leaves the block at offset 20,000.
  const k = kernel("6.18");
  const first = sendFragments({ kernel: k, write: 20000, writes: 1 }).fragments;
  const writes = sendFragments({ kernel: k, write: 20000, writes: 5 });
  // 20000 | 12768 7232 | 20000 | 5536 14464 | 18304 1696
  assertEquals([first, writes.fragments, writes.blocks], [1, 8, 4]);
});

Deno.test("before the thread one byte was room enough, then 32 had to be left", () => {
  const write = 32767;
  assertEquals(
    sendFragments({ kernel: kernel("3.12"), write, writes: 2 }).tiny,
    1,
  );
  const later = sendFragments({ kernel: kernel("4.3"), write, writes: 2 });
  assertEquals([later.tiny, later.wasted], [0, 1]);
});

Deno.test("bad input is refused by name", () => {
  const k = kernel("6.18");
  assertThrows(
    () => sendFragments({ kernel: k, write: 0 }),
    RangeError,
    "write",
  );
  assertThrows(
    () => sendFragments({ kernel: k, write: 1.5 }),
    RangeError,
    "1.5",
  );
  assertThrows(
    () => sendFragments({ kernel: k, write: 1, writes: -1 }),
    RangeError,
    "writes",
  );
  assertEquals(
    sendFragments({ kernel: k, write: 32, writes: undefined }).fragments,
    1000,
  );
});
