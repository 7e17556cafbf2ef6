/** Every measured fill of a UDP socket on 6.18: packets to the first drop, their charges, and the way back. */

import { datagramsUntilDrop, kernel, soRcvbuf } from "@truesize/lab";
import { fixture, Tally } from "./rows.ts";

type Row = [
  path: string,
  set: number | null,
  rcvbuf: number,
  payload: number,
  queued: number,
  rmemAlloc: number,
  sent: number,
  increments: [number, number][],
  afterReads: number[],
  afterAll: number,
];

Deno.test("udp_drop.json: count, charge, increments and give-back of every row", () => {
  const k = kernel("6.18");
  const { rows } = fixture<{ rows: Row[] }>("udp_drop.json");
  const tally = new Tally();
  for (
    const [
      name,
      set,
      rcvbuf,
      payload,
      queued,
      rmemAlloc,
      sent,
      increments,
      afterReads,
      afterAll,
    ] of rows
  ) {
    const frags = name.startsWith("tap napi_frags");
    const fill = datagramsUntilDrop({
      kernel: k,
      path: frags ? "tap" : name.startsWith("veth") ? "veth" : "loopback",
      payload,
      rcvbuf: set === null ? undefined : soRcvbuf(k, set),
      mtu: name.endsWith("mtu9000") ? 9000 : undefined,
      napiFrags: frags ? [42, payload] : undefined,
    });
    const usedRcvbuf = set === null ? k.udp.rmemDefault : soRcvbuf(k, set);
    tally.row(
      () => `${name}, rcvbuf ${rcvbuf}, payload ${payload}`,
      [
        usedRcvbuf,
        fill.queued,
        fill.rmemAlloc,
        fill.sent,
        fill.increments,
        fill.afterReads(afterReads.length),
        fill.afterReads(fill.queued).at(-1),
      ],
      [rcvbuf, queued, rmemAlloc, sent, increments, afterReads, afterAll],
    );
  }
  tally.done("udp_drop.json");
});
