/** Heads from the slab per forwarded packet, by release, load and lag: 200 cells of a few milliseconds of CPU time. */

import { defineSweep, ipForward, kernel } from "../mod.ts";

export default defineSweep({
  module: import.meta.url,
  title: "forwarding",
  over: {
    release: ["net-next-2015-10", "4.6", "5.12", "6.1", "6.12"],
    perPoll: [1, 8, 16, 24, 32, 40, 48, 56, 60, 64],
    lag: [0, 1, 2, 3],
  },
  run: ({ release, perPoll, lag }) => {
    const run = ipForward({ kernel: kernel(release), perPoll, lag });
    const { packets, lost, slab, napi, stacked } = run;
    return {
      packets,
      lost,
      fast: slab.ALLOC_FASTPATH ?? 0,
      slow: slab.ALLOC_SLOWPATH ?? 0,
      reused: napi.reused ?? 0,
      stacked,
    };
  },
  cost: ({ perPoll }) => perPoll,
});
