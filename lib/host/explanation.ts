/**
 * What an explanation says, as data and as text.
 *
 * @module
 */

import type { CounterSign } from "./explain_counters.ts";
import type { SocketState } from "./explain_socket.ts";
import type { Suggestion } from "./explain_suggest.ts";

/** Where a TCP window stops, and why. */
export interface WindowExplanation {
  /** Where `rcv_ssthresh` stops for such packets, bytes. */
  readonly cap: number;
  /** What `tcp_rmem[2]` is worth, bytes. */
  readonly whole: number;
  /** What stops it: skbs worth more window than they carry, the socket's ratio, or `tcp_rmem[2]` alone. */
  readonly mechanism:
    | "tcp_grow_window"
    | "scaling_ratio"
    | "tcp_win_from_space";
  /** Window that one skb's charge is worth, bytes. */
  readonly worth: number;
  /** The largest throughput that the cap allows at the round trip, Mbit/s. */
  readonly mostMbit: number | undefined;
  /** Bytes in flight that the wanted throughput needs. */
  readonly bdp: number | undefined;
  /** The least `tcp_rmem[2]` whose cap holds them, bytes; Infinity if none does. */
  readonly rmemNeeded: number | undefined;
}

/** The figures of an {@linkcode Explanation}. */
export interface ExplanationData {
  /** The socket that was explained. */
  readonly state: SocketState;
  /** Payload of a packet, bytes. */
  readonly size: number;
  /** Charge of a packet, bytes. */
  readonly charge: number;
  /** Payload held, bytes; for UDP the charge's worth of packets of `size`. */
  readonly payload: number;
  /** Packets that are still taken. */
  readonly packets: number;
  /** What happens to the next one. */
  readonly until: "drop" | "zero window" | "prune";
  /** `sk_rmem_alloc` then, bytes. */
  readonly rmemAlloc: number;
  /** TCP's window. */
  readonly window: WindowExplanation | undefined;
  /** Round trip, ms. */
  readonly rttMs: number | undefined;
  /** Counters to look at. */
  readonly signs: readonly CounterSign[];
  /** Changes, simulated. */
  readonly suggestions: readonly Suggestion[];
}

const whole = (value: number): string =>
  value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
const UNTIL = {
  "drop": "the first drop",
  "zero window": "the window has no room for another",
  "prune": "the queue is pruned or collapsed",
} as const;

/**
 * A socket explained.
 *
 * @example
 * ```ts
 * import { explain, Explanation, kernel, readSs } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [socket] = readSs(`UNCONN 4608 0 127.0.0.1:45003 0.0.0.0:*
 * 	 skmem:(r4608,rb8192,t0,tb212992,f3584,w0,o0,bl0,d3)
 * `).sockets;
 * const explanation: Explanation = explain(socket!, { kernel: kernel("6.18"), path: "loopback", size: 1000, protocol: "udp" });
 * assertEquals([explanation.charge, explanation.packets, explanation.until], [2304, 1, "drop"]);
 * ```
 */
export class Explanation implements ExplanationData {
  /** The socket that was explained. */
  readonly state: SocketState;
  /** Payload of a packet, bytes. */
  readonly size: number;
  /** Charge of a packet, bytes. */
  readonly charge: number;
  /** Payload held, bytes. */
  readonly payload: number;
  /** Packets that are still taken. */
  readonly packets: number;
  /** What happens to the next one. */
  readonly until: "drop" | "zero window" | "prune";
  /** `sk_rmem_alloc` then, bytes. */
  readonly rmemAlloc: number;
  /** TCP's window. */
  readonly window: WindowExplanation | undefined;
  /** Round trip, ms. */
  readonly rttMs: number | undefined;
  /** Counters to look at. */
  readonly signs: readonly CounterSign[];
  /** Changes, simulated. */
  readonly suggestions: readonly Suggestion[];

  /** From its figures. */
  constructor(data: ExplanationData) {
    this.state = data.state;
    this.size = data.size;
    this.charge = data.charge;
    this.payload = data.payload;
    this.packets = data.packets;
    this.until = data.until;
    this.rmemAlloc = data.rmemAlloc;
    this.window = data.window;
    this.rttMs = data.rttMs;
    this.signs = data.signs;
    this.suggestions = data.suggestions;
  }

  /** Payload held by truesize held; of a single packet where the socket holds nothing. */
  get ratio(): number {
    const { rmemAlloc } = this.state;
    return rmemAlloc > 0 ? this.payload / rmemAlloc : this.size / this.charge;
  }

  /** Text for a terminal. */
  toString(): string {
    const { state, size, charge, window } = this;
    const lines = [
      `${state.protocol.toUpperCase()}: holds ${
        whole(this.payload)
      } B of payload in ${whole(state.rmemAlloc)} B of truesize (sk_rcvbuf ${
        whole(state.rcvbuf)
      } B), ratio ${this.ratio.toFixed(3)}`,
      `A packet of ${whole(size)} B is charged ${whole(charge)} B; ${
        whole(this.packets)
      } more until ${UNTIL[this.until]} (at ${whole(this.rmemAlloc)} B)`,
    ];
    if (state.drops > 0) lines.push(`${whole(state.drops)} dropped so far`);
    if (window !== undefined) lines.push(...this.#window(window));
    const { signs } = this;
    for (const { name, value, meaning } of signs) {
      if (value !== undefined && value > 0) {
        lines.push(`${name} ${value}: ${meaning}`);
      }
    }
    const open = signs.filter(({ value }) => value === undefined);
    if (open.length > 0) {
      lines.push(
        `Counters that would tell: ${open.map(({ name }) => name).join(", ")}`,
      );
    }
    for (
      const { change, metric, before, after, mends, by } of this.suggestions
    ) {
      lines.push(
        `${mends ? "Helps" : "Does not help"}: ${change}: ${
          before.toFixed(by === "netperf" ? 1 : 0)
        } -> ${after.toFixed(by === "netperf" ? 1 : 0)} ${metric} (${by})`,
      );
    }
    return lines.join("\n");
  }

  #window(window: WindowExplanation): string[] {
    const { cap, mechanism, worth, mostMbit, bdp, rmemNeeded } = window;
    const why = {
      tcp_grow_window: `tcp_grow_window: an skb charged ${
        whole(this.charge)
      } B is worth ${whole(worth)} B of window but carries ${
        whole(this.size)
      } B, so rcv_ssthresh stops below the ${
        whole(window.whole)
      } B that tcp_rmem[2] is worth`,
      scaling_ratio:
        "scaling_ratio: tcp_rmem[2] is worth what such skbs carry in it",
      tcp_win_from_space: "tcp_rmem[2] alone (tcp_win_from_space)",
    }[mechanism];
    const lines = [`The window stops at ${whole(cap)} B. ${why}`];
    if (mostMbit !== undefined) {
      lines.push(
        `At ${this.rttMs} ms that is ${mostMbit.toFixed(1)} Mbit/s at most`,
      );
    }
    if (bdp !== undefined) {
      lines.push(
        `The wanted rate needs ${whole(bdp)} B in flight: tcp_rmem[2] ${
          rmemNeeded === Infinity
            ? "cannot be large enough"
            : `of ${whole(rmemNeeded!)} B`
        }`,
      );
    }
    return lines;
  }
}
