/**
 * Shows how far a long computation is. The only part of the module besides
 * `show` that looks at a clock: nothing simulated depends on it.
 *
 * @module
 */

import { type Broadcast, kernelBroadcast } from "./kernel_display.ts";

/** A running display of progress. */
export interface Progress {
  /**
   * Counts steps as done. Cheap enough for a hot loop: it mostly only adds.
   *
   * @param steps How many steps were done since the last call; 1 by default.
   * @returns A promise where the display is due and wants a turn of the event
   * loop, else undefined. `await progress.tick()` suits both.
   */
  tick(steps?: number): Promise<void> | undefined;
  /**
   * Ends the display. A notebook keeps its last state, which says how many
   * steps were done and no time.
   *
   * @returns Settles when the last state is on its way.
   */
  done(): Promise<void>;
}

/** Where a progress is shown. */
interface Display {
  /** Shows a count of steps; may want a turn of the event loop. */
  update(done: number): Promise<void>;
  /** Shows the last count. */
  end(done: number): Promise<void>;
}

/** Between two updates, in ms: what the eye still takes for movement. */
const interval = 100;
/** A clock read costs more than a step of the simulation: this many a run at most. */
const clockReads = 1000;

let displays = 0;

function notebookDisplay(
  broadcast: Broadcast,
  total: number,
  label: string,
): Display {
  const display_id = `truesize-progress-${++displays}`;
  const columns = 30;
  const send = (type: string, text: string): Promise<void> =>
    broadcast(type, {
      data: { "text/plain": text },
      metadata: {},
      transient: { display_id },
    });
  const bar = (done: number): string => {
    const filled = Math.floor((Math.min(done, total) / total) * columns);
    return `${label} ${"█".repeat(filled)}${
      "░".repeat(columns - filled)
    } ${done} of ${total}`;
  };
  const shown = send("display_data", bar(0));
  return {
    update: async (done) => {
      await shown;
      await send("update_display_data", bar(done));
    },
    end: async (done) => {
      await shown;
      await send("update_display_data", `${label}: ${done} of ${total}`);
    },
  };
}

function terminalDisplay(total: number, label: string): Display {
  const bar = (async () => {
    const [{ default: { SingleBar, Presets } }, { default: process }] =
      await Promise.all([
        // @ts-types="npm:@types/cli-progress@3.11.6"
        import("cli-progress"),
        import("node:process"),
      ]);
    const format = `${
      label.replaceAll("{", "(").replaceAll("}", ")")
    } {bar} {value} of {total}, {eta_formatted} left`;
    const made = new SingleBar({
      format,
      stream: process.stderr,
      hideCursor: true,
      clearOnComplete: true,
    }, Presets.shades_classic);
    made.start(total, 0);
    return made;
  })();
  return {
    update: async (done) => (await bar).update(done),
    end: async (done) => {
      const ending = await bar;
      ending.update(done);
      ending.stop();
    },
  };
}

function chooseDisplay(total: number, label: string): Display | undefined {
  const broadcast = kernelBroadcast();
  if (broadcast !== undefined) return notebookDisplay(broadcast, total, label);
  return Deno.stderr.isTerminal() ? terminalDisplay(total, label) : undefined;
}

/**
 * Starts showing progress: as a bar on standard error in a terminal, as an
 * output that updates in a notebook, and not at all elsewhere, so that pipes
 * and logs stay clean.
 *
 * @param total How many steps there are.
 * @param label What is being done.
 * @returns The display; end it with `done()`.
 * @throws {RangeError} Where `total` is not a number of steps above 0.
 *
 * @example
 * ```ts
 * import { progress } from "@truesize/lab";
 *
 * const packets = progress(10_000, "packets");
 * for (let i = 0; i < 10_000; i++) {
 *   await packets.tick();
 * }
 * await packets.done();
 * ```
 */
export function progress(total: number, label: string): Progress {
  if (!Number.isFinite(total) || total <= 0) {
    throw new RangeError(
      `total is ${total}; a number of steps above 0 is needed`,
    );
  }
  if (typeof label !== "string") {
    throw new TypeError(`label is ${String(label)}; a string is needed`);
  }
  const display = chooseDisplay(total, label);
  const stride = Math.max(1, Math.floor(total / clockReads));
  let count = 0;
  let next = stride;
  let due = performance.now() + interval;
  let ended = false;
  return {
    tick(steps = 1) {
      count += steps;
      if (display === undefined || count < next || ended) return;
      next = count + stride;
      const now = performance.now();
      if (now < due) return;
      due = now + interval;
      return display.update(count);
    },
    async done() {
      if (ended) return;
      ended = true;
      await display?.end(count);
    },
  };
}
