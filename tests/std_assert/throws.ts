import { stripVTControlCharacters } from "node:util";
import { AssertionError, suffix } from "./error.ts";

/** The class of an error, possibly abstract. */
// deno-lint-ignore no-explicit-any
export type ErrorType<E extends Error> = abstract new (...args: any[]) => E;

/** Asserts that a value is an error of a class, whose message holds a text. */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: ErrorType<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) {
    throw new AssertionError(
      `Expected "error" to be an Error object${suffix(msg)}`,
    );
  }
  if (ErrorClass && !(error instanceof ErrorClass)) {
    throw new AssertionError(
      `Expected error to be instance of "${ErrorClass.name}", ` +
        `but was "${error.constructor?.name}"${suffix(msg)}`,
    );
  }
  if (!msgMatches) return;
  const text = stripVTControlCharacters(error.message);
  const found = typeof msgMatches === "string"
    ? text.includes(stripVTControlCharacters(msgMatches))
    : msgMatches.test(text);
  if (!found) {
    const wanted = typeof msgMatches === "string"
      ? JSON.stringify(msgMatches)
      : msgMatches;
    throw new AssertionError(
      `Expected error message to include ${wanted}, ` +
        `but got ${JSON.stringify(error.message)}${suffix(msg)}`,
    );
  }
}

/** Asserts that a function throws, and returns what it threw. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Asserts that a function throws an error of a class, and returns it. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorType<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows<E extends Error>(
  fn: () => unknown,
  classOrMsg?: ErrorType<E> | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  const said = typeof classOrMsg === "string" ? classOrMsg : msg;
  let thrown: unknown;
  try {
    fn();
  } catch (error) {
    thrown = error;
    return checked(thrown, classOrMsg, msgIncludes, said, "thrown");
  }
  throw new AssertionError(`Expected function to throw${suffix(said)}`);
}

/** Asserts that a function's promise rejects, and resolves to the reason. */
export function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
/** Asserts that a function's promise rejects with an error of a class. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorType<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects<E extends Error>(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: ErrorType<E> | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const said = typeof classOrMsg === "string" ? classOrMsg : msg;
  let promise: PromiseLike<unknown> | undefined;
  try {
    promise = fn();
  } catch {
    // Told apart below: to throw at once is not to reject.
  }
  if (typeof promise?.then !== "function") {
    throw new AssertionError(
      `Function throws when expected to reject${suffix(said)}`,
    );
  }
  try {
    await promise;
  } catch (error) {
    return checked(error, classOrMsg, msgIncludes, said, "rejected");
  }
  throw new AssertionError(`Expected function to reject${suffix(said)}`);
}

function checked<E extends Error>(
  error: unknown,
  classOrMsg: ErrorType<E> | string | undefined,
  msgIncludes: string | undefined,
  said: string | undefined,
  how: string,
): unknown {
  if (typeof classOrMsg === "string") return error;
  if (classOrMsg === undefined) return error;
  if (!(error instanceof Error)) {
    throw new AssertionError(`A non-Error object was ${how}${suffix(said)}`);
  }
  assertIsError(error, classOrMsg, msgIncludes, said);
  return error;
}
