import { assertEquals } from "@std/assert";
// @ts-types="npm:@types/d3-format@3.0.4"
import { formatLocale } from "d3-format";
import { randomLcg } from "d3-random";
import {
  decimals,
  grouped,
  rounded,
  signedPercent,
  significant,
} from "../../lib/table/number.ts";

const d3 = formatLocale({
  decimal: ".",
  thousands: ",",
  grouping: [3],
  currency: ["", ""],
  minus: "-",
});

/** Numbers of all sizes and signs, and the ones next to where the notation changes. */
function numbers(): number[] {
  const random = randomLcg(0.31);
  const made = Array.from({ length: 5_000 }, () => {
    const size = 10 ** (-9 + 24 * random());
    return (random() < 0.5 ? -1 : 1) * size;
  });
  return [...made, 0, -0, 0.5, -0.4, 999.95, -999.95, 1000, 1e-6, 1e-7, 123e5];
}

Deno.test("grouped writes what d3-format's ,.Nf writes", () => {
  for (const value of numbers()) {
    for (const digits of [0, 1, 2, 5, 12]) {
      assertEquals(grouped(value, digits), d3.format(`,.${digits}f`)(value));
    }
  }
});

Deno.test("significant writes what d3-format's .2~g writes below one", () => {
  for (const value of numbers().filter((value) => Math.abs(value) < 1)) {
    if (value !== 0) {
      assertEquals(significant(value, 2), d3.format(".2~g")(value));
    }
  }
});

Deno.test("rounded writes what d3-format's ,.Nr writes", () => {
  for (const value of numbers()) {
    for (const digits of [1, 3]) {
      assertEquals(rounded(value, digits), d3.format(`,.${digits}r`)(value));
    }
  }
});

Deno.test("a signed percent keeps a digit where it rounds to nothing", () => {
  assertEquals(signedPercent(0), "0%");
  for (const value of numbers().filter((value) => value !== 0)) {
    const spec = Math.abs(value) < 0.05 ? "+.1r" : "+,.1f";
    assertEquals(signedPercent(value), `${d3.format(spec)(value)}%`);
  }
});

Deno.test("decimals counts the digits behind the point of the shortest form", () => {
  const counted = [1, 1.5, -0.25, 1e-7, 1.5e-7, 1e21, 0].map(decimals);
  assertEquals(counted, [0, 1, 2, 7, 8, 0, 0]);
});
