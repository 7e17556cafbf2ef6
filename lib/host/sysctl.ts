/**
 * What `sysctl -a` prints.
 *
 * @module
 */

import type { StreamSysctl } from "../experiments/netperf_options.ts";
import { filledLines, HostFormatError, type HostLine } from "./text.ts";

const SOURCE = "sysctl";
const NAME = /^([A-Za-z0-9_][^\s=]*)[ \t]*=[ \t]?(.*)$/;
const MESSAGE =
  /^(?:sysctl: (?:permission denied on key|reading key|cannot stat|error|unable)|error: )/;

/**
 * Settings of a host.
 *
 * @example
 * ```ts
 * import { HostSysctl, readSysctl } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const sysctl: HostSysctl = readSysctl("net.ipv4.tcp_rmem = 4096\t131072\t6291456\n");
 * assertEquals(sysctl.numbers("net.ipv4.tcp_rmem"), [4096, 131072, 6291456]);
 * ```
 */
export class HostSysctl {
  /** Messages of sysctl that stood between the settings (keys it may not read). */
  readonly messages: readonly HostLine[];
  readonly #values: ReadonlyMap<string, readonly HostLine[]>;

  /**
   * Settings as read.
   *
   * @param values The lines of each name, with the value as text.
   * @param messages Messages.
   */
  constructor(
    values: ReadonlyMap<string, readonly HostLine[]>,
    messages: readonly HostLine[] = [],
  ) {
    this.#values = values;
    this.messages = messages;
  }

  /** Names, in the order read. */
  get names(): string[] {
    return [...this.#values.keys()];
  }

  /** A value as printed; undefined if it was not. A value of several lines has them joined by `\n`. */
  text(name: string): string | undefined {
    return this.#values.get(name)?.map((line) => line.text).join("\n");
  }

  /**
   * A value's numbers, for example `[4096, 131072, 6291456]` of net.ipv4.tcp_rmem.
   *
   * @param name Name.
   * @returns Its numbers; undefined if it was not printed.
   * @throws {HostFormatError} It is not made of whole numbers up to 2^53 - 1.
   */
  numbers(name: string): number[] | undefined {
    const lines = this.#values.get(name);
    if (lines === undefined) return undefined;
    return lines.flatMap((at) =>
      at.text.split(/[ \t]+/).filter((word) => word !== "").map((word) => {
        const value = Number(word);
        if (!/^-?\d{1,20}$/.test(word) || !Number.isSafeInteger(value)) {
          throw new HostFormatError(
            SOURCE,
            at,
            `${name} must be whole numbers up to 2^53`,
          );
        }
        return value;
      })
    );
  }

  /**
   * A value that is one number.
   *
   * @param name Name.
   * @returns Undefined if it was not printed.
   * @throws {HostFormatError} It is not one whole number.
   */
  number(name: string): number | undefined {
    const numbers = this.numbers(name);
    if (numbers !== undefined && numbers.length !== 1) {
      throw new HostFormatError(
        SOURCE,
        this.#values.get(name)![0]!,
        `${name} must be one number`,
      );
    }
    return numbers?.[0];
  }

  /**
   * The settings that a TCP stream heeds, as `explain`, `whatIf` and `netperf` take them.
   *
   * @throws {HostFormatError} One of them is not made of as many whole numbers as it has.
   *
   * @example
   * ```ts
   * import { readSysctl } from "@truesize/lab";
   * import { assertEquals } from "@std/assert";
   *
   * const { tcp_rmem, tcp_timestamps } = readSysctl(
   *   "net.ipv4.tcp_rmem = 4096 131072 6291456\nnet.ipv4.tcp_timestamps = 1\n",
   * ).stream();
   * assertEquals(tcp_rmem, [4096, 131072, 6291456]);
   * assertEquals(tcp_timestamps, true);
   * ```
   */
  stream(): StreamSysctl {
    return {
      tcp_rmem: this.#three("net.ipv4.tcp_rmem"),
      tcp_wmem: this.#three("net.ipv4.tcp_wmem"),
      tcp_mem: this.#three("net.ipv4.tcp_mem"),
      tcp_adv_win_scale: this.number("net.ipv4.tcp_adv_win_scale"),
      tcp_moderate_rcvbuf: this.#flag("net.ipv4.tcp_moderate_rcvbuf"),
      tcp_timestamps: this.#flag("net.ipv4.tcp_timestamps"),
      rmem_max: this.number("net.core.rmem_max"),
      wmem_max: this.number("net.core.wmem_max"),
    };
  }

  #flag(name: string): boolean | undefined {
    const value = this.number(name);
    return value === undefined ? undefined : value !== 0;
  }

  #three(name: string): [number, number, number] | undefined {
    const numbers = this.numbers(name);
    if (numbers === undefined) return undefined;
    const [least, start, most] = numbers;
    if (
      least === undefined || start === undefined || most === undefined ||
      numbers.length > 3
    ) {
      throw new HostFormatError(
        SOURCE,
        this.#values.get(name)![0]!,
        `${name} must be three numbers`,
      );
    }
    return [least, start, most];
  }
}

/**
 * Reads `sysctl -a`, or a sysctl.conf's settings: `name = value` a line, names with dots or slashes.
 *
 * @param text The output; sysctl's complaints about unreadable keys may stand in between.
 * @throws {HostFormatError} A line is no setting, or a name's lines are apart (two outputs in one text).
 * @throws {TypeError} `text` is no string.
 *
 * @example
 * ```ts
 * import { readSysctl } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const sysctl = readSysctl("net.core.rmem_max = 4194304\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\n");
 * assertEquals(sysctl.numbers("net.ipv4.tcp_rmem"), [4096, 131072, 6291456]);
 * assertEquals(sysctl.number("net.core.rmem_max"), 4194304);
 * ```
 */
export function readSysctl(text: string): HostSysctl {
  const values = new Map<string, HostLine[]>();
  const messages: HostLine[] = [];
  let last = "";
  for (const at of filledLines(SOURCE, text)) {
    if (/^[ \t]*[#;]/.test(at.text)) continue;
    if (MESSAGE.test(at.text)) {
      messages.push(at);
      continue;
    }
    const [, raw, value] = NAME.exec(at.text) ?? [];
    if (raw === undefined) {
      throw new HostFormatError(SOURCE, at, "not name = value");
    }
    // /proc/sys's form: the first separator decides what the other one means.
    const slash = raw.indexOf("/"), dot = raw.indexOf(".");
    const name = slash >= 0 && (dot < 0 || slash < dot)
      ? raw.replace(/[/.]/g, (c) => c === "/" ? "." : "/")
      : raw;
    const line = { line: at.line, text: value! };
    const lines = values.get(name);
    if (lines === undefined) values.set(name, [line]);
    else if (name === last) lines.push(line);
    else throw new HostFormatError(SOURCE, at, `${name} stands there twice`);
    last = name;
  }
  return new HostSysctl(values, messages);
}
