/**
 * What one packet of the explained socket costs, and the skb in which it arrives.
 *
 * @module
 */

import type { RxStrategy } from "../drivers/rx_strategy.ts";
import {
  type PacketOptions,
  type PacketPath,
  packetSetup,
} from "../experiments/packet_options.ts";
import { receivedSkbs, truesizeOf } from "../experiments/truesize.ts";
import type { StreamSysctl } from "../experiments/netperf_options.ts";
import type { Kernel } from "../kernel.ts";
import { type RxPath, RxSkb, RxTable } from "../net/rx_skb.ts";
import { allocSkb, skbTruesize } from "../net/skbuff.ts";
import { LocalSkb } from "../path/local_skb.ts";
import { flag, kernelArgument, whole } from "../sim/check.ts";
import { FRAG_BLOCK } from "../tcp/frag_blocks.ts";
import { firstWrite } from "./explain_trace.ts";

/** A packet: how it arrives, or what a machine was seen to charge for it. */
export interface ExplainPacket {
  /** The receiver's kernel. */
  readonly kernel: Kernel;
  /** Payload of each packet, bytes. */
  readonly size: number;
  /** How packets arrive; needed where `truesize` is absent. */
  readonly path?: PacketPath | RxStrategy | undefined;
  /** Charge of each packet as measured, bytes; every packet then keeps its skb, nothing merges. */
  readonly truesize?: number | undefined;
  /** MTU, bytes: 65,536 on loopback, 1,500 elsewhere. */
  readonly mtu?: number | undefined;
  /** IP version; 4 if absent. */
  readonly ip?: 4 | 6 | undefined;
  /** TCP over loopback or veth: whether SO_RCVBUF was set; found out if absent. */
  readonly locked?: boolean | undefined;
  /** TCP over loopback or veth: TSO on the sender's device; true, or found out, if absent. */
  readonly tso?: boolean | undefined;
  /** The same: scatter-gather there. */
  readonly sg?: boolean | undefined;
  /** TCP over veth: GRO on the receiver's end, which matters only without TSO; false, or found out, if absent. */
  readonly gro?: boolean | undefined;
  /** tap: IFF_NAPI_FRAGS, the lengths of the write's iovec elements, bytes. */
  readonly napiFrags?: readonly number[] | undefined;
}

const WHO = "explain";
/** Largest write over loopback or veth, bytes. */
const MOST_WRITE = 1 << 20;

/** Whether the sender's own skbs arrive, so that `size` is a write and not a packet. */
export function isLocal(
  { path, truesize }: ExplainPacket,
  protocol: "udp" | "tcp",
): boolean {
  return protocol === "tcp" && truesize === undefined &&
    (path === "loopback" || path === "veth");
}

/** The options of `truesizeOf` for a packet on a path. */
export function packetOptions(
  packet: ExplainPacket,
  protocol: "udp" | "tcp",
  payload: number = packet.size,
): PacketOptions {
  const { kernel, path, mtu, ip, napiFrags } = packet;
  if (path === undefined) {
    throw new RangeError(
      "explain(): path or truesize must say what a packet costs",
    );
  }
  return { kernel, path, protocol, payload, mtu, ip, napiFrags };
}

/**
 * Charge of one packet, bytes.
 *
 * @throws {RangeError} Neither path nor truesize, a value out of range, or the kernel refuses the packet.
 */
export function packetCharge(
  packet: ExplainPacket,
  protocol: "udp" | "tcp",
  sysctl: StreamSysctl = {},
): number {
  kernelArgument(packet.kernel, WHO);
  const local = isLocal(packet, protocol);
  whole(
    "size",
    packet.size,
    protocol === "tcp" ? 1 : 0,
    local ? MOST_WRITE : 65535,
    WHO,
  );
  for (const name of ["locked", "tso", "sg", "gro"] as const) {
    if (packet[name] === undefined) continue;
    flag(name, packet[name]);
    if (!local) {
      throw new RangeError(
        `explain(): ${name} is for TCP over loopback or veth`,
      );
    }
  }
  if (packet.truesize !== undefined) {
    return whole("truesize", packet.truesize, 1, 0x7fffffff, WHO);
  }
  if (local) return firstWrite(packet, sysctl);
  const memory = truesizeOf(packetOptions(packet, protocol));
  if (memory.error !== undefined) {
    throw new RangeError(
      `explain(): the kernel refuses packets of ${packet.size} bytes: ${memory.error}`,
    );
  }
  return memory.truesize;
}

/** A path whose every skb is charged the same. */
class MeasuredPath implements RxPath {
  readonly skb: RxSkb = new RxSkb();
  readonly #kernel: Kernel;
  readonly #truesize: number;

  constructor(kernel: Kernel, truesize: number) {
    this.#kernel = kernel;
    this.#truesize = truesize;
    this.receive();
  }

  receive(): void {
    const { skb } = this;
    skb.truesize = this.#truesize;
    skb.frags = 1;
    // As where the driver copies the first bytes of payload into the head: tcp_grow_window then counts the head too.
    skb.linear = 1;
    skb.end = this.#kernel.skb.skBuffAligned;
    skb.moved = this.#truesize;
    // What a machine is seen to charge for each packet is not shared between packets.
    skb.fragList = true;
  }
}

/** Writes of the sender that arrive as its own skbs. */
class LocalPath implements RxPath {
  readonly skb: RxSkb;
  readonly #local: LocalSkb;
  readonly #head: number;

  constructor(kernel: Kernel, sg: boolean) {
    this.#local = new LocalSkb(kernel, sg);
    this.#head = allocSkb(kernel, kernel.build.maxTcpHeader).truesize;
    this.skb = this.#local.skb;
  }

  receive(payload: number): void {
    const frags = Math.ceil(payload / FRAG_BLOCK);
    this.#local.own(payload, this.#head + payload, frags);
    // The sender has its ACK before the next write.
    this.skb.shared = false;
  }
}

/** What `tcp_grow_window` takes an skb's charge for, bytes: by 6.1 (`truesize_adjust`) without a head that holds no payload. */
export function growCharge(packet: ExplainPacket): number {
  const { kernel } = packet;
  const { skb } = receivedSkb(packet);
  const rest = skb.truesize - skbTruesize(kernel, skb.end);
  return kernel.tcp.growIgnoresHead && skb.linear === 0 && rest >= packet.size
    ? rest
    : skb.truesize;
}

function receivedSkb(packet: ExplainPacket): RxPath {
  const rx = packetRxPath(packet);
  rx.receive(packet.size);
  return rx;
}

/** Where a TCP receiver's skbs come from. */
export function packetRxPath(packet: ExplainPacket): RxPath {
  const { kernel, truesize } = packet;
  if (truesize !== undefined) return new MeasuredPath(kernel, truesize);
  if (isLocal(packet, "tcp")) return new LocalPath(kernel, packet.sg ?? true);
  return new RxTable(kernel, (payload) => {
    const skbs = receivedSkbs(
      packetSetup(WHO, packetOptions(packet, "tcp", payload)),
    );
    if (typeof skbs === "string") {
      throw new RangeError(
        `explain(): path does not receive a segment of ${payload} bytes: ${skbs}`,
      );
    }
    // A packet is what one skb carries; the sum over several would count no window right.
    if (skbs.length > 1) {
      throw new RangeError(
        `explain(): size ${payload}: more than one segment at this MTU`,
      );
    }
    return skbs[0]!;
  });
}
