/**
 * The model beside the kernel it runs on: which release is nearest, with which build, and what the tables compare.
 *
 * @module
 */

import { fillSetup } from "../experiments/tcp_fill.ts";
import { FillRun } from "../experiments/tcp_fill_run.ts";
import { datagramsUntilDrop } from "../experiments/socket_fill.ts";
import { truesizeOf } from "../experiments/truesize.ts";
import type { BuildOptions, Kernel } from "../kernel.ts";
import { slabLayout } from "../mm/slab_layout.ts";
import { kernel, releases } from "../releases/mod.ts";
import { type Cell, type CellKind, Table, type TableRow } from "../table.ts";
import type { SysSlab } from "./sys_slab.ts";

/** The release that models a host. */
export interface NearestRelease {
  /** Name, as {@linkcode kernel} takes it. */
  name: string;
  /** Whether the host runs this very release (stable updates aside). */
  same: boolean;
}

function versionOf(release: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})(?:\D|$)/.exec(release);
  return match === null
    ? undefined
    : Number(match[1]) * 1000 + Number(match[2]);
}

/**
 * The newest release that is no newer than a host's kernel; the oldest one for older kernels.
 *
 * @param osRelease What `uname -r` prints, for example `6.14.0-29-generic`.
 * @throws {RangeError} It does not begin with a version.
 *
 * @example
 * ```ts
 * import { nearestRelease } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(nearestRelease("6.14.0-29-generic"), { name: "6.12", same: false });
 * ```
 */
export function nearestRelease(osRelease: string): NearestRelease {
  const version = versionOf(osRelease);
  if (version === undefined) {
    throw new RangeError(
      `nearestRelease(): osRelease ${
        JSON.stringify(osRelease)
      } must begin with a version such as 6.12`,
    );
  }
  const known = releases.flatMap((name) => {
    const own = versionOf(name);
    return own === undefined ? [] : [{ name, own }];
  }).sort((a, b) => a.own - b.own);
  const nearest = known.findLast(({ own }) => own <= version) ?? known[0]!;
  return { name: nearest.name, same: nearest.own === version };
}

/** What was found out about a host's kernel; everything but its release may be unknown. */
export interface HostFacts {
  /** What `uname -r` prints. */
  readonly osRelease: string;
  /** Struct sizes, as {@linkcode fromBtf} gives them. */
  readonly build?: BuildOptions | undefined;
  /** Object size of `skbuff_small_head`, bytes. */
  readonly smallHead?: number | undefined;
  /** CPUs that the kernel counts (`nr_cpu_ids`). */
  readonly cpus?: number | undefined;
}

/**
 * Values of MAX_HEADER (include/linux/netdevice.h): 32, 96 or 128 by the link layers that are configured in (48 in old
 * releases), and 48 more where tunnels are.
 */
const MAX_HEADERS = [32, 48, 80, 96, 128, 144, 176];

/**
 * The nearest release, built as the host's kernel is: its struct sizes, its CPUs, and the MAX_HEADER that gives its
 * small heads their size. Nothing is taken from what is to be compared with it afterwards.
 *
 * @param facts What is known.
 * @returns The kernel; with a small head that no MAX_HEADER explains it keeps the release's.
 * @throws {RangeError} The release cannot be read, or a size no kernel could have.
 */
export function hostKernel(facts: HostFacts): Kernel {
  const { name } = nearestRelease(facts.osRelease);
  const build = { ...facts.build, cpus: facts.cpus };
  const own = kernel(name, build);
  if (facts.smallHead === undefined || own.skb.smallHead === facts.smallHead) {
    return own;
  }
  return withHeader(
    own,
    (candidate) => candidate.skb.smallHead === facts.smallHead,
  ) ?? own;
}

/** The same kernel with the first MAX_HEADER that fits; undefined if none does. */
function withHeader(
  own: Kernel,
  fits: (candidate: Kernel) => boolean,
): Kernel | undefined {
  // MAX_TCP_HEADER follows from MAX_HEADER, so it must not stay what it was.
  const build = { ...own.build, maxTcpHeader: undefined };
  return MAX_HEADERS.map((maxHeader) =>
    kernel(own.name, { ...build, maxHeader })
  ).find(fits);
}

/**
 * The kernel with a MAX_HEADER that gives every measured charge, where the model has another: what a user without
 * privilege can do, since the size of small heads is root's to read. Figures of such a kernel are fitted.
 *
 * @param k The kernel.
 * @param mtu MTU of the loopback device, bytes.
 * @param charges Charges of IPv4 datagrams.
 * @returns Undefined if the kernel agrees as it is, or no value agrees everywhere.
 */
export function fittedKernel(
  k: Kernel,
  mtu: number,
  charges: readonly MeasuredCharge[],
): Kernel | undefined {
  const agrees = (candidate: Kernel): boolean =>
    charges.every(({ payload, r }) =>
      r === null || r === cost(candidate, 4, mtu, payload)
    );
  return agrees(k) ? undefined : withHeader(k, agrees);
}

function cost(k: Kernel, ip: 4 | 6, mtu: number, payload: number): number {
  return truesizeOf({ kernel: k, path: "loopback", payload, ip, mtu })
    .truesize;
}

/** Largest UDP payload that one IPv4 packet carries, bytes. */
const MOST_PAYLOAD = 65507;
const ORDINARY = [1, 64, 512, 1000, 1472, 9000, 32768, MOST_PAYLOAD];

/**
 * Payloads worth sending: ordinary ones, and both sides of every jump that the model has on loopback.
 *
 * @param k The kernel.
 * @param ip IP version.
 * @param mtu MTU of the loopback device, bytes.
 */
export function probePayloads(k: Kernel, ip: 4 | 6, mtu: number): number[] {
  const payloads = new Set(ORDINARY);
  const most = Math.min(mtu - (ip === 4 ? 28 : 48), MOST_PAYLOAD);
  let before = cost(k, ip, mtu, 1);
  for (let payload = 2; payload <= most; payload++) {
    const now = cost(k, ip, mtu, payload);
    if (now - before > 1 || now < before) {
      payloads.add(payload - 1).add(payload);
    }
    before = now;
  }
  return [...payloads].filter((payload) => payload <= most).sort((a, b) =>
    a - b
  );
}

const UNEXPLAINED = "differs, and nothing known of this kernel says why";

/** A cell with the kernel's figure beside the model's. */
function beside(
  measured: number | null,
  model: number,
  kind: CellKind = "exact",
): Cell {
  const cell = { published: measured, simulated: model };
  return measured === null || measured === model
    ? { ...cell, kind }
    : { ...cell, kind: "unexplained", note: UNEXPLAINED };
}

/** What one datagram was charged. */
export interface MeasuredCharge {
  /** Payload, bytes. */
  payload: number;
  /** skmem r with one datagram queued, bytes; null where it was not seen. */
  r: number | null;
}

/** Truesize of one datagram over loopback, kernel and model. */
export function chargeTable(
  k: Kernel,
  ip: 4 | 6,
  mtu: number,
  measured: readonly MeasuredCharge[],
  kind: CellKind = "exact",
): Table {
  return new Table({
    id: `udp${ip === 4 ? "" : "6"}-truesize`,
    title: `One UDP datagram over IPv${ip} loopback, charged to its reader`,
    unit: "bytes",
    columns: ["truesize"],
    rows: measured.map(({ payload, r }): TableRow => ({
      label: `${payload} bytes`,
      cells: [beside(r, cost(k, ip, mtu, payload), kind)],
    })),
  });
}

/** What a socket held that got more than it takes. */
export interface MeasuredFill {
  /** Payload of each datagram, bytes. */
  payload: number;
  /** Datagrams sent. */
  sent: number;
  /** skmem of the socket afterwards. */
  r: number;
  /** `sk_rcvbuf`, bytes. */
  rb: number;
  /** Datagrams dropped. */
  d: number;
}

/** How many datagrams fit, kernel and model. */
export function fillTable(
  k: Kernel,
  mtu: number,
  measured: readonly MeasuredFill[],
): Table {
  return new Table({
    id: "udp-drop",
    title:
      "Equal UDP datagrams over loopback until the reader's buffer is full",
    unit: "",
    columns: ["queued", "skmem r"],
    rows: measured.map(({ payload, sent, r, rb, d }): TableRow => {
      const model = datagramsUntilDrop({
        kernel: k,
        path: "loopback",
        payload,
        mtu,
        rcvbuf: rb,
      });
      return {
        label: `${payload} bytes, rcvbuf ${rb}`,
        cells: [
          beside(sent - d, model.queued),
          { ...beside(r, model.rmemAlloc), unit: "bytes" },
        ],
      };
    }),
  });
}

/** Caches whose layout the probe compares: kmalloc's, which have no flags that a listing does not tell. */
const CACHES = [
  "kmalloc-512",
  "kmalloc-1k",
  "kmalloc-2k",
  "kmalloc-4k",
  "kmalloc-8k",
];

/** Slab layouts of /sys/kernel/slab, kernel and model; undefined where none of the caches is readable. */
export function slabTable(k: Kernel, slab: SysSlab): Table | undefined {
  const rows: TableRow[] = [];
  for (const name of CACHES) {
    const files = slab.caches[name];
    const size = files?.["object_size"];
    if (files === undefined || size === undefined) continue;
    const model = slabLayout({ kernel: k, objectSize: size });
    rows.push({
      label: name,
      cells: [
        beside(files["order"] ?? null, model.order),
        beside(files["objs_per_slab"] ?? null, model.objects),
        beside(files["min_partial"] ?? null, model.minPartial),
      ],
    });
  }
  if (rows.length === 0) return undefined;
  return new Table({
    id: "slabs",
    title: "Layout of slabs",
    unit: "",
    columns: ["order", "objects", "min_partial"],
    rows,
  });
}

/** What a TCP socket held whose peer wrote and which nobody read. */
export interface MeasuredStream {
  /** Sizes of the writes, bytes, all alike, each seen to arrive before the next. */
  writes: number[];
  /** From each write to the next, ms. */
  gapsMs: number[];
  /** skmem r, bytes; null where the bytes were not seen to arrive. */
  r: number | null;
}

/** When the first write may have come after a timer tick, ms: no socket prints it. */
const PHASES = [0, 1, 2, 3];
/** What a measured gap may be wrong by: the clock is read before a write that may have to wait for its CPU. */
const SCALES = [1, 0.9, 1.1];

/** What such writes are charged by what was not measured, bytes; the likeliest first. */
function streamCharges(
  k: Kernel,
  mtu: number,
  { writes, gapsMs }: MeasuredStream,
): number[] {
  const charges = new Set<number>();
  for (const scale of SCALES) {
    for (const phaseMs of PHASES) {
      const run = new FillRun(
        ...fillSetup({
          kernel: k,
          path: "loopback",
          write: writes[0]!,
          mtu,
          phaseMs,
        }),
      );
      for (const i of writes.keys()) {
        run.gap = scale * (gapsMs[i - 1] ?? 0) * 1e6;
        run.write();
      }
      charges.add(run.row().rmemAlloc);
    }
  }
  return [...charges];
}

/**
 * TCP over loopback: what writes at the measured times are charged. Which of them share an skb hangs on when the delayed
 * ACK fell, and that on the kernel's tick: a charge that only some ticks give is fitted.
 */
export function streamTable(
  k: Kernel,
  mtu: number,
  measured: readonly MeasuredStream[],
  kind: CellKind = "exact",
): Table {
  return new Table({
    id: "tcp-truesize",
    title: "TCP over loopback, charged to a reader that does not read",
    unit: "bytes",
    columns: ["skmem r"],
    rows: measured.map((stream): TableRow => {
      const { writes, r } = stream;
      const charges = streamCharges(k, mtu, stream);
      const fits = r !== null && charges.includes(r);
      const cell = beside(
        r,
        fits ? r : charges[0]!,
        charges.length > 1 ? "fitted" : kind,
      );
      return {
        label: writes.length === 1
          ? `${writes[0]} bytes`
          : `${writes.length} writes of ${writes[0]} bytes`,
        cells: [
          charges.length === 1 || cell.kind === "unexplained" ? cell : {
            ...cell,
            note: `${charges.join(" or ")} by when the tick fell`,
          },
        ],
      };
    }),
  });
}

/** Cells in which the two differ. */
export function differences(tables: readonly Table[]): string[] {
  return tables.flatMap(({ id, columns, rows }) =>
    rows.flatMap(({ label, cells }) =>
      cells.flatMap(({ published, simulated }, i) =>
        published !== null && simulated !== null && published !== simulated
          ? [
            `${id}, ${label}, ${
              columns[i]
            }: kernel ${published}, model ${simulated}`,
          ]
          : []
      )
    )
  );
}
