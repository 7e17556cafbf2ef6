/**
 * What a slab cache is to those who take objects from it.
 *
 * @module
 */

import type { Kernel, SlubRules } from "../kernel.ts";
import type { IrqFlags } from "./irq_flags.ts";
import type { PageAllocator } from "./page_alloc.ts";

/**
 * A cache of equal objects. An object is a handle, a whole number from 0; -1 is null. CPUs are counted from 0 and
 * take turns.
 *
 * {@linkcode Slub}, {@linkcode Slab} and {@linkcode Qmempool} are such caches; whatever else has these members can
 * stand in their place.
 */
export interface KmemCache {
  /** Name of the allocator. */
  readonly allocator: string;
  /** Bytes that an object may use. */
  readonly objectSize: number;
  /** Bytes from one object to the next. */
  readonly slabSize: number;
  /** CPUs with lists of their own. */
  readonly cpus: number;
  /** What happened so far, by the kernel's names. */
  readonly counters: Readonly<Record<string, number>>;
  /** Slabs in existence. */
  readonly slabs: number;
  /** Objects that callers hold. */
  readonly inUse: number;
  /**
   * Takes an object (`kmem_cache_alloc`).
   *
   * @param cpu On which CPU; 0 when absent.
   * @returns Its handle, or -1 where there is no memory, which is counted.
   * @throws {RangeError} There is no such CPU.
   */
  alloc(cpu?: number): number;
  /**
   * Gives an object back (`kmem_cache_free`).
   *
   * @param object Its handle.
   * @param cpu On which CPU, be it another than it was taken on; 0 when absent.
   * @throws {Error} It is not handed out: a double free, or no object of this cache.
   * @throws {RangeError} There is no such CPU.
   */
  free(object: number, cpu?: number): void;
  /**
   * Takes objects, all or none (`kmem_cache_alloc_bulk`).
   *
   * @param count How many, 0 to `out.length`.
   * @param out Receives their handles.
   * @param cpu On which CPU; 0 when absent.
   * @returns `count`, or 0 where there is no memory for all of them, which is counted.
   * @throws {RangeError} `count` or `cpu` is out of range.
   */
  allocBulk(count: number, out: Int32Array, cpu?: number): number;
  /**
   * Gives objects back (`kmem_cache_free_bulk`). As in the kernel, the array is the callee's: its first `count` entries
   * may be overwritten with -1 or reordered.
   *
   * @param count How many, 0 to `objects.length`.
   * @param objects Their handles.
   * @param cpu On which CPU; 0 when absent.
   * @throws {Error} One is not handed out, or stands there twice; then nothing was freed.
   * @throws {RangeError} `count` or `cpu` is out of range.
   */
  freeBulk(count: number, objects: Int32Array, cpu?: number): void;
  /** Gives back all memory that holds no object in use (`kmem_cache_shrink`). */
  shrink(): void;
  /**
   * Verifies every invariant: each object in exactly one place, counts and counters in balance.
   *
   * @throws {Error} Naming the first that is broken.
   */
  check(): void;
}

/** What {@linkcode kmemCache} takes. An option given as `undefined` is absent. */
export interface KmemCacheOptions {
  /** The kernel whose rules apply. */
  readonly kernel: Kernel;
  /** Which allocator; `"slub"` when absent. `"slab"` is gone from 6.8 on. */
  readonly allocator?: "slub" | "slab" | undefined;
  /** Bytes of an object. */
  readonly objectSize: number;
  /** Alignment, bytes, a power of two; a pointer's when absent. */
  readonly align?: number | undefined;
  /** Cache flags, as in {@linkcode slabLayout}. Debugging flags are not modelled. */
  readonly flags?:
    | readonly string[]
    | Readonly<Record<string, boolean | number>>
    | undefined;
  /** CPUs, 1 to 4,096: their lists, and what SLUB's slab order counts; `kernel.build.cpus` when absent. */
  readonly cpus?: number | undefined;
  /** Where slabs come from; absent: slabs are counted only, and memory never ends. */
  readonly pages?: PageAllocator | undefined;
  /** What the page allocator is asked with, bits of `Gfp`; `GFP_ATOMIC` when absent. */
  readonly gfp?: number | undefined;
  /** Slabs that memory is there for; absent: no limit. */
  readonly maxSlabs?: number | undefined;
  /** `/sys/kernel/slab/NAME/min_partial`, slabs; the computed one when absent. SLUB. */
  readonly minPartial?: number | undefined;
  /** `/sys/kernel/slab/NAME/cpu_partial`, objects; the computed one when absent. SLUB. */
  readonly cpuPartial?: number | undefined;
  /** `CONFIG_SLUB_CPU_PARTIAL`: whether CPUs have partial lists; true when absent. SLUB. */
  readonly cpuPartialLists?: boolean | undefined;
  /** `CONFIG_PREEMPT`: `tid` moves by the number of CPUs instead of 1; false when absent. SLUB. */
  readonly preempt?: boolean | undefined;
  /**
   * Called with the CPU while the page allocator looks for a new slab, where interrupts may come; may use this cache.
   */
  readonly onNewSlab?: ((cpu: number) => void) | undefined;
  /** The CPUs' interrupt flags, to be shared with other parts; its own when absent. */
  readonly irq?: IrqFlags | undefined;
  /** Rules to replace, for a what-if. */
  readonly rules?: Partial<SlubRules> | undefined;
}
