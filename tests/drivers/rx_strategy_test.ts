import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  buildSkb,
  datagramsUntilDrop,
  defineRxStrategy,
  Head,
  ipForward,
  ixgbeReceive,
  type Kernel,
  kernel,
  napiAllocSkb,
  netdevAllocSkb,
  netperf,
  type RxStrategyDefinition,
  skbAddRxFrag,
  skbPut,
  skbReserve,
  type SkBuff,
  truesizeOf,
  truesizeSweep,
} from "@truesize/lab";

const k = kernel("6.12");

const copybreak = defineRxStrategy({
  name: "copybreak 256",
  buffer: { size: 2048, from: "page_frag_cache" },
  receive: (kernel, frame) => {
    const skb = napiAllocSkb(kernel, 256);
    if (frame <= 256) return skbPut(skb, frame);
    skbAddRxFrag(skb, frame, 2048);
    return skb;
  },
});

/** What ixgbe does, said again as a strategy. */
const ixgbe = defineRxStrategy({
  name: "ixgbe again",
  buffer: (kernel) => kernel.build.pageSize / 2,
  receive: (kernel, frame) => ixgbeReceive(kernel, frame),
});

Deno.test("a driver of the module as a strategy charges what its path charges", () => {
  for (const name of ["3.12", "4.3", "6.1", "6.18"]) {
    const strategies = [
      { kernel: kernel(name), path: ixgbe },
      { kernel: kernel(name), path: "ixgbe" as const },
    ];
    const [own, builtin] = truesizeSweep({ strategies, step: 7 });
    assertEquals(own!.label, `ixgbe again ${name}`);
    assertEquals(own!.truesize, builtin!.truesize);
  }
});

Deno.test("strategies receive datagrams, IP fragments, TCP segments", () => {
  const truesize = (payload: number, more = {}) =>
    truesizeOf({ kernel: k, path: copybreak, payload, ...more }).truesize;
  // The struct and a head of 1,024 or 704 bytes, and half a page.
  assertEquals([truesize(100), truesize(1000)], [1280, 3328]);
  assertEquals(truesize(1460, { protocol: "tcp", timestamps: false }), 3328);
  // Two fragments: the second brings its own struct, head and half page, less what merging saves.
  const two = truesizeOf({ kernel: k, path: copybreak, payload: 2000 });
  assert(two.truesize > 3328 && two.truesize <= 2 * 3328, `${two}`);
  const { queued, rmemAlloc } = datagramsUntilDrop({
    kernel: k,
    path: copybreak,
    payload: 1000,
    rcvbuf: 212992,
  });
  // 64 fill the buffer to the byte, and 6.12 refuses only above it.
  assertEquals([queued, rmemAlloc], [65, 65 * 3328]);
});

Deno.test("what a strategy drops is a dropped packet", () => {
  const small = defineRxStrategy({
    name: "no jumbo",
    buffer: 2048,
    receive: (kernel, frame) =>
      frame > 1000 ? null : skbPut(netdevAllocSkb(kernel, frame), frame),
  });
  const packet = truesizeOf({ kernel: k, path: small, payload: 1200 });
  assertEquals([packet.truesize, packet.error], [0, "dropped"]);
  assertThrows(
    () => small.rxPath(k).receive(1448),
    RangeError,
    'receive strategy "no jumbo": receive drops a frame of 1514 bytes',
  );
  assertThrows(
    () => ipForward({ kernel: k, strategy: small, frame: 1514 }),
    RangeError,
    "nothing to forward",
  );
});

Deno.test("TCP sees head, fragments and charge of a strategy, and netperf runs over it", () => {
  const rx = copybreak.rxPath(k);
  rx.receive(1448);
  const { truesize, linear, frags, headFrag } = rx.skb;
  assertEquals([truesize, linear, frags, headFrag], [3328, 0, 1, true]);
  rx.receive(100);
  assertEquals([rx.skb.truesize, rx.skb.linear, rx.skb.frags], [1280, 100, 0]);

  const run = (strategy: typeof ixgbe | undefined) =>
    netperf({
      kernel: k,
      path: "ixgbe",
      rx: strategy?.rxPath(k),
      rttMs: 20,
      seconds: 2,
      rateMbit: 1000,
    });
  const own = run(ixgbe);
  assert(own.segments > 1000);
  assertEquals(
    [own.goodput, own.flows[0]!.receiver],
    [run(undefined).goodput, run(undefined).flows[0]!.receiver],
  );
});

Deno.test("forwarding with a strategy: its buffers and its heads' fragments are counted", () => {
  const { packets, lost, frags, rx } = ipForward({
    kernel: k,
    strategy: copybreak,
    frame: 1514,
    polls: 100,
  });
  assertEquals([packets, lost], [6400, 0]);
  assertEquals([rx.packets, rx.buffers, rx.copies], [6400, 6400, 0]);
  // 1 KiB heads of 6.12 come from page_frag_1k, which is not simulated; the half pages from the ring's own cache.
  assertEquals(frags.refills, 0);
  const heads = ipForward({
    kernel: kernel("4.3"),
    strategy: copybreak,
    frame: 60,
    polls: 100,
  });
  assert(heads.frags.refills + heads.frags.reuses > 100);
  assertEquals(heads.rx.copies, 6400);
  const same = (strategy: typeof ixgbe | undefined) => {
    const run = ipForward({ kernel: kernel("4.3"), strategy, polls: 50 });
    return [run.slab, run.napi, run.frags];
  };
  assertEquals(same(ixgbe), same(undefined));
  assertThrows(
    () =>
      ipForward({ kernel: k, strategy: "ixgbe" as unknown as typeof ixgbe }),
    TypeError,
    "strategy must be what defineRxStrategy gives",
  );
});

const broken = (
  receive: (kernel: Kernel, frame: number) => unknown,
  payload = 1472,
) =>
() =>
  truesizeOf({
    kernel: k,
    path: defineRxStrategy({
      name: "mine",
      buffer: 2048,
      receive: receive as RxStrategyDefinition["receive"],
    }),
    payload,
  });

Deno.test("what breaks the contract is reported as the strategy's, with the rule", () => {
  const full = (kernel: Kernel, frame: number) =>
    skbPut(netdevAllocSkb(kernel, frame), frame);
  const changed = (change: (skb: SkBuff) => void) =>
    broken((kernel, frame) => {
      const skb = full(kernel, frame);
      change(skb);
      return skb;
    });
  const cases: [() => unknown, string][] = [
    [broken(() => undefined), "an skb or null must be returned"],
    [broken(() => ({ truesize: 5 })), "got an object of Object"],
    [broken(() => Promise.resolve(null)), "got an object of Promise"],
    [
      broken((kernel) => skbPut(netdevAllocSkb(kernel, 1400), 1400)),
      "the skb must hold the whole frame, it holds 1400 bytes",
    ],
    [
      broken((kernel, frame) => skbPut(napiAllocSkb(kernel, 256), frame)),
      "the head must hold data ≤ tail ≤ end and 320 bytes of shared info",
    ],
    [
      broken((kernel, frame) => {
        const skb = napiAllocSkb(kernel, 256);
        for (let at = 0; at < frame; at += 64) {
          skbAddRxFrag(skb, Math.min(64, frame - at), 64);
        }
        return skb;
      }),
      "an skb has at most 17 fragments (MAX_SKB_FRAGS), got 24",
    ],
    [
      broken((kernel, frame) => {
        const skb = napiAllocSkb(kernel, 256);
        skbAddRxFrag(skb, frame, 1024);
        return skb;
      }),
      "fragment 0 must hold 1 byte or more in as much room, got 1514 in 1024",
    ],
    [changed((skb) => skb.truesize = 1500), "truesize must count at least"],
    [changed((skb) => skb.truesize = NaN), "skb.truesize must be whole bytes"],
    [changed((skb) => skb.dataLen = 5), "len and data_len must be"],
    [
      changed((skb) => skb.headKind = 9 as typeof Head.KMALLOC),
      "skb.headKind must be one of Head",
    ],
    [
      broken((kernel, frame) => {
        const skb = buildSkb(kernel, 352, Head.PAGE_FRAG);
        skbReserve(skb, 16);
        skbAddRxFrag(skb, frame, 2048);
        return skb;
      }),
      "the stack pulls 42 bytes of headers into the head, which has room for 16",
    ],
  ];
  for (const [run, message] of cases) {
    assertThrows(run, Error, message);
    assertThrows(
      run,
      Error,
      'receive strategy "mine": receive(kernel 6.12, frame of 1514 bytes)',
    );
  }
});

Deno.test("an error in a strategy keeps its cause; one skb for all frames is refused", () => {
  const cause = new RangeError("no room");
  try {
    broken(() => {
      throw cause;
    })();
    assert(false);
  } catch (error) {
    assertEquals(
      (error as Error).message,
      'receive strategy "mine": receive(kernel 6.12, frame of 1514 bytes) threw RangeError: no room',
    );
    assert((error as Error).cause === cause);
  }
  const one = skbPut(netdevAllocSkb(k, 1514), 1514);
  const again = defineRxStrategy({
    name: "one",
    buffer: 2048,
    receive: () => one,
  });
  assert(again.receive(k, 1514) === one);
  assertThrows(() => again.receive(k, 1514), TypeError, "the same skb twice");
});

Deno.test("a definition is refused where it is made, its buffer where it is used", () => {
  const receive = () => null;
  const bad: [unknown, string][] = [
    [undefined, "must be { name, buffer, receive }"],
    [{ name: "", buffer: 1, receive }, "name must be a text"],
    [{ name: "x", buffer: 1 }, "receive must be a function"],
    [{ name: "x", receive }, "buffer must be bytes"],
    [{ name: "x", buffer: null, receive }, "buffer must be bytes"],
  ];
  for (const [definition, message] of bad) {
    assertThrows(
      () => defineRxStrategy(definition as RxStrategyDefinition),
      TypeError,
      message,
    );
  }
  const buffers: [unknown, string][] = [
    [32, "buffer.size 32"],
    [{ size: 2048, data: 4096 }, "buffer.data 4096"],
    [{ size: 2048, from: "slab" }, 'buffer.from "slab"'],
    [() => "2048", "buffer must be bytes or"],
    [() => {
      throw new Error("oops");
    }, "buffer(kernel 6.12) threw Error: oops"],
  ];
  for (const [buffer, message] of buffers) {
    const strategy = defineRxStrategy(
      { name: "x", buffer, receive } as RxStrategyDefinition,
    );
    assertThrows(() => strategy.buffer(k), Error, message);
  }
});
