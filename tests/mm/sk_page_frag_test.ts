import { assertEquals } from "@std/assert";
import { Gfp } from "../../lib/mm/gfp.ts";
import { PageAllocator } from "../../lib/mm/page_alloc.ts";
import { PageFrag } from "../../lib/mm/page_frag.ts";
import {
  type PageFragSock,
  skPageFragHolder,
  skPageFragRefill,
  skStreamModerateSndbuf,
} from "../../lib/mm/sk_page_frag.ts";
import { skbPageFragRefillV3 } from "../../lib/patches/skb_page_frag_refill.ts";
import { kernel } from "../../lib/releases/mod.ts";

function sock(changes: Partial<PageFragSock> = {}): PageFragSock {
  return {
    skAllocation: Gfp.GFP_KERNEL,
    skSndbuf: 87380,
    skWmemQueued: 20000,
    sndbufLock: false,
    ...changes,
  };
}

function refillWithoutMemory(sk: PageFragSock): boolean {
  const pages = new PageAllocator(kernel("4.3"));
  pages.failOrders(0);
  return skPageFragRefill(sk, new PageFrag(pages));
}

Deno.test("no page: the send buffer falls to half of what is queued", () => {
  const sk = sock();
  assertEquals(refillWithoutMemory(sk), false);
  assertEquals(sk.skSndbuf, 10000);
});

Deno.test("no page: the send buffer does not fall below SOCK_MIN_SNDBUF, 4608", () => {
  const sk = sock({ skWmemQueued: 5000 });
  refillWithoutMemory(sk);
  assertEquals(sk.skSndbuf, 4608);
});

Deno.test("no page: the send buffer never grows", () => {
  const sk = sock({ skSndbuf: 30000, skWmemQueued: 80000 });
  refillWithoutMemory(sk);
  assertEquals(sk.skSndbuf, 30000);
});

Deno.test("no page: a send buffer that the user fixed stays", () => {
  const sk = sock({ sndbufLock: true });
  refillWithoutMemory(sk);
  assertEquals(sk.skSndbuf, 87380);
});

Deno.test("no page: reserved memory that is unused stays within the send buffer", () => {
  const sk = sock({ skUnusedReservedMem: 16384 });
  skStreamModerateSndbuf(kernel("6.8"), sk);
  assertEquals(sk.skSndbuf, 16384);
});

Deno.test("no page: the socket enters memory pressure, once a failure", () => {
  let pressed = 0;
  refillWithoutMemory(sock({
    enterMemoryPressure: () => {
      pressed++;
    },
  }));
  assertEquals(pressed, 1);
});

Deno.test("with a page nothing of the socket changes", () => {
  const sk = sock({
    enterMemoryPressure: () => {
      throw new Error("entered");
    },
  });
  const frag = new PageFrag(new PageAllocator(kernel("4.3")));
  assertEquals(skPageFragRefill(sk, frag), true);
  assertEquals([sk.skSndbuf, frag.size], [87380, 32768]);
});

Deno.test("a socket asks for 32 bytes at least since the thread, before for one", () => {
  const base = kernel("net-next-2013-10");
  for (
    const [k, refills] of [[base, 1], [
      base.am(skbPageFragRefillV3),
      2,
    ]] as const
  ) {
    const frag = new PageFrag(new PageAllocator(k));
    skPageFragRefill(sock(), frag);
    frag.take(32768 - 31);
    skPageFragRefill(sock(), frag);
    assertEquals(frag.counters.refills, refills);
  }
});

Deno.test("up to 5.4 a socket that may sleep uses the task's frag", () => {
  const holder = (skAllocation: number): string =>
    skPageFragHolder(kernel("4.3"), { skAllocation });
  assertEquals(holder(Gfp.GFP_KERNEL), "task_frag");
  assertEquals(holder(Gfp.GFP_KERNEL & ~Gfp.__GFP_FS), "task_frag");
  assertEquals(holder(Gfp.GFP_ATOMIC), "sk_frag");
});

Deno.test("6.1: a socket used in reclaim, by a file system or forbidden to uses its own", () => {
  const holder = (skAllocation: number, skUseTaskFrag?: boolean): string =>
    skPageFragHolder(kernel("6.1"), { skAllocation, skUseTaskFrag });
  assertEquals(holder(Gfp.GFP_KERNEL), "task_frag");
  assertEquals(holder(Gfp.GFP_KERNEL, false), "sk_frag");
  assertEquals(holder(Gfp.GFP_KERNEL | Gfp.__GFP_MEMALLOC), "sk_frag");
  assertEquals(holder(Gfp.GFP_KERNEL & ~Gfp.__GFP_FS), "sk_frag");
  assertEquals(holder(Gfp.GFP_ATOMIC), "sk_frag");
});

Deno.test("6.8 on: only sk_use_task_frag decides", () => {
  const holder = (skAllocation: number, skUseTaskFrag?: boolean): string =>
    skPageFragHolder(kernel("6.8"), { skAllocation, skUseTaskFrag });
  assertEquals(holder(Gfp.GFP_ATOMIC | Gfp.__GFP_MEMALLOC), "task_frag");
  assertEquals(holder(Gfp.GFP_KERNEL, false), "sk_frag");
});
