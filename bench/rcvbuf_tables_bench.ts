/**
 * The rcvbuf thread's two tables, 54 cells of up to 60 simulated seconds, through the workers: on two cores that nothing
 * else keeps busy less than 20 s.
 */
import { rcvbufAutotuningThread } from "../lib/threads/rcvbuf_autotuning.ts";

for (const workers of [1, 2]) {
  Deno.bench(`${workers} worker${workers === 1 ? "" : "s"}`, {
    group: "both tables of the rcvbuf thread",
    baseline: workers === 1,
    n: 1,
    warmup: 0,
  }, async () => {
    await rcvbufAutotuningThread.reproduce({
      only: ["tso-off", "tso-on"],
      workers,
    });
  });
}
