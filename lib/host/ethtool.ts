/**
 * What `ethtool -k` and `ethtool -g` print.
 *
 * @module
 */

import {
  emptyRecord,
  filledLines,
  HostFormatError,
  type HostLine,
  wholeWord,
} from "./text.ts";

/** One feature of a device. */
export interface EthtoolFeature {
  /** Whether it is on. */
  on: boolean;
  /** Whether the driver never changes it (`[fixed]`). */
  fixed: boolean;
  /** What was asked for and not granted yet (`[requested on]`). */
  requested?: boolean;
}

/** The features of one device. */
export interface EthtoolFeatures {
  /** Device. */
  device: string;
  /** By name, for example `generic-receive-offload`, `tx-tcp-segmentation`. */
  features: Record<string, EthtoolFeature>;
}

/** A device's rings: entries, or `on`/`off` for what is switched; absent where ethtool prints `n/a`. */
export interface EthtoolRings {
  /** Device. */
  device: string;
  /** `Pre-set maximums`, by ethtool's words: `RX`, `RX Mini`, `RX Jumbo`, `TX`. */
  maximums: Record<string, number | string>;
  /** `Current hardware settings`. */
  current: Record<string, number | string>;
}

const MESSAGE = /^(?:netlink error: |Cannot get |no feature|No data available)/;

/** The blocks of an output: a title with the device, and its lines. */
function blocks(
  source: string,
  text: string,
  title: RegExp,
): { device: string; at: HostLine; lines: HostLine[] }[] {
  const found: { device: string; at: HostLine; lines: HostLine[] }[] = [];
  for (const at of filledLines(source, text)) {
    const [, device] = title.exec(at.text) ?? [];
    if (device !== undefined) {
      if (found.some((block) => block.device === device)) {
        throw new HostFormatError(source, at, `${device} stands there twice`);
      }
      found.push({ device, at, lines: [] });
      continue;
    }
    if (MESSAGE.test(at.text)) continue;
    const block = found.at(-1);
    if (block === undefined) {
      throw new HostFormatError(source, at, "no device before it");
    }
    block.lines.push(at);
  }
  return found;
}

/**
 * Reads `ethtool -k`, of one device or several one after the other.
 *
 * @param text The output. Complaints of ethtool (`Cannot get device …`) are passed over: they hold no value.
 * @throws {HostFormatError} A line is no feature, or a feature stands there twice.
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readEthtoolFeatures } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [eth0] = readEthtoolFeatures("Features for eth0:\nlarge-receive-offload: off [fixed]\n");
 * assertEquals(eth0?.features["large-receive-offload"], { on: false, fixed: true });
 * ```
 */
export function readEthtoolFeatures(text: string): EthtoolFeatures[] {
  const source = "ethtool -k";
  const title = /^(?:Features|Offload parameters) for ([^\s:]+(?::[^\s:]+)*):$/;
  return blocks(source, text, title).map(({ device, lines }) => {
    const features = emptyRecord<EthtoolFeature>();
    for (const at of lines) {
      const [, name, on, note] =
        /^[ \t]*([a-z0-9][A-Za-z0-9_ -]*): (on|off)(?: \[(fixed|not requested|requested on|requested off)\])?[ \t]*$/
          .exec(at.text) ?? [];
      if (name === undefined) {
        throw new HostFormatError(
          source,
          at,
          "not a feature that is on or off",
        );
      }
      if (Object.hasOwn(features, name)) {
        throw new HostFormatError(source, at, `${name} stands there twice`);
      }
      features[name] = {
        on: on === "on",
        fixed: note === "fixed",
        ...(note?.startsWith("requested")
          ? { requested: note === "requested on" }
          : {}),
      };
    }
    return { device, features };
  });
}

/**
 * Reads `ethtool -g`, of one device or several one after the other.
 *
 * @param text The output. Complaints of ethtool are passed over: they hold no value.
 * @throws {HostFormatError} A line is no ring parameter, stands in no part, or stands there twice.
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readEthtoolRings } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [eth0] = readEthtoolRings(`Ring parameters for eth0:
 * Pre-set maximums:
 * RX:		4096
 * Current hardware settings:
 * RX:		512
 * `);
 * assertEquals([eth0?.maximums["RX"], eth0?.current["RX"]], [4096, 512]);
 * ```
 */
export function readEthtoolRings(text: string): EthtoolRings[] {
  const source = "ethtool -g";
  const title = /^Ring parameters for ([^\s:]+(?::[^\s:]+)*):$/;
  return blocks(source, text, title).map(({ device, lines }) => {
    const rings: EthtoolRings = {
      device,
      maximums: emptyRecord(),
      current: emptyRecord(),
    };
    let part: Record<string, number | string> | undefined;
    const seen = new Set<string>();
    for (const at of lines) {
      if (/^(?:Pre-set maximums|Current hardware settings):$/.test(at.text)) {
        part = at.text.startsWith("P") ? rings.maximums : rings.current;
        seen.clear();
        continue;
      }
      const [, name, value] =
        /^([A-Z][A-Za-z -]*):[ \t]+(\d+|n\/a|on|off)[ \t]*$/.exec(at.text) ??
          [];
      if (name === undefined || part === undefined) {
        throw new HostFormatError(
          source,
          at,
          part === undefined
            ? "neither maximums nor current settings before it"
            : "not a ring's parameter",
        );
      }
      if (seen.has(name)) {
        throw new HostFormatError(source, at, `${name} stands there twice`);
      }
      seen.add(name);
      if (value === "n/a") continue;
      part[name] = /^\d/.test(value!)
        ? wholeWord(source, at, name, value, 0xffffffff)
        : value!;
    }
    return rings;
  });
}
