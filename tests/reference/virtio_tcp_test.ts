/**
 * What TCP sockets that nobody read held behind virtio_net of 6.1 and 6.12, one send() each: the measured charge is one
 * of those that the model gives over the ring's start in its block, and over what GRO had merged by then.
 */

import { assertEquals } from "@std/assert";
import { virtioMergeable } from "../../lib/drivers/virtio_net.ts";
import { rxPathOf } from "../../lib/experiments/netperf.ts";
import { streamSetup } from "../../lib/experiments/netperf_setup.ts";
import {
  receiverOptions,
  senderOptions,
} from "../../lib/experiments/stream_sockets.ts";
import type { Kernel } from "../../lib/kernel.ts";
import { describeRxSkb, type RxPath, RxSkb } from "../../lib/net/rx_skb.ts";
import { Link } from "../../lib/path/link.ts";
import { Packets } from "../../lib/path/packets.ts";
import { ReceivingHost } from "../../lib/path/receiving_host.ts";
import { SendingHost } from "../../lib/path/sending_host.ts";
import { kernel } from "../../lib/releases/mod.ts";
import { EventQueue } from "../../lib/sim/event_queue.ts";
import { TcpMemory } from "../../lib/tcp/memory.ts";
import measured from "../fixtures/virtio_truesize.json" with { type: "json" };

/** Ethernet, IPv4 and TCP headers with timestamps, and virtio's in front of them, bytes. */
const HEADERS = 66;
const VIRTIO_NET_HDR = 12;
/** Buffers of a fresh block: twenty of the average's least size, and the rest with its hole. */
const BLOCK = [...Array(20).fill(1536), 2048] as number[];

/** Mergeable buffers of fresh blocks, from the `start`th of one on. */
class FreshBlocks implements RxPath {
  readonly skb = new RxSkb();
  readonly #kernel: Kernel;
  #at: number;

  constructor(k: Kernel, start: number) {
    this.#kernel = k;
    this.#at = start;
  }

  receive(payload: number): void {
    const frame = payload + HEADERS;
    const lengths: number[] = [];
    const blockOffset = this.#at * 1536;
    for (let room = 0; room < frame + VIRTIO_NET_HDR;) {
      const length = BLOCK[this.#at]!;
      this.#at = (this.#at + 1) % BLOCK.length;
      lengths.push(length);
      room += length;
    }
    const skb = virtioMergeable(this.#kernel, frame, lengths, {
      blockOffset,
      adjacent: true,
    })!;
    skb.headerLen = HEADERS;
    describeRxSkb(this.#kernel, skb, this.skb);
  }
}

/** `sk_rmem_alloc` 40 ms after one send() of `bytes` bytes. */
function held(
  k: Kernel,
  mode: string,
  bytes: number,
  start: number,
  gro: boolean,
): number {
  const events = new EventQueue();
  const packets = new Packets();
  const gso = mode === "mergeable" || mode === "big";
  const path = mode.startsWith("mergeable")
    ? "virtio-mergeable"
    : mode === "big"
    ? "virtio-big"
    : "virtio-small";
  const setup = streamSetup({ kernel: k, path, rttMs: 1, seconds: 1, bytes });
  const sender = new SendingHost(events, packets, setup.sender, "whole", false);
  const receiver = new ReceivingHost(events, packets, {
    kernel: k,
    path: path === "virtio-mergeable"
      ? new FreshBlocks(k, start)
      : rxPathOf(setup),
    splits: !gso,
    gro,
    ring: 256,
    prices: setup.receiverHost,
  });
  const link = {
    delay: setup.delay / 2,
    limit: Infinity,
    jitter: 0,
    loss: 0,
    reorder: 0,
    rate: Infinity,
    queue: Infinity,
    lossEvery: Infinity,
    local: true,
    random: () => 0,
  };
  sender.connect(new Link(events, packets, receiver, link));
  receiver.connect(new Link(events, packets, sender, link));
  const memory = new TcpMemory();
  const options = receiverOptions(setup, memory);
  sender.open(
    senderOptions(setup, options, memory),
    bytes,
    0,
    bytes,
  );
  const { tcp } = receiver.accept(options, 0, 87040);
  events.run(35e6);
  assertEquals(tcp.unread, bytes);
  return tcp.sk.rmemAlloc;
}

Deno.test("virtio_truesize.json: each tcp row is in the model's set", () => {
  let checked = 0;
  let agreeing = 0;
  const wrong: string[] = [];
  // Largest set of the modes without and with a start.
  const sizes = [0, 0];
  for (const run of measured.runs) {
    const k = kernel(run.kernel.startsWith("6.1.") ? "6.1" : "6.12");
    for (const { state, unread } of run.tcp) {
      for (const row of unread) {
        const set = new Set<number>();
        const starts = run.mode.startsWith("mergeable") ? BLOCK.length : 1;
        for (let start = 0; start < starts; start++) {
          for (const gro of [false, true]) {
            set.add(held(k, run.mode, row.bytes, start, gro));
          }
        }
        sizes[starts === 1 ? 0 : 1] = Math.max(
          sizes[starts === 1 ? 0 : 1]!,
          set.size,
        );
        checked++;
        if (set.has(row.rmem_alloc)) agreeing++;
        else {
          wrong.push(
            `${run.kernel} ${run.mode} ${state} ${row.bytes}: ${row.rmem_alloc} not in ${
              [...set].sort().join(" ")
            }`,
          );
        }
      }
    }
  }
  console.log(
    `virtio_truesize.json, tcp: ${checked} rows checked / ${agreeing} agreeing`,
  );
  assertEquals(sizes, [1, 3]);
  assertEquals(wrong, []);
  assertEquals([checked, agreeing], [208, 208]);
});
