import { AssertionError, format, suffix } from "./error.ts";

/**
 * Asserts that two numbers are almost equal: they differ by no more than
 * `tolerance`, which by default is 1e-7 of the expected value's size.
 */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  msg?: string,
): void {
  if (Object.is(actual, expected)) return;
  const delta = Math.abs(expected - actual);
  const allowed = tolerance ??
    (Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7);
  if (delta <= allowed) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to be close to "${expected}": ` +
      `delta "${delta}" is greater than "${allowed}"${suffix(msg)}`,
  );
}

/** Asserts `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  compare(actual > expected, actual, ">", expected, msg);
}

/** Asserts `actual >= expected`. */
export function assertGreaterOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  compare(actual >= expected, actual, ">=", expected, msg);
}

/** Asserts `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  compare(actual < expected, actual, "<", expected, msg);
}

/** Asserts `actual <= expected`. */
export function assertLessOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  compare(actual <= expected, actual, "<=", expected, msg);
}

function compare(
  holds: boolean,
  actual: unknown,
  operator: string,
  expected: unknown,
  msg: string | undefined,
): void {
  if (holds) return;
  throw new AssertionError(
    `Expect ${format(actual)} ${operator} ${format(expected)}${suffix(msg)}`,
  );
}
