/** Seeded random numbers: the same on every machine. @module */

/**
 * The linear congruential generator of Numerical Recipes, with the constants and the seeding of d3-random's `randomLcg`,
 * so that the two give the same sequence.
 *
 * @param seed Any finite number; one from 0 to below 1 is taken as a share of 2^32, another by its whole part.
 * @returns A function that gives the next number, from 0 to below 1.
 */
export function randomLcg(seed: number): () => number {
  let state = 0 <= seed && seed < 1
    ? seed * 0x1_0000_0000 | 0
    : Math.abs(seed) | 0;
  return () => {
    state = (Math.imul(1_664_525, state) + 1_013_904_223) | 0;
    return (state >>> 0) / 0x1_0000_0000;
  };
}
