/**
 * A stand-in for the `@std/assert` package of JSR, for machines that cannot
 * reach it: the same names and documented semantics, over Node's own deep
 * comparison. `deno.json` links it; without that line the real package is used.
 *
 * @module
 */

export { AssertionError } from "./error.ts";
export { assertEquals, assertNotEquals, equal } from "./equals.ts";
export { assertArrayIncludes, assertObjectMatch } from "./includes.ts";
export {
  assertIsError,
  assertRejects,
  assertThrows,
  type ErrorType,
} from "./throws.ts";
export {
  assertAlmostEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLess,
  assertLessOrEqual,
} from "./numbers.ts";
export {
  type AnyClass,
  assert,
  assertExists,
  assertFalse,
  assertInstanceOf,
  assertMatch,
  assertNotMatch,
  assertNotStrictEquals,
  assertStrictEquals,
  assertStringIncludes,
  fail,
  unreachable,
} from "./values.ts";
