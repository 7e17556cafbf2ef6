import { assertEquals } from "@std/assert";
import { randomLcg as d3RandomLcg } from "d3-random";
import { randomLcg } from "../../lib/sim/random.ts";

Deno.test("a seed gives the sequence that it gives in d3-random", () => {
  for (const seed of [0, 0.42, 0.999_999, 1, 7, -7, 2 ** 31, 1e12 + 0.5]) {
    const [ours, theirs] = [randomLcg(seed), d3RandomLcg(seed)];
    for (let i = 0; i < 1_000; i++) {
      assertEquals(ours(), theirs(), `seed ${seed}, number ${i}`);
    }
  }
});
