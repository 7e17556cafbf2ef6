/**
 * The `skb_page_frag_refill` thread, net-next, October 2013: Michael Dalton finds that virtio_net pays a whole page for
 * each packet; Eric Dumazet splits a refill without a socket out of `sk_page_frag_refill`, in three versions.
 *
 * @module
 */

import { virtioMergeable } from "../drivers/virtio_net.ts";
import { buffersPerBlock } from "../experiments/page_frag_blocks.ts";
import { sendFragments } from "../experiments/send_fragments.ts";
import type { Kernel } from "../kernel.ts";
import {
  skbPageFragRefillV1,
  skbPageFragRefillV2,
  skbPageFragRefillV3,
} from "../patches/skb_page_frag_refill.ts";
import { kernel } from "../releases/mod.ts";
import { type Cell, type Table, table } from "../table.ts";
import { cell } from "./cell.ts";
import { FIGURES } from "./skb_page_frag_refill_figures.ts";
import { makeTables, type ReproduceOptions, type Thread } from "./thread.ts";

/** An Ethernet frame at an MTU of 1,500 bytes. */
const MTU_FRAME = 1514;

const exact = (
  simulated: number | null,
  published: number | null = null,
  note?: string,
): Cell => cell("exact", simulated, published, { note });

/**
 * The states of `skb_page_frag_refill`: before the thread, its three versions, today.
 *
 * @example
 * ```ts
 * import { refillVersions } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(refillVersions().map(({ label }) => label), ["before", "v1", "v2", "v3", "6.18"]);
 * ```
 */
export function refillVersions(): { label: string; kernel: Kernel }[] {
  const base = kernel("net-next-2013-10");
  return [
    { label: "before", kernel: base },
    { label: "v1", kernel: base.am(skbPageFragRefillV1) },
    { label: "v2", kernel: base.am(skbPageFragRefillV2) },
    { label: "v3", kernel: base.am(skbPageFragRefillV3) },
    { label: "6.18", kernel: kernel("6.18") },
  ];
}

// Dalton gives the parts of a ring entry's charge and a bound for the overhead, no table.
function ringEntry(): Table {
  const base = kernel("net-next-2013-10");
  const packet = virtioMergeable(base, MTU_FRAME, base.build.pageSize)!;
  const page = packet.frags[0]!.room;
  const { goodCopyLen } = base.virtio;
  return table({
    id: "dalton-ring-entry",
    title:
      "What a full-size frame in a mergeable ring entry is charged (Dalton: 4096 + skb header + 128)",
    unit: "bytes",
    columns: ["charge"],
    rows: [
      { label: "page of the ring entry", cells: [exact(page, 4096)] },
      { label: "GOOD_COPY_LEN in the head", cells: [exact(goodCopyLen, 128)] },
      {
        label: "skb header: sk_buff, headroom, shared info",
        cells: [
          exact(
            packet.truesize - page - goodCopyLen,
            null,
            "named in the message, without a figure",
          ),
        ],
      },
      { label: "truesize", cells: [exact(packet.truesize)] },
    ],
  });
}

function overhead(): Table {
  const frames: [string, Kernel, number][] = [
    ["whole page (the thread's base)", kernel("net-next-2013-10"), 4096],
    ["1,536-byte buffer (6.1, fresh ring)", kernel("6.1"), 1536],
    ["4,096-byte buffer (6.1, after large frames)", kernel("6.1"), 4096],
  ];
  return table({
    id: "dalton-overhead",
    title: "Memory charged beyond the bytes of an MTU-sized frame",
    unit: "% of the frame",
    columns: ["overhead"],
    rows: frames.map(([label, k, buffer], i) => {
      const { truesize } = virtioMergeable(k, MTU_FRAME, buffer)!;
      const percent = Math.round((truesize / MTU_FRAME - 1) * 1000) / 10;
      return {
        label,
        cells: [
          i === 0
            ? exact(
              percent,
              100,
              'published as a bound: "more than 100 % overhead"',
            )
            : exact(percent),
        ],
      };
    }),
  });
}

function blocks(): Table {
  const versions = refillVersions();
  return table({
    id: "buffers-per-block",
    title: "Buffers that one 32 KiB block gives while all are held",
    unit: "buffers",
    columns: versions.map(({ label }) => label),
    rows: [32, 256, 1024, 1536, 2048, 4096].map((size) => ({
      label: `${size} bytes`,
      cells: versions.map((version) =>
        exact(buffersPerBlock({ kernel: version.kernel, size }).count)
      ),
    })),
  });
}

function minimum(): Table {
  const versions = refillVersions();
  const runs = versions.map((version) =>
    sendFragments({ kernel: version.kernel, write: 1447, writes: 10_000 })
  );
  return table({
    id: "minimum-of-32",
    title: "10,000 writes of 1,447 bytes through sk_page_frag_refill",
    unit: "",
    columns: versions.map(({ label }) => label),
    rows: [
      {
        label: "pieces copied",
        cells: runs.map(({ fragments }) => exact(fragments)),
      },
      {
        label: "pieces under 32 bytes cut by a block's end",
        cells: runs.map(({ tiny }) => exact(tiny)),
      },
      {
        label: "shortest piece, bytes",
        cells: runs.map(({ shortest }) => exact(shortest)),
      },
      {
        label: "blocks of 32 KiB",
        cells: runs.map(({ blocks }) => exact(blocks)),
      },
      {
        label: "bytes left at block ends",
        cells: runs.map(({ wasted }) => exact(wasted)),
      },
    ],
  });
}

/** The thread, its figures and how they follow. */
export const skbPageFragRefillThread: Thread = {
  id: "skb-page-frag-refill",
  title: "net: refactor sk_page_frag_refill() (October 2013)",
  question:
    "What did an off-by-one in a 2013 patch cost, and what is a minimum of 32 bytes for?",
  messages: [
    {
      subject: "Re: [PATCH net-next] tcp: rcvbuf autotuning improvements",
      from: "Michael Dalton",
    },
    {
      subject: "[PATCH net-next] net: refactor sk_page_frag_refill()",
      from: "Eric Dumazet",
      date: "2013-10-12",
    },
    {
      subject: "[PATCH v2 net-next] net: refactor sk_page_frag_refill()",
      from: "Eric Dumazet",
      date: "2013-10-12",
    },
    {
      subject: "Re: [PATCH v2 net-next] net: refactor sk_page_frag_refill()",
      from: "David Miller",
      date: "2013-10-17",
    },
    {
      subject: "[PATCH v3 net-next] net: refactor sk_page_frag_refill()",
      from: "Eric Dumazet",
      date: "2013-10-17",
    },
  ],
  kernels: ["net-next-2013-10", "6.1", "6.18"],
  fitted: [],
  figures: FIGURES,
  bands: [
    { table: "dalton-ring-entry", percent: 0 },
    {
      table: "dalton-overhead",
      percent: [0, 122],
      note: 'published as a bound, "more than 100 %"',
    },
  ],
  findings: [
    "Dalton's sum is exact: a page, GOOD_COPY_LEN and 640 bytes of sk_buff, headroom and shared info, 4,864 in all.",
    "His bound is generous: the overhead of an MTU-sized frame is 221 %.",
    "Version 1 loses a buffer wherever the size divides the block: 15 of 2,048 bytes instead of 16, 7 of 4,096 instead of 8.",
    "The minimum of 32 ends pieces of a few bytes, each of which cost a page reference and a frag slot.",
    "Version 3 differs from version 2 in its name alone.",
  ],
  reproduce: (options?: ReproduceOptions): Promise<Table[]> =>
    makeTables([ringEntry, overhead, blocks, minimum], options),
};
