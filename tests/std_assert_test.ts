import {
  assert,
  assertAlmostEquals,
  assertArrayIncludes,
  assertEquals,
  assertExists,
  assertFalse,
  assertGreater,
  assertGreaterOrEqual,
  assertInstanceOf,
  AssertionError,
  assertIsError,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertNotEquals,
  assertNotMatch,
  assertNotStrictEquals,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  equal,
  fail,
  unreachable,
} from "@std/assert";

/** Runs `fn`, which must fail as an assertion; checked without the package's own assertThrows. */
function fails(fn: () => unknown): string {
  try {
    fn();
  } catch (error) {
    if (error instanceof AssertionError && error.name === "AssertionError") {
      return error.message;
    }
    throw error;
  }
  throw new Error(`expected an AssertionError from ${fn}`);
}

function cyclic(n: number): Record<string, unknown> {
  const x: Record<string, unknown> = { n };
  x.self = x;
  return x;
}

Deno.test("equal: pairs that are equal", () => {
  const pairs: [unknown, unknown][] = [
    [1, 1],
    [NaN, NaN],
    [0, -0],
    [{ a: [0] }, { a: [-0] }],
    [new Float64Array([0, NaN]), new Float64Array([-0, NaN])],
    [{ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2 }] } }],
    [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [new Map([["k", { v: 1 }]]), new Map([["k", { v: 1 }]])],
    [new Set([{ a: 1 }, { a: 2 }]), new Set([{ a: 2 }, { a: 1 }])],
    [new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    [new Date(5), new Date(5)],
    [/a/g, /a/g],
    [cyclic(1), cyclic(1)],
    [{ a: undefined }, { a: undefined }],
  ];
  for (const [a, b] of pairs) {
    assertEquals(a, b);
    if (!equal(a, b)) throw new Error("equal() disagrees with assertEquals()");
    fails(() => assertNotEquals(a, b));
  }
});

Deno.test("equal: pairs that differ", () => {
  class A {
    x = 1;
  }
  class B {
    x = 1;
  }
  const pairs: [unknown, unknown][] = [
    [1, 2],
    [1, "1"],
    [null, undefined],
    [{ a: undefined }, {}],
    [{ a: 0 }, { a: null }],
    [[1, 2], [1]],
    [new A(), new B()],
    [new A(), { x: 1 }],
    [new Map([[1, 2]]), new Map([[1, 3]])],
    [new Set([1]), new Set([2])],
    [new Uint8Array([1]), new Int8Array([1])],
    [new Date(5), new Date(6)],
    [new Error("a"), new Error("b")],
    [/a/g, /a/],
    [cyclic(1), cyclic(2)],
  ];
  for (const [a, b] of pairs) {
    assertNotEquals(a, b);
    fails(() => assertEquals(a, b));
  }
});

Deno.test("assertEquals says what differs, and what the caller said", () => {
  const message = fails(() =>
    assertEquals({ size: 768 }, { size: 832 }, "udp")
  );
  for (const part of ["udp", "768", "832"]) assertStringIncludes(message, part);
  // deno-lint-ignore no-control-regex
  assertNotMatch(message, /\x1b/);
});

Deno.test("assertStrictEquals goes by Object.is", () => {
  const x = {};
  assertStrictEquals(x, x);
  assertStrictEquals(NaN, NaN);
  assertNotStrictEquals(x, {});
  fails(() => assertStrictEquals({}, {}));
  fails(() => assertStrictEquals(0, -0));
  fails(() => assertNotStrictEquals(1, 1));
});

Deno.test("assertAlmostEquals is relative by default", () => {
  assertAlmostEquals(1.000000001e-8, 1.000000002e-8);
  assertAlmostEquals(1e9 + 99, 1e9);
  assertAlmostEquals(0.01, 0.02, 0.1);
  assertAlmostEquals(NaN, NaN);
  assertAlmostEquals(Infinity, Infinity);
  fails(() => assertAlmostEquals(1e9 + 101, 1e9));
  fails(() => assertAlmostEquals(1e-8, 1e-9));
  fails(() => assertAlmostEquals(0.01, 0.02));
  fails(() => assertAlmostEquals(NaN, 1));
});

Deno.test("assertThrows returns the error and looks at class and message", () => {
  const boom = () => {
    throw new RangeError("mtu 9 is too small");
  };
  const error: RangeError = assertThrows(boom, RangeError, "too small");
  assertStrictEquals(error.message, "mtu 9 is too small");
  assertInstanceOf(assertThrows(boom), RangeError);
  assertInstanceOf(assertThrows(boom, Error), RangeError);
  fails(() => assertThrows(boom, TypeError));
  fails(() => assertThrows(boom, RangeError, "too large"));
  assertStringIncludes(fails(() => assertThrows(() => 1, "why")), "why");
  fails(() =>
    assertThrows(() => {
      throw 5;
    }, Error)
  );
});

Deno.test("assertRejects resolves to the error", async () => {
  const error = await assertRejects(
    () => Promise.reject(new TypeError("no port")),
    TypeError,
    "port",
  );
  assertStrictEquals(error.message, "no port");
  assertStrictEquals(await assertRejects(() => Promise.reject(5)), 5);
  const failing: (() => Promise<unknown>)[] = [
    () => assertRejects(() => Promise.resolve(1)),
    () => assertRejects(() => Promise.reject(new Error("x")), TypeError),
    () => assertRejects(() => Promise.reject(new Error("x")), Error, "y"),
    () => assertRejects(() => Promise.reject(5), Error),
    () =>
      assertRejects(() => {
        throw new Error("at once");
      }),
  ];
  for (const attempt of failing) {
    assertInstanceOf(await assertRejects(attempt), AssertionError);
  }
});

Deno.test("assertObjectMatch looks at the expected part alone", () => {
  assertObjectMatch({ a: 1, b: { c: 2, d: 3 } }, { b: { c: 2 } });
  assertObjectMatch({ a: [{ x: 1, y: 2 }, 3] }, { a: [{ x: 1 }] });
  assertObjectMatch({ m: new Map([["k", 1], ["l", 2]]) }, {
    m: new Map([["k", 1]]),
  });
  assertObjectMatch(cyclic(1), cyclic(1));
  fails(() => assertObjectMatch({ a: 1 }, { a: 2 }));
  fails(() => assertObjectMatch({ a: 1 }, { b: undefined }));
  fails(() => assertObjectMatch({ a: [1] }, { a: [1, 2] }));
  fails(() => assertObjectMatch({ a: { b: 1 } }, { a: { b: 1, c: 2 } }));
});

Deno.test("assertArrayIncludes compares deeply and names what is missing", () => {
  assertArrayIncludes([1, { a: 2 }, 3], [{ a: 2 }, 1]);
  assertStringIncludes(
    fails(() => assertArrayIncludes([1, 2], [2, 7])),
    "missing: [ 7 ]",
  );
});

Deno.test("the small ones", () => {
  assert(1);
  fails(() => assert(""));
  assertFalse(0);
  fails(() => assertFalse("x"));
  assertExists(0);
  fails(() => assertExists(null));
  assertMatch("skb", /^s/);
  fails(() => assertMatch("skb", /x/));
  fails(() => assertNotMatch("skb", /s/));
  fails(() => assertStringIncludes("skb", "page"));
  fails(() => assertInstanceOf("text", Date));
  assertIsError(new TypeError("x"), Error, /x/);
  fails(() => assertIsError("x"));
  assertGreater(2, 1);
  fails(() => assertGreater(1, 1));
  assertGreaterOrEqual(1n, 1n);
  fails(() => assertGreaterOrEqual(0, 1));
  assertLess(1, 2);
  fails(() => assertLess(2, 2));
  assertLessOrEqual(2, 2);
  fails(() => assertLessOrEqual(3, 2));
  assertStringIncludes(fails(() => fail("here")), "here");
  fails(() => unreachable());
});
