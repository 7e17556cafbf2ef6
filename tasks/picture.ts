/** Draws the README's picture: `deno run -A tasks/picture.ts` writes docs/ratio.png. */

import { plotSweep, receiveStrategies, truesizeSweep } from "../mod.ts";

const sweep = truesizeSweep({ strategies: receiveStrategies(), from: 1 });
const figure = await plotSweep(sweep, {
  title: "How much of a packet's charge is payload?",
  subtitle: "one UDP datagram, five ways to receive it",
});
await Deno.mkdir(new URL("../docs/", import.meta.url), { recursive: true });
await Deno.writeFile(
  new URL("../docs/ratio.png", import.meta.url),
  figure.png(),
);
