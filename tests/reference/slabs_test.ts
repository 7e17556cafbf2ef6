/** The geometry of every SLUB cache of a running 6.18. */

import { kernel, kmallocSizeRoundup, slabLayout } from "@truesize/lab";
import { fixture, Tally } from "./rows.ts";

type Row = [
  name: string,
  objectSize: number,
  slabSize: number,
  align: number,
  order: number,
  objects: number,
  cpuPartial: number,
  minPartial: number,
  sheafCapacity: number,
  hwcacheAlign: number,
  reclaimAccount: number,
  cacheDma: number,
  destroyByRcu: number,
  usersize: number,
  constructed: boolean,
  aliases: string[],
];

// The one RCU-typed cache of the measured build that names a free-pointer offset (kernel/fork.c).
const FREE_POINTER_INSIDE: Record<string, number> = { vm_area_struct: 8 };

Deno.test("slabs.json: slot, order, objects, cpu_partial and min_partial of every cache", () => {
  const k = kernel("6.18");
  const { rows, kmalloc_classes } = fixture<
    { rows: Row[]; kmalloc_classes: number[] }
  >("slabs.json");
  const tally = new Tally();
  for (const row of rows) {
    const [
      name,
      objectSize,
      slabSize,
      align,
      order,
      objects,
      cpuPartial,
      minPartial,
    ] = row;
    const layout = slabLayout({
      kernel: k,
      objectSize,
      align,
      cpus: 2,
      flags: {
        hwcache_align: row[9],
        reclaim_account: row[10],
        cache_dma: row[11],
        destroy_by_rcu: row[12],
        ctor: row[14],
      },
      freePointerOffset: FREE_POINTER_INSIDE[name],
    });
    tally.row(
      () => name,
      [
        layout.slabSize,
        layout.order,
        layout.objects,
        layout.cpuPartial,
        layout.minPartial,
      ],
      [slabSize, order, objects, cpuPartial, minPartial],
    );
  }
  for (const size of kmalloc_classes) {
    tally.row(() => `kmalloc-${size}`, [
      kmallocSizeRoundup(k, size),
      kmallocSizeRoundup(k, size + 1) > size,
    ], [size, true]);
  }
  tally.done("slabs.json");
});
