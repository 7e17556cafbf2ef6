/**
 * Nothing is lost between two hosts: over random kernels, paths, offloads, losses, buffers and readers, what was written
 * is read in the end, all memory is given back, no window is taken back, and no run stalls.
 */

import { assert } from "@std/assert";
import { randomLcg } from "d3-random";
import { rxPathOf } from "../../lib/experiments/netperf.ts";
import type { NetperfOptions } from "../../lib/experiments/netperf_options.ts";
import {
  isWire,
  type StreamSetup,
  streamSetup,
  wholeFrames,
} from "../../lib/experiments/netperf_setup.ts";
import {
  type PacketPath,
  packetPaths,
} from "../../lib/experiments/packet_options.ts";
import {
  receiverOptions,
  senderOptions,
} from "../../lib/experiments/stream_sockets.ts";
import type { Kernel } from "../../lib/kernel.ts";
import type { RxPath } from "../../lib/net/rx_skb.ts";
import type { HostPrices } from "../../lib/path/host_prices.ts";
import { Link } from "../../lib/path/link.ts";
import { Packets } from "../../lib/path/packets.ts";
import { ReceivingHost } from "../../lib/path/receiving_host.ts";
import { SendingHost } from "../../lib/path/sending_host.ts";
import { kernel, releases } from "../../lib/releases/mod.ts";
import { EventQueue } from "../../lib/sim/event_queue.ts";
import { TcpMemory } from "../../lib/tcp/memory.ts";
import type { ReceiverSock } from "../../lib/tcp/receiver_sock.ts";
import { NONE, type SkbQueue } from "../../lib/tcp/skb_list.ts";

/** Simulated time after which a run counts as stalled, ns: many RTOs of two minutes. */
const STALLED = 20_000e9;

type Random = () => number;

function whole(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

function one<T>(random: Random, ...choices: T[]): T {
  return choices[Math.floor(random() * choices.length)]!;
}

/** A size, as likely small as large. */
function size(random: Random, from: number, to: number): number {
  return Math.floor(from * (to / from) ** random());
}

interface Wire {
  readonly loss: number;
  readonly reorder: number;
  readonly jitter: number;
  readonly limit: number;
}

interface Run {
  readonly seed: number;
  readonly kernel: string;
  readonly receiver: string;
  readonly options: Omit<NetperfOptions, "kernel" | "receiver" | "seconds">;
  /** Bytes of one read(); 0 for one that reads as data arrives. */
  readonly read: number;
  /** Nanoseconds between reads. */
  readonly pause: number;
  readonly there: Wire;
  readonly back: Wire;
}

const names = releases;
const built = new Map<string, Kernel>(
  names.map((name) => [name, kernel(name)]),
);

function wire(random: Random, hard: boolean): Wire {
  return {
    loss: one(random, 0, 0, 0.01, hard ? 0.2 : 0.05),
    reorder: one(random, 0, 0, 0.05, hard ? 0.5 : 0.1),
    jitter: one(random, 0, 0, 1e6),
    limit: one(random, Infinity, Infinity, whole(random, 2, 30)),
  };
}

/** MTUs that the path's driver takes. */
function mtuOf(random: Random, path: PacketPath): number {
  if (path === "loopback") return one(random, 1500, 16384, 65536);
  return path.startsWith("virtio")
    ? one(random, 576, 1500)
    : one(random, 576, 1500, 1500, 9000);
}

function randomRun(seed: number): Run {
  const random = randomLcg(seed / 1e6);
  // The first numbers of near seeds are alike.
  for (let i = 0; i < 8; i++) random();
  const path: PacketPath = one(random, ...packetPaths);
  const choices = path === "page-pool"
    ? names.slice(names.indexOf("6.1"))
    : path === "virtio-big"
    ? names.filter((name) => built.get(name)!.virtio.bigReceives)
    : names;
  const name = one(random, ...choices);
  const rmem = [4096, size(random, 4096, 131072), size(random, 131072, 6e6)];
  const wmem = [4096, size(random, 4608, 65536), size(random, 65536, 4e6)];
  const hard = random() < 0.2;
  const bytes = size(random, 1, 200_000);
  // A few hundred reads at most.
  const least = Math.ceil(bytes / 300);
  const sometimes = <T>(value: T): T | undefined =>
    random() < 0.25 ? value : undefined;
  return {
    seed,
    kernel: name,
    receiver: random() < 0.7 ? name : one(random, ...choices),
    options: {
      path,
      rttMs: one(random, 0.1, 1, 20, 100, 300),
      mtu: mtuOf(random, path),
      tso: one(random, true, false),
      gso: one(random, true, false),
      sg: one(random, true, true, false),
      gro: one(random, true, false, undefined),
      // A thousand writes at most, of which a small buffer may let two out in an RTT.
      write: size(random, Math.ceil(bytes / 1000), 65536),
      bytes,
      nodelay: one(random, true, false),
      host: random() < 0.3 ? slowHosts(random) : undefined,
      congestionControl: one(random, "cubic", "reno"),
      soRcvbuf: sometimes(size(random, 1, 200_000)),
      soSndbuf: sometimes(size(random, 1, 200_000)),
      sysctl: {
        tcp_rmem: rmem as [number, number, number],
        tcp_wmem: wmem as [number, number, number],
        tcp_timestamps: one(random, true, true, false),
        tcp_adv_win_scale: one(random, 1, 1, 2, -2),
        tcp_moderate_rcvbuf: one(random, true, true, false),
        tcp_mem: sometimes<[number, number, number]>([20, 40, 400]),
      },
    },
    read: one(random, 0, 0, size(random, least, 100_000)),
    pause: one(random, 1e6, 1e7, 1e9),
    there: wire(random, hard),
    back: wire(random, hard),
  };
}

/** Hosts whose CPUs spend time: readers lag, and segments wait in the backlog. */
function slowHosts(random: Random): NetperfOptions["host"] {
  const prices = (): Partial<HostPrices> => ({
    packet: size(random, 100, 100_000),
    segment: size(random, 10, 1000),
    ack: size(random, 10, 10_000),
    byte: one(random, 0, 0.1, 10),
    call: size(random, 100, 1e6),
    wake: one(random, 0, 1000, 1e6),
    cpus: one(random, 1, 2),
  });
  return { sender: prices(), receiver: prices() };
}

/** Charge and bytes of a queue. */
function held(sk: ReceiverSock, queue: SkbQueue): number {
  let truesize = 0;
  for (let skb = queue.head; skb !== NONE; skb = sk.pool.next[skb]!) {
    truesize += sk.pool.truesize[skb]!;
  }
  return truesize;
}

const tables = new Map<string, RxPath | null>();

/** The driver's table; the same frames are built once for all runs. */
function rxPath(setup: StreamSetup, run: Run): RxPath | null {
  const key = [
    run.receiver,
    setup.path,
    setup.mtu,
    setup.timestamps,
  ].join();
  if (!tables.has(key)) tables.set(key, rxPathOf(setup));
  return tables.get(key)!;
}

class Rig {
  readonly events = new EventQueue();
  readonly packets = new Packets();
  readonly run: Run;
  readonly memory: readonly [TcpMemory, TcpMemory];
  readonly receiver: ReceivingHost;
  readonly sender: SendingHost;
  readonly writer: ReturnType<SendingHost["open"]>;
  readonly reader: ReturnType<ReceivingHost["accept"]>;
  readonly bytes: number;
  #edge = 0;

  constructor(run: Run) {
    this.run = run;
    const { events, packets } = this;
    const setup = streamSetup({
      ...run.options,
      kernel: built.get(run.kernel)!,
      receiver: built.get(run.receiver)!,
      seconds: 1,
    });
    this.bytes = setup.bytes;
    this.sender = new SendingHost(
      events,
      packets,
      setup.sender,
      isWire(setup.path) ? "split before the link" : "whole",
      false,
    );
    this.receiver = new ReceivingHost(events, packets, {
      kernel: setup.receiver,
      path: rxPath(setup, run),
      splits: !setup.tso || !wholeFrames(setup.path),
      sg: setup.sg,
      gro: setup.gro,
      ring: setup.ring,
      prices: setup.receiverHost,
    });
    const random = randomLcg(run.seed / 1e6 + 1e-9);
    const link = (handler: ReceivingHost | SendingHost, way: Wire) =>
      new Link(events, packets, handler, {
        ...way,
        delay: setup.delay / 2,
        rate: Infinity,
        queue: Infinity,
        lossEvery: Infinity,
        local: way === run.there,
        random,
      });
    this.sender.connect(link(this.receiver, run.there));
    const back = link(this.sender, run.back);
    const send = back.send.bind(back);
    back.send = (now, packet) => {
      this.#watchWindow(packet);
      return send(now, packet);
    };
    this.receiver.connect(back);
    const { pageSize } = setup.kernel.build;
    this.memory = [
      new TcpMemory(setup.tcpMem, pageSize),
      new TcpMemory(setup.tcpMem, pageSize),
    ];
    for (const host of this.memory) host.sockets++;
    const options = receiverOptions(setup, this.memory[1]);
    this.writer = this.sender.open(
      senderOptions(setup, options, this.memory[0]),
      setup.write,
      setup.delay / 2,
      setup.bytes,
    );
    this.reader = this.receiver.accept(
      options,
      run.read === 0 ? 87380 : 0,
      this.writer.tcp.sk.sndbuf,
    );
    const rx = this.reader.tcp.sk;
    rx.handshakeRtt = setup.delay;
    this.writer.tcp.sk.lastTsecr = 0;
    if (setup.path === "loopback" || setup.path === "veth") {
      rx.sharedAbove = 0;
      this.sender.onAcked = (_, una) => rx.sharedAbove = una;
    }
    this.#edge = Math.min(rx.rcvWnd, 65535);
    if (run.read > 0) {
      const id = events.add({
        fire: (now) => {
          this.check("at a read");
          this.receiver.readNow(now, this.reader, run.read);
          events.set(
            id,
            this.reader.bytes < this.bytes ? now + run.pause : Infinity,
          );
        },
      });
      events.set(id, run.pause);
    }
  }

  /** What an ACK offers may never end before what an earlier one offered. */
  #watchWindow(packet: number): void {
    const { window, seq } = this.packets;
    const edge = seq[packet]! + window[packet]!;
    const { tcp } = this.reader.tcp.sk.kernel;
    // Without memory these releases close it, the latest ones for good.
    if (window[packet] === 0 && tcp.noMemoryZeroWindow) {
      if (tcp.clampFollowsRatio) this.#edge = edge;
      return;
    }
    if (edge < this.#edge) {
      this.fail(`window taken back from ${this.#edge} to ${edge}`);
    }
    this.#edge = edge;
  }

  get done(): boolean {
    return this.reader.bytes === this.bytes &&
      this.writer.tcp.sk.sndUna === this.bytes;
  }

  /** The accounts at any time. */
  check(when: string): void {
    const rx = this.reader.tcp.sk;
    const tx = this.writer.tcp.sk;
    const [mine, theirs] = this.memory;
    const { pageSize } = mine;
    const queued = held(rx, rx.receiveQueue) + held(rx, rx.ofoQueue);
    const equal: [string, number, number][] = [
      ["rmem_alloc and the queues", rx.rmemAlloc, queued],
      [
        "the receiver's pages",
        theirs.allocated * pageSize,
        rx.rmemAlloc + rx.forwardAlloc,
      ],
      [
        "the sender's pages",
        mine.allocated * pageSize,
        tx.wmemQueued + tx.forwardAlloc,
      ],
      ["read and copied_seq", this.reader.bytes, rx.copiedSeq],
      [
        "written and write_seq",
        tx.writeSeq,
        this.bytes - this.writer.budget,
      ],
    ];
    for (const [what, a, b] of equal) {
      if (a !== b) this.fail(`${when}: ${what}: ${a} and ${b}`);
    }
    const order = [rx.copiedSeq, rx.rcvNxt, tx.sndNxt, tx.writeSeq];
    if (
      order.some((value, i) => i > 0 && value < order[i - 1]!) ||
      tx.sndUna > rx.rcvNxt ||
      // Only where skbs go between schedule and charge: collapsing, and out-of-order data that covers other.
      rx.forwardAlloc < 0 &&
        rx.counters.PruneCalled + rx.counters.TCPOFOMerge === 0
    ) this.fail(`${when}: out of order`);
  }

  play(): void {
    const { events } = this;
    while (!this.done) {
      const next = events.nextAt;
      if (next === Infinity || next > STALLED) this.fail("stalled");
      events.run(next);
    }
    this.check("at the end");
    // Timers and ACKs that are left come to nothing.
    events.run(events.now + 1e12);
    this.check("after the end");
    const rx = this.reader.tcp.sk;
    const tx = this.writer.tcp.sk;
    const zero = {
      rmemAlloc: rx.rmemAlloc,
      wmemQueued: tx.wmemQueued,
      packetsOut: tx.packetsOut,
      inFlight: tx.inFlight,
      ofo: rx.ofoQueue.length,
      backlog: rx.backlogLen + rx.backlog.length,
      live: this.packets.live,
    };
    for (const [name, value] of Object.entries(zero)) {
      if (value !== 0) this.fail(`${name} ${value} at the end`);
    }
  }

  fail(what: string): never {
    const plain = (sk: object) =>
      JSON.stringify(
        Object.fromEntries(
          Object.entries(sk).filter(([, value]) => typeof value !== "object"),
        ),
      );
    throw new Error(
      `${what}\nrun ${JSON.stringify(this.run)}\nat ${this.events.now} ns, ` +
        `read ${this.reader.bytes} of ${this.bytes}\n` +
        `receiver ${plain(this.reader.tcp.sk)}\nsender ${
          plain(this.writer.tcp.sk)
        }`,
    );
  }
}

const RUNS = 10_000;

Deno.test("bytes, memory and windows are conserved in 10,000 random runs", () => {
  let retransmitted = 0;
  let outOfOrder = 0;
  let pruned = 0;
  let probes = 0;
  let backlogged = 0;
  for (let seed = 0; seed < RUNS; seed++) {
    const rig = new Rig(randomRun(seed));
    rig.play();
    retransmitted += rig.writer.tcp.sk.counters.RetransSegs;
    probes += rig.writer.tcp.sk.counters.TCPWinProbe;
    outOfOrder += rig.reader.tcp.sk.counters.TCPOFOQueue;
    backlogged += rig.reader.tcp.sk.counters.TCPBacklogCoalesce;
    pruned += rig.reader.tcp.sk.counters.PruneCalled;
  }
  console.log(
    `${RUNS} runs: ${retransmitted} segments sent again, ${outOfOrder} out of order, ${pruned} prunings, ${probes} window probes, ${backlogged} merged in a backlog`,
  );
  // The runs do what they are for.
  assert(retransmitted > RUNS && outOfOrder > RUNS && pruned > RUNS / 10);
  assert(probes > RUNS / 10 && backlogged > RUNS / 10);
});
