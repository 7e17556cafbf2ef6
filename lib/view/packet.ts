/**
 * A packet's memory as a drawing, in a notebook by itself.
 *
 * @module
 */

import { PacketMemory } from "../net/packet_memory.ts";
import type { Figure } from "./figure.ts";
import { drawMemory, memoryText } from "./memory.ts";
import { count } from "./pixels.ts";

/** More skbs than this make a drawing of bars too thin to read. */
const MOST_BLOCKS = 24;

/**
 * Draws where a packet's bytes went: struct, head and fragments to scale.
 *
 * @param packet What {@linkcode truesizeOf} gave.
 * @param options Title and width of the drawing, px.
 * @returns The figure.
 * @throws {RangeError} The kernel refused the packet, so there is nothing to draw.
 *
 * @example
 * ```ts
 * import { drawPacket, kernel, truesizeOf } from "@truesize/lab";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const figure = await drawPacket(truesizeOf({ kernel: kernel("6.18"), path: "veth", payload: 1472 }));
 * assertStringIncludes(figure.svg(), "kmalloc-2k");
 * ```
 */
export function drawPacket(
  packet: PacketMemory,
  options: { title?: string | undefined; width?: number | undefined } = {},
): Promise<Figure> {
  if (packet.error !== undefined) {
    throw new RangeError(
      `drawPacket(): the kernel refuses this packet: ${packet.error}`,
    );
  }
  const { blocks } = packet;
  const shown = blocks.slice(0, MOST_BLOCKS);
  const rest = blocks.length - shown.length;
  const title = options.title ??
    `${count(packet.payload)} bytes of payload are charged ${
      count(packet.truesize)
    }${
      rest > 0 ? ` (first ${shown.length} of ${blocks.length} allocations)` : ""
    }`;
  return drawMemory(shown, { title, width: options.width });
}

/**
 * The same for a terminal: headline and bars.
 *
 * @example
 * ```ts
 * import { kernel, packetText, truesizeOf } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const packet = truesizeOf({ kernel: kernel("6.18"), path: "veth", payload: 1472 });
 * assert(packetText(packet).includes("skbuff_small_head") || packetText(packet).includes("kmalloc"));
 * ```
 */
export function packetText(packet: PacketMemory): string {
  return packet.error !== undefined
    ? `${packet}`
    : `${packet}\n${memoryText(packet.blocks.slice(0, MOST_BLOCKS))}`;
}

// The engine knows nothing of drawings; whoever loads the view gets them, in a cell's last line too.
Object.defineProperty(PacketMemory.prototype, Symbol.for("Jupyter.display"), {
  configurable: true,
  async value(this: PacketMemory): Promise<Record<string, unknown>> {
    const text = { "text/plain": packetText(this) };
    if (this.error !== undefined) return text;
    const figure = await drawPacket(this);
    const bundle =
      (figure as unknown as Record<symbol, () => Record<string, unknown>>)[
        Symbol.for("Jupyter.display")
      ]!();
    return { ...bundle, ...text };
  },
});
