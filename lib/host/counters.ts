/**
 * The kernel's SNMP counters of a host at one moment, under one name whatever printed them.
 *
 * @module
 */

import { HostFormatError, type HostLine } from "./text.ts";

/** A line that was kept because no counter's name is known for it. */
export interface UnnamedCounter {
  /** Line number. */
  readonly line: number;
  /** Section it stands in, for example `Tcp`. */
  readonly section: string;
  /** The line's text, without the blanks around it. */
  readonly text: string;
}

const U64 = (1n << 64n) - 1n;
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Counters by the names that nstat prints: section and field of /proc/net/snmp and /proc/net/netstat, for example
 * `TcpExtTCPRcvCollapsed` (net/ipv4/proc.c).
 *
 * @example What a run changed
 * ```ts
 * import { readNstat } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const before = readNstat("#kernel\nUdpInDatagrams 10 0.0\nUdpRcvbufErrors 0 0.0\n");
 * const after = readNstat("#kernel\nUdpInDatagrams 12 0.0\nUdpRcvbufErrors 7 0.0\n");
 * assertEquals(after.since(before).get("UdpRcvbufErrors"), 7);
 * ```
 */
export class HostCounters {
  /** Lines with a number and no known name (netstat -s in another language or release). */
  readonly unnamed: readonly UnnamedCounter[];
  readonly #values: Map<string, bigint>;

  /**
   * Counters as read.
   *
   * @param values Values by name.
   * @param unnamed Lines without a known name.
   */
  constructor(
    values: ReadonlyMap<string, bigint>,
    unnamed: readonly UnnamedCounter[] = [],
  ) {
    this.#values = new Map(values);
    this.unnamed = unnamed;
  }

  /** Names, in the order read. */
  get names(): string[] {
    return [...this.#values.keys()];
  }

  /** Whether a counter was printed. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /**
   * A counter as a number; 0 if it was not printed, as nstat leaves out zeros.
   *
   * @param name Its name.
   * @throws {RangeError} It is above 2^53 - 1; {@linkcode HostCounters.exact} has it.
   */
  get(name: string): number {
    const value = this.#values.get(name) ?? 0n;
    if (value > SAFE || value < -SAFE) {
      throw new RangeError(
        `HostCounters: ${name} is ${value}, too large for a number; exact() has it`,
      );
    }
    return Number(value);
  }

  /** A counter whatever its size; 0 if it was not printed. */
  exact(name: string): bigint {
    return this.#values.get(name) ?? 0n;
  }

  /**
   * What was counted since an earlier moment.
   *
   * @param before The earlier counters, of the same host.
   * @returns Differences of every counter in either; negative ones mean a restart, or a gauge such as `TcpCurrEstab`.
   */
  since(before: HostCounters): HostCounters {
    const values = new Map<string, bigint>();
    for (const name of new Set([...this.names, ...before.names])) {
      values.set(name, this.exact(name) - before.exact(name));
    }
    return new HostCounters(values);
  }

  /** Names and values, in the order read. */
  *[Symbol.iterator](): Iterator<[string, bigint]> {
    yield* this.#values;
  }
}

/** Gathers counters while a reader goes through lines. */
export class CounterReader {
  /** Values so far. */
  readonly values: Map<string, bigint> = new Map();
  readonly #source: string;

  /** For one output. */
  constructor(source: string) {
    this.#source = source;
  }

  /**
   * Takes one counter.
   *
   * @throws {HostFormatError} The word is no decimal number of 64 bits, or the name was there before.
   */
  add(at: HostLine, name: string, word: string): void {
    // RtoMin and MaxConn are signed: MaxConn is -1.
    if (!/^-?\d{1,20}$/.test(word)) {
      throw new HostFormatError(
        this.#source,
        at,
        `${name} must be a whole number, got ${JSON.stringify(word)}`,
      );
    }
    const value = BigInt(word);
    if (value > U64 || value < -(U64 >> 1n)) {
      throw new HostFormatError(
        this.#source,
        at,
        `${name} ${word} does not fit in 64 bits`,
      );
    }
    if (this.values.has(name)) {
      throw new HostFormatError(
        this.#source,
        at,
        `${name} stands there twice`,
      );
    }
    this.values.set(name, value);
  }
}
