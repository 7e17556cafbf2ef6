import { assert, assertStringIncludes } from "@std/assert";
import { codeNotebook, run, textsOf } from "../jupyter/support.ts";

Deno.test("a cell of a notebook sweeps with workers, defines a strategy and a patch", async () => {
  const executed = await run(codeNotebook(
    'import { compare, definePatch, defineRxStrategy, kernel, napiAllocSkb, skbAddRxFrag, sweep, truesizeOf, workloads } from "@truesize/lab";',
    `const charges = await sweep({
      over: { release: ["3.12", "6.18"], payload: [100, 1472] },
      run: ({ release, payload }, { kernel, truesizeOf }) =>
        truesizeOf({ kernel: kernel(release), path: "veth", payload }).truesize,
      workers: 2,
    });
    console.log(charges.toCSV().replaceAll("\\r\\n", ";"));`,
    `const pages = defineRxStrategy({
      name: "a page each",
      buffer: 4096,
      receive: (kernel, frame) => {
        const skb = napiAllocSkb(kernel, 128);
        skbAddRxFrag(skb, frame, 4096);
        return skb;
      },
    });
    console.log(String(truesizeOf({ kernel: kernel("6.18"), path: pages, payload: 1472 })));`,
    `const small = definePatch({
      name: "smallHead",
      subject: "my own",
      date: "2026",
      thread: "mine",
      fits: (k) => k.skb.smallHead > 0 ? undefined : "no small heads",
      changes: { skb: { smallHead: { value: 0, file: "net/core/skbuff.c", symbol: "SKB_SMALL_HEAD_CACHE_SIZE", origin: "what if" } } },
    });
    const base = kernel("6.18");
    console.log(String(compare(base, base.am(small), workloads.udpFill({ path: "veth", payload: 100 }))));`,
  ));
  const text = textsOf(executed, 1).join();
  assertStringIncludes(
    text,
    "release,payload,value,error;3.12,100,768,;3.12,1472,2304,;6.18,100,832,;6.18,1472,2304,;",
  );
  // The display of progress stays, and says how many cells there were.
  assert(
    JSON.stringify(executed.cells[1]).includes("sweep: 4 of 4"),
    JSON.stringify(executed.cells[1]),
  );
  assertStringIncludes(textsOf(executed, 2).join(), "truesize 4928 B");
  assertStringIncludes(
    textsOf(executed, 3).join(),
    "because of skb.smallHead, 576 and 0 (SKB_SMALL_HEAD_CACHE_SIZE",
  );
});
