import { inspect } from "node:util";

/** What every failed assertion throws. */
export class AssertionError extends Error {
  /** Makes an error with a message, and optionally its cause. */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}

/** Ends a message with what the caller had to say, or with a full stop. */
export function suffix(msg: string | undefined): string {
  return msg ? `: ${msg}` : ".";
}

/** Prints a value for a message, in full depth and without colours. */
export function format(value: unknown): string {
  return inspect(value, { depth: 20, maxArrayLength: 200, sorted: true });
}
