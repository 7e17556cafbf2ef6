import { assertEquals, assertThrows } from "@std/assert";
import { kernel, releases, slabLayout } from "@truesize/lab";

// The specification's table: order and objects per slab for 1, 2, 4, 8, 12, 16 and 64 CPUs.
const CPUS = [1, 2, 4, 8, 12, 16, 64];
const ORDERS: [size: number, ...layouts: string[]][] = [
  [64, "0,64", "0,64", "0,64", "0,64", "0,64", "0,64", "0,64"],
  [96, "0,42", "0,42", "0,42", "0,42", "0,42", "0,42", "0,42"],
  [128, "0,32", "0,32", "0,32", "0,32", "0,32", "0,32", "0,32"],
  [192, "0,21", "0,21", "0,21", "0,21", "0,21", "1,42", "1,42"],
  [256, "0,16", "0,16", "0,16", "1,32", "1,32", "1,32", "1,32"],
  [512, "0,8", "1,16", "1,16", "2,32", "2,32", "2,32", "2,32"],
  [1024, "1,8", "2,16", "2,16", "3,32", "3,32", "3,32", "3,32"],
  [2048, "2,8", "3,16", "3,16", "3,16", "3,16", "3,16", "3,16"],
  [4096, "3,8", "3,8", "3,8", "3,8", "3,8", "3,8", "3,8"],
  [8192, "3,4", "3,4", "3,4", "3,4", "3,4", "3,4", "3,4"],
];

Deno.test("slab orders by object size and CPU count, old and new search", () => {
  for (const name of ["4.3", "6.18"]) {
    const k = kernel(name);
    for (const [size, ...layouts] of ORDERS) {
      const got = CPUS.map((cpus) => {
        const { order, objects } = slabLayout({
          kernel: k,
          objectSize: size,
          cpus,
        });
        return `${order},${objects}`;
      });
      assertEquals(got, layouts, `${name}, ${size} bytes`);
    }
  }
});

Deno.test("both searches give the same order for every size", () => {
  for (const cpus of [1, 2, 4, 8, 16, 64]) {
    for (let objectSize = 8; objectSize <= 8192; objectSize += 8) {
      const [old, today] = ["6.1", "6.18"].map((name) =>
        slabLayout({ kernel: kernel(name), objectSize, cpus }).order
      );
      assertEquals(old, today, `${objectSize} bytes, ${cpus} CPUs`);
    }
  }
});

Deno.test("further measured points of two CPUs", () => {
  const points = [
    [632, 2, 25],
    [640, 1, 12],
    [320, 0, 12],
    [344, 1, 23],
    [376, 1, 21],
    [832, 2, 19],
    [1472, 3, 22],
    [5888, 3, 5],
    [51488, 4, 1],
  ];
  for (const [objectSize, order, objects] of points) {
    const layout = slabLayout({
      kernel: kernel("6.18"),
      objectSize: objectSize!,
      cpus: 2,
    });
    assertEquals([layout.order, layout.objects], [order, objects]);
  }
});

Deno.test("the free pointer goes behind an object whose bytes must stay", () => {
  const k = kernel("6.18");
  assertEquals(
    slabLayout({ kernel: k, objectSize: 96, flags: ["SLAB_TYPESAFE_BY_RCU"] })
      .slabSize,
    104,
  );
  assertEquals(
    slabLayout({
      kernel: k,
      objectSize: 2304,
      align: 64,
      flags: ["typesafe_by_rcu"],
    }).slabSize,
    2368,
  );
  assertEquals(
    slabLayout({ kernel: k, objectSize: 576, flags: { ctor: true } }).slabSize,
    584,
  );
  assertEquals(
    slabLayout({ kernel: k, objectSize: 576, flags: { ctor: false } }).slabSize,
    576,
  );
  assertEquals(
    slabLayout({
      kernel: k,
      objectSize: 192,
      align: 64,
      flags: ["SLAB_TYPESAFE_BY_RCU"],
      freePointerOffset: 8,
    }).slabSize,
    192,
  );
});

Deno.test("debugging adds red zones and turns per-CPU partial lists off", () => {
  const plain = slabLayout({ kernel: kernel("6.1"), objectSize: 256 });
  const debug = slabLayout({
    kernel: kernel("6.1"),
    objectSize: 256,
    flags: ["SLAB_RED_ZONE", "SLAB_POISON"],
  });
  assertEquals([plain.slabSize, plain.cpuPartial], [256, 52]);
  // A word of red zone behind, the free pointer, and a zone on each side.
  assertEquals([debug.slabSize, debug.cpuPartial], [288, 0]);
});

Deno.test("partial limits by release", () => {
  const limits = (name: string, objectSize: number): number[] => {
    const layout = slabLayout({ kernel: kernel(name), objectSize, cpus: 8 });
    return [layout.minPartial, layout.cpuPartial, layout.cpuPartialSlabs];
  };
  assertEquals([128, 256, 1024, 4096].map((size) => limits("4.3", size)), [
    [5, 30, 0],
    [5, 13, 0],
    [5, 6, 0],
    [6, 2, 0],
  ]);
  assertEquals(limits("6.1", 256), [5, 52, 4]);
  assertEquals(
    slabLayout({ kernel: kernel("6.1"), objectSize: 256, cpus: 2 })
      .cpuPartialSlabs,
    7,
  );
  assertEquals(limits("6.18", 51488)[0], 7);
});

Deno.test("every release lays out a cache", () => {
  for (const name of releases) {
    assertEquals(
      slabLayout({ kernel: kernel(name), objectSize: 256, cpus: 2 }).objects,
      16,
    );
  }
});

Deno.test("flags as a list, a string or a record", () => {
  const slot = (flags: string | string[] | Record<string, boolean>): number =>
    slabLayout({ kernel: kernel("6.18"), objectSize: 200, flags }).slabSize;
  const forms = [
    "SLAB_HWCACHE_ALIGN | SLAB_TYPESAFE_BY_RCU",
    ["hwcache_align", "destroy_by_rcu"],
    { hwcacheAlign: true, typesafeByRcu: true, ctor: false },
  ];
  assertEquals(forms.map(slot), [256, 256, 256]);
  assertThrows(() => slot("SLAB_HWCACHE_ALIGN |"), RangeError, '""');
});

Deno.test("bad input is refused by name", () => {
  const k = kernel("6.18");
  assertThrows(
    () => slabLayout({ kernel: k, objectSize: 0 }),
    RangeError,
    "objectSize",
  );
  assertThrows(
    () => slabLayout({ kernel: k, objectSize: 1.5 }),
    RangeError,
    "objectSize",
  );
  assertThrows(
    () => slabLayout({ kernel: k, objectSize: NaN }),
    RangeError,
    "objectSize",
  );
  assertThrows(
    () => slabLayout({ kernel: k, objectSize: "8" as unknown as number }),
    TypeError,
    "objectSize",
  );
  assertThrows(
    () => slabLayout({ kernel: k, objectSize: 8, cpus: -1 }),
    RangeError,
    "cpus",
  );
  assertThrows(
    () => slabLayout({ kernel: k, objectSize: 8, align: 24 }),
    RangeError,
    "power of two",
  );
  assertThrows(
    () => slabLayout({ kernel: k, objectSize: 8, flags: ["SLAB_STORE_USER"] }),
    RangeError,
    "SLAB_STORE_USER",
  );
  assertThrows(
    () =>
      slabLayout({
        kernel: kernel("6.8"),
        objectSize: 64,
        freePointerOffset: 8,
      }),
    RangeError,
    "6.12",
  );
  assertThrows(
    () => slabLayout({ kernel: k, objectSize: 64, freePointerOffset: 60 }),
    RangeError,
    "0 to 56",
  );
  assertEquals(
    slabLayout({
      kernel: k,
      objectSize: 64,
      align: undefined,
      cpus: undefined,
      flags: undefined,
    }).objects,
    64,
  );
});
