/** Randomness that a seed repeats: every decision of the prover comes from here, none from the computer. */

/** A stream of random values. */
export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
}

/** The stream of a seed and a purpose; equal ones give equal values (mulberry32). */
export function seeded(seed: number, purpose: string): Random {
  let state = [...purpose].reduce((hash, character) => {
    return Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }, seed ^ 0x811c9dc5);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { below: (limit) => Math.floor(next() * limit), chance: (probability) => next() < probability };
}
