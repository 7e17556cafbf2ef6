/**
 * SLAB's geometry: slot size, order, objects per slab, array sizes (mm/slab.c).
 *
 * @module
 */

import type { Kernel } from "../kernel.ts";
import { flagSet, slabLayout, type SlabLayoutOptions } from "./slab_layout.ts";

/** `slab_max_order` with more than 32 MiB of memory: slabs above it are made only where one object needs it. */
const SLAB_MAX_ORDER = 1;
/** `SLAB_OBJ_MIN_SIZE` with indices of one byte, bytes. */
const SLAB_OBJ_MIN_SIZE = 16;
/** Indices of one byte count so many objects. */
const SLAB_OBJ_MAX_NUM = 256;

/** A SLAB cache's geometry and array sizes. */
export interface SlabGeometry {
  /** Bytes from one object to the next. */
  readonly slabSize: number;
  /** A slab is `PAGE_SIZE << order` bytes. */
  readonly order: number;
  /** Objects per slab. */
  readonly objects: number;
  /** Where the index array is: behind the objects, in a cache of its own, or in a free object. */
  readonly index: "on-slab" | "off-slab" | "objfreelist";
  /** Objects that a CPU's array takes. */
  readonly limit: number;
  /** Objects moved at once between a CPU's array and the rest. */
  readonly batchcount: number;
  /** Objects that the node's shared array takes; 0 where there is none. */
  readonly shared: number;
  /** Free objects in slabs and the shared array's owners above which an empty slab is destroyed. */
  readonly freeLimit: number;
}

interface Fit {
  objects: number;
  order: number;
  left: number;
}

/** Objects in a slab of an order, with the index array inside or not (`cache_estimate`). */
function estimate(bytes: number, size: number, inside: boolean): Fit {
  let objects = Math.floor(bytes / (inside ? size + 1 : size));
  let left = bytes - objects * size;
  // Behind the objects the index array must find room at its alignment.
  if (inside && left < Math.ceil(objects / 8) * 8) {
    objects--;
    left = bytes - objects * size;
  }
  return { objects, order: 0, left: inside ? left - objects : left };
}

/** The first order that wastes an eighth at most, or the last one allowed (`calculate_slab_order`). */
function search(
  kernel: Kernel,
  size: number,
  inside: boolean,
  reclaim: boolean,
): Fit {
  let best: Fit = { objects: 0, order: 0, left: 0 };
  for (let order = 0; order <= kernel.page.maxOrder; order++) {
    const bytes = kernel.build.pageSize * 2 ** order;
    const fit = estimate(bytes, size, inside);
    if (fit.objects === 0) continue;
    if (fit.objects > SLAB_OBJ_MAX_NUM) break;
    best = { ...fit, order };
    if (reclaim || order >= SLAB_MAX_ORDER || fit.left * 8 <= bytes) break;
  }
  return best;
}

/**
 * A SLAB cache's geometry (`__kmem_cache_create`, `calculate_slab_order`, `enable_cpucache`).
 *
 * @param options As for {@linkcode slabLayout}.
 * @returns Bytes, order, counts.
 * @throws {RangeError} A number is out of range, a flag is unknown, the object does not fit, or the release has no SLAB.
 * @throws {TypeError} An argument is of the wrong type.
 *
 * @example sk_buff heads: 16 to a page, arrays of 120, a shared one of 480
 * ```ts
 * import { kernel, slabGeometry } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const { objects, limit, batchcount, shared, freeLimit } = slabGeometry({
 *   kernel: kernel("4.3"), objectSize: 256, cpus: 8,
 * });
 * assertEquals([objects, limit, batchcount, shared, freeLimit], [16, 120, 60, 480, 556]);
 * ```
 */
export function slabGeometry(options: SlabLayoutOptions): SlabGeometry {
  const { kernel } = options;
  if (!kernel.slub.slab) {
    throw new RangeError(
      `allocator "slab": kernel ${kernel.name} has no SLAB; "slub" is allowed`,
    );
  }
  const cpus = options.cpus ?? kernel.build.cpus;
  const slot = slabLayout(options).slabSize;
  const slabSize = Math.max(slot, SLAB_OBJ_MIN_SIZE);
  const flags = flagSet(options.flags);
  const reclaim = flags.has("SLAB_RECLAIM_ACCOUNT");
  const keepsContents = flags.has("SLAB_TYPESAFE_BY_RCU") ||
    flags.has("SLAB_CTOR");
  const { pageSize } = kernel.build;

  let index: SlabGeometry["index"] = "on-slab";
  let fit = search(kernel, slabSize, true, reclaim);
  if (kernel.slub.slabIndex === "off-slab") {
    if (slabSize >= pageSize >> 5) {
      fit = search(kernel, slabSize, false, reclaim);
      index = fit.left >= fit.objects ? "on-slab" : "off-slab";
    }
  } else {
    const outside = search(kernel, slabSize, false, reclaim);
    if (
      !keepsContents && outside.objects > 0 && outside.objects <= slabSize
    ) {
      fit = outside;
      index = "objfreelist";
    } else if (outside.objects > 0 && outside.left < outside.objects) {
      fit = outside;
      index = "off-slab";
    }
  }
  if (fit.objects === 0) {
    throw new RangeError(
      `objectSize ${options.objectSize}: no slab order holds it`,
    );
  }
  const limit = slabSize > 131_072
    ? 1
    : slabSize > pageSize
    ? 8
    : slabSize > 1024
    ? 24
    : slabSize > 256
    ? 54
    : 120;
  const batchcount = (limit + 1) >> 1;
  return {
    slabSize,
    order: fit.order,
    objects: fit.objects,
    index,
    limit,
    batchcount,
    shared: slabSize <= pageSize && cpus > 1 ? 8 * batchcount : 0,
    freeLimit: (1 + cpus) * batchcount + fit.objects,
  };
}
