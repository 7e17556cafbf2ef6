import { assert, assertEquals } from "@std/assert";
import { VhostNetWorker } from "../../lib/drivers/vhost_net_worker.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { kernel } from "../../lib/releases/mod.ts";

const FRAMES = [14, 60, 256, 1514, 3636, 3637, 9000];

Deno.test("random traffic, reads and failures: nothing is lost, nothing leaks", () => {
  for (const release of ["6.8", "6.12", "6.18"]) {
    for (const xdp of [undefined, "pass", "drop"] as const) {
      const pages = new PageAllocator(kernel(release), { pages: 4096 });
      pages.failPageAlloc({ minOrder: 0, probability: 0.2, seed: 7 });
      const worker = new VhostNetWorker(pages, { xdp, rcvbuf: 1 << 20 });
      const { tx, rx, tap, counters } = worker;
      let state = 12345;
      const random = (n: number): number => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        return Math.floor(state / 2 ** 32 * n);
      };
      let offered = 0;
      let back = 0;
      let read = 0;
      for (let i = 0; i < 20_000; i++) {
        switch (random(6)) {
          case 0:
          case 1:
            if (tx.add(12 + FRAMES[random(FRAMES.length)]!)) offered++;
            break;
          case 2:
            worker.kickTx();
            worker.kickRx();
            worker.run();
            break;
          case 3:
            if (tap.recv() > 0) read++;
            break;
          case 4:
            rx.add(1526);
            worker.send(FRAMES[random(4)]!);
            break;
          default:
            while (tx.getBuf() >= 0) back++;
            while (rx.getBuf() >= 0);
        }
      }
      pages.failPageAlloc();
      worker.kickTx();
      worker.run();
      while (tx.getBuf() >= 0) back++;
      while (tap.recv() > 0) read++;
      assertEquals(back, offered);
      const { RcvbufErrors } = tap.queue.counters;
      assertEquals(read + RcvbufErrors + tap.counters.xdpDropped, offered);
      assert(counters.ENOMEM > 0 && counters.ENOSPC > 0);
      worker.release();
      assertEquals(pages.counters.pgalloc, pages.counters.pgfree);
      pages.check();
    }
  }
});
