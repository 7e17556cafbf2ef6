import { assertEquals } from "@std/assert";
import { kernel, kmallocName, kmallocSizeRoundup } from "@truesize/lab";

Deno.test("classes change where the index table says", () => {
  const k = kernel("4.3");
  const classes = [
    [8, 8],
    [9, 16],
    [24, 32],
    [40, 64],
    [72, 96],
    [104, 128],
    [136, 192],
    [193, 256],
    [257, 512],
  ];
  for (const [size, bytes] of classes) {
    assertEquals(kmallocSizeRoundup(k, size!), bytes);
  }
  assertEquals(kmallocSizeRoundup(k, 8192), 8192);
});

Deno.test("above two pages whole pages are given", () => {
  const k = kernel("6.18");
  assertEquals(kmallocSizeRoundup(k, 8193), 16384);
  assertEquals(kmallocSizeRoundup(k, 65568 + 320), 131072);
  assertEquals(kmallocName(k, 65568 + 320), "pages of order 5");
  assertEquals(
    kmallocSizeRoundup(kernel("6.18", { pageSize: 16384 }), 32769),
    65536,
  );
});

Deno.test("names as slabinfo prints them", () => {
  assertEquals(kmallocName(kernel("4.3"), 1000), "kmalloc-1024");
  assertEquals(kmallocName(kernel("6.18"), 1000), "kmalloc-1k");
  assertEquals(kmallocName(kernel("6.18"), 100), "kmalloc-128");
});
