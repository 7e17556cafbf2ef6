/**
 * The interrupt flag of each CPU, and how often it was touched.
 *
 * @module
 */

import { whole } from "../sim/check.ts";

/**
 * `local_irq_disable`, `local_irq_enable`, `local_irq_save`, `local_irq_restore` for CPUs that take turns.
 *
 * Nothing is interrupted here; the flag shows which code would leave interrupts off, or switch them on where its
 * caller had switched them off.
 *
 * @example
 * ```ts
 * import { IrqFlags } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const irq = new IrqFlags(1);
 * const flags = irq.save(0);
 * assertEquals(irq.off[0], 1);
 * irq.restore(0, flags);
 * assertEquals([irq.off[0], irq.saves], [0, 1]);
 * ```
 */
export class IrqFlags {
  /** By CPU: 1 while interrupts are off. */
  readonly off: Uint8Array;
  /** Pairs of `local_irq_disable` and `local_irq_enable`, counted at the first. */
  disables = 0;
  /** Pairs of `local_irq_save` and `local_irq_restore`, counted at the first. */
  saves = 0;

  /**
   * Interrupts on.
   *
   * @param cpus CPUs, 1 to 8,192.
   * @throws {RangeError} `cpus` is out of range.
   */
  constructor(cpus: number) {
    this.off = new Uint8Array(whole("cpus", cpus, 1, 8192));
  }

  /**
   * Interrupts off.
   *
   * @param cpu On which CPU.
   */
  disable(cpu: number): void {
    this.disables++;
    this.off[cpu] = 1;
  }

  /**
   * Interrupts on, whatever they were.
   *
   * @param cpu On which CPU.
   */
  enable(cpu: number): void {
    this.off[cpu] = 0;
  }

  /**
   * Interrupts off.
   *
   * @param cpu On which CPU.
   * @returns What they were, for {@linkcode restore}.
   */
  save(cpu: number): number {
    this.saves++;
    const flags = this.off[cpu]!;
    this.off[cpu] = 1;
    return flags;
  }

  /**
   * Interrupts as they were.
   *
   * @param cpu On which CPU.
   * @param flags What {@linkcode save} returned.
   */
  restore(cpu: number, flags: number): void {
    this.off[cpu] = flags;
  }

  /**
   * Lets interrupts come: they are on during a call, and as they were afterwards. Counted nowhere.
   *
   * @param cpu On which CPU.
   * @param comes What comes in between.
   */
  allow(cpu: number, comes: (cpu: number) => void): void {
    const flags = this.off[cpu]!;
    this.off[cpu] = 0;
    comes(cpu);
    this.off[cpu] = flags;
  }
}
