/**
 * Why a socket drops, or keeps a small window: one call from a machine's printed values to numbers, names and changes.
 *
 * @module
 */

import type { StreamSysctl } from "../experiments/netperf_options.ts";
import { optionsObject } from "../sim/check.ts";
import { sizes } from "../tcp/initial_buffers.ts";
import { winFromSpace } from "../tcp/space.ts";
import { windowCap } from "../tcp/window_cap.ts";
import type { HostCounters } from "./counters.ts";
import { collapseWork } from "./explain_collapse.ts";
import { type CounterSign, counterSigns } from "./explain_counters.ts";
import {
  type ExplainPacket,
  growCharge,
  isLocal,
  packetCharge,
} from "./explain_packet.ts";
import {
  type SocketNumbers,
  type SocketState,
  socketState,
} from "./explain_socket.ts";
import {
  localSuggestions,
  type Suggestion,
  tcpSuggestions,
  udpSuggestions,
} from "./explain_suggest.ts";
import { tcpRoom } from "./explain_tcp.ts";
import { udpRoom } from "./explain_udp.ts";
import {
  Explanation,
  type ExplanationKinds,
  type WindowExplanation,
} from "./explanation.ts";
import type { SsSocket } from "./ss.ts";

/** What is known beside the socket. */
export interface ExplainOptions extends ExplainPacket {
  /** Protocol, where `ss` printed no Netid. */
  readonly protocol?: "udp" | "tcp" | undefined;
  /** The host's sysctls; the release's defaults if absent. */
  readonly sysctl?: StreamSysctl | undefined;
  /** Round trip, ms; what `ss` printed if absent. */
  readonly rttMs?: number | undefined;
  /** TCP: throughput that is wanted, Mbit/s. */
  readonly rateMbit?: number | undefined;
  /** The host's counters (`readNstat`, `readNetstat`, `readProcNet`). */
  readonly counters?: HostCounters | undefined;
  /** Whether suggestions are simulated; true if absent. */
  readonly suggest?: boolean | undefined;
}

const KEYS: readonly string[] = [
  "kernel",
  "size",
  "path",
  "truesize",
  "mtu",
  "ip",
  "napiFrags",
  "locked",
  "tso",
  "sg",
  "gro",
  "protocol",
  "sysctl",
  "rttMs",
  "rateMbit",
  "counters",
  "suggest",
];

/** Every figure follows from the mechanism, or was given. */
const EXACT: ExplanationKinds = {
  charge: "exact",
  payload: "exact",
  packets: "exact",
  bytes: "exact",
  window: "exact",
  collapse: "exact",
};

function positive(name: string, value: number | undefined): void {
  if (value === undefined) return;
  if (!(typeof value === "number" && value > 0 && value <= 1e6)) {
    const error = typeof value === "number" ? RangeError : TypeError;
    throw new error(
      `explain(): ${name} ${
        String(value)
      }: a number above 0, up to 1000000, is allowed`,
    );
  }
}

/** The least tcp_rmem[2] under which the window may reach so many bytes; Infinity if none up to 2^31 - 1 does. */
function rmemFor(
  options: ExplainOptions,
  charge: number,
  window: number,
): number {
  const { kernel, size, sysctl } = options;
  const cap = (most: number): number =>
    windowCap({
      kernel,
      payload: size,
      truesize: charge,
      tcpRmem: [1, 1, most],
      advWinScale: sysctl?.tcp_adv_win_scale,
    });
  let low = 1;
  let high = 0x7fffffff;
  if (cap(high) < window) return Infinity;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (cap(middle) >= window) high = middle;
    else low = middle + 1;
  }
  return low;
}

function windowOf(
  options: ExplainOptions,
  charge: number,
  rttMs: number | undefined,
): WindowExplanation {
  const { kernel, size, rateMbit } = options;
  const sysctl = options.sysctl ?? {};
  const tcpRmem = sizes("sysctl.tcp_rmem", sysctl.tcp_rmem ?? kernel.tcp.rmem);
  const advWinScale = sysctl.tcp_adv_win_scale ?? 1;
  const cap = windowCap({
    kernel,
    payload: size,
    truesize: charge,
    tcpRmem,
    advWinScale,
  });
  const byRatio = kernel.tcp.space === "scaling_ratio";
  const whole = byRatio ? cap : winFromSpace(advWinScale, tcpRmem[2]);
  const bdp = rateMbit === undefined || rttMs === undefined
    ? undefined
    : Math.ceil(rateMbit * 1e6 / 8 * rttMs / 1e3);
  return {
    cap,
    whole,
    mechanism: byRatio
      ? "scaling_ratio"
      : cap < whole
      ? "tcp_grow_window"
      : "tcp_win_from_space",
    worth: byRatio ? size : winFromSpace(advWinScale, charge),
    mostMbit: rttMs === undefined || rttMs === 0
      ? undefined
      : cap * 8 / (rttMs * 1e3),
    bdp,
    rmemNeeded: bdp === undefined ? undefined : rmemFor(options, charge, bdp),
  };
}

function explainTcp(
  state: SocketState,
  options: ExplainOptions,
  charge: number,
  signs: CounterSign[],
): Explanation {
  const sysctl = options.sysctl ?? {};
  const rttMs = options.rttMs ?? state.rttMs;
  const grown = options.kernel.tcp.space === "scaling_ratio"
    ? charge
    : growCharge(options);
  const window = windowOf(options, grown, rttMs);
  const room = tcpRoom(options, state, sysctl);
  const [, , most] = sysctl.tcp_rmem ?? options.kernel.tcp.rmem;
  const capped = window.cap < window.whole;
  const target = window.rmemNeeded ??
    (capped ? rmemFor(options, grown, window.whole) : undefined);
  const signalled = signs.some(({ name, value }) =>
    value !== undefined && value > 0 &&
    !name.endsWith("ZeroWindowAdv")
  );
  const prunes = signalled || room.until === "prune";
  const suggestions: Suggestion[] = options.suggest === false
    ? []
    : isLocal(options, "tcp")
    ? localSuggestions(options, sysctl)
    : tcpSuggestions({
      packet: options,
      charge,
      sysctl,
      rttMs: rttMs === undefined || rttMs === 0 ? 10 : rttMs,
      rmemMax: target !== undefined && target > most ? target : undefined,
      capped: capped || charge > 2 * options.size,
      prunes,
      rcvbuf: state.rcvbuf,
    });
  return new Explanation({
    state,
    size: options.size,
    charge,
    payload: state.unread ?? 0,
    packets: room.packets,
    range: room.range,
    bytes: room.bytes,
    segments: room.segments,
    until: room.until,
    rmemAlloc: room.rmemAlloc,
    kinds: { ...EXACT, packets: room.kind, bytes: room.bytesKind },
    note: room.note,
    window,
    collapse: prunes ? collapseWork(options, state.rcvbuf, sysctl) : undefined,
    rttMs,
    signs,
    suggestions,
  });
}

/**
 * Explains a socket: what its memory holds, how many more packets it takes, where its window stops and why, which
 * counters tell of it, and what suggested changes would do, each simulated.
 *
 * TCP: the packets that come are taken to be alike and none is read. Over loopback and veth `size` is that of the sender's
 * writes: a past that prints the same values is simulated and followed to its end, so that `packets` is exact, or, where
 * it hangs on what no socket prints, fitted and with a `range`. Where there is no such past, and on other paths, what is
 * queued cannot be seen in detail; it is one lump of the printed charge that nothing merges with, and `packets` is an
 * estimate, marked `unexplained`. UDP: the count is that of the kernel's own rule, from
 * the printed charge on.
 *
 * @param socket A socket of {@linkcode readSs}, or {@linkcode SocketNumbers}.
 * @param options Kernel, packet size, and path or truesize; see {@linkcode ExplainOptions}.
 * @returns Plain data, and toString() for a terminal.
 * @throws {RangeError} A value is out of range, `ss` did not print what is needed, or the kernel refuses the packet.
 * @throws {TypeError} A value is of the wrong type, or an option is unknown.
 *
 * @example How many more datagrams until the drop?
 * ```ts
 * import { explain, kernel, readSs } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [socket] = readSs(`Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port
 * udp UNCONN 4608 0 127.0.0.1:45003 0.0.0.0:*
 * \t skmem:(r4608,rb8192,t0,tb212992,f3584,w0,o0,bl0,d0)
 * `).sockets;
 * const why = explain(socket!, { kernel: kernel("6.18"), path: "loopback", size: 1000 });
 * assertEquals([why.charge, why.packets, why.until], [2304, 1, "drop"]);
 * ```
 *
 * @example How many more writes over veth until the window closes?
 * ```ts
 * import { explain, kernel, readSs } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [socket] = readSs(`Netid State Recv-Q Send-Q Local Address:Port Peer Address:Port
 * tcp ESTAB 32768 0 10.0.0.2:45003 10.0.0.1:40000
 * \t skmem:(r33600,rb131072,t0,tb87040,f3264,w0,o0,bl0,d0) cubic wscale:7,7 rcv_ssthresh:94287 rcv_wnd:80768
 * `).sockets;
 * const why = explain(socket!, {
 *   kernel: kernel("6.18"),
 *   path: "veth",
 *   size: 4096,
 *   sysctl: { tcp_rmem: [4096, 131072, 6291456] },
 *   suggest: false,
 * });
 * assertEquals([why.packets, why.until], [22, "zero window"]);
 * assertEquals([why.bytes, why.kinds.packets], [91520, "exact"]);
 * ```
 *
 * @example A window frozen at 1 MiB
 * ```ts
 * import { explain, kernel } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const why = explain({ protocol: "tcp", rcvbuf: 4194304 }, {
 *   kernel: kernel("6.1"),
 *   size: 1448,
 *   truesize: 2944,
 *   rttMs: 100,
 *   sysctl: { tcp_rmem: [4096, 131072, 4194304] },
 *   suggest: false,
 * });
 * assertEquals([why.window?.cap, why.window?.mechanism], [1048576, "tcp_grow_window"]);
 * ```
 */
export function explain(
  socket: SsSocket | SocketNumbers,
  options: ExplainOptions,
): Explanation {
  optionsObject(options, "explain");
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key)) {
      throw new TypeError(
        `explain(): unknown option "${key}"; known are ${KEYS.join(", ")}`,
      );
    }
  }
  positive("rttMs", options.rttMs);
  positive("rateMbit", options.rateMbit);
  const state = socketState(socket, options.protocol);
  const charge = packetCharge(options, state.protocol, options.sysctl);
  const signs = counterSigns(state.protocol, options.counters);
  if (state.protocol === "tcp") {
    return explainTcp(state, options, charge, signs);
  }
  const room = udpRoom(options, state);
  const alike = state.unread !== undefined || state.rmemAlloc % charge === 0;
  return new Explanation({
    state,
    size: options.size,
    charge,
    payload: state.unread ??
      Math.floor(state.rmemAlloc / charge) * options.size,
    packets: room.packets,
    range: [room.packets, room.packets],
    bytes: room.packets * options.size,
    segments: room.packets,
    until: "drop",
    rmemAlloc: room.rmemAlloc,
    // Where the charge is no multiple of a packet's, packets of other sizes are queued.
    kinds: alike ? EXACT : { ...EXACT, payload: "unexplained" },
    note: undefined,
    window: undefined,
    collapse: undefined,
    rttMs: undefined,
    signs,
    suggestions: options.suggest === false
      ? []
      : udpSuggestions(options, charge, state.rcvbuf),
  });
}
