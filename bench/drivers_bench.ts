/** Receive strategies: one skb each, and the rings a packet. */

import { ixgbeReceive } from "../lib/drivers/ixgbe.ts";
import { IxgbeRxRing } from "../lib/drivers/ixgbe_ring.ts";
import { PagePool, pagePoolReceive } from "../lib/drivers/page_pool.ts";
import { PagePoolRing } from "../lib/drivers/page_pool_ring.ts";
import { BigRing } from "../lib/drivers/virtio_big_ring.ts";
import {
  virtioBig,
  virtioMergeable,
  virtioSmall,
} from "../lib/drivers/virtio_net.ts";
import { MergeableRing } from "../lib/drivers/virtio_ring.ts";
import { PageAllocator } from "../lib/mm/page_alloc.ts";
import { kernel } from "../lib/releases/mod.ts";

const PACKETS = 10_000;
const FRAME = 1514;
const GSO_FRAME = 65226;
const k = kernel("6.8");
let sink = 0;

const strategies = {
  "virtio small": () => virtioSmall(k, FRAME)!.truesize,
  "virtio big": () => virtioBig(k, FRAME)!.truesize,
  "virtio mergeable": () => virtioMergeable(k, FRAME, 1536)!.truesize,
  "virtio mergeable, 64 KiB": () =>
    virtioMergeable(k, GSO_FRAME, 1536)!.truesize,
  "ixgbe": () => ixgbeReceive(k, FRAME).truesize,
  "ixgbe legacy-rx": () => ixgbeReceive(k, FRAME, { legacyRx: true }).truesize,
  "page_pool": () => pagePoolReceive(k, FRAME).truesize,
};
for (const [name, receive] of Object.entries(strategies)) {
  Deno.bench(`skb: ${name}`, {
    group: "receive strategies",
    baseline: name === "virtio small",
  }, () => {
    sink += receive();
  });
}

const mergeable = (release: string, options = {}): MergeableRing =>
  new MergeableRing(new PageAllocator(kernel(release)), options);
const rings = {
  "empty loop": { receive: (frame: number) => frame, consume: () => 0 },
  "virtio 3.12, whole pages": mergeable("3.12"),
  "virtio 3.14": mergeable("3.14"),
  "virtio 4.3": mergeable("4.3"),
  "virtio 6.8": mergeable("6.8"),
  "virtio 6.8, DMA records": mergeable("6.8", { dma: true }),
  "virtio 6.8, big mode": new BigRing(new PageAllocator(kernel("6.8"))),
  "page_pool 6.8": new PagePoolRing(new PageAllocator(kernel("6.8"))),
  "ixgbe 4.3": new IxgbeRxRing(new PageAllocator(kernel("4.3"))),
  "ixgbe 6.8": new IxgbeRxRing(new PageAllocator(kernel("6.8"))),
};
for (const [name, ring] of Object.entries(rings)) {
  Deno.bench(`ring, a packet: ${name}`, {
    group: "ring, a packet received and freed",
    baseline: name === "empty loop",
  }, () => {
    sink += ring.receive(FRAME) + ring.consume();
  });
}
for (const [name, ring] of Object.entries(rings)) {
  Deno.bench(`ring, ${PACKETS} packets: ${name}`, {
    group: `ring, ${PACKETS} packets`,
    baseline: name === "empty loop",
    n: 20,
  }, () => {
    for (let i = 0; i < PACKETS; i++) {
      sink += ring.receive(FRAME) + ring.consume();
    }
  });
}

const pool = new PagePool(new PageAllocator(k));
Deno.bench(`page_pool, ${PACKETS} fragments of 2,048`, {
  group: `ring, ${PACKETS} packets`,
  n: 20,
}, () => {
  for (let i = 0; i < PACKETS; i++) pool.put(pool.alloc(2048));
});

globalThis.addEventListener("unload", () => {
  if (Number.isNaN(sink)) throw new Error("a truesize was no number");
});
