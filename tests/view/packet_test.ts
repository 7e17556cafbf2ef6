import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { drawPacket, kernel, packetText, truesizeOf } from "@truesize/lab";
import { textFaults } from "./svg_texts.ts";

const k = kernel("6.18");
const display = Symbol.for("Jupyter.display");

Deno.test("a packet in a cell's last line becomes a drawing", async () => {
  const packet = truesizeOf({ kernel: k, path: "veth", payload: 1472 });
  const bundle = await (packet as unknown as Record<
    symbol,
    () => Promise<Record<string, string>>
  >)[display]!();
  assertEquals(Object.keys(bundle).sort(), [
    "image/png",
    "text/html",
    "text/plain",
  ]);
  assertStringIncludes(bundle["text/html"]!, "kmalloc-2k");
  assertStringIncludes(bundle["text/plain"]!, "truesize 2304 B");
});

Deno.test("drawings of many kinds of packets cut no text", async () => {
  for (
    const options of [
      { path: "veth", payload: 0 },
      { path: "veth", payload: 9000 },
      { path: "loopback", payload: 65507 },
      { path: "tun", payload: 60000 },
      { path: "tap", payload: 64, nonblocking: true },
      { path: "virtio-mergeable", payload: 1472 },
    ] as const
  ) {
    const figure = await drawPacket(truesizeOf({ kernel: k, ...options }));
    assertEquals(
      textFaults(figure.svg()),
      [],
      `${options.path} ${options.payload}`,
    );
  }
});

Deno.test("a refused packet has a line of text and no drawing", async () => {
  const packet = truesizeOf({ kernel: k, path: "veth", payload: 65508 });
  assertEquals(packetText(packet), "payload 65508 B: EMSGSIZE");
  const bundle = await (packet as unknown as Record<
    symbol,
    () => Promise<Record<string, string>>
  >)[display]!();
  assertEquals(bundle, { "text/plain": "payload 65508 B: EMSGSIZE" });
  assertThrows(() => drawPacket(packet), RangeError, "EMSGSIZE");
});
