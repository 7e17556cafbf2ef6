/**
 * SLUB's geometry: how large a slot is, how many slots a slab has, and how many slabs are kept for later.
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { alignUp } from "../sim/align.ts";
import { kernelArgument, optionsObject, whole } from "../sim/check.ts";

/**
 * Cache flags that move the layout, by their kernel names.
 *
 * @example
 * ```ts
 * import { SLAB_FLAGS } from "@truesize/lab";
 * import { assert } from "@std/assert";
 *
 * assert(SLAB_FLAGS.includes("SLAB_HWCACHE_ALIGN"));
 * ```
 */
export const SLAB_FLAGS = [
  "SLAB_HWCACHE_ALIGN",
  "SLAB_TYPESAFE_BY_RCU",
  "SLAB_POISON",
  "SLAB_RED_ZONE",
  "SLAB_RECLAIM_ACCOUNT",
  "SLAB_CACHE_DMA",
  "SLAB_ACCOUNT",
  "SLAB_PANIC",
  "SLAB_NO_MERGE",
  "SLAB_CTOR",
] as const;

/**
 * A cache flag; `SLAB_CTOR` stands for a cache that has a constructor.
 *
 * @example
 * ```ts
 * import { kernel, type SlabFlag, slabLayout } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const flags: SlabFlag[] = ["SLAB_HWCACHE_ALIGN"];
 * assertEquals(slabLayout({ kernel: kernel("6.18"), objectSize: 200, flags }).slabSize, 256);
 * ```
 */
export type SlabFlag = typeof SLAB_FLAGS[number];

// Names that the same flag had in earlier releases, in sysfs, or in short.
const ALIASES: Record<string, SlabFlag> = {
  DESTROY_BY_RCU: "SLAB_TYPESAFE_BY_RCU",
  RCU: "SLAB_TYPESAFE_BY_RCU",
};

/** What {@linkcode slabLayout} takes. */
export interface SlabLayoutOptions {
  /** The kernel. */
  readonly kernel: Kernel;
  /** `object_size`: bytes of one object. */
  readonly objectSize: number;
  /** Alignment asked for at creation, bytes, a power of two; 0 or absent: a pointer's. */
  readonly align?: number | undefined;
  /** CPUs that SLUB counts; the build's if absent. */
  readonly cpus?: number | undefined;
  /**
   * Flags: names as in the kernel, with or without `SLAB_`, in any case; in a list, in a string as the kernel writes them
   * (`"SLAB_HWCACHE_ALIGN | SLAB_PANIC"`), or as a record of booleans.
   */
  readonly flags?:
    | string
    | readonly string[]
    | Readonly<Record<string, boolean | number>>
    | undefined;
  /** Offset of the free pointer inside the object, where the release allows to name one (6.12+), bytes. */
  readonly freePointerOffset?: number | undefined;
}

/** A cache's geometry. */
export interface SlabLayout {
  /** `slab_size`: bytes from one object to the next. */
  readonly slabSize: number;
  /** A slab is `PAGE_SIZE << order` bytes. */
  readonly order: number;
  /** Objects per slab. */
  readonly objects: number;
  /** Empty slabs that a node keeps. */
  readonly minPartial: number;
  /** Free objects that a CPU may keep on its partial list. */
  readonly cpuPartial: number;
  /** Slabs on a CPU's partial list (5.16+; `cpuPartial` in slabs), 0 where objects are counted. */
  readonly cpuPartialSlabs: number;
}

function slabFlag(name: string): SlabFlag {
  const bare = name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase().replace(
    /^SLAB_/,
    "",
  );
  const flag = ALIASES[bare] ??
    SLAB_FLAGS.find((known) => known === `SLAB_${bare}`);
  if (flag === undefined) {
    throw new RangeError(
      `slabLayout(): unknown flag "${name}"; known are ${
        SLAB_FLAGS.join(", ")
      }`,
    );
  }
  return flag;
}

/**
 * Flags in any of the forms that options take.
 *
 * @param flags The option.
 * @throws {RangeError} A flag is unknown.
 * @throws {TypeError} It is in no such form.
 */
export function flagSet(flags: SlabLayoutOptions["flags"]): Set<SlabFlag> {
  if (flags === undefined) return new Set();
  if (typeof flags === "string") {
    return new Set(flags.split("|").map((name) => slabFlag(name.trim())));
  }
  if (typeof flags !== "object" || flags === null) {
    throw new TypeError(
      `slabLayout(): flags must be names or a record of booleans, got ${
        String(flags)
      }`,
    );
  }
  const names = Array.isArray(flags)
    ? flags as string[]
    : Object.entries(flags).filter(([, on]) => on).map(([name]) => name);
  return new Set(names.map(slabFlag));
}

const POINTER = 8;
const WHO = "slabLayout";

/** Slot size, modelling `calculate_sizes` (mm/slub.c). */
function slotSize(
  objectSize: number,
  align: number,
  flags: Set<SlabFlag>,
  pointerInside: boolean,
): number {
  let size = alignUp(objectSize, POINTER);
  const redZone = flags.has("SLAB_RED_ZONE");
  // A red zone needs a word behind the object unless rounding left one.
  if (redZone && size === objectSize) size += POINTER;
  const keepsContents = flags.has("SLAB_TYPESAFE_BY_RCU") && !pointerInside ||
    flags.has("SLAB_POISON") ||
    flags.has("SLAB_CTOR") || redZone && objectSize < POINTER;
  // Where a free object's bytes must stay as they are, the free pointer goes behind it.
  if (keepsContents) size += POINTER;
  if (redZone) size += POINTER + alignUp(POINTER, align);
  return alignUp(size, align);
}

/** Slab order, modelling `calculate_order` and `calc_slab_order` (mm/slub.c). */
function slabOrder(kernel: Kernel, size: number, cpus: number): number {
  const { pageSize } = kernel.build;
  const { maxOrder, orderSearch } = kernel.slub;
  const orderFor = (bytes: number): number =>
    Math.max(0, Math.ceil(Math.log2(bytes / pageSize)));
  const roomy = Math.max(1, Math.floor(pageSize * 2 ** maxOrder / size));
  let objects = Math.min(4 * (32 - Math.clz32(cpus) + 1), roomy);
  const wastes = (order: number, fraction: number): boolean =>
    (pageSize * 2 ** order) % size >
      Math.floor(pageSize * 2 ** order / fraction);
  const search = (from: number, fraction: number): number => {
    let order = from;
    while (order <= maxOrder && wastes(order, fraction)) order++;
    return order;
  };
  if (orderSearch === "more-waste") {
    for (const fraction of [16, 8, 4, 2]) {
      const order = search(orderFor(objects * size), fraction);
      if (order <= maxOrder) return order;
    }
    return orderFor(size);
  }
  for (; objects > 1; objects--) {
    for (const fraction of [16, 8, 4]) {
      const order = search(orderFor(objects * size), fraction);
      if (order <= maxOrder) return order;
    }
  }
  return orderFor(size);
}

/**
 * A SLUB cache's geometry for any object size, alignment, flags and CPU count.
 *
 * Models `calculate_sizes`, `calculate_order`, `set_cpu_partial` and `set_min_partial` (mm/slub.c) of the kernel's
 * release, without the debugging options that keep user tracks.
 *
 * @returns Bytes, order, counts.
 * @throws {RangeError} A number is out of range, a flag is unknown, or the object does not fit the largest block.
 * @throws {TypeError} An argument is of the wrong type.
 *
 * @example sk_buff heads: 16 to a page on two CPUs, 32 to two pages on eight
 * ```ts
 * import { kernel, slabLayout } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const skb = { kernel: kernel("6.18"), objectSize: 224, flags: ["SLAB_HWCACHE_ALIGN"] };
 * assertEquals(slabLayout({ ...skb, cpus: 2 }).objects, 16);
 * assertEquals(slabLayout({ ...skb, cpus: 8 }).objects, 32);
 * ```
 */
export function slabLayout(options: SlabLayoutOptions): SlabLayout {
  optionsObject(options, "slabLayout");
  kernelArgument(options.kernel, "slabLayout");
  const { kernel } = options;
  const { pageSize, cacheLine } = kernel.build;
  const { slub } = kernel;
  const largest = pageSize * 2 ** kernel.page.maxOrder;
  const objectSize = whole("objectSize", options.objectSize, 1, largest, WHO);
  const cpus = whole("cpus", options.cpus ?? kernel.build.cpus, 1, 8192, WHO);
  let align = options.align === undefined || options.align === 0
    ? 1
    : whole("align", options.align, 1, largest, WHO);
  if ((align & (align - 1)) !== 0) {
    throw new RangeError(
      `slabLayout(): align must be a power of two, got ${align}`,
    );
  }
  const flags = flagSet(options.flags);
  if (flags.has("SLAB_HWCACHE_ALIGN")) {
    let line = cacheLine;
    while (objectSize <= line / 2) line /= 2;
    align = Math.max(align, line);
  }
  align = alignUp(Math.max(align, POINTER), POINTER);
  const pointerInside = options.freePointerOffset !== undefined;
  if (pointerInside) {
    if (!slub.freePointerOffset) {
      throw new RangeError(
        `slabLayout(): freePointerOffset needs 6.12 or later, kernel is ${kernel.name}`,
      );
    }
    if (
      !(Number.isInteger(options.freePointerOffset) &&
        options.freePointerOffset! >= 0 &&
        options.freePointerOffset! <= objectSize - POINTER)
    ) {
      throw new RangeError(
        `slabLayout(): freePointerOffset must lie in the object, 0 to ${
          objectSize - POINTER
        }, got ${options.freePointerOffset}`,
      );
    }
  }
  const slabSize = slotSize(objectSize, align, flags, pointerInside);
  if (slabSize > largest) {
    throw new RangeError(
      `slabLayout(): a slot of ${slabSize} bytes exceeds the largest block, ${largest} bytes`,
    );
  }
  const order = slabOrder(kernel, slabSize, cpus);
  const objects = Math.floor(pageSize * 2 ** order / slabSize);
  const debugging = flags.has("SLAB_POISON") || flags.has("SLAB_RED_ZONE");
  const [page, kibibyte, quarter, small] = slub.cpuPartial;
  const cpuPartial = debugging
    ? 0
    : slabSize >= pageSize
    ? page
    : slabSize >= 1024
    ? kibibyte
    : slabSize >= 256
    ? quarter
    : small;
  const [least, most] = slub.minPartial;
  return {
    slabSize,
    order,
    objects,
    minPartial: Math.min(
      most,
      Math.max(least, Math.floor(Math.log2(slabSize) / 2)),
    ),
    cpuPartial,
    cpuPartialSlabs: slub.cpuPartialInSlabs
      ? Math.ceil(2 * cpuPartial / objects)
      : 0,
  };
}
