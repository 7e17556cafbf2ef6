/**
 * Packet captures: pcap and pcapng files as packets with times, sizes and directions.
 *
 * @module
 */

import { decodeFrame, type IpPacket } from "./frame.ts";
import { readPcap } from "./pcap.ts";
import { readPcapng } from "./pcapng.ts";
import { HostFormatError } from "./text.ts";

/** An interface of a capture; a pcap file has one. */
export interface CaptureInterface {
  /** Link type, for example 1 for Ethernet, 113 and 276 for `tcpdump -i any` (www.tcpdump.org/linktypes.html). */
  linkType: number;
  /** Most bytes kept of a packet; 0 for no limit. */
  snaplen: number;
  /** Name, where the file has one. */
  name?: string;
}

/** A packet as the file holds it. */
export interface CapturedPacket {
  /** Offset of its record in the file, bytes. */
  offset: number;
  /** Index into {@linkcode Capture.interfaces}. */
  interface: number;
  /** Time since 1970, ns; undefined where the file has none (pcapng's simple packets). */
  timeNs: bigint | undefined;
  /** Bytes on the wire, link header included. */
  length: number;
  /** Bytes kept: a view of the file's bytes. */
  data: Uint8Array;
  /** Direction: what the file or the link header says, else by the local addresses given, else `unknown`. */
  direction: "in" | "out" | "unknown";
  /** Addresses and payload of an IP packet; undefined for others, and where the headers were cut off. */
  ip?: IpPacket;
}

/** A packet before its frame is looked into. */
export type RawPacket = Omit<CapturedPacket, "ip">;

/** What a file holds before its frames are looked into. */
export interface RawCapture {
  /** File format. */
  format: "pcap" | "pcapng";
  /** Interfaces, in order. */
  interfaces: CaptureInterface[];
  /** Packets, in order. */
  packets: RawPacket[];
  /** Blocks of pcapng that hold no packet and no interface (statistics, names, …): how many of each type. */
  otherBlocks: Map<number, number>;
}

/** A packet capture. */
export interface Capture extends RawCapture {
  /** Packets, in order. */
  packets: CapturedPacket[];
}

/** Options of {@linkcode readCapture}. */
export interface CaptureOptions {
  /** Addresses of the machine that captured: a packet from one of them went out. Needed where the file says nothing. */
  local?: readonly string[];
}

const PCAPNG = 0x0a0d0d0a;

/**
 * Reads a capture: pcap (microseconds or nanoseconds) or pcapng, in either byte order.
 *
 * @param bytes The whole file.
 * @param options Local addresses.
 * @throws {HostFormatError} It is no capture, or it is cut off or damaged: the error has the byte offset. Nothing is
 *   returned of a truncated file.
 * @throws {TypeError} `bytes` is no Uint8Array.
 *
 * @example An empty file of a little-endian machine
 * ```ts
 * import { readCapture } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const header = new Uint8Array(24);
 * const view = new DataView(header.buffer);
 * view.setUint32(0, 0xa1b2c3d4, true);
 * view.setUint16(4, 2, true);
 * view.setUint16(6, 4, true);
 * view.setUint32(16, 262144, true);
 * view.setUint32(20, 1, true);
 * const capture = readCapture(header);
 * assertEquals([capture.format, capture.interfaces[0]?.linkType, capture.packets.length], ["pcap", 1, 0]);
 * ```
 */
export function readCapture(
  bytes: Uint8Array,
  options: CaptureOptions = {},
): Capture {
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`capture: bytes must be a Uint8Array, got ${bytes}`);
  }
  if (bytes.length < 4) {
    throw new HostFormatError("capture", 0, "shorter than a magic number");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const raw = view.getUint32(0) === PCAPNG
    ? readPcapng(bytes, view)
    : readPcap(bytes, view);
  const local = new Set(options.local ?? []);
  const packets = raw.packets.map((packet): CapturedPacket => {
    const { linkType } = raw.interfaces[packet.interface]!;
    const frame = decodeFrame(linkType, packet.data, packet.length);
    let direction = packet.direction;
    if (direction === "unknown") direction = frame.direction;
    const { ip } = frame;
    if (direction === "unknown" && ip !== undefined) {
      if (local.has(ip.source)) direction = "out";
      else if (local.has(ip.destination)) direction = "in";
    }
    return { ...packet, direction, ...(ip === undefined ? {} : { ip }) };
  });
  return { ...raw, packets };
}
