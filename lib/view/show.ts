/**
 * The one way notebooks show things.
 *
 * @module
 */

import { Figure } from "./figure.ts";
import { PacketMemory } from "../net/packet_memory.ts";
import { kernelBroadcast } from "./kernel_display.ts";
import { drawPacket, packetText } from "./packet.ts";

const displaySymbol = Symbol.for("Jupyter.display");

/** Something that has a form for a terminal, beside those for Jupyter. */
export interface Showable {
  /**
   * The terminal form.
   *
   * @returns Lines, each ended.
   */
  toText(): string;
}

/** Prose that {@link show} shows: its source and the MIME type it is in. */
class Prose {
  readonly #mime: string;
  readonly #source: string;

  constructor(mime: string, source: string) {
    this.#mime = mime;
    this.#source = source;
  }

  toText(): string {
    return this.#source.trimEnd() + "\n";
  }

  [displaySymbol](): Record<string, string> {
    return { "text/plain": this.#source, [this.#mime]: this.#source };
  }
}

/**
 * Markdown to show in a notebook; a terminal gets its source.
 *
 * @param source The Markdown.
 * @returns Something to hand to {@link show}.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { markdown } from "@truesize/lab";
 *
 * assertEquals(markdown("**2,304** bytes").toText(), "**2,304** bytes\n");
 * ```
 */
export function markdown(source: string): Showable {
  return new Prose("text/markdown", source);
}

/**
 * HTML to show in a notebook; a terminal gets its source.
 *
 * @param source The HTML; what comes from outside must be escaped in it.
 * @returns Something to hand to {@link show}.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { html } from "@truesize/lab";
 *
 * assertEquals(html("<b>2,304</b> bytes").toText(), "<b>2,304</b> bytes\n");
 * ```
 */
export function html(source: string): Showable {
  return new Prose("text/html", source);
}

/** The terminal form of anything. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof PacketMemory) return packetText(value);
  if (typeof value === "object" && value !== null) {
    if ("toText" in value && typeof value.toText === "function") {
      return String(value.toText());
    }
  }
  return Deno.inspect(value, { colors: false, depth: 6 });
}

/** Every form of anything, for Jupyter. */
async function bundleOf(value: unknown): Promise<Record<string, unknown>> {
  if (typeof value === "object" && value !== null) {
    const display = (value as Record<symbol, unknown>)[displaySymbol];
    if (typeof display === "function") return await display.call(value);
  }
  return { "text/plain": textOf(value).trimEnd() };
}

/**
 * Shows things one below the other: figures, tables, strings and anything else.
 * In a notebook they become outputs of the cell, in a terminal they are printed.
 * A promise is awaited first, so `await show(plot(…))` works.
 *
 * Make it the last act of a cell. It returns only when the front end has had
 * time to take the outputs: the kernel may call a cell done before it has sent
 * them, and some front ends then drop them without a word.
 *
 * @param first What to show.
 * @param more What to show below it.
 *
 * @example
 * ```ts
 * import { show } from "@truesize/lab";
 *
 * await show("A page holds one segment.", "Two pages hold two.");
 * ```
 */
export async function show(first: unknown, ...more: unknown[]): Promise<void> {
  const broadcast = kernelBroadcast();
  for (const item of [first, ...more]) {
    const given = await item;
    if (broadcast === undefined) {
      console.log(textOf(given).trimEnd());
      continue;
    }
    const value = given instanceof PacketMemory && given.error === undefined
      ? await drawPacket(given)
      : given;
    // Pictures have twice the dots of the drawing they show.
    const metadata = value instanceof Figure
      ? { "image/png": { width: value.width, height: value.height } }
      : {};
    await broadcast("display_data", {
      data: await bundleOf(value),
      metadata,
      transient: {},
    });
  }
  // One turn of the event loop is enough in measurements; this leaves a margin.
  if (broadcast !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
