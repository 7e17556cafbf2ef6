/**
 * What does this packet cost? One packet over one path, and what the receiving socket is charged for it.
 *
 * @module
 */

import { ixgbeReceive } from "../drivers/ixgbe.ts";
import {
  loopbackDevice,
  tcpSenderSkb,
  vethDevice,
} from "../drivers/loopback.ts";
import { pagePoolReceive } from "../drivers/page_pool.ts";
import { tunGetUser } from "../drivers/tun.ts";
import { vhostNetReceive } from "../drivers/vhost_net.ts";
import {
  mergeableBufferLength,
  virtioBig,
  virtioMergeable,
  virtioSmall,
} from "../drivers/virtio_net.ts";
import { ipFragReasm } from "../net/ip_fragment.ts";
import {
  ipAppendData,
  IPV4_HEADER,
  IPV6_FRAGMENT_HEADER,
  IPV6_HEADER,
  type OutputDevice,
  UDP_HEADER,
} from "../net/ip_output.ts";
import {
  type PacketError,
  PacketMemory,
  type WriteError,
} from "../net/packet_memory.ts";
import { pskbPullTail, skbPull } from "../net/skb_coalesce.ts";
import { netdevAllocSkb, skbPut, type SkBuff } from "../net/skbuff.ts";
import {
  type PacketOptions,
  type PacketSetup,
  packetSetup,
} from "./packet_options.ts";

const ETHERNET_HEADER = 14;

function outputDevice(setup: PacketSetup): OutputDevice {
  return setup.path === "loopback"
    ? loopbackDevice(setup.mtu, setup.sg)
    : vethDevice(setup.mtu, setup.sg);
}

/** Bytes of headers that the stack pulls into the head of a frame, link and network header of a UDP packet's. */
function headersOf({ ip, protocol, tcpHeader }: PacketSetup): number {
  return ETHERNET_HEADER + (ip === 4 ? IPV4_HEADER : IPV6_HEADER) +
    (protocol === "tcp" ? tcpHeader : UDP_HEADER);
}

/** The skb that the driver of the path makes of one Ethernet frame, or the error of the write that carries it. */
function receiveFrame(
  setup: PacketSetup,
  frame: number,
): SkBuff | WriteError | null {
  const { kernel } = setup;
  switch (setup.path) {
    case "tap":
      return tunGetUser(kernel, frame, setup.tun);
    case "tun":
      return tunGetUser(kernel, frame - ETHERNET_HEADER, setup.tun);
    case "vhost-net":
      return vhostNetReceive(kernel, frame, setup.tun.xdp);
    case "virtio-mergeable":
      return virtioMergeable(
        kernel,
        frame,
        setup.bufferSize ?? mergeableBufferLength(kernel, 0),
      );
    case "virtio-big":
      return virtioBig(kernel, frame);
    case "virtio-small":
      return virtioSmall(kernel, frame);
    case "ixgbe":
      return ixgbeReceive(kernel, frame, { mtu: setup.mtu });
    case "page-pool":
      return pagePoolReceive(kernel, frame);
    case "strategy":
      return setup.strategy!.receive(kernel, frame, headersOf(setup));
    case "netdev-alloc-skb":
      return skbPut(netdevAllocSkb(kernel, frame), frame);
    default:
      throw new Error(`no driver for path ${setup.path}`);
  }
}

/** Sizes of the IP payloads of a packet's fragments. */
function fragmentPayloads(setup: PacketSetup, length: number): number[] {
  const header = setup.ip === 4 ? IPV4_HEADER : IPV6_HEADER;
  if (setup.mtu === Infinity || length + header <= setup.mtu) return [length];
  const most = Math.floor(
    (setup.mtu - header - (setup.ip === 6 ? IPV6_FRAGMENT_HEADER : 0)) / 8,
  ) * 8;
  const sizes: number[] = [];
  for (let rest = length; rest > 0; rest -= most) {
    sizes.push(Math.min(rest, most));
  }
  return sizes;
}

// A driver leaves as little as the link header linear; each layer pulls its own header in before it looks at it.
function pullHeader(skb: SkBuff, length: number): void {
  const missing = length - (skb.tail - skb.data);
  if (missing > 0) pskbPullTail(skb, missing);
}

function framesReceived(setup: PacketSetup): SkBuff[] | PacketError {
  const { ip, payload, protocol, kernel } = setup;
  const ipHeader = ip === 4 ? IPV4_HEADER : IPV6_HEADER;
  if (protocol === "tcp") {
    const headers = ETHERNET_HEADER + ipHeader + setup.tcpHeader;
    const segment = setup.gso
      ? payload
      : Math.max(1, setup.mtu - ipHeader - setup.tcpHeader);
    const skbs: SkBuff[] = [];
    let rest = payload;
    do {
      const bytes = Math.min(rest, segment);
      const skb = receiveFrame(setup, headers + bytes);
      if (skb === null) return "dropped";
      if (typeof skb === "string") return skb;
      skb.headerLen = headers;
      skbs.push(skb);
      rest -= bytes;
    } while (rest > 0);
    return skbs;
  }
  if (payload > (ip === 4 ? 65535 - IPV4_HEADER : 65535) - UDP_HEADER) {
    return "EMSGSIZE";
  }
  const sizes = fragmentPayloads(setup, payload + UDP_HEADER);
  const fragmentHeader = ip === 6 && sizes.length > 1
    ? IPV6_FRAGMENT_HEADER
    : 0;
  const skbs: SkBuff[] = [];
  for (const size of sizes) {
    const skb = receiveFrame(
      setup,
      ETHERNET_HEADER + ipHeader + fragmentHeader + size,
    );
    if (skb === null) return "dropped";
    if (typeof skb === "string") return skb;
    skb.headerLen = (setup.path === "tun" ? 0 : ETHERNET_HEADER) + ipHeader +
      fragmentHeader;
    skbs.push(skb);
  }
  if (sizes.length === 1) {
    skbs[0]!.headerLen += UDP_HEADER;
    return skbs;
  }
  if (setup.socket === "packet") return skbs;
  for (const skb of skbs) {
    pullHeader(skb, skb.headerLen);
    skbPull(skb, skb.headerLen - ipHeader);
    skb.headerLen = ipHeader;
  }
  return [ipFragReasm(kernel, ip, skbs)];
}

/** The skbs that one packet leaves in the receiving socket's queue. */
export function receivedSkbs(
  setup: PacketSetup,
): SkBuff[] | PacketError {
  if (setup.path !== "loopback" && setup.path !== "veth") {
    return framesReceived(setup);
  }
  if (setup.protocol === "tcp") {
    return [tcpSenderSkb(setup.kernel, setup.payload)];
  }
  const skbs = ipAppendData(
    setup.kernel,
    setup.ip,
    setup.payload,
    outputDevice(setup),
  );
  if (skbs === null) return "EMSGSIZE";
  if (skbs.length === 1 || setup.socket === "packet") return skbs;
  return [ipFragReasm(setup.kernel, setup.ip, skbs)];
}

/**
 * What one packet costs the socket that receives it.
 *
 * Builds the skb as the path's driver, the IP layer and the protocol of that kernel release build it, and reads its
 * `truesize`. On loopback and veth the receiver gets the sender's own skbs; UDP payloads over the MTU travel as IP
 * fragments and are reassembled; a packet socket gets every fragment.
 *
 * @param options Kernel, path, protocol, payload and what else moves the result; see {@linkcode PacketOptions}.
 * @returns Payload, truesize and their ratio in bytes, and the pieces of memory; where the kernel refuses the packet,
 *   truesize 0 and the error.
 * @throws {RangeError} A value is out of range, or an option does not belong to the path or the release.
 * @throws {TypeError} A value is of the wrong type, or an option is unknown.
 *
 * @example A full-size UDP datagram over veth
 * ```ts
 * import { kernel, truesizeOf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const packet = truesizeOf({ kernel: kernel("6.18"), path: "veth", protocol: "udp", payload: 1472 });
 * assertEquals(packet.truesize, 2304);
 * assertEquals(packet.blocks.map((block) => block.allocator), ["skbuff_head_cache", "kmalloc-2k"]);
 * ```
 *
 * @example What the kernel refuses
 * ```ts
 * import { kernel, truesizeOf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const packet = truesizeOf({ kernel: kernel("6.18"), path: "loopback", payload: 65508 });
 * assertEquals([packet.truesize, packet.error], [0, "EMSGSIZE"]);
 * ```
 */
export function truesizeOf(options: PacketOptions): PacketMemory {
  const setup = packetSetup("truesizeOf", options);
  return new PacketMemory(setup.kernel, setup.payload, receivedSkbs(setup));
}

/**
 * What one datagram costs the socket that sends it while it waits in the device's queue: `sk_wmem_alloc`, bytes.
 *
 * Models `sock_wmalloc` and `skb_set_owner_w` (net/core/sock.c): every fragment's skb is charged whole, none is merged.
 *
 * @param options As for {@linkcode truesizeOf}, on loopback or veth.
 * @returns Payload, charge and pieces.
 * @throws {RangeError} As {@linkcode truesizeOf}, or the path is neither loopback nor veth.
 *
 * @example The second fragment is charged to the sender, not to the receiver
 * ```ts
 * import { kernel, senderWmem, truesizeOf } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const datagram = { kernel: kernel("6.18"), path: "veth", payload: 1600 } as const;
 * assertEquals(senderWmem(datagram).truesize, 3136);
 * assertEquals(truesizeOf(datagram).truesize, 2304);
 * ```
 */
export function senderWmem(options: PacketOptions): PacketMemory {
  const setup = packetSetup("senderWmem", options);
  if (setup.path !== "loopback" && setup.path !== "veth") {
    throw new RangeError(
      `senderWmem(): path must be "loopback" or "veth", got "${setup.path}"`,
    );
  }
  const skbs = setup.protocol === "tcp"
    ? [tcpSenderSkb(setup.kernel, setup.payload)]
    : ipAppendData(
      setup.kernel,
      setup.ip,
      setup.payload,
      outputDevice(setup),
    ) ?? "EMSGSIZE";
  return new PacketMemory(setup.kernel, setup.payload, skbs);
}
