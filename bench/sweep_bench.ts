/**
 * A sweep of 200 cells with one worker and with two, starts of the workers included: on two cores that nothing else keeps
 * busy two should be at least 1.7 times as fast. The third group is what a sweep costs whose cells cost nothing.
 */
import type { Lab } from "../lib/sweep/lab.ts";
import { sweep } from "../lib/sweep/sweep.ts";

const fewRuns = { n: 5, warmup: 1 };

/** Cells that count and hardly allocate: what two cores do at once then is theirs, not the page allocator's of the host. */
const cells = {
  over: {
    release: ["5.12", "6.1", "6.8", "6.12", "6.18"],
    frame: Array.from({ length: 40 }, (_, i) => 64 + 30 * i),
  },
  run: (
    { release, frame }: { release: string; frame: number },
    { kernel, runVhostNetTest }: Lab,
  ) =>
    runVhostNetTest({ kernel: kernel(release), frame, packets: 200_000 }).frags,
};

for (const workers of [1, 2]) {
  Deno.bench(`${workers} workers`, {
    group: "sweep of 200 cells",
    baseline: workers === 1,
    ...fewRuns,
  }, async () => {
    await sweep({ ...cells, workers, progress: false });
  });
}

for (const cells of [1, 1000]) {
  Deno.bench(`${cells} empty cells, 1 worker`, {
    group: "start of a worker, and handing out",
    ...fewRuns,
  }, async () => {
    await sweep({
      over: { i: Array.from({ length: cells }, (_, i) => i) },
      run: ({ i }) => i,
      workers: 1,
      progress: false,
    });
  });
}
