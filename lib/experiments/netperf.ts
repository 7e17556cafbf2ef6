/**
 * netperf's TCP_STREAM between two simulated hosts.
 *
 * @module
 */

import { type RxPath, RxTable } from "../net/rx_skb.ts";
import { Link, type LinkOptions } from "../path/link.ts";
import { Packets } from "../path/packets.ts";
import type { ReadingFlow } from "../path/reading_flow.ts";
import { ReceivingHost } from "../path/receiving_host.ts";
import { type FlowState, SendingHost } from "../path/sending_host.ts";
import { EventQueue } from "../sim/event_queue.ts";
import { randomLcg } from "../sim/random.ts";
import { TcpMemory } from "../tcp/memory.ts";
import { Limit } from "../tcp/sender_sock.ts";
import type { NetperfOptions } from "./netperf_options.ts";
import {
  isWire,
  type StreamSetup,
  streamSetup,
  wholeFrames,
} from "./netperf_setup.ts";
import { packetSetup } from "./packet_options.ts";
import {
  type FlowResult,
  type LimitShares,
  SERIES,
  type Series,
  type StreamResult,
} from "./stream_result.ts";
import { receiverOptions, senderOptions } from "./stream_sockets.ts";
import { receivedSkbs } from "./truesize.ts";

/** How the receiver's driver holds a frame; null where the sender's own skbs arrive. */
export function rxPathOf(setup: StreamSetup): RxPath | null {
  if (setup.rx !== undefined) return setup.rx;
  const { path, receiver, timestamps, bufferSize } = setup;
  if (path === "loopback" || path === "veth") return null;
  return new RxTable(receiver, (payload) => {
    const skbs = receivedSkbs(packetSetup("netperf", {
      kernel: receiver,
      path,
      protocol: "tcp",
      payload,
      mtu: path === "tun" || path === "tap" ? undefined : setup.mtu,
      timestamps,
      gso: wholeFrames(path) || path === "tun" || path === "tap",
      bufferSize,
    }));
    if (typeof skbs === "string") {
      throw new RangeError(
        `path "${path}" does not receive a segment of ${payload} bytes: ${skbs}`,
      );
    }
    return skbs[0]!;
  });
}

// A delay line that takes single segments and does nothing else to them: what leaves at one instant arrives at one.
function travelsInTrains(setup: StreamSetup, whole: boolean): boolean {
  const { netem, path } = setup;
  return (!setup.tso || !whole) && !setup.gro && setup.rate === Infinity &&
    path !== "loopback" && path !== "veth" &&
    (netem.placement === "receiver" ||
      netem.limit === Infinity && netem.loss === 0 && netem.reorder === 0 &&
        netem.jitterMs === 0 && netem.lossEvery === Infinity) &&
    setup.latency + (netem.placement === "receiver" ? 0 : setup.delay) > 0;
}

/** One run. */
class Stream {
  readonly events = new EventQueue();
  readonly packets = new Packets();
  readonly sender: SendingHost;
  readonly receiver: ReceivingHost;
  readonly there: Link;
  readonly back: Link;
  readonly #setup: StreamSetup;
  readonly #writers: FlowState[] = [];
  readonly #readers: ReadingFlow[] = [];
  readonly #series: Record<string, Float64Array>[] = [];
  readonly #halfBytes: number[] = [];

  constructor(setup: StreamSetup) {
    this.#setup = setup;
    const { events, packets } = this;
    const { netem } = setup;
    const whole = wholeFrames(setup.path);
    this.sender = new SendingHost(
      events,
      packets,
      setup.sender,
      isWire(setup.path) ? "split before the link" : "whole",
      setup.rate < Infinity && isWire(setup.path) && setup.delay === 0,
      travelsInTrains(setup, whole),
    );
    this.receiver = new ReceivingHost(events, packets, {
      kernel: setup.receiver,
      path: rxPathOf(setup),
      splits: !setup.tso || !whole,
      sg: setup.sg,
      gro: setup.gro,
      ring: setup.ring,
      prices: setup.receiverHost,
    });
    const random = randomLcg(setup.seed);
    const forward = netem.placement === "receiver"
      ? 0
      : netem.placement === "split"
      ? setup.delay / 2
      : setup.delay;
    const half = setup.latency / 2;
    const plain: LinkOptions = {
      delay: half,
      limit: Infinity,
      jitter: 0,
      loss: 0,
      reorder: 0,
      rate: Infinity,
      queue: Infinity,
      lossEvery: Infinity,
      local: true,
      random,
    };
    const shaped = {
      limit: netem.limit,
      jitter: netem.jitterMs * 1e6,
      loss: netem.loss,
      reorder: netem.reorder,
      lossEvery: netem.lossEvery * 1e9,
    };
    this.there = new Link(events, packets, this.receiver, {
      ...plain,
      ...netem.placement === "receiver" ? {} : shaped,
      delay: half + forward,
      rate: setup.rate,
      queue: setup.queue,
      local: netem.placement !== "middle",
    });
    this.back = new Link(events, packets, this.sender, {
      ...plain,
      ...netem.placement === "receiver" ? shaped : {},
      delay: half + setup.delay - forward,
    });
    this.sender.connect(this.there);
    this.receiver.connect(this.back);
    if (setup.path === "loopback" || setup.path === "veth") {
      this.sender.onAcked = (flow, una) => {
        this.#readers[flow]!.tcp.sk.sharedAbove = una;
      };
    }
    const memory = [
      new TcpMemory(setup.tcpMem, setup.kernel.build.pageSize),
      new TcpMemory(setup.tcpMem, setup.receiver.build.pageSize),
    ] as const;
    for (let i = 0; i < setup.flows; i++) this.#connect(memory, i);
  }

  // A three-way handshake has just ended; the SYN-ACK was sent at 0.
  #connect(
    [senderMemory, receiverMemory]: readonly [TcpMemory, TcpMemory],
    index: number,
  ): void {
    const setup = this.#setup;
    const rtt = setup.delay + setup.latency;
    const options = receiverOptions(setup, receiverMemory);
    senderMemory.sockets++;
    receiverMemory.sockets++;
    const writer = this.sender.open(
      senderOptions(setup, options, senderMemory),
      setup.write,
      rtt / 2 + index * 1000,
      setup.bytes,
    );
    const reader = this.receiver.accept(
      options,
      setup.read,
      writer.tcp.sk.sndbuf,
    );
    reader.tcp.sk.handshakeRtt = rtt;
    writer.tcp.sk.lastTsecr = 0;
    if (this.sender.onAcked !== null) reader.tcp.sk.sharedAbove = 0;
    this.#writers.push(writer);
    this.#readers.push(reader);
    const columns: Record<string, Float64Array> = {};
    const samples = index < 16 ? setup.samples : 0;
    for (const name of SERIES) columns[name] = new Float64Array(samples);
    this.#series.push(columns);
    this.#halfBytes.push(0);
  }

  run(): StreamResult {
    const { duration, samples } = this.#setup;
    const { events } = this;
    let halved = false;
    for (let i = 0; i < samples; i++) {
      const time = duration * (i + 1) / samples;
      if (!halved && time > duration / 2) {
        halved = true;
        events.run(duration / 2);
        this.#readers.forEach((reader, flow) =>
          this.#halfBytes[flow] = reader.bytes
        );
      }
      events.run(time);
      this.#sample(i, time);
    }
    return this.#result();
  }

  #sample(at: number, time: number): void {
    const sampled = Math.min(this.#series.length, 16);
    for (let flow = 0; flow < sampled; flow++) {
      const column = this.#series[flow]!;
      const tx = this.#writers[flow]!.tcp.sk;
      const rx = this.#readers[flow]!.tcp.sk;
      column.time![at] = time / 1e9;
      column.bytes![at] = this.#readers[flow]!.bytes;
      column.cwnd![at] = tx.cwnd;
      column.ssthresh![at] = tx.ssthresh;
      column.inFlight![at] = tx.inFlight;
      column.sndWnd![at] = tx.sndWnd;
      column.wmemQueued![at] = tx.wmemQueued;
      column.sndbuf![at] = tx.sndbuf;
      column.srtt![at] = tx.srtt / 8 * tx.tick / 1e6;
      column.rcvSsthresh![at] = rx.rcvSsthresh;
      column.windowClamp![at] = rx.windowClamp;
      column.rcvbuf![at] = rx.rcvbuf;
      column.rmemAlloc![at] = rx.rmemAlloc;
      column.rcvSpace![at] = rx.rcvqSpace;
    }
  }

  #result(): StreamResult {
    const { duration } = this.#setup;
    const seconds = duration / 1e9;
    const flows = this.#writers.map((writer, i): FlowResult => {
      const reader = this.#readers[i]!;
      const tx = writer.tcp.sk;
      const rx = reader.tcp.sk;
      writer.tcp.settle(duration);
      // A counter of the host, as nstat has it.
      tx.counters.TCPMemoryPressures = tx.memory.pressures;
      rx.counters.TCPMemoryPressures = rx.memory.pressures;
      const series = this.#series[i]! as unknown as Series;
      return {
        bytes: reader.bytes,
        written: tx.writeSeq,
        acked: tx.sndUna,
        goodput: reader.bytes * 8 / seconds / 1e6,
        goodputSecondHalf: (reader.bytes - this.#halfBytes[i]!) * 16 /
          seconds / 1e6,
        limits: shares(writer.tcp.limited),
        series,
        sender: tx.counters,
        receiver: rx.counters,
        rcvSsthresh: series.rcvSsthresh.reduce(
          (most, value) => Math.max(most, value),
          rx.rcvSsthresh,
        ),
        rcvbuf: rx.rcvbuf,
        sndbuf: tx.sndbuf,
        cwnd: tx.cwnd,
      };
    });
    const sum = (of: (flow: FlowResult) => number): number =>
      flows.reduce((total, flow) => total + of(flow), 0);
    return {
      goodput: sum((flow) => flow.goodput),
      goodputSecondHalf: sum((flow) => flow.goodputSecondHalf),
      segments: sum((flow) => flow.receiver.InSegs),
      events: this.events.count,
      limits: flows[0]!.limits,
      series: flows[0]!.series,
      flows,
      link: this.there.counters,
      ringDrops: this.receiver.ringDrops,
    };
  }
}

function shares(limited: Float64Array): LimitShares {
  const total = limited.reduce((sum, value) => sum + value, 0) || 1;
  return {
    rwnd_limited: limited[Limit.RWND]! / total,
    sndbuf_limited: limited[Limit.SNDBUF]! / total,
    cwnd_limited: limited[Limit.CWND]! / total,
    tsq_limited: limited[Limit.TSQ]! / total,
    app_limited: limited[Limit.APP]! / total,
  };
}

/**
 * Runs TCP streams from one host to another and says what they got and what held them back.
 *
 * Both hosts are whole: writers that sleep when the send buffer is full, TCP's sender and receiver with the memory of
 * each skb, the path's driver, a link with netem and a bottleneck. The same options and seed give the same bytes.
 *
 * @param options Kernel, path, RTT, sysctls and offloads; see {@linkcode NetperfOptions}.
 * @returns Goodput in Mbit/s (10^6 bit/s of payload read), shares of the time that each limit held, windows over time.
 * @throws {RangeError} A value is out of range, or nothing on the path would bound the rate.
 * @throws {TypeError} A value is of the wrong type, or an option is unknown.
 *
 * @example Whole-page buffers of 2013 cap the window at half of what tcp_rmem[2] is worth
 * ```ts
 * import { kernel, netperf } from "@truesize/lab";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const run = netperf({
 *   kernel: kernel("net-next-2013-10"),
 *   path: "virtio-mergeable",
 *   rttMs: 100,
 *   seconds: 10,
 *   tso: false,
 * });
 * assertEquals(Math.floor(run.flows[0]!.rcvSsthresh / 2896) * 2896, 1572528);
 * assert(run.limits.rwnd_limited > 0.5);
 * ```
 */
export function netperf(options: NetperfOptions): StreamResult {
  return new Stream(streamSetup(options)).run();
}
