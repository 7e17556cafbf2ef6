/**
 * The pcap file format (www.tcpdump.org/manpages/pcap-savefile.5.txt).
 *
 * @module
 */

import type { RawCapture, RawPacket } from "./capture.ts";
import { HostFormatError } from "./text.ts";

const SOURCE = "pcap";
const MICROSECONDS = 0xa1b2c3d4;
const NANOSECONDS = 0xa1b23c4d;
const HEADER = 24;
const RECORD = 16;
// Upper bits of the link type say whether frames carry a checksum.
const LINK_TYPE = 0x03ffffff;
// libpcap's own limit for a packet of any link type.
const MOST_CAPTURED = 128 * 1024 * 1024;

/**
 * Reads a pcap file in either byte order, with microseconds or nanoseconds.
 *
 * @throws {HostFormatError} It is no pcap file, or a record is cut off or cannot be.
 */
export function readPcap(bytes: Uint8Array, view: DataView): RawCapture {
  const refuse = (at: number, problem: string): never => {
    throw new HostFormatError(SOURCE, at, problem);
  };
  let little = false;
  let magic = view.getUint32(0);
  if (magic !== MICROSECONDS && magic !== NANOSECONDS) {
    little = true;
    magic = view.getUint32(0, true);
  }
  if (magic !== MICROSECONDS && magic !== NANOSECONDS) {
    refuse(0, `neither pcap nor pcapng: magic 0x${magic.toString(16)}`);
  }
  if (bytes.length < HEADER) refuse(bytes.length, "the header is cut off");
  const major = view.getUint16(4, little), minor = view.getUint16(6, little);
  if (major !== 2 || minor !== 4) {
    refuse(4, `version ${major}.${minor}, not 2.4`);
  }
  const unit = magic === NANOSECONDS ? 1 : 1000;
  const packets: RawPacket[] = [];
  let at = HEADER;
  while (at < bytes.length) {
    if (at + RECORD > bytes.length) refuse(at, "a record's header is cut off");
    const seconds = view.getUint32(at, little);
    const fraction = view.getUint32(at + 4, little);
    const captured = view.getUint32(at + 8, little);
    const length = view.getUint32(at + 12, little);
    if (fraction * unit >= 1e9) {
      refuse(at + 4, `fraction ${fraction} is a second or more`);
    }
    if (captured > length || captured > MOST_CAPTURED) {
      refuse(at + 8, `${captured} bytes kept of a packet of ${length}`);
    }
    const data = at + RECORD;
    if (data + captured > bytes.length) {
      refuse(at, `the file ends inside a packet of ${captured} bytes`);
    }
    packets.push({
      offset: at,
      interface: 0,
      timeNs: BigInt(seconds) * 1_000_000_000n + BigInt(fraction * unit),
      length,
      data: bytes.subarray(data, data + captured),
      direction: "unknown",
    });
    at = data + captured;
  }
  return {
    format: "pcap",
    interfaces: [{
      linkType: view.getUint32(20, little) & LINK_TYPE,
      snaplen: view.getUint32(16, little),
    }],
    packets,
    otherBlocks: new Map(),
  };
}
