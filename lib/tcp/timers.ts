/**
 * When a timer fires that is set to fire after a while.
 *
 * @module
 */

/**
 * Time at which a timer fires: at a tick, never early.
 *
 * Models `__mod_timer` and `calc_index` (kernel/time/timer.c, 4.8+): the delay in whole ticks and one more, since the
 * current tick has begun already.
 *
 * @param now The time, ns.
 * @param delay How long, ns.
 * @param tick Nanoseconds of a tick (1/HZ); 0 for a clock without ticks.
 */
export function timerAt(now: number, delay: number, tick: number): number {
  return tick === 0
    ? now + delay
    : (Math.floor(now / tick) + Math.ceil(delay / tick) + 1) * tick;
}
