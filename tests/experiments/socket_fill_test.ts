import { assertEquals, assertThrows } from "@std/assert";
import { datagramsUntilDrop, kernel } from "@truesize/lab";

const k = kernel("6.18");

Deno.test("an unread socket by release: one more fits before 6.18", () => {
  const queued = (name: string): number =>
    datagramsUntilDrop({
      kernel: kernel(name, { maxTcpHeader: 256 }),
      path: "veth",
      payload: 1472,
      rcvbuf: 212992,
    }).queued;
  assertEquals(["4.3", "6.1", "6.12", "6.18"].map(queued), [93, 93, 93, 92]);
});

Deno.test("small fragments are condensed once half the buffer is used", () => {
  const fill = datagramsUntilDrop({
    kernel: k,
    path: "tap",
    payload: 1,
    napiFrags: [42, 1],
    rcvbuf: 8192,
  });
  assertEquals(fill.increments, [[833, 5], [832, 4]]);
  assertEquals(fill.counters.condensed, 4);
});

Deno.test("reads can be asked for again, and no more than there are", () => {
  const fill = datagramsUntilDrop({
    kernel: k,
    path: "loopback",
    payload: 1,
    rcvbuf: 4096,
  });
  assertEquals(fill.afterReads(2), [3328, 1664]);
  assertEquals(fill.afterReads(9), [3328, 1664, 1664, 0]);
  assertEquals(fill.afterReads(1), [3328]);
});

Deno.test("protocol memory can end before the buffer", () => {
  const fill = datagramsUntilDrop({
    kernel: k,
    path: "loopback",
    payload: 1000,
    memPages: 10,
  });
  assertEquals([
    fill.queued,
    fill.counters.MemErrors,
    fill.counters.RcvbufErrors,
  ], [17, 1, 0]);
});

Deno.test("a packet that the kernel refuses fills nothing", () => {
  assertThrows(
    () => datagramsUntilDrop({ kernel: k, path: "loopback", payload: 70000 }),
    RangeError,
    "EMSGSIZE",
  );
  assertThrows(
    () =>
      datagramsUntilDrop({
        kernel: k,
        path: "loopback",
        payload: 1,
        rcvbuf: -1,
      }),
    RangeError,
    "rcvbuf",
  );
  assertThrows(
    () =>
      datagramsUntilDrop({
        kernel: k,
        path: "loopback",
        payload: 1,
        rcvbuf: NaN,
      }),
    RangeError,
    "rcvbuf",
  );
});
