/** A small sweep for tests: real packets, one path that one release does not have, cells of unlike length. */

import { defineSweep, kernel, truesizeOf } from "@truesize/lab";

export default defineSweep({
  module: import.meta.url,
  title: "example",
  over: {
    release: ["3.12", "6.18"],
    path: ["veth", "page-pool"],
    payload: [0, 1, 100, 700, 1472],
  },
  run: async ({ release, path, payload }) => {
    // Later cells of a grid end before earlier ones.
    if (payload === 0) await new Promise((done) => setTimeout(done, 20));
    const { truesize, ratio } = truesizeOf({
      kernel: kernel(release),
      path,
      payload,
    });
    return payload === 700
      ? { truesize, large: payload > 256, note: 'a "quoted", text' }
      : { truesize, ratio };
  },
  cost: ({ payload }) => payload,
});

/** A function without a grid. */
export const twice = (cell: number) => 2 * cell;
