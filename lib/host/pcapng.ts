/**
 * The pcapng file format (draft-ietf-opsawg-pcapng).
 *
 * @module
 */

import type { CaptureInterface, RawCapture, RawPacket } from "./capture.ts";
import { HostFormatError } from "./text.ts";

const SOURCE = "pcapng";
const SECTION = 0x0a0d0d0a;
const BYTE_ORDER = 0x1a2b3c4d;
const INTERFACE = 1;
const OLD_PACKET = 2;
const SIMPLE_PACKET = 3;
const ENHANCED_PACKET = 6;

const OPTION_END = 0;
const IF_NAME = 2;
const IF_TSRESOL = 9;
const IF_TSOFFSET = 14;
const EPB_FLAGS = 2;

const NS = 1_000_000_000n;

/** How an interface counts time. */
interface Clock {
  /** Ticks a second. */
  perSecond: bigint;
  /** Seconds to add. */
  offset: bigint;
}

class PcapngReader {
  readonly capture: RawCapture = {
    format: "pcapng",
    interfaces: [],
    packets: [],
    otherBlocks: new Map(),
  };
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #clocks: Clock[] = [];
  #little = false;
  /** Index of the section's first interface. */
  #first = 0;

  constructor(bytes: Uint8Array, view: DataView) {
    this.#bytes = bytes;
    this.#view = view;
  }

  #refuse(at: number, problem: string): never {
    throw new HostFormatError(SOURCE, at, problem);
  }

  #u16(at: number): number {
    return this.#view.getUint16(at, this.#little);
  }

  #u32(at: number): number {
    return this.#view.getUint32(at, this.#little);
  }

  read(): RawCapture {
    for (let at = 0; at < this.#bytes.length;) at = this.#block(at);
    return this.capture;
  }

  #block(at: number): number {
    const left = this.#bytes.length - at;
    if (left < 12) this.#refuse(at, "a block's header is cut off");
    if (this.#view.getUint32(at) === SECTION) this.#section(at);
    const type = this.#u32(at), length = this.#u32(at + 4);
    if (length < 12 || length % 4 !== 0) {
      this.#refuse(at + 4, `a block of ${length} bytes`);
    }
    if (length > left) {
      this.#refuse(at, `the file ends inside a block of ${length} bytes`);
    }
    const end = at + length - 4;
    if (this.#u32(end) !== length) {
      this.#refuse(end, "a block's two lengths differ");
    }
    switch (type) {
      case SECTION:
        break;
      case INTERFACE:
        this.#interface(at + 8, end);
        break;
      case ENHANCED_PACKET:
      case OLD_PACKET:
        this.#packet(at, type, end);
        break;
      case SIMPLE_PACKET:
        this.#simple(at, end);
        break;
      default: {
        const { otherBlocks } = this.capture;
        otherBlocks.set(type, (otherBlocks.get(type) ?? 0) + 1);
      }
    }
    return end + 4;
  }

  #section(at: number): void {
    if (at + 28 > this.#bytes.length) {
      this.#refuse(at, "a section's header is cut off");
    }
    this.#little = this.#view.getUint32(at + 8, true) === BYTE_ORDER;
    if (!this.#little && this.#view.getUint32(at + 8) !== BYTE_ORDER) {
      this.#refuse(at + 8, "no byte-order magic");
    }
    if (this.#u16(at + 12) !== 1) {
      this.#refuse(at + 12, `version ${this.#u16(at + 12)}, not 1`);
    }
    this.#first = this.capture.interfaces.length;
  }

  /** Options from `at` to `end`: code, offset of the value, its length. */
  *#options(at: number, end: number): Generator<[number, number, number]> {
    while (at < end) {
      if (at + 4 > end) this.#refuse(at, "an option is cut off");
      const code = this.#u16(at), length = this.#u16(at + 2);
      if (code === OPTION_END) return;
      if (at + 4 + length > end) this.#refuse(at, "an option is cut off");
      yield [code, at + 4, length];
      at += 4 + (length + 3 & ~3);
    }
  }

  #interface(at: number, end: number): void {
    if (at + 8 > end) this.#refuse(at, "an interface is cut off");
    const found: CaptureInterface = {
      linkType: this.#u16(at),
      snaplen: this.#u32(at + 4),
    };
    const clock: Clock = { perSecond: 1_000_000n, offset: 0n };
    for (const [code, value, length] of this.#options(at + 8, end)) {
      if (code === IF_NAME) {
        found.name = new TextDecoder().decode(
          this.#bytes.subarray(value, value + length),
        );
      } else if (code === IF_TSRESOL && length === 1) {
        const exponent = this.#view.getUint8(value);
        clock.perSecond = exponent & 0x80
          ? 2n ** BigInt(exponent & 0x7f)
          : 10n ** BigInt(exponent);
      } else if (code === IF_TSOFFSET && length === 8) {
        clock.offset = this.#view.getBigInt64(value, this.#little);
      }
    }
    this.capture.interfaces.push(found);
    this.#clocks.push(clock);
  }

  #interfaceAt(at: number, id: number): number {
    const index = this.#first + id;
    if (index >= this.capture.interfaces.length) {
      this.#refuse(at, `there is no interface ${id} in the section`);
    }
    return index;
  }

  #data(at: number, captured: number, length: number, end: number): Uint8Array {
    if (captured > length || at + captured > end) {
      this.#refuse(
        at,
        `${captured} bytes kept of a packet of ${length}, in a block with ${
          end - at
        } left`,
      );
    }
    return this.#bytes.subarray(at, at + captured);
  }

  #packet(block: number, type: number, end: number): void {
    const at = block + 8;
    if (at + 20 > end) this.#refuse(at, "a packet is cut off");
    const id = type === OLD_PACKET ? this.#u16(at) : this.#u32(at);
    const index = this.#interfaceAt(at, id);
    const { perSecond, offset } = this.#clocks[index]!;
    const ticks = BigInt(this.#u32(at + 4)) << 32n | BigInt(this.#u32(at + 8));
    const captured = this.#u32(at + 12), length = this.#u32(at + 16);
    const packet: RawPacket = {
      offset: block,
      interface: index,
      timeNs: offset * NS + ticks * NS / perSecond,
      length,
      data: this.#data(at + 20, captured, length, end),
      direction: "unknown",
    };
    const options = at + 20 + Math.ceil(captured / 4) * 4;
    for (const [code, value, size] of this.#options(options, end)) {
      if (code === EPB_FLAGS && size === 4) {
        const direction = this.#u32(value) & 3;
        if (direction === 1) packet.direction = "in";
        if (direction === 2) packet.direction = "out";
      }
    }
    this.capture.packets.push(packet);
  }

  #simple(block: number, end: number): void {
    const at = block + 8;
    if (at + 4 > end) this.#refuse(at, "a packet is cut off");
    const index = this.#interfaceAt(at, 0);
    const length = this.#u32(at);
    const { snaplen } = this.capture.interfaces[index]!;
    const captured = snaplen === 0 ? length : Math.min(length, snaplen);
    this.capture.packets.push({
      offset: block,
      interface: index,
      timeNs: undefined,
      length,
      data: this.#data(at + 4, captured, length, end),
      direction: "unknown",
    });
  }
}

/**
 * Reads a pcapng file; sections may differ in byte order, interfaces in the resolution of their clocks.
 *
 * @throws {HostFormatError} A block is cut off or contradicts itself.
 */
export function readPcapng(bytes: Uint8Array, view: DataView): RawCapture {
  return new PcapngReader(bytes, view).read();
}
