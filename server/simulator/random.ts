/** Seeded random numbers: the same seed gives the same ids, answers and splits. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  integer(below: number): number;
  /** `length` letters and digits, for ids in the vendors' style. */
  id(length: number): string;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Mulberry32: small and good enough to vary a simulation. Never use it for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (below: number): number => Math.floor(next() * below);
  return {
    next,
    integer,
    id(length) {
      let id = '';
      for (let index = 0; index < length; index += 1) id += ALPHABET[integer(ALPHABET.length)];
      return id;
    },
  };
}
