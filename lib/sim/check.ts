/**
 * Checks of what users pass: a clear error that names the argument, its value and what is allowed.
 *
 * @module
 */

/**
 * A whole number within bounds.
 *
 * @param name The argument.
 * @param value What was passed.
 * @param from Least value.
 * @param to Greatest value.
 * @param who The function that was called, for the message; none if empty.
 * @throws {RangeError} It is no whole number within the bounds.
 * @throws {TypeError} It is no number.
 */
export function whole(
  name: string,
  value: unknown,
  from: number,
  to: number,
  who = "",
): number {
  if (
    typeof value === "number" && Number.isInteger(value) && value >= from &&
    value <= to
  ) return value;
  return refuse(name, value, from, to, who);
}

// Apart, so that the check stays small enough to be inlined.
function refuse(
  name: string,
  value: unknown,
  from: number,
  to: number,
  who: string,
): never {
  const argument = who === "" ? name : `${who}(): ${name}`;
  if (typeof value !== "number") {
    throw new TypeError(
      `${argument} must be a number, got ${typeof value} ${String(value)}`,
    );
  }
  throw new RangeError(
    `${argument} ${value}: a whole number from ${from} to ${to} is allowed`,
  );
}

/**
 * A power of two within bounds.
 *
 * @param name The argument.
 * @param value What was passed.
 * @param from Least value.
 * @param to Greatest value.
 * @throws {RangeError} It is none within the bounds.
 * @throws {TypeError} It is no number.
 */
export function powerOfTwo(
  name: string,
  value: number,
  from: number,
  to: number,
): number {
  whole(name, value, from, to);
  if ((value & (value - 1)) !== 0) {
    throw new RangeError(`${name} ${value}: a power of two is allowed`);
  }
  return value;
}

/** A share from 0 to 1. */
export function share(name: string, value: number): number {
  if (!(typeof value === "number" && value >= 0 && value <= 1)) {
    throw new RangeError(
      `${name} ${String(value)}: a number from 0 to 1 is allowed`,
    );
  }
  return value;
}

/** A seed. */
export function finite(name: string, value: number): number {
  if (!Number.isFinite(value)) {
    throw new RangeError(
      `${name} ${String(value)}: a finite number is allowed`,
    );
  }
  return value;
}

/** A function, or nothing. */
export function hook<T>(name: string, value: T | undefined): T | undefined {
  if (value !== undefined && typeof value !== "function") {
    throw new TypeError(`${name}: a function is allowed`);
  }
  return value;
}

/** A boolean. */
export function flag(name: string, value: boolean): boolean {
  if (typeof value !== "boolean") {
    throw new TypeError(`${name} ${String(value)}: true or false is allowed`);
  }
  return value;
}

/**
 * An options object.
 *
 * @param value What was passed.
 * @param who The function that was called.
 * @throws {TypeError} It is no object.
 */
export function optionsObject(value: unknown, who: string): void {
  if (typeof value !== "object" || value === null) {
    throw new TypeError(
      `${who}(): options must be an object, got ${String(value)}`,
    );
  }
}

/**
 * A kernel.
 *
 * @param value What was passed.
 * @param who The function that was called.
 * @throws {TypeError} It is none.
 */
export function kernelArgument(value: unknown, who: string): void {
  // The facts make a kernel; a spread copy of one, without its methods, will do.
  const kernel = value as
    | { build?: unknown; page?: unknown }
    | null
    | undefined;
  if (typeof kernel?.build !== "object" || typeof kernel.page !== "object") {
    throw new TypeError(
      `${who}(): kernel must be a kernel, as kernel("6.18") gives, got ${
        String(value)
      }`,
    );
  }
}
