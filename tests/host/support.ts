/** Fixtures of hosts' output, see tests/fixtures/host/README.md. */

const FOLDER = new URL("../fixtures/host/", import.meta.url);

export const text = (name: string): string =>
  Deno.readTextFileSync(new URL(name, FOLDER));

export const bytes = (name: string): Uint8Array<ArrayBuffer> =>
  Deno.readFileSync(new URL(name, FOLDER));

/** A table with names from the input has no prototype; a plain copy compares equal to a literal. */
export const plain = <T>(record: Record<string, T>): Record<string, T> => ({
  ...record,
});
