/** Where billing writes what happened. Ids, counts and kinds of errors only. */
export interface BillingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What billing counts. */
export interface BillingMetrics {
  /** Something that a person has to look at: `ledger_quarantine`, `spool_unwritable`, `invariant_broken`. */
  fault(where: string): void;
  /** So many operations were committed together. */
  batch?(operations: number): void;
}
