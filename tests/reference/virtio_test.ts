/**
 * Every sweep point and every run of equal datagrams measured behind virtio_net on 6.1 and 6.12, and on a 3.13 with
 * 3.12's whole-page driver.
 */

import { assertEquals } from "@std/assert";
import {
  virtioBig,
  virtioMergeable,
  virtioSmall,
} from "../../lib/drivers/virtio_net.ts";
import { MergeableRing } from "../../lib/drivers/virtio_ring.ts";
import type { Kernel } from "../../lib/kernel.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";
import measured from "../fixtures/virtio_truesize.json" with { type: "json" };
import measured2013 from "../fixtures/virtio_2013_truesize.json" with {
  type: "json",
};

/** Ethernet, IPv4 and UDP headers in front of the payload, bytes. */
const HEADERS = 42;

interface Sweep {
  readonly state: string;
  readonly payload_truesize: number[][];
}
interface Constant {
  readonly state: string;
  readonly payload: number;
  readonly datagrams: number;
  readonly total: number;
  readonly mergeable_rx_buffer_size?: (number | null)[];
  /** Steps of rmem_alloc and how often each came in a row; a step may be the sum of some datagrams. */
  readonly runs: number[][];
}
interface Run {
  readonly mode: string;
  readonly sweeps: Sweep[];
  readonly constant: Constant[];
}

/** Truesize of the next datagram, by its frame length. */
type Receive = (frame: number) => number;

/** Rows checked and rows that agree; a row is a point of a sweep or a step of a run. */
class Score {
  checked = 0;
  agreeing = 0;
  row(agrees: boolean): void {
    this.checked++;
    if (agrees) this.agreeing++;
  }
}

function playSweep(sweep: Sweep, receive: Receive, score: Score): void {
  for (const [payload, truesize] of sweep.payload_truesize) {
    score.row(receive(payload! + HEADERS) === truesize);
  }
}

/** Datagrams one by one; a step that is larger than the next datagram must be the sum of it and those behind it. */
function playConstant(run: Constant, receive: Receive, score: Score): void {
  let datagrams = 0;
  let total = 0;
  for (const [step, times] of run.runs) {
    for (let i = 0; i < times!; i++) {
      let sum = 0;
      while (sum < step! && datagrams < run.datagrams) {
        sum += receive(run.payload + HEADERS);
        datagrams++;
      }
      total += sum;
      score.row(sum === step);
    }
  }
  score.row(datagrams === run.datagrams && total === run.total);
}

function ringOf(k: Kernel, options = {}): MergeableRing {
  return new MergeableRing(
    new PageAllocator(k, { pages: 4096, cpus: 1 }),
    options,
  );
}

/** How many buffers of its block a ring has used before, if exactly one number explains everything that is played. */
function findStart(
  k: Kernel,
  play: (receive: Receive, score: Score) => void,
  score: Score,
): number[] {
  const starts: number[] = [];
  let best = new Score();
  for (let used = 0; used < 21; used++) {
    const ring = ringOf(k);
    for (let i = 0; i < used; i++) ring.receive(60);
    const trial = new Score();
    play((frame) => ring.receive(frame), trial);
    if (trial.agreeing === trial.checked) starts.push(used);
    if (used === 0 || trial.agreeing > best.agreeing) best = trial;
  }
  score.checked += best.checked;
  score.agreeing += best.agreeing;
  return starts;
}

const fresh = (run: Run) => run.constant.filter((c) => c.state === "fresh");
const after = (run: Run) => run.constant.filter((c) => c.state !== "fresh");

/** What was not observable when the sweep after the GSO stream began: fitted, with the average's range that fits. */
const AFTER_GSO = {
  "6.1": { average: [49_275, 50_675], freeSlots: 2, blockOffset: 28672 },
  "6.12": { average: [57_900, 59_700], freeSlots: 2, blockOffset: 0 },
};

for (const release of ["6.1", "6.12"] as const) {
  const runs: Run[] = measured.runs.filter((run) =>
    run.kernel.startsWith(`${release}.`)
  );
  const run = (mode: string) => runs.find((r) => r.mode === mode)!;
  const k = kernel(release);

  Deno.test(`${release}: a fresh ring explains every datagram of the first sweep and runs`, () => {
    const score = new Score();
    const starts = ["mergeable", "mergeable_nogso"].map((mode) =>
      findStart(k, (receive, trial) => {
        playSweep(run(mode).sweeps[0]!, receive, trial);
        for (const constant of fresh(run(mode))) {
          playConstant(constant, receive, trial);
        }
      }, score)
    );
    report(`${release} fresh`, score);
    // One guest had received a packet before the first datagram.
    assertEquals(starts, release === "6.1" ? [[0], [0]] : [[0], [1]]);
  });

  Deno.test(`${release}: without GSO frames one start explains each later sweep`, () => {
    const score = new Score();
    const { sweeps } = run("mergeable_nogso");
    const second = findStart(k, (receive, trial) => {
      playSweep(sweeps[1]!, receive, trial);
      for (const constant of after(run("mergeable_nogso"))) {
        playConstant(constant, receive, trial);
      }
    }, score);
    const third = findStart(
      k,
      (receive, trial) => playSweep(sweeps[2]!, receive, trial),
      score,
    );
    const small = findStart(
      k,
      (receive, trial) =>
        playSweep(run("mergeable").sweeps[2]!, receive, trial),
      score,
    );
    report(`${release} later sweeps`, score);
    assertEquals([second, third, small].map((starts) => starts.length), [
      1,
      1,
      1,
    ]);
  });

  Deno.test(`${release}: after GSO frames the average comes down datagram by datagram`, () => {
    const { average: [low, high], freeSlots, blockOffset } = AFTER_GSO[release];
    const play = (average: number, free: number, offset: number) => {
      const trial = new Score();
      const ring = ringOf(k, {
        average,
        freeSlots: free,
        blockOffset: offset,
      });
      const receive: Receive = (frame) => ring.receive(frame);
      playSweep(run("mergeable").sweeps[1]!, receive, trial);
      const constant = after(run("mergeable"))[0]!;
      const before = ring.bufferLength;
      playConstant(constant, receive, trial);
      const sizes = [before, ring.bufferLength];
      assertEquals(sizes, constant.mergeable_rx_buffer_size);
      return trial;
    };
    const score = play(low!, freeSlots, blockOffset);
    report(`${release} after GSO`, score);
    assertEquals(score.agreeing, score.checked);
    const agrees = (average: number, free: number, offset: number) => {
      const trial = play(average, free, offset);
      return trial.agreeing === trial.checked;
    };
    assertEquals(agrees(high!, freeSlots, blockOffset), true);
    // Another start does not do: the fit is not loose.
    assertEquals(agrees(low! - 1000, freeSlots, blockOffset), false);
    assertEquals(agrees(high! + 1000, freeSlots, blockOffset), false);
    assertEquals(agrees(low!, freeSlots + 1, blockOffset), false);
    assertEquals(agrees(low!, freeSlots - 1, blockOffset), false);
    assertEquals(
      agrees(low!, freeSlots, (blockOffset + 4096) % 32768),
      false,
    );
  });

  Deno.test(`${release}: the fits that the measurement states start the run after GSO frames`, () => {
    const fits = measured.about.ewma.fits.filter((fit) =>
      fit.kernel.startsWith(`${release}.`)
    );
    // The file states a start for 6.1 alone.
    assertEquals(fits.length, release === "6.1" ? 1 : 0);
    for (const fit of fits) {
      const constant = after(run("mergeable"))[0]!;
      assertEquals([constant.payload, constant.datagrams], [
        fit.payload,
        fit.datagrams,
      ]);
      const matched = (average: number, freeSlots: number, offset: number) => {
        const ring = ringOf(k, { average, freeSlots, blockOffset: offset });
        const receive: Receive = (frame) => ring.receive(frame);
        let datagrams = 0;
        let agreeing = 0;
        for (const [step, times] of constant.runs) {
          for (let i = 0; i < times!; i++, datagrams++) {
            if (receive(constant.payload + HEADERS) === step) agreeing++;
          }
        }
        assertEquals(datagrams, fit.datagrams);
        return agreeing;
      };
      const [low, high] = fit.avg_at_start as [number, number];
      const free = fit.free_slots_at_start;
      const [offset] = fit.block_offsets as [number];
      for (const average of [low, Math.round((low + high) / 2), high]) {
        assertEquals(matched(average, free, offset), fit.matched);
      }
      // Beside the stated start something differs (all of 26,197 to 26,938 fits; the file's search was coarser).
      for (
        const [average, slots, at] of [
          [low - 10, free, offset],
          [high + 10, free, offset],
          [low, free - 1, offset],
          [low, free + 1, offset],
          [low, free, offset + 4096],
        ] as const
      ) {
        assertEquals(
          matched(average, slots, at) < fit.matched,
          true,
          `${average}, ${slots}, ${at}`,
        );
      }
    }
  });

  Deno.test(`${release}: big and small modes, every sweep and run`, () => {
    const score = new Score();
    for (const { mode, sweeps, constant } of runs) {
      if (mode.startsWith("mergeable")) continue;
      const receive: Receive = (frame) =>
        (mode === "big" ? virtioBig(k, frame) : virtioSmall(k, frame))!
          .truesize;
      for (const sweep of sweeps) playSweep(sweep, receive, score);
      for (const each of constant) playConstant(each, receive, score);
    }
    report(`${release} big and small`, score);
    assertEquals(score.agreeing, score.checked);
  });
}

Deno.test("every run of the file belongs to a test above", () => {
  assertEquals(measured.runs.length, 8);
  for (const run of measured.runs as Run[]) {
    assertEquals(run.sweeps.length, 3);
    assertEquals([fresh(run).length, after(run).length], [3, 1]);
  }
});

Deno.test("virtio_truesize.json and virtio_2013_truesize.json: totals", () => {
  const score = new Score();
  for (const { build, mode, sweeps, constant } of measured2013.truesize) {
    const whole = build.startsWith("whole-page");
    const k = whole ? kernel("3.12") : kernel("3.13");
    const mergeable = mode.startsWith("mergeable") ? ringOf(k) : null;
    let slots = 0;
    const receive: Receive = (frame) => {
      if (mergeable !== null) {
        const truesize = mergeable.receive(frame);
        assertEquals(truesize, virtioMergeable(k, frame)!.truesize);
        return truesize;
      }
      if (mode === "big") return virtioBig(k, frame)!.truesize;
      // virtnet_open filled the 256 slots that the first packets find.
      const filledBySleeper = slots++ < 256;
      return virtioSmall(k, frame, { filledBySleeper })!.truesize;
    };
    playSweep(sweeps[0]!, receive, score);
    for (const each of constant) {
      if (each.state === "fresh") playConstant(each, receive, score);
    }
    for (const sweep of sweeps.slice(1)) playSweep(sweep, receive, score);
    for (const each of constant) {
      if (each.state !== "fresh") playConstant(each, receive, score);
    }
  }
  console.log(
    `virtio_2013_truesize.json: ${score.checked} rows checked / ${score.agreeing} agreeing`,
  );
  assertEquals(score.agreeing, score.checked);
  console.log(
    `virtio_truesize.json: ${sum.checked} rows checked / ${sum.agreeing} agreeing`,
  );
  assertEquals(sum.agreeing, sum.checked);
});

const sum = new Score();

function report(what: string, score: Score): void {
  sum.checked += score.checked;
  sum.agreeing += score.agreeing;
  console.log(
    `${what}: ${score.checked} rows checked / ${score.agreeing} agreeing`,
  );
}
