/**
 * The words that `ss -i` prints of a TCP socket: TCP_INFO and the congestion control's own.
 *
 * @module
 */

import {
  decimalWord,
  HostFormatError,
  type HostLine,
  wholeWord,
} from "./text.ts";

/**
 * TCP_INFO as `ss -i` prints it (`tcp_stats_print` of iproute2's misc/ss.c), a field for each word. A word that was
 * not printed is absent: ss leaves out zeros, and what its release or the kernel's does not know.
 */
export interface SsTcpInfo {
  /** Congestion control, for example `cubic`. */
  congestion?: string;
  /** Timestamps were agreed on (`ts`; printed with `-o` or `-e`). */
  ts?: boolean;
  /** SACK was agreed on. */
  sack?: boolean;
  /** ECN was agreed on. */
  ecn?: boolean;
  /** A packet with an ECN codepoint arrived. */
  ecnseen?: boolean;
  /** The connection began with data in its SYN. */
  fastopen?: boolean;
  /** The rate sample is limited by the application. */
  appLimited?: boolean;
  /** The socket is in interactive (quick ack) mode. */
  bidir?: boolean;
  /** Window scale: what the peer announced, and ours. */
  wscale?: { snd: number; rcv: number };
  /** Retransmission timeout, ms. */
  rto?: number;
  /** Exponential backoff steps. */
  backoff?: number;
  /** Smoothed round trip and its deviation, ms. */
  rtt?: { srtt: number; rttvar: number };
  /** Delayed ACK timeout, ms. */
  ato?: number;
  /** Quick ACKs left. */
  qack?: number;
  /** Sending MSS, bytes. */
  mss?: number;
  /** Path MTU, bytes. */
  pmtu?: number;
  /** MSS estimated from what arrives, bytes. */
  rcvmss?: number;
  /** Announced MSS, bytes. */
  advmss?: number;
  /** Congestion window, segments. */
  cwnd?: number;
  /** Slow start threshold, segments. */
  ssthresh?: number;
  /** Bytes sent, retransmissions included. */
  bytesSent?: number;
  /** Bytes retransmitted. */
  bytesRetrans?: number;
  /** Bytes acknowledged by the peer. */
  bytesAcked?: number;
  /** Bytes received in order. */
  bytesReceived?: number;
  /** Segments sent. */
  segsOut?: number;
  /** Segments received. */
  segsIn?: number;
  /** Segments sent that carry data. */
  dataSegsOut?: number;
  /** Segments received that carry data. */
  dataSegsIn?: number;
  /** Rate of the window over a round trip, bit/s. */
  send?: number;
  /** Since the last segment with data was sent, ms. */
  lastsnd?: number;
  /** Since the last segment with data arrived, ms. */
  lastrcv?: number;
  /** Since the last ACK arrived, ms. */
  lastack?: number;
  /** Pacing rate, bit/s. */
  pacingRate?: number;
  /** Upper limit of the pacing rate, bit/s. */
  pacingRateMax?: number;
  /** Delivery rate of the last sample, bit/s. */
  deliveryRate?: number;
  /** Segments delivered to the peer. */
  delivered?: number;
  /** The same that carried a CE mark. */
  deliveredCe?: number;
  /** Time with data to send, ms. */
  busy?: number;
  /** Time limited by the peer's window, ms. */
  rwndLimited?: number;
  /** Time limited by the send buffer, ms. */
  sndbufLimited?: number;
  /** Segments in flight. */
  unacked?: number;
  /** Retransmissions in flight, and all. */
  retrans?: { now: number; total: number };
  /** Segments taken for lost. */
  lost?: number;
  /** Segments that SACK acknowledged. */
  sacked?: number;
  /** Segments up to the highest SACK (kernels before 4.15). */
  fackets?: number;
  /** Duplicate SACKs received. */
  dsackDups?: number;
  /** Reordering degree, segments; absent at its default, 3. */
  reordering?: number;
  /** Reordering events. */
  reordSeen?: number;
  /** Receiver's estimate of the round trip, ms. */
  rcvRtt?: number;
  /** Receive space that autotuning last set, bytes. */
  rcvSpace?: number;
  /** Where the announced window stops, bytes. */
  rcvSsthresh?: number;
  /** Bytes not sent yet. */
  notsent?: number;
  /** Least round trip seen, ms. */
  minrtt?: number;
  /** Segments received out of order. */
  rcvOoopack?: number;
  /** The peer's window, bytes. */
  sndWnd?: number;
  /** The window announced to the peer, bytes. */
  rcvWnd?: number;
  /** Times the socket's hash was changed after timeouts. */
  rehash?: number;
}

type Field = keyof SsTcpInfo;

/** Words of the form `name:number`. */
const WHOLE: ReadonlyMap<string, Field> = new Map<string, Field>([
  ...([
    "backoff",
    "qack",
    "mss",
    "pmtu",
    "rcvmss",
    "advmss",
    "cwnd",
    "ssthresh",
    "lastsnd",
    "lastrcv",
    "lastack",
    "delivered",
    "unacked",
    "lost",
    "sacked",
    "fackets",
    "reordering",
    "notsent",
    "rehash",
  ] as const).map((name) => [name, name] as const),
  ["bytes_sent", "bytesSent"],
  ["bytes_retrans", "bytesRetrans"],
  ["bytes_acked", "bytesAcked"],
  ["bytes_received", "bytesReceived"],
  ["segs_out", "segsOut"],
  ["segs_in", "segsIn"],
  ["data_segs_out", "dataSegsOut"],
  ["data_segs_in", "dataSegsIn"],
  ["delivered_ce", "deliveredCe"],
  ["dsack_dups", "dsackDups"],
  ["reord_seen", "reordSeen"],
  ["rcv_space", "rcvSpace"],
  ["rcv_ssthresh", "rcvSsthresh"],
  ["rcv_ooopack", "rcvOoopack"],
  ["snd_wnd", "sndWnd"],
  ["rcv_wnd", "rcvWnd"],
]);

const DECIMAL: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["rto", "rto"],
  ["ato", "ato"],
  ["rcv_rtt", "rcvRtt"],
  ["minrtt", "minrtt"],
]);

/** Words of the form `name:12ms` or `name:12ms(3.4%)`. */
const TIMES: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["busy", "busy"],
  ["rwnd_limited", "rwndLimited"],
  ["sndbuf_limited", "sndbufLimited"],
]);

const FLAGS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["ts", "ts"],
  ["sack", "sack"],
  ["ecn", "ecn"],
  ["ecnseen", "ecnseen"],
  ["fastopen", "fastopen"],
  ["app_limited", "appLimited"],
  ["bidir", "bidir"],
]);

/** Words whose value is the next word. */
const RATES: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["send", "send"],
  ["pacing_rate", "pacingRate"],
  ["delivery_rate", "deliveryRate"],
]);

const SOURCE = "ss";
const RATE_UNITS: Record<string, number> = {
  "": 1,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
};

function rate(at: HostLine, what: string, word: string): number {
  const [, digits, unit] = /^([0-9.e+]+)([KMGTP]?)bps$/.exec(word) ?? [];
  if (digits === undefined) {
    throw new HostFormatError(
      SOURCE,
      at,
      `${what} must be a rate in bps, got ${JSON.stringify(word)}`,
    );
  }
  // 1.21 * 1e9 is 1209999999.9999998; ss prints no more than four digits before the unit.
  const value = decimalWord(SOURCE, at, what, digits) * RATE_UNITS[unit!]!;
  return unit === "" ? value : Math.round(value);
}

function pair(
  at: HostLine,
  what: string,
  value: string,
  between: string,
): [string, string] {
  const parts = value.split(between);
  if (parts.length !== 2) {
    throw new HostFormatError(
      SOURCE,
      at,
      `${what} must be two numbers with ${
        JSON.stringify(between)
      } between, got ${JSON.stringify(value)}`,
    );
  }
  return [parts[0]!, parts[1]!];
}

/** Takes the words of one socket that belong to TCP_INFO. */
export class SsTcpWords {
  /** What was read; empty if no word was TCP's. */
  readonly info: SsTcpInfo = {};
  readonly #at: HostLine;

  /** For one line of words. */
  constructor(at: HostLine) {
    this.#at = at;
  }

  #set<K extends Field>(name: string, field: K, value: SsTcpInfo[K]): void {
    if (this.info[field] !== undefined) {
      throw new HostFormatError(SOURCE, this.#at, `${name} stands there twice`);
    }
    this.info[field] = value;
  }

  /** Whether anything was read. */
  get any(): boolean {
    return Object.keys(this.info).length > 0;
  }

  /**
   * Reads one word.
   *
   * @param words All words.
   * @param i Which one.
   * @returns How many words were taken; 0 if it is not TCP's.
   */
  take(words: readonly string[], i: number): number {
    const word = words[i]!;
    const flag = FLAGS.get(word);
    if (flag !== undefined) {
      this.#set(word, flag, true as never);
      return 1;
    }
    if (RATES.has(word)) return this.#rate(word, words[i + 1]);
    const colon = word.indexOf(":");
    if (colon < 0) return this.#congestion(words, i);
    const name = word.slice(0, colon), value = word.slice(colon + 1);
    return this.#keyed(name, value) ? 1 : 0;
  }

  #keyed(name: string, value: string): boolean {
    const at = this.#at;
    const whole = WHOLE.get(name);
    if (whole !== undefined) {
      this.#set(name, whole, wholeWord(SOURCE, at, name, value) as never);
      return true;
    }
    const decimal = DECIMAL.get(name);
    if (decimal !== undefined) {
      this.#set(name, decimal, decimalWord(SOURCE, at, name, value) as never);
      return true;
    }
    const time = TIMES.get(name);
    if (time !== undefined) {
      const [, ms] = /^(\d+)ms(?:\(\d+(?:\.\d+)?%\))?$/.exec(value) ?? [];
      if (ms === undefined) {
        throw new HostFormatError(
          SOURCE,
          at,
          `${name} must be a time in ms, got ${JSON.stringify(value)}`,
        );
      }
      this.#set(name, time, wholeWord(SOURCE, at, name, ms) as never);
      return true;
    }
    switch (name) {
      case "wscale": {
        const [snd, rcv] = pair(at, name, value, ",");
        this.#set(name, "wscale", {
          snd: wholeWord(SOURCE, at, name, snd, 14),
          rcv: wholeWord(SOURCE, at, name, rcv, 14),
        });
        return true;
      }
      case "rtt": {
        const [srtt, rttvar] = pair(at, name, value, "/");
        this.#set(name, "rtt", {
          srtt: decimalWord(SOURCE, at, name, srtt),
          rttvar: decimalWord(SOURCE, at, name, rttvar),
        });
        return true;
      }
      case "retrans": {
        const [now, total] = pair(at, name, value, "/");
        this.#set(name, "retrans", {
          now: wholeWord(SOURCE, at, name, now),
          total: wholeWord(SOURCE, at, name, total),
        });
        return true;
      }
      default:
        return false;
    }
  }

  #rate(name: string, value: string | undefined): number {
    if (value === undefined) {
      throw new HostFormatError(SOURCE, this.#at, `${name} without its rate`);
    }
    const [first, most] = value.split("/");
    this.#set(name, RATES.get(name)!, rate(this.#at, name, first!) as never);
    if (most !== undefined) {
      this.#set(name, "pacingRateMax", rate(this.#at, name, most));
    }
    return 2;
  }

  // The congestion control has no key. It stands after the flags and before the first word that has one.
  #congestion(words: readonly string[], i: number): number {
    const next = words[i + 1] ?? "";
    const colon = next.indexOf(":");
    const name = next.slice(0, Math.max(0, colon));
    const first = this.info.congestion === undefined &&
      this.info.wscale === undefined && this.info.cwnd === undefined;
    const before = name === "wscale" || name === "rto" || name === "rtt" ||
      name === "mss" || name === "cwnd" || name === "backoff";
    if (!first || !before || !/^[a-z][a-z0-9_-]*$/.test(words[i]!)) return 0;
    this.#set("congestion control", "congestion", words[i]!);
    return 1;
  }
}
