import { AssertionError as NodeAssertionError } from "node:assert";
import { isDeepStrictEqual, stripVTControlCharacters } from "node:util";
import { AssertionError, format, suffix } from "./error.ts";

/**
 * Whether two values are deeply equal. Like the real package and unlike Node:
 * `0` equals `-0`, and an object without prototype equals a plain one.
 */
export function equal(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b) ||
    isDeepStrictEqual(plain(a, new Map()), plain(b, new Map()));
}

/** Asserts that two values are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  throw new AssertionError(
    `Values are not equal${suffix(msg)}\n${difference(actual, expected)}`,
  );
}

/** Asserts that two values are not deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  throw new AssertionError(
    `Expected actual: ${format(actual)} not to be: ${format(expected)}${
      suffix(msg)
    }`,
  );
}

function difference(actual: unknown, expected: unknown): string {
  const { message } = new NodeAssertionError({
    actual,
    expected,
    operator: "deepStrictEqual",
  });
  return stripVTControlCharacters(message);
}

/** A copy that forgets what Node tells apart and the real package does not. */
function plain(value: unknown, seen: Map<object, unknown>): unknown {
  if (value === 0) return 0;
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  if (value instanceof Float32Array || value instanceof Float64Array) {
    return value.map((x) => x === 0 ? 0 : x);
  }
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof Map) {
    const copy = new Map();
    seen.set(value, copy);
    for (const [k, v] of value) copy.set(plain(k, seen), plain(v, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = new Set();
    seen.set(value, copy);
    for (const v of value) copy.add(plain(v, seen));
    return copy;
  }
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === null || prototype === Object.prototype;
  if (!isPlain && Object.keys(value).length === 0) return value;
  if (value instanceof Error || ArrayBuffer.isView(value)) return value;
  const copy: Record<PropertyKey, unknown> = Array.isArray(value)
    ? new Array(value.length)
    : Object.create(isPlain ? Object.prototype : prototype);
  seen.set(value, copy);
  for (const key of Reflect.ownKeys(value)) {
    if (!Object.prototype.propertyIsEnumerable.call(value, key)) continue;
    copy[key] = plain((value as Record<PropertyKey, unknown>)[key], seen);
  }
  return copy;
}
