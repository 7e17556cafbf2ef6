/**
 * A fast-path free that is overtaken between reading and exchanging.
 *
 * @module
 */

import { whole } from "../sim/check.ts";
import { badFree } from "./slab_args.ts";
import type { Slub } from "./slub.ts";
import type { KmemCacheCpu } from "./slub_cpu.ts";
import { ALLOCATED } from "./slub_slabs.ts";

/**
 * `kmem_cache_free` on the fast path in two steps: the constructor reads the CPU's (freelist, tid), {@linkcode commit}
 * exchanges it. What happens on that CPU in between is an interrupt, or another task.
 *
 * The exchange must fail when the CPU's list was touched. It does not notice a slab let go by a slow path that left
 * `tid` alone, the bug that two patches mend: `slubBulkTidBump` for bulk allocation, `slubDeactivationTid` for all.
 *
 * @example An allocation in between makes the exchange fail, and it is done again
 * ```ts
 * import { InFlightFree, kernel, kmemCache } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const cache = kmemCache({ kernel: kernel("6.12"), objectSize: 256 });
 * const free = new InFlightFree(cache, cache.alloc());
 * cache.alloc();
 * assertEquals(free.commit(), false);
 * assertEquals([cache.counters.CMPXCHG_DOUBLE_CPU_FAIL, cache.counters.FREE_FASTPATH], [1, 1]);
 * ```
 */
export class InFlightFree {
  readonly #cache: Slub;
  readonly #object: number;
  readonly #cpu: KmemCacheCpu;
  readonly #freelist: number;
  readonly #tid: number;
  readonly #fast: boolean;
  #done = false;

  /**
   * Reads what the exchange will compare.
   *
   * @param cache The cache.
   * @param object An object that is handed out.
   * @param cpu On which CPU; 0 when absent.
   * @throws {Error} The object is not handed out.
   * @throws {RangeError} There is no such CPU.
   */
  constructor(cache: Slub, object: number, cpu: number = 0) {
    const { table, perCpu } = cache;
    const c = perCpu[whole("cpu", cpu, 0, cache.cpus - 1)]!;
    if (table.next[object] !== ALLOCATED) {
      badFree(object, table.next[object], "InFlightFree()");
    }
    this.#cache = cache;
    this.#object = object;
    this.#cpu = c;
    this.#freelist = c.freelist;
    this.#tid = c.tid;
    this.#fast = c.slab === object >> table.shift;
  }

  /**
   * Exchanges; where that fails, `CMPXCHG_DOUBLE_CPU_FAIL` counts and the free starts over.
   *
   * @returns Whether the first attempt went through.
   * @throws {Error} It was committed before, or the object was freed meanwhile.
   */
  commit(): boolean {
    const cache = this.#cache;
    const c = this.#cpu;
    const { table } = cache;
    if (this.#done) throw new Error("commit(): it was committed before");
    this.#done = true;
    if (
      this.#fast && c.freelist === this.#freelist && c.tid === this.#tid
    ) {
      if (table.next[this.#object] !== ALLOCATED) {
        badFree(this.#object, table.next[this.#object], "commit()");
      }
      table.next[this.#object] = this.#freelist;
      c.freelist = this.#object;
      c.FREE_FASTPATH++;
      c.tid = (c.tid + cache.tidStep) | 0;
      return true;
    }
    if (this.#fast) c.CMPXCHG_DOUBLE_CPU_FAIL++;
    cache.free(this.#object, c.cpu);
    return !this.#fast;
  }
}
