import { assertEquals, equal } from "./equals.ts";
import { AssertionError, format, suffix } from "./error.ts";

/** Asserts that an array holds every expected value, by deep equality. */
export function assertArrayIncludes<T>(
  actual: ArrayLike<T> & object,
  expected: ArrayLike<T> & object,
  msg?: string,
): void {
  const held = Array.from(actual);
  const missing = Array.from(expected).filter((x) =>
    !held.some((y) => equal(x, y))
  );
  if (missing.length === 0) return;
  throw new AssertionError(
    `Expected actual: ${format(actual)} to include: ${format(expected)}${
      suffix(msg)
    }\n` +
      `missing: ${format(missing)}`,
  );
}

/** Asserts that `actual` holds at least what `expected` does, deeply. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  if (matches(actual, expected, new Map())) return;
  assertEquals<unknown>(actual, expected, msg);
  throw new AssertionError(`Expected an object to match${suffix(msg)}`);
}

function matches(
  actual: unknown,
  expected: unknown,
  seen: Map<unknown, unknown>,
): boolean {
  if (!isObject(actual) || !isObject(expected)) return equal(actual, expected);
  if (seen.get(actual) === expected) return true;
  seen.set(actual, expected);
  if (expected instanceof RegExp || expected instanceof Date) {
    return equal(actual, expected);
  }
  if (expected instanceof Map) {
    return actual instanceof Map &&
      [...expected].every(([k, v]) =>
        actual.has(k) && matches(actual.get(k), v, seen)
      );
  }
  if (expected instanceof Set) {
    return actual instanceof Set && [...expected].every((v) => actual.has(v));
  }
  if (Array.isArray(expected) !== Array.isArray(actual)) return false;
  // An array's own "length" is a key too, and more elements are allowed.
  const keys = Array.isArray(expected)
    ? Object.keys(expected)
    : Reflect.ownKeys(expected);
  return keys.every((key) =>
    Object.hasOwn(actual, key) && matches(actual[key], expected[key], seen)
  );
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null;
}
