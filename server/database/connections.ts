/** The most connections that a process holds to the database, by what uses them. `server/README.md` states the sums. */
export const connections = {
  /** Keys, the catalog and pages of model traffic. */
  app: 10,
  /** The queries of the domains behind GraphQL. */
  control: 6,
  prisma: 5,
  /**
   * Admission and settlement: the ledger keeps three (two lanes, the witness), the nightly check of all accounts takes two, and
   * one is left for balances.
   */
  lane: 6,
  /** The schedule. */
  jobs: 3,
  /** Hears of changes. */
  changes: 1,
} as const;

/** Those that need PostgreSQL itself where `DATABASE_URL` is a pooler: they listen, lock or name statements. */
export const directConnections = connections.lane + connections.jobs + connections.changes;
