/** Draws the README's picture: `deno run -A tasks/picture.ts` writes docs/ratio.png. */

import { kernel, plotLines, truesizeSweep } from "../mod.ts";

const k = kernel("6.18");
const series = truesizeSweep({
  strategies: [
    {
      label: "tap, non-blocking",
      kernel: k,
      path: "tap",
      nonblocking: true,
    },
    { label: "veth", kernel: k, path: "veth" },
    { label: "virtio small", kernel: k, path: "virtio-small" },
    {
      label: "virtio mergeable, 6.1",
      kernel: kernel("6.1"),
      path: "virtio-mergeable",
    },
    {
      label: "virtio, a page each (2013)",
      kernel: kernel("net-next-2013-10"),
      path: "virtio-mergeable",
    },
  ],
  from: 1,
});
const COLOURS = ["#E69F00", "#56B4E9", "#009E73", "#D55E00", "#CC79A7"];

const figure = await plotLines({
  title: "How much of a packet's charge is payload?",
  subtitle: "one UDP datagram, five ways to receive it",
  series: series.map(({ label, payload, ratio }, i) => ({
    label,
    points: Array.from(
      payload,
      (bytes, j) => [bytes, 100 * ratio[j]!] as const,
    ),
    color: COLOURS[i]!,
  })),
  x: { label: "payload, bytes" },
  y: { label: "payload / truesize, %", domain: [0, 100] },
});
await Deno.mkdir(new URL("../docs/", import.meta.url), { recursive: true });
await Deno.writeFile(
  new URL("../docs/ratio.png", import.meta.url),
  figure.png(),
);
