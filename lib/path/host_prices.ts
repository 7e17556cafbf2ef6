/**
 * What a host's CPU spends on packets, ACKs, bytes and sleeping processes.
 *
 * @module
 */

/** Prices of one host, ns; all zero is a host that costs no time. */
export interface HostPrices {
  /** One skb through driver, IP and TCP. */
  readonly packet: number;
  /** Each segment of it beyond the first. */
  readonly segment: number;
  /** One ACK, sent or received. */
  readonly ack: number;
  /** A byte copied to or from the application. */
  readonly byte: number;
  /** A system call. */
  readonly call: number;
  /** From the event that wakes a sleeping process to its first instruction. */
  readonly wake: number;
  /** Whether softirq and process share one CPU, or have one each. */
  readonly cpus: 1 | 2;
}

/**
 * Whether a host's processes cost nothing: then every packet's turn can be worked out when it arrives, and the CPU needs
 * no events of its own.
 */
export function processesAreFree(prices: HostPrices): boolean {
  return prices.byte === 0 && prices.call === 0 && prices.wake === 0;
}

/** A host that costs no time. */
export const FREE_HOST: HostPrices = {
  packet: 0,
  segment: 0,
  ack: 0,
  byte: 0,
  call: 0,
  wake: 0,
  cpus: 1,
};
