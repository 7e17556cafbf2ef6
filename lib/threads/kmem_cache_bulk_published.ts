/**
 * Published figures of the `kmem_cache` bulk thread and of the micro-benchmarks that its prices come from.
 *
 * @module
 */

/** One benchmark run of the thread: packets a second, one flow on one CPU. */
export interface ForwardingRun {
  /** Which kernel. */
  readonly state: "base" | "patches 1-3" | "patches 1-4";
  /** Which allocator. */
  readonly allocator: "slub" | "slab";
  /** Packets a second, as posted. */
  readonly pps: number;
}

/** IPv4 forwarding through ixgbe on an i7-4790K at 4.2 GHz (patches 3/4 and 4/4, 2015-10-23). */
export const FORWARDING: readonly ForwardingRun[] = [
  { state: "base", allocator: "slub", pps: 1982144 },
  { state: "patches 1-3", allocator: "slub", pps: 2064446 },
  { state: "patches 1-4", allocator: "slub", pps: 2083031 },
  { state: "patches 1-3", allocator: "slab", pps: 2035949 },
  { state: "patches 1-4", allocator: "slab", pps: 2033567 },
];

/** A step of the thread, as its messages describe it. */
export interface ForwardingStep {
  /** From which state to which. */
  readonly from: ForwardingRun["state"];
  /** The state after it. */
  readonly to: ForwardingRun["state"];
  /** Which allocator. */
  readonly allocator: "slub" | "slab";
  /** Nanoseconds a packet, rounded as posted. */
  readonly ns: number;
  /** Packets a second. */
  readonly pps: number;
  /** Percent, as posted. */
  readonly percent: number;
}

/** What the patches are said to bring. */
export const STEPS: readonly ForwardingStep[] = [
  {
    from: "base",
    to: "patches 1-3",
    allocator: "slub",
    ns: -20,
    pps: 82302,
    percent: 4.1,
  },
  {
    from: "patches 1-3",
    to: "patches 1-4",
    allocator: "slub",
    ns: -4.3,
    pps: 18585,
    percent: 0.9,
  },
  {
    from: "patches 1-3",
    to: "patches 1-4",
    allocator: "slab",
    ns: 0.57,
    pps: -2382,
    percent: -0.1,
  },
];

/** A series of a micro-benchmark: nanoseconds an object by objects of a round. */
export interface Series {
  /** Which allocator. */
  readonly allocator: "slub" | "slab";
  /** What goes through the bulk functions. */
  readonly bulk: "none" | "alloc" | "both";
  /** Release whose state machine ran. */
  readonly release: string;
  /** Price list. */
  readonly cpu: string;
  /** Objects of each slab that others held. */
  readonly held: number;
  /** Column title. */
  readonly title: string;
}

/** Objects of a round. */
export const ROUNDS: readonly number[] = Object.freeze(
  [1, 2, 3, 4, 8, 16, 30, 32, 34, 48, 64, 128, 158, 250],
);

const SEED = { release: "net-next-2015-10", cpu: "i7-4790K", held: 0 };
const JUNE = { release: "4.3", cpu: "i7-4790K-2015-06" };

/** Runs that began on a slab of their own: series C (d0ecd894e3d5), D (linux-mm 2015-09-28 4/7), E (e6cdb58d1c83). */
export const CLEAN_SERIES: readonly Series[] = [
  {
    ...SEED,
    allocator: "slub",
    bulk: "none",
    title: "SLUB single (C)",
  },
  {
    ...SEED,
    allocator: "slub",
    bulk: "both",
    title: "SLUB bulk (C)",
  },
  {
    ...SEED,
    allocator: "slab",
    bulk: "none",
    title: "SLAB single (D)",
  },
  {
    ...SEED,
    allocator: "slab",
    bulk: "both",
    title: "SLAB bulk (D)",
  },
  {
    release: "4.6",
    cpu: "i7-4790K-2016-01",
    held: 0,
    allocator: "slab",
    bulk: "none",
    title: "SLAB single, 4.6 (E)",
  },
  {
    release: "4.6",
    cpu: "i7-4790K-2016-01",
    held: 0,
    allocator: "slab",
    bulk: "both",
    title: "SLAB bulk, 4.6 (E)",
  },
];

/** Runs with merged caches, on slabs that others used too: series A (linux-mm 2015-06-17 4/6) and B (fbd02630c6e3). */
export const MERGED_SERIES: readonly Series[] = [
  {
    ...JUNE,
    held: 3,
    allocator: "slub",
    bulk: "none",
    title: "single (A)",
  },
  {
    ...JUNE,
    held: 3,
    allocator: "slub",
    bulk: "alloc",
    title: "bulk alloc, single free (A)",
  },
  {
    ...JUNE,
    held: 1,
    allocator: "slub",
    bulk: "none",
    title: "single (B)",
  },
  {
    ...JUNE,
    held: 1,
    allocator: "slub",
    bulk: "both",
    title: "bulk of 4.3 (B)",
  },
];

/** Nanoseconds an object: a row for each of {@linkcode ROUNDS}, a column for each of {@linkcode CLEAN_SERIES}. */
export const CLEAN_NS: readonly (readonly number[])[] = [
  [15.662, 12.407, 28.812, 10.715, 25.747, 10.490],
  [13.935, 7.506, 25.956, 6.985, 23.546, 6.567],
  [13.341, 5.865, 25.336, 5.733, 23.127, 5.244],
  [13.081, 5.048, 25.147, 5.319, 22.663, 4.588],
  [12.627, 4.659, 24.616, 4.620, 22.242, 3.656],
  [12.412, 4.495, 24.408, 4.344, 22.010, 3.480],
  [12.484, 4.533, 24.641, 4.202, 22.305, 3.303],
  [12.627, 4.707, 24.607, 4.199, 22.277, 3.309],
  [24.243, 5.976, 24.605, 4.579, 22.246, 3.294],
  [20.818, 5.329, 24.463, 4.405, 22.121, 3.492],
  [18.700, 5.127, 24.370, 4.384, 22.052, 3.411],
  [22.734, 6.833, 24.763, 4.755, 22.452, 3.841],
  [24.776, 7.583, 24.708, 4.723, 22.403, 3.746],
  [26.089, 9.280, 25.342, 5.035, 22.775, 4.111],
];

/** The same for {@linkcode MERGED_SERIES}. */
export const MERGED_NS: readonly (readonly number[])[] = [
  [14.516, 12.459, 14.542, 10.811],
  [12.930, 9.605, 12.659, 6.867],
  [12.274, 8.525, 12.168, 5.496],
  [12.058, 8.036, 11.987, 6.038],
  [11.609, 7.756, 11.518, 4.280],
  [11.451, 8.148, 11.366, 4.483],
  [19.865, 17.164, 11.433, 4.531],
  [19.212, 16.584, 18.983, 14.586],
  [18.600, 15.954, 17.940, 13.391],
  [22.092, 19.373, 20.077, 16.268],
  [20.043, 17.188, 17.799, 13.440],
  [24.818, 22.404, 22.980, 19.899],
  [24.977, 23.089, 25.241, 22.732],
  [26.552, 24.785, 25.583, 23.916],
];

/** Series C's bulk with merging on, cycles an object by row of {@linkcode ROUNDS}. */
export const MERGED_CYCLES: readonly number[] = Object.freeze(
  [49, 30, 23, 20, 18, 17, 23, 22, 22, 22, 48, 57, 59, 56],
);

/** Series D's larger rounds: SLAB bulk, objects and nanoseconds an object. */
export const LARGE_ROUNDS: readonly (readonly [objects: number, ns: number])[] =
  [[512, 5.214], [768, 7.734], [1024, 10.244], [2048, 18.049], [4096, 22.585]];

/** qmempool's micro-benchmark on an E5-2695 (prototype-kernel 279020c, 2014-10-29): nanoseconds a pair. */
export const QMEMPOOL_PAIRS: readonly {
  readonly title: string;
  readonly objects: number;
  readonly slub: number;
  readonly qmempool: number;
}[] = [
  { title: "1 object, fast reuse", objects: 1, slub: 19.313, qmempool: 9.267 },
  { title: "256 objects", objects: 256, slub: 37.57, qmempool: 12.539 },
];

/** qmempool's forwarding figures (RFC patch 3/3, 2014-12-10), packets a second on an E5-2695. */
export const QMEMPOOL_PPS: readonly {
  readonly title: string;
  readonly before: number;
  readonly after: number;
  readonly ns: number;
  readonly drop: boolean;
  readonly cpus: number;
}[] = [
  {
    title: "early drop, one flow",
    before: 3159160,
    after: 3282508,
    ns: -11.895,
    drop: true,
    cpus: 1,
  },
  {
    title: "IP forward, one flow",
    before: 1137284,
    after: 1191856,
    ns: -40.26,
    drop: false,
    cpus: 1,
  },
  {
    title: "IP forward, 12 CPUs",
    before: 11946666,
    after: 11988042,
    ns: -0.289,
    drop: false,
    cpus: 12,
  },
];
