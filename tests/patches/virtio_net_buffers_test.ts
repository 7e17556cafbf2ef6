import { assertEquals, assertThrows } from "@std/assert";
import type { Kernel } from "../../lib/kernel.ts";
import { truesizeOf } from "../../lib/experiments/truesize.ts";
import {
  virtioAutoTune,
  virtioCoalesceRxFrags,
  virtioHeaderRoom,
  virtioHoleTruesize,
  virtioMtuBuffers,
  virtioSmallRings,
} from "../../lib/patches/virtio_net_buffers.ts";
import { skbPageFragRefillV3 } from "../../lib/patches/skb_page_frag_refill.ts";
import { kernel } from "../../lib/releases/mod.ts";

const base = kernel("net-next-2013-10").am(skbPageFragRefillV3);

function charge(k: Kernel, payload = 1472): number {
  return truesizeOf({ kernel: k, path: "virtio-mergeable", payload }).truesize;
}

Deno.test("a full-size frame through the commits of 2013 and 2014", () => {
  const mtu = base.am(virtioMtuBuffers, virtioCoalesceRxFrags);
  const room = mtu.am(virtioHeaderRoom);
  const tuned = room.am(virtioAutoTune);
  assertEquals([base, mtu, room, tuned].map((k) => charge(k)), [
    4864,
    3804,
    2304,
    2304,
  ]);
});

Deno.test("with all of them applied the driver is the one of the releases", () => {
  const facts = (k: Kernel) => k.virtio;
  const merged = base.am(
    virtioMtuBuffers,
    virtioCoalesceRxFrags,
    virtioHeaderRoom,
  );
  assertEquals(facts(merged), facts(kernel("3.13")));
  assertEquals(facts(merged.am(virtioAutoTune)), facts(kernel("3.14")));
  const later = kernel("4.6").am(virtioSmallRings, virtioHoleTruesize).virtio;
  const known = kernel("5.12").virtio;
  for (
    const name of [
      "bufferAlign",
      "minByRing",
      "overlong",
      "countsHole",
    ] as const
  ) assertEquals(later[name], known[name], name);
});

Deno.test("each says what it does not fit", () => {
  const refuses = (k: Kernel, patch: typeof virtioMtuBuffers, why: string) =>
    assertThrows(() => k.am(patch), Error, why);
  refuses(kernel("3.12"), virtioMtuBuffers, "skbPageFragRefillV3 first");
  refuses(kernel("3.13"), virtioMtuBuffers, "no whole pages");
  refuses(base, virtioCoalesceRxFrags, "virtioMtuBuffers first");
  refuses(kernel("3.13"), virtioCoalesceRxFrags, "already");
  refuses(kernel("3.13"), virtioHeaderRoom, "fixed 1518");
  refuses(kernel("3.14"), virtioAutoTune, "fixed 1536");
  refuses(base.am(virtioMtuBuffers), virtioAutoTune, "fixed 1536");
  refuses(kernel("3.13"), virtioSmallRings, "not averaged");
  refuses(kernel("6.1"), virtioSmallRings, "already");
  refuses(kernel("3.13"), virtioHoleTruesize, "no hole");
  refuses(kernel("6.1"), virtioHoleTruesize, "already");
});
