/**
 * A sweep of 200 cells with one worker and with two, starts of the workers included: on two cores that nothing else keeps
 * busy two should be at least 1.7 times as fast. The third group is what a sweep costs whose cells cost nothing.
 */
import { sweep } from "../lib/sweep/sweep.ts";
import forwarding from "../sweeps/forwarding.ts";

const fewRuns = { n: 5, warmup: 1 };

for (const workers of [1, 2]) {
  Deno.bench(`${workers} workers`, {
    group: "sweep of 200 cells",
    baseline: workers === 1,
    ...fewRuns,
  }, async () => {
    await sweep({ ...forwarding, workers, progress: false });
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
