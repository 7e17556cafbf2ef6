/**
 * Which of a host's counters say that receive memory ran out, and how.
 *
 * @module
 */

import type { HostCounters } from "./counters.ts";

/** A counter that tells something. */
export interface CounterSign {
  /** Name as nstat prints it. */
  readonly name: string;
  /** Its value; undefined where the host's counters were not given. */
  readonly value: number | bigint | undefined;
  /** What it counts. */
  readonly meaning: string;
}

const UDP: readonly (readonly [string, string])[] = [
  [
    "UdpRcvbufErrors",
    "datagrams refused: the socket's charge reached sk_rcvbuf",
  ],
  ["Udp6RcvbufErrors", "the same over IPv6"],
  ["UdpMemErrors", "datagrams refused: udp_mem is used up"],
];
const TCP: readonly (readonly [string, string])[] = [
  [
    "TcpExtPruneCalled",
    "times that the queue's charge was over sk_rcvbuf and was to be pruned",
  ],
  [
    "TcpExtTCPRcvCollapsed",
    "skbs copied together in softirq to save truesize: latency spikes",
  ],
  ["TcpExtRcvPruned", "segments dropped because pruning did not help"],
  ["TcpExtOfoPruned", "times that out-of-order data was thrown away"],
  ["TcpExtTCPRcvQDrop", "in-order segments dropped for memory"],
  ["TcpExtTCPToZeroWindowAdv", "times that the window was closed"],
  [
    "TcpExtTCPWantZeroWindowAdv",
    "times that it should have been, but more was announced already",
  ],
];

/** The counters to look at for a protocol, with the host's values where given. */
export function counterSigns(
  protocol: "udp" | "tcp",
  counters: HostCounters | undefined,
): CounterSign[] {
  return (protocol === "udp" ? UDP : TCP).map(([name, meaning]) => {
    const exact = counters?.exact(name);
    const value = exact !== undefined && exact <= Number.MAX_SAFE_INTEGER
      ? Number(exact)
      : exact;
    return { name, value, meaning };
  });
}
