/**
 * What the rcvbuf autotuning thread published: netperf over virtio, 60 s each, in Mbit/s.
 *
 * @module
 */

/** Round-trip times of the rows, ms. */
export const RTTS: readonly number[] = [0, 10, 25, 50, 75, 100, 150, 200, 250];

/** The message's three kernels, in its words. */
export const COLUMNS: readonly [string, string, string] = [
  "1) net-next (4fbef95af)",
  "2) net-next (6ae705323)",
  "3) net-next (6ae705323) plus this patch",
];

/** Mbit/s by row, with TSO and GSO off on the sender. */
export const TSO_OFF: readonly (readonly [number, number, number])[] = [
  [2762.11, 1150.32, 2906.17],
  [1083.61, 538.89, 1091.03],
  [471.81, 313.18, 474.60],
  [242.33, 187.84, 242.36],
  [162.14, 134.45, 161.95],
  [121.55, 101.96, 121.49],
  [80.64, 57.75, 80.48],
  [58.97, 54.11, 59.90],
  [47.10, 46.92, 47.31],
];

/** Mbit/s by row, with TSO and GSO on. */
export const TSO_ON: readonly (readonly [number, number, number])[] = [
  [12225.91, 12366.89, 16514.37],
  [1526.64, 1525.79, 2176.63],
  [655.13, 647.79, 871.52],
  [338.51, 377.88, 439.46],
  [246.49, 278.46, 295.62],
  [210.93, 207.56, 217.34],
  [127.88, 129.56, 141.33],
  [94.95, 94.50, 107.29],
  [67.39, 73.88, 88.35],
];
