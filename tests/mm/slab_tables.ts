/** Reads the tables of tests/fixtures/slab_traces.md. */

const TEXT = Deno.readTextFileSync(
  new URL("../fixtures/slab_traces.md", import.meta.url),
);

/** A table with the heading above it; a row by column names. */
export interface TraceTable {
  /** The `####` heading, without it. */
  readonly heading: string;
  /** Rows: text by column name. */
  readonly rows: Record<string, string>[];
}

/** The text from a heading to the next one of its level. */
export function section(heading: string): string {
  const from = TEXT.indexOf(heading);
  if (from < 0) throw new Error(`no section "${heading}"`);
  const to = TEXT.indexOf("\n## ", from + heading.length);
  return TEXT.slice(from, to < 0 ? undefined : to);
}

const cells = (line: string): string[] =>
  line.split("|").slice(1, -1).map((cell) => cell.trim());

/** The tables of a text. */
export function tables(text: string): TraceTable[] {
  const found: TraceTable[] = [];
  let heading = "";
  let columns: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("#### ")) heading = line.slice(5);
    if (!line.startsWith("|")) {
      columns = [];
    } else if (columns.length === 0) {
      columns = cells(line);
      found.push({ heading, rows: [] });
    } else if (!line.startsWith("|--")) {
      const values = cells(line);
      found.at(-1)!.rows.push(
        Object.fromEntries(columns.map((name, i) => [name, values[i]!])),
      );
    }
  }
  return found;
}
