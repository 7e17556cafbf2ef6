/** Capture files built by hand, in either byte order. */

/** A pcap file of one byte order as the same file of the other. */
export function otherByteOrder(
  file: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const out = file.slice();
  const from = new DataView(file.buffer), to = new DataView(out.buffer);
  const swap32 = (at: number) => to.setUint32(at, from.getUint32(at, true));
  swap32(0);
  to.setUint16(4, from.getUint16(4, true));
  to.setUint16(6, from.getUint16(6, true));
  for (let at = 8; at < 24; at += 4) swap32(at);
  for (let at = 24; at < file.length;) {
    for (let i = 0; i < 16; i += 4) swap32(at + i);
    at += 16 + from.getUint32(at + 8, true);
  }
  return out;
}

/** Builds a pcapng file block by block. */
export class PcapngFile {
  readonly #little: boolean;
  readonly #bytes: number[] = [];

  constructor(little: boolean) {
    this.#little = little;
  }

  #number(value: bigint, bytes: number): number[] {
    const out = Array.from(
      { length: bytes },
      (_, i) => Number(value >> BigInt(8 * i) & 0xffn),
    );
    return this.#little ? out : out.reverse();
  }

  u16(value: number): number[] {
    return this.#number(BigInt(value), 2);
  }

  u32(value: number): number[] {
    return this.#number(BigInt(value), 4);
  }

  u64(value: bigint): number[] {
    return this.#number(value, 8);
  }

  option(code: number, value: number[]): number[] {
    return [
      ...this.u16(code),
      ...this.u16(value.length),
      ...this.padded(value),
    ];
  }

  padded(value: number[]): number[] {
    return [...value, ...Array((4 - value.length % 4) % 4).fill(0)];
  }

  block(type: number, body: number[]): this {
    const length = this.u32(body.length + 12);
    this.#bytes.push(...this.u32(type), ...length, ...body, ...length);
    return this;
  }

  section(): this {
    return this.block(0x0a0d0d0a, [
      ...this.u32(0x1a2b3c4d),
      ...this.u16(1),
      ...this.u16(0),
      ...this.u64(0xffffffffffffffffn),
    ]);
  }

  interface(linkType: number, snaplen: number, options: number[] = []): this {
    return this.block(1, [
      ...this.u16(linkType),
      ...this.u16(0),
      ...this.u32(snaplen),
      ...options,
    ]);
  }

  packet(
    id: number,
    ticks: bigint,
    data: number[],
    length: number,
    options: number[] = [],
  ): this {
    return this.block(6, [
      ...this.u32(id),
      ...this.u32(Number(ticks >> 32n)),
      ...this.u32(Number(ticks & 0xffffffffn)),
      ...this.u32(data.length),
      ...this.u32(length),
      ...this.padded(data),
      ...options,
    ]);
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes);
  }
}

/** An Ethernet frame with an IPv4 UDP datagram of `payload` bytes, cut after its headers. */
export function udpFrame(payload: number): number[] {
  const length = 28 + payload;
  return [
    ...Array(12).fill(2),
    0x08,
    0x00,
    0x45,
    0,
    length >> 8,
    length & 255,
    0,
    0,
    0x40,
    0,
    64,
    17,
    0,
    0,
    192,
    0,
    2,
    1,
    198,
    51,
    100,
    7,
    0x13,
    0x88,
    0x00,
    0x35,
    (8 + payload) >> 8,
    (8 + payload) & 255,
    0,
    0,
  ];
}
