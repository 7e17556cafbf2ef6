/**
 * virtio_net's receive buffers from 2010 to 2017 as their commits tell it: what each form costs, and the figures that were
 * published for it.
 *
 * @module
 */

import {
  type ReceiveYear,
  receiveYears,
} from "../experiments/receive_years.ts";
import { BigRing } from "../drivers/virtio_big_ring.ts";
import { PageAllocator } from "../mm/page_alloc.ts";
import { kernel } from "../releases/mod.ts";
import { pageCost } from "../sim/locks.ts";
import { type Cell, type Table, table } from "../table.ts";
import { count } from "../view/pixels.ts";
import { cell } from "./cell.ts";
import { FIGURES } from "./virtio_receive_buffers_figures.ts";
import { makeTables, type ReproduceOptions, type Thread } from "./thread.ts";
import { GSO_FRAME, virtioEras } from "./virtio_eras.ts";

/** Payload of a TCP packet that GSO made as large as it may be: 45 segments of 1,448 bytes. */
const GSO_PAYLOAD = 65160;
/** A clock to price cycles at; the messages name no machine. */
const GHZ = 3;

/** netperf TCP_STREAM in the message of ab7db91705e9, Mbit/s (printed as Gb/s, which would be terabits). */
const SINGLE_STREAM = [
  { era: "whole page (3.12)", mbit: 14642.85 },
  { era: "1,536 bytes (3.13)", mbit: 13170.01 },
  { era: "auto-tune (3.14)", mbit: 14555.94 },
] as const;

let rows: readonly ReceiveYear[] | undefined;

/** Every strategy under every kind of traffic, run when it is first asked for. */
function years(): readonly ReceiveYear[] {
  return rows ??= receiveYears({ eras: virtioEras() });
}

const find = (label: string, frame: number): ReceiveYear =>
  years().find((row) => row.label === label && row.frame === frame)!;

const FRAMES = [66, 256, 700, 1514, 9014, GSO_FRAME];

function byFrame(
  id: string,
  title: string,
  unit: string,
  value: (row: ReceiveYear) => number,
): Table {
  return table({
    id,
    title,
    unit,
    columns: FRAMES.map((frame) => `${count(frame)}-byte frames`),
    rows: virtioEras().map(({ label }) => ({
      label,
      cells: FRAMES.map((frame) => cell("exact", value(find(label, frame)))),
    })),
  });
}

const truesize = (): Table =>
  byFrame(
    "truesize",
    "Truesize of a packet, mean over the places in a block that it may start at",
    "bytes",
    (row) => row.truesize,
  );

const ratio = (): Table =>
  byFrame(
    "ratio",
    "What of the truesize is frame",
    "%",
    (row) => 100 * row.ratio,
  );

const buffers = (): Table =>
  byFrame("buffers", "Buffers that a packet takes", "", (row) => row.buffers);

const ring = (): Table =>
  byFrame(
    "ring",
    "Memory behind a full ring of 256, shaped by its traffic",
    "KiB",
    (row) => row.ring.blockBytes / 1024,
  );

/** The two constants of the single-stream figures. */
export interface BufferCost {
  /** A receive buffer's way through host and guest, ns. */
  readonly bufferNs: number;
  /** Everything else of a 64 KiB packet, ns. */
  readonly packetNs: number;
}

/** Nanoseconds of a full GSO packet at a rate. */
const packetTime = (mbit: number): number => GSO_PAYLOAD * 8 / mbit * 1e3;

/**
 * What a receive buffer must cost if buffers are what makes the first two single-stream figures differ: two constants from
 * two figures. The third, auto-tuning, is then a prediction.
 *
 * @returns Nanoseconds of a buffer and of the rest of a packet.
 *
 * @example
 * ```ts
 * import { bufferCost } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { bufferNs, packetNs } = bufferCost();
 * assertEquals([Math.round(bufferNs), Math.round(packetNs)], [147, 33240]);
 * ```
 */
export function bufferCost(): BufferCost {
  const [page, mtu] = SINGLE_STREAM;
  const [few, many] = [page, mtu].map(({ era }) =>
    find(era, GSO_FRAME).buffers
  );
  const bufferNs = (packetTime(mtu.mbit) - packetTime(page.mbit)) /
    (many! - few!);
  return { bufferNs, packetNs: packetTime(page.mbit) - few! * bufferNs };
}

/** Cycles that a packet's pages cost from the page allocator and back. */
function pageCycles({ order0, order3 }: ReceiveYear): number {
  return order0 * pageCost(0).cycles + order3 * pageCost(3).cycles;
}

function singleStream(): Table {
  const { bufferNs, packetNs } = bufferCost();
  const first = find(SINGLE_STREAM[0].era, GSO_FRAME);
  const rest = packetTime(SINGLE_STREAM[0].mbit) - pageCycles(first) / GHZ;
  const rate = (ns: number): number => GSO_PAYLOAD * 8 / ns * 1e3;
  return table({
    id: "single-stream",
    title:
      "netperf TCP_STREAM between two guests of one host, all offloads on (ab7db91705e9)",
    unit: "Mbit/s",
    columns: ["throughput", "if only pages cost", "buffers", "page cycles"],
    rows: SINGLE_STREAM.map(({ era, mbit }, i) => {
      const row = find(era, GSO_FRAME);
      return {
        label: era,
        cells: [
          cell("fitted", rate(packetNs + row.buffers * bufferNs), mbit, {
            note: i < 2
              ? "two constants from these two figures"
              : "predicted from the constants of the two figures above",
          }),
          cell(
            i === 0 ? "fitted" : "priced",
            rate(rest + pageCycles(row) / GHZ),
            null,
            {
              note: i === 0
                ? "the rest of a packet's time is set by this figure"
                : "page allocator's prices of 4.6 at 3 GHz; no other difference",
            },
          ),
          cell("exact", row.buffers, null, { unit: "" }),
          cell("priced", pageCycles(row), null, { unit: "cycles" }),
        ],
      };
    }),
  });
}

/** Pages that a full-size frame takes from the page allocator in big mode, with and without the driver's list. */
function bigModePages(recycles: boolean): number {
  const ring = new BigRing(
    new PageAllocator(kernel("4.3"), { pages: 16_384, cpus: 1 }),
    { recycles },
  );
  const { counters } = ring.pages;
  const before = counters.pgalloc;
  // The ring is filled again at every 129th frame.
  const frames = 129 * 8;
  for (let i = 0; i < frames; i++) {
    ring.receive(1514);
    ring.consume();
  }
  return (counters.pgalloc - before) / frames;
}

function others(): Table {
  const none = cell("unexplained", null);
  const row = (
    label: string,
    published: number,
    unit: string,
    note: string,
    pages: Cell = none,
  ) => ({
    label,
    cells: [cell("unexplained", null, published, { unit, note }), pages],
  });
  const lguest = "no price for a guest's copy and ring on that machine";
  const [kept, all] = [true, false].map((recycles) =>
    cell("exact", bigModePages(recycles))
  );
  const gigabyte = (
    what: string,
    seconds: number,
    pages?: Cell,
  ) =>
    row(
      `1 GB over lguest, ${what} (fb6813f48080)`,
      seconds,
      "s",
      lguest,
      pages,
    );
  return table({
    id: "others",
    title: "Other published figures of these drivers",
    unit: "",
    columns: ["figure", "pages taken a full-size frame"],
    rows: [
      row(
        "auto-tune on mlx4, before (ab7db91705e9)",
        22,
        "Gbit/s",
        "another machine, named by its NIC only",
      ),
      row(
        "auto-tune on mlx4, after",
        26,
        "Gbit/s",
        "about; the same machine",
      ),
      gigabyte("small buffers", 10.85),
      gigabyte("64k+ buffers", 24.75, all),
      gigabyte("64k+ buffers, 2k ring", 16.61, all),
      gigabyte("64k+ buffers, 2k ring, recycle pages", 10.81, kept),
      row(
        "vhost_net testpmd, before a bias of references",
        4.63,
        "Mpps",
        "one atomic operation a packet, 3.7 ns of 216",
      ),
      row(
        "vhost_net testpmd, with it",
        4.71,
        "Mpps",
        "no price for an atomic operation there",
      ),
    ],
  });
}

/** The commits, their figures and how they follow. */
export const virtioReceiveBuffersThread: Thread = {
  id: "virtio-receive-buffers",
  title: "virtio_net's receive buffers, 2008 to today",
  question:
    "How should a guest size its receive buffers, and what happens when memory is short or lifetimes mix?",
  messages: [
    {
      subject:
        "virtio: Recycle unused recv buffer pages for large skbs in net driver",
      from: "Rusty Russell",
    },
    {
      subject:
        "virtio_net: migrate mergeable rx buffers to page frag allocators",
      from: "Michael Dalton",
      date: "2013-11",
    },
    {
      subject:
        "virtio-net: mergeable buffer size should include virtio-net header",
      from: "Michael Dalton",
      date: "2013-11",
    },
    {
      subject:
        "virtio-net: auto-tune mergeable rx buffer size for improved performance",
      from: "Michael Dalton",
      date: "2014-01",
    },
  ],
  kernels: ["net-next-2013-10", "3.12", "3.13", "3.14", "4.3", "4.6", "6.8"],
  fitted: [
    {
      name: "bufferNs",
      value: 147,
      unit: "ns",
      reason:
        "a receive buffer's way through host and guest, from the single-stream figures with 16 and with 43 buffers a packet",
    },
    {
      name: "packetNs",
      value: 33240,
      unit: "ns",
      reason: "everything else of a 64 KiB packet, from the same two figures",
    },
  ],
  figures: FIGURES,
  bands: [
    {
      table: "single-stream",
      rows: SINGLE_STREAM.slice(0, 2).map(({ era }) => era),
      percent: 0,
      note: "these two figures set the two constants",
    },
    {
      table: "single-stream",
      rows: [SINGLE_STREAM[2].era],
      percent: [0, 0.6],
      note: "predicted from the constants of the other two",
    },
  ],
  findings: [
    "A full-size frame costs 4,864 bytes in whole pages, 3,804 in the first page fragments (two buffers, for want of 12 bytes), 2,304 in 3.13 and 3.14, 2,328 once the hole counts, 2,792 in 6.8.",
    "build_skb costs a full-size frame more than 4.13 did: 1,536 bytes leave no room for shared info behind it, so it pays a small head of 1,280 where it paid 768. Between 129 and 1,204 bytes it is cheaper.",
    "A 64 KiB packet fills 98 % of its truesize in whole pages and in tuned buffers alike; what MTU-sized buffers cost it is 43 trips through the ring in place of 16.",
    "Pages alone would have made MTU-sized buffers 3 % faster, by the prices of 4.6 at 3 GHz: two blocks of order 3 are cheaper than sixteen pages. They were 10 % slower, so the ring's own work decides. 147 ns a buffer meets that figure; auto-tuning then gets the whole page's throughput back, which is 0.6 % more than was published.",
    "Auto-tuning gives frames of 9,014 bytes whole pages, where 3.13 had six small buffers: 13,056 bytes in place of 9,984.",
    "After a stream of 64 KiB packets buffers of a whole page are posted for 204 more full-size frames, and the average needs 472 to come down to the least buffer.",
    "page_pool takes nothing from the page allocator while the stack keeps up, whatever the frame; half pages with a small head charge a full-size frame 3,328 bytes, built around 2,304.",
    "A chain of big mode has 18 pages. Before fb6813f48080 a full-size frame took as many from the page allocator; with the driver's list it takes the one that it keeps: the message's last step, from 16.61 s to 10.81.",
    "The throughput that 5061de3637 published is not here: its figures could not be found in public texts.",
  ],
  reproduce: (options?: ReproduceOptions): Promise<Table[]> =>
    makeTables(
      [truesize, ratio, buffers, ring, singleStream, others],
      options,
    ),
};
