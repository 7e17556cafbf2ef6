/**
 * What a captured frame carries: addresses, ports and the size of its payload.
 *
 * @module
 */

/** Headers of an IP packet. */
export interface IpPacket {
  /** IP version. */
  version: 4 | 6;
  /** Source address. */
  source: string;
  /** Destination address. */
  destination: string;
  /** Transport protocol: 6 TCP, 17 UDP. */
  protocol: number;
  /** Bytes of the IP packet, header included. */
  length: number;
  /** Whether it is a fragment of a datagram. */
  fragment: boolean;
  /** Source port of TCP and UDP; absent for others and later fragments. */
  sourcePort?: number;
  /** Destination port. */
  destinationPort?: number;
  /** Bytes behind the TCP or UDP header; of other protocols and later fragments, behind the IP headers. */
  payload: number;
}

/** What {@linkcode decodeFrame} found. */
export interface Frame {
  /** What the link header says of the direction. */
  direction: "in" | "out" | "unknown";
  /** The IP packet; undefined for others, and where its headers were not kept. */
  ip?: IpPacket;
}

// www.tcpdump.org/linktypes.html
const LINK_NULL = 0;
const LINK_ETHERNET = 1;
const LINK_RAW = new Set([12, 14, 101, 228, 229]);
const LINK_LOOP = 108;
const LINK_SLL = 113;
const LINK_SLL2 = 276;

const ETHERTYPE_IPV4 = 0x0800;
const ETHERTYPE_IPV6 = 0x86dd;
const VLAN_TAGS = new Set([0x8100, 0x88a8, 0x9100]);
const PACKET_OUTGOING = 4;

const TCP = 6;
const UDP = 17;
// Hop-by-hop, routing and destination options: length in units of 8 bytes, the first not counted.
const IPV6_OPTIONS = new Set([0, 43, 60]);
const IPV6_FRAGMENT = 44;
const MOST_EXTENSIONS = 8;

/** Ports and payload of a TCP or UDP segment that starts at `at`; `rest` is what its IP packet holds from there on. */
function transport(
  view: DataView,
  at: number,
  protocol: number,
  rest: number,
): Pick<IpPacket, "sourcePort" | "destinationPort" | "payload"> | undefined {
  if (protocol !== TCP && protocol !== UDP) return { payload: rest };
  if (at + (protocol === TCP ? 20 : 8) > view.byteLength) return undefined;
  const header = protocol === TCP ? (view.getUint8(at + 12) >> 4) * 4 : 8;
  if (header > rest || (protocol === TCP && header < 20)) return undefined;
  return {
    sourcePort: view.getUint16(at),
    destinationPort: view.getUint16(at + 2),
    payload: rest - header,
  };
}

function ipv4(view: DataView, at: number, left: number): IpPacket | undefined {
  if (at + 20 > view.byteLength) return undefined;
  const header = (view.getUint8(at) & 15) * 4;
  // 0 in a packet that GRO or TSO made larger than the field can say.
  const length = view.getUint16(at + 2) || left;
  if (header < 20 || length < header) return undefined;
  const fragmentWord = view.getUint16(at + 6);
  const first = (fragmentWord & 0x1fff) === 0;
  const protocol = view.getUint8(at + 9);
  const address = (from: number): string =>
    [0, 1, 2, 3].map((i) => view.getUint8(from + i)).join(".");
  const segment = first
    ? transport(view, at + header, protocol, length - header)
    : { payload: length - header };
  if (segment === undefined) return undefined;
  return {
    version: 4,
    source: address(at + 12),
    destination: address(at + 16),
    protocol,
    length,
    fragment: (fragmentWord & 0x3fff) !== 0,
    ...segment,
  };
}

/** An IPv6 address as RFC 5952 writes it. */
function ipv6Address(view: DataView, at: number): string {
  const groups = Array.from(
    { length: 8 },
    (_, i) => view.getUint16(at + 2 * i).toString(16),
  );
  let start = -1, longest = 1;
  for (let i = 0; i < 8; i++) {
    let run = 0;
    while (i + run < 8 && groups[i + run] === "0") run++;
    if (run > longest) [start, longest] = [i, run];
  }
  if (start < 0) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${
    groups.slice(start + longest).join(":")
  }`;
}

function ipv6(view: DataView, at: number, left: number): IpPacket | undefined {
  if (at + 40 > view.byteLength) return undefined;
  const said = view.getUint16(at + 4);
  const length = said === 0 ? left : said + 40;
  let protocol = view.getUint8(at + 6);
  let next = at + 40;
  let first = true, fragment = false;
  for (let i = 0; i < MOST_EXTENSIONS; i++) {
    const options = IPV6_OPTIONS.has(protocol);
    if ((!options && protocol !== IPV6_FRAGMENT) || !first) break;
    if (next + 8 > view.byteLength) return undefined;
    if (protocol === IPV6_FRAGMENT) {
      fragment = true;
      first = (view.getUint16(next + 2) & 0xfff8) === 0;
    }
    protocol = view.getUint8(next);
    next += options ? 8 * (view.getUint8(next + 1) + 1) : 8;
  }
  const rest = length - (next - at);
  if (rest < 0) return undefined;
  const segment = first
    ? transport(view, next, protocol, rest)
    : { payload: rest };
  if (segment === undefined) return undefined;
  return {
    version: 6,
    source: ipv6Address(view, at + 8),
    destination: ipv6Address(view, at + 24),
    protocol,
    length,
    fragment,
    ...segment,
  };
}

/**
 * Looks into a frame. Nothing in a frame makes it throw: what is cut off or no IP is left undefined.
 *
 * @param linkType Link type of the capture.
 * @param data The bytes kept.
 * @param length Bytes on the wire.
 */
export function decodeFrame(
  linkType: number,
  data: Uint8Array,
  length: number,
): Frame {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  let direction: Frame["direction"] = "unknown";
  let at = 0;
  if (linkType === LINK_ETHERNET) {
    at = 12;
    while (
      at + 6 <= data.length && VLAN_TAGS.has(view.getUint16(at))
    ) at += 4;
    if (at + 2 > data.length) return { direction };
    const type = view.getUint16(at);
    if (type !== ETHERTYPE_IPV4 && type !== ETHERTYPE_IPV6) {
      return { direction };
    }
    at += 2;
  } else if (linkType === LINK_SLL && data.length >= 16) {
    direction = view.getUint16(0) === PACKET_OUTGOING ? "out" : "in";
    at = 16;
  } else if (linkType === LINK_SLL2 && data.length >= 20) {
    direction = view.getUint8(10) === PACKET_OUTGOING ? "out" : "in";
    at = 20;
  } else if (linkType === LINK_NULL || linkType === LINK_LOOP) at = 4;
  else if (!LINK_RAW.has(linkType)) return { direction };
  if (at >= data.length) return { direction };
  const version = view.getUint8(at) >> 4;
  const ip = version === 4
    ? ipv4(view, at, length - at)
    : version === 6
    ? ipv6(view, at, length - at)
    : undefined;
  return ip === undefined ? { direction } : { direction, ip };
}
