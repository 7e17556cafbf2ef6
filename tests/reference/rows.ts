/** Reads the measured rows and counts how many the model meets. */

import { assertEquals } from "@std/assert";

/** Truesize of a run of payloads: `t0 + slope * (p - p0)` for p0..p1. */
export type Segment = [p0: number, p1: number, t0: number, slope: number];

/** One measured path. */
export interface MeasuredPath {
  note: string;
  segments: Segment[];
  missing?: [payload: number, errno: number][];
}

/** A fixture's content. */
export function fixture<T>(name: string): T {
  return JSON.parse(
    Deno.readTextFileSync(new URL(`../fixtures/${name}`, import.meta.url)),
  );
}

/** Counts rows and keeps the first disagreements for the message. */
export class Tally {
  checked = 0;
  agreeing = 0;
  readonly wrong: string[] = [];

  row(name: () => string, actual: unknown, expected: unknown): void {
    this.checked++;
    if (JSON.stringify(actual) === JSON.stringify(expected)) {
      this.agreeing++;
    } else if (this.wrong.length < 5) {
      this.wrong.push(
        `${name()}: model ${JSON.stringify(actual)}, kernel ${
          JSON.stringify(expected)
        }`,
      );
    }
  }

  /** Prints `file: N rows checked / M agreeing` and fails unless all agree. */
  done(file: string): void {
    console.log(
      `${file}: ${this.checked} rows checked / ${this.agreeing} agreeing`,
    );
    assertEquals(this.wrong, []);
    assertEquals(this.agreeing, this.checked);
  }
}

/** Checks every payload of every segment. */
export function checkSegments(
  tally: Tally,
  name: string,
  segments: readonly Segment[],
  truesize: (payload: number) => number,
): void {
  for (const [p0, p1, t0, slope] of segments) {
    for (let p = p0; p <= p1; p++) {
      tally.row(
        () => `${name}, payload ${p}`,
        truesize(p),
        t0 + slope * (p - p0),
      );
    }
  }
}
