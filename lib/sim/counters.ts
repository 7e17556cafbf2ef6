/**
 * Counters by name: what they moved by.
 *
 * @module
 */

/**
 * What counters moved by since a snapshot.
 *
 * @param counters The counters as they stand.
 * @param before A snapshot of them: `{ ...counters }`.
 * @returns The difference by name.
 */
export function counted(
  counters: object,
  before: object,
): Record<string, number> {
  const from = before as Readonly<Record<string, number>>;
  return Object.fromEntries(
    Object.entries(counters as Readonly<Record<string, number>>).map(
      ([name, value]) => [name, value - (from[name] ?? 0)],
    ),
  );
}
