/**
 * Waiting with a limit, without leaving timers behind.
 *
 * @module
 */

/** Waits for a time in ms. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Whether the promise is fulfilled within the time; rejects if the promise does. */
export async function endsWithin(
  promise: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The promise's value, or the error of `onLate` if that takes too long. */
export async function withTimeLimit<T>(
  promise: Promise<T>,
  ms: number,
  onLate: () => Error,
): Promise<T> {
  if (!await endsWithin(promise, ms)) throw onLate();
  return await promise;
}
