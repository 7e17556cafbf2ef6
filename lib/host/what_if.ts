/**
 * A TCP stream before and after a change.
 *
 * @module
 */

import { netperf } from "../experiments/netperf.ts";
import type { NetperfOptions } from "../experiments/netperf_options.ts";
import type { StreamResult } from "../experiments/stream_result.ts";
import { optionsObject } from "../sim/check.ts";

/** A stream, and what would be changed of it. */
export interface WhatIfOptions extends NetperfOptions {
  /** Options that differ after the change; sysctls are merged one by one. */
  readonly change: Partial<NetperfOptions>;
}

/**
 * Both runs.
 *
 * @example
 * ```ts
 * import { kernel, whatIf, WhatIf } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const stream = { kernel: kernel("6.18"), path: "virtio-mergeable", rttMs: 20, seconds: 2, rateMbit: 1000 } as const;
 * const result: WhatIf = whatIf({ ...stream, change: { rateMbit: 100 } });
 * assert(result.before.goodput > result.after.goodput && result.gain < 1);
 * ```
 */
export class WhatIf {
  /** The stream as it is. */
  readonly before: StreamResult;
  /** The stream after the change. */
  readonly after: StreamResult;

  /** Two runs. */
  constructor(before: StreamResult, after: StreamResult) {
    this.before = before;
    this.after = after;
  }

  /** Goodput after the change by goodput before; Infinity where nothing came through before. */
  get gain(): number {
    return this.after.goodput / this.before.goodput;
  }

  /** Both runs in three lines. */
  toString(): string {
    const line = (name: string, { goodput, flows, limits }: StreamResult) => {
      const { rcvSsthresh, rcvbuf, receiver } = flows[0]!;
      return `${name}: ${
        goodput.toFixed(1)
      } Mbit/s, window up to ${rcvSsthresh} B, sk_rcvbuf ${rcvbuf} B, ` +
        `limited by the window ${
          (limits.rwnd_limited * 100).toFixed(0)
        } % of the time, ` +
        `collapsed ${receiver.TCPRcvCollapsed}, pruned ${receiver.RcvPruned}`;
    };
    return [
      line("before", this.before),
      line("after ", this.after),
      `gain: ${this.gain.toFixed(2)}`,
    ].join("\n");
  }
}

/**
 * Runs {@linkcode netperf} with and without a change.
 *
 * @param options The stream as for `netperf`, and `change`.
 * @returns Both results and the gain in goodput; toString() for a terminal.
 * @throws {RangeError} As `netperf`.
 * @throws {TypeError} As `netperf`, or `change` is no object.
 *
 * @example Twice tcp_rmem[2] where the window is the limit
 * ```ts
 * import { kernel, whatIf } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * const result = whatIf({
 *   kernel: kernel("net-next-2013-10"),
 *   path: "virtio-mergeable",
 *   rttMs: 100,
 *   seconds: 5,
 *   tso: false,
 *   change: { sysctl: { tcp_rmem: [4096, 87380, 12582912] } },
 * });
 * assert(result.after.flows[0]!.rcvSsthresh > 1.9 * result.before.flows[0]!.rcvSsthresh);
 * ```
 */
export function whatIf(options: WhatIfOptions): WhatIf {
  optionsObject(options, "whatIf");
  const { change, ...before } = options;
  if (typeof change !== "object" || change === null) {
    throw new TypeError(
      `whatIf(): change must be an object of netperf's options, got ${
        String(change)
      }`,
    );
  }
  const after: NetperfOptions = {
    ...before,
    ...change,
    sysctl: { ...before.sysctl, ...change.sysctl },
  };
  return new WhatIf(netperf(before), netperf(after));
}
