/**
 * One question over all packet sizes: what does each receive strategy charge?
 *
 * @module
 */

import { type PacketOptions, packetSetup } from "./packet_options.ts";
import { whole } from "../sim/check.ts";
import { truesizeOf } from "./truesize.ts";

const WHO = "truesizeSweep";
const MAX = 0x7fffffff;

/** A way to receive packets: everything of {@linkcode PacketOptions} but the payload. */
export interface ReceiveStrategy extends Omit<PacketOptions, "payload"> {
  /** Its name in tables and plots; path and release if absent. */
  readonly label?: string | undefined;
}

/** What {@linkcode truesizeSweep} takes. */
export interface TruesizeSweepOptions {
  /** The strategies to compare. */
  readonly strategies: readonly ReceiveStrategy[];
  /** First payload, bytes; 0 by default. */
  readonly from?: number | undefined;
  /** Last payload, bytes; 1,472 by default. */
  readonly to?: number | undefined;
  /** Distance between payloads, bytes; 1 by default. */
  readonly step?: number | undefined;
}

/** One strategy's costs; index i of each array belongs to the same payload. */
export interface TruesizeSweepSeries {
  /** The strategy's name. */
  readonly label: string;
  /** Payloads, bytes. */
  readonly payload: Int32Array;
  /** Truesize, bytes; 0 where the kernel refuses the packet. */
  readonly truesize: Int32Array;
  /** payload / truesize; 0 where the kernel refuses the packet. */
  readonly ratio: Float64Array;
}

/**
 * Truesize and ratio of every payload of a range under several receive strategies.
 *
 * @param options Strategies and range.
 * @returns A series for each strategy, in order.
 * @throws {RangeError} The range is empty or no integers, or an option of a strategy is out of range.
 * @throws {TypeError} An option of a strategy is of the wrong type or unknown.
 *
 * @example Where do the bytes of a small datagram go?
 * ```ts
 * import { kernel, truesizeSweep } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const k = kernel("6.18");
 * const [veth, tap] = truesizeSweep({
 *   strategies: [{ kernel: k, path: "veth" }, { kernel: k, path: "tap", nonblocking: true }],
 *   to: 200,
 *   step: 100,
 * });
 * assertEquals([...veth!.truesize], [832, 832, 1280]);
 * assertEquals([...tap!.truesize], [704, 832, 896]);
 * ```
 */
export function truesizeSweep(
  options: TruesizeSweepOptions,
): TruesizeSweepSeries[] {
  const { strategies } = options;
  if (!Array.isArray(strategies) || strategies.length === 0) {
    throw new TypeError(
      `truesizeSweep(): strategies must be a list of at least one, got ${
        String(strategies)
      }`,
    );
  }
  const from = whole("from", options.from ?? 0, 0, MAX, WHO);
  const to = whole("to", options.to ?? 1472, from, MAX, WHO);
  const step = whole("step", options.step ?? 1, 1, MAX, WHO);
  const length = Math.floor((to - from) / step) + 1;
  return strategies.map(({ label, ...strategy }: ReceiveStrategy) => {
    // Options that depend on the payload (iovec lengths) have no place here; say so before anything runs.
    packetSetup("truesizeSweep", { ...strategy, payload: from });
    const payload = new Int32Array(length);
    const truesize = new Int32Array(length);
    const ratio = new Float64Array(length);
    for (let i = 0; i < length; i++) {
      const packet = truesizeOf({ ...strategy, payload: from + i * step });
      payload[i] = packet.payload;
      truesize[i] = packet.truesize;
      ratio[i] = packet.ratio;
    }
    return {
      label: label ?? `${strategy.path} ${strategy.kernel.name}`,
      payload,
      truesize,
      ratio,
    };
  });
}
