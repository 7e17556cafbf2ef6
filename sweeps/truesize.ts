/**
 * What each release charges for a UDP datagram, by path and payload: 200 cells in which a socket is filled. Run it with
 * `deno task sweep sweeps/truesize.ts`.
 */

import { datagramsUntilDrop, defineSweep, kernel, truesizeOf } from "../mod.ts";

export default defineSweep({
  module: import.meta.url,
  title: "UDP truesize",
  over: {
    release: ["3.12", "4.3", "6.1", "6.12", "6.18"],
    path: ["veth", "tap", "virtio-mergeable", "ixgbe"],
    payload: [1, 64, 128, 256, 512, 700, 1000, 1200, 1400, 1472],
  },
  run: ({ release, path, payload }) => {
    const packet = { kernel: kernel(release), path, payload };
    const { truesize, ratio } = truesizeOf(packet);
    const { queued } = datagramsUntilDrop({ ...packet, rcvbuf: 8 << 20 });
    return { truesize, ratio, queued };
  },
});
