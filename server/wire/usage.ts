/** Five disjoint token pools. Whole numbers, never negative. */
export interface Usage {
  /** New context, not served from and not written to a cache. */
  input: number;
  cacheHit: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Generated tokens, reasoning included. */
  output: number;
}
