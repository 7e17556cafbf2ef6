/**
 * What a user may say of a TCP stream and its path.
 *
 * @module
 */

import type { RxStrategy } from "../drivers/rx_strategy.ts";
import type { Kernel } from "../kernel.ts";
import type { RxPath } from "../net/rx_skb.ts";
import type { HostPrices } from "../path/host_prices.ts";
import type { Sizes } from "../tcp/initial_buffers.ts";
import type { PacketPath } from "./packet_options.ts";

/** sysctls of both hosts; those that are absent have the release's defaults. */
export interface StreamSysctl {
  /** `net.ipv4.tcp_rmem`, bytes. */
  readonly tcp_rmem?: Sizes | undefined;
  /** `net.ipv4.tcp_wmem`, bytes. */
  readonly tcp_wmem?: Sizes | undefined;
  /** `net.ipv4.tcp_mem`, pages; unbounded if absent. */
  readonly tcp_mem?: Sizes | undefined;
  /** `net.ipv4.tcp_adv_win_scale`; 1 if absent. */
  readonly tcp_adv_win_scale?: number | undefined;
  /** `net.ipv4.tcp_moderate_rcvbuf`; true if absent. */
  readonly tcp_moderate_rcvbuf?: boolean | undefined;
  /** `net.ipv4.tcp_timestamps`; true if absent. */
  readonly tcp_timestamps?: boolean | undefined;
  /** `net.core.rmem_max`, bytes; 212,992 if absent. */
  readonly rmem_max?: number | undefined;
  /** `net.core.wmem_max`, bytes; 212,992 if absent. */
  readonly wmem_max?: number | undefined;
}

/** A netem qdisc on the path. */
export interface NetemOptions {
  /** Packets it holds at most (an aggregate counts as one); none if absent. netem's own default is 1,000. */
  readonly limit?: number | undefined;
  /** Share of packets lost at random; 0 if absent. */
  readonly loss?: number | undefined;
  /** Share of packets that skip the delay; 0 if absent. */
  readonly reorder?: number | undefined;
  /** Uniform jitter around the delay, ms; 0 if absent. */
  readonly jitterMs?: number | undefined;
  /** One packet is lost every so many seconds; never if absent. */
  readonly lossEvery?: number | undefined;
  /**
   * Where it is: on the sender's egress, where a refused packet is no loss; on a box in between; on the receiver's
   * egress, where it delays ACKs; or half the delay on either host. `sender` if absent.
   */
  readonly placement?: "sender" | "middle" | "receiver" | "split" | undefined;
}

/** A TCP stream between two hosts, as netperf's TCP_STREAM runs it. */
export interface NetperfOptions {
  /** Kernel of both hosts. */
  readonly kernel: Kernel;
  /** Kernel of the receiving host, where it is another one. */
  readonly receiver?: Kernel | undefined;
  /** sysctls of both hosts. */
  readonly sysctl?: StreamSysctl | undefined;
  /** Delay that netem adds to a round trip, ms. */
  readonly rttMs: number;
  /** Latency that the hosts themselves add to a round trip, ms; 0 if absent. */
  readonly latencyMs?: number | undefined;
  /** Simulated time, s. */
  readonly seconds: number;
  /**
   * How packets get into the receiver: one of `packetPaths`, or a strategy from `defineRxStrategy`, which stands for a card on a
   * wire.
   */
  readonly path: PacketPath | RxStrategy;
  /** virtio-mergeable: bytes of a ring entry. */
  readonly bufferSize?: number | undefined;
  /** A receive strategy of one's own, in place of the path's driver. */
  readonly rx?: RxPath | undefined;
  /** MTU, bytes: 65,536 on loopback, 1,500 elsewhere. */
  readonly mtu?: number | undefined;
  /** TSO on the sender's device; true if absent, but on tun and tap. */
  readonly tso?: boolean | undefined;
  /** GSO in the sender's stack where the device has no TSO; as `tso` if absent. From 4.17 on it is always on. */
  readonly gso?: boolean | undefined;
  /** Scatter-gather on the sender's device; true if absent. */
  readonly sg?: boolean | undefined;
  /** GRO on the receiver; where the release's driver uses it, if absent. */
  readonly gro?: boolean | undefined;
  /** Rate of the path's bottleneck, Mbit/s; none if absent. */
  readonly rateMbit?: number | undefined;
  /** Packets that wait in front of the bottleneck at most; 1,000 if absent. */
  readonly queue?: number | undefined;
  /** netem. */
  readonly netem?: NetemOptions | undefined;
  /** What the hosts' CPUs spend, ns; nothing if absent. */
  readonly host?: {
    readonly sender?: Partial<HostPrices> | undefined;
    readonly receiver?: Partial<HostPrices> | undefined;
  } | undefined;
  /** Packets that the receiver's ring holds while its CPU is busy; 256 if absent. */
  readonly ring?: number | undefined;
  /** Connections; 1 if absent. */
  readonly flows?: number | undefined;
  /** Bytes of one write(); 16,384 if absent. */
  readonly write?: number | undefined;
  /** Bytes of one read(); 87,380 if absent; 0 for a receiver that does not read. */
  readonly read?: number | undefined;
  /** Bytes that each connection sends; without end if absent. */
  readonly bytes?: number | undefined;
  /** Congestion control; cubic if absent. */
  readonly congestionControl?: "cubic" | "reno" | undefined;
  /** HyStart; true if absent. */
  readonly hystart?: boolean | undefined;
  /** ssthresh that an earlier connection left (`tcp_no_metrics_save` 0), segments; none if absent. */
  readonly ssthresh?: number | undefined;
  /** SO_RCVBUF on the receiver, bytes. */
  readonly soRcvbuf?: number | undefined;
  /** SO_SNDBUF on the sender, bytes. */
  readonly soSndbuf?: number | undefined;
  /** TCP_NODELAY; false if absent. */
  readonly nodelay?: boolean | undefined;
  /** Seed of loss, reordering and jitter; 1 if absent. */
  readonly seed?: number | undefined;
  /** Samples of the time series; 200 if absent. */
  readonly samples?: number | undefined;
}
