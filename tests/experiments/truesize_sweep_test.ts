import { assertEquals, assertThrows } from "@std/assert";
import { kernel, truesizeOf, truesizeSweep } from "@truesize/lab";

const k = kernel("6.18");

Deno.test("a sweep says what single packets say", () => {
  const [series] = truesizeSweep({
    strategies: [{ kernel: k, path: "tun" }],
    from: 100,
    to: 9000,
    step: 89,
  });
  assertEquals(series!.label, "tun 6.18");
  assertEquals(series!.payload.length, 101);
  series!.payload.forEach((payload, i) => {
    const packet = truesizeOf({ kernel: k, path: "tun", payload });
    assertEquals([series!.truesize[i], series!.ratio[i]], [
      packet.truesize,
      packet.ratio,
    ]);
  });
});

Deno.test("strategies keep their order and names", () => {
  const names = truesizeSweep({
    strategies: [{ kernel: k, path: "veth", label: "a" }, {
      kernel: kernel("3.12"),
      path: "ixgbe",
    }],
    to: 10,
  }).map(({ label }) => label);
  assertEquals(names, ["a", "ixgbe 3.12"]);
});

Deno.test("bad ranges and strategies are refused", () => {
  const strategies = [{ kernel: k, path: "veth" }] as const;
  assertThrows(
    () => truesizeSweep({ strategies, from: -1 }),
    RangeError,
    "from",
  );
  assertThrows(
    () => truesizeSweep({ strategies, from: 10, to: 9 }),
    RangeError,
    "to",
  );
  assertThrows(
    () => truesizeSweep({ strategies, step: 0 }),
    RangeError,
    "step",
  );
  assertThrows(
    () => truesizeSweep({ strategies, step: NaN }),
    RangeError,
    "step",
  );
  assertThrows(
    () => truesizeSweep({ strategies: [] }),
    TypeError,
    "strategies",
  );
  assertThrows(
    () => truesizeSweep({ strategies: [{ kernel: k, path: "x" as "veth" }] }),
    RangeError,
    '"x"',
  );
});
