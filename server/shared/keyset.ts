/**
 * Pages of lists that are sorted by time and id. A page begins behind a row, not at a number of rows, so that rows that
 * come in meanwhile neither repeat nor hide others.
 */

/** Where a row stands in its list. */
export interface Keyset {
  /** Exact in milliseconds, like the columns of time. */
  at: Date;
  /** What orders the rows of the same time. */
  ids: readonly string[];
}

/** Which rows of a list are read. */
export interface KeysetRange {
  limit: number;
  /** The row before the first one; null: from the beginning. */
  after: Keyset | null;
}
