/** Where billing writes what happened. Ids, counts and kinds of errors only. */
export interface BillingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** `quarantine`: a settlement that the database refused, or a line that cannot be read, was set aside. */
export type BillingFault = 'ledger_quarantine' | 'spool_quarantine' | 'spool_unwritable' | 'invariant_broken';

/** What billing counts. */
export interface BillingMetrics {
  /** Something that a person has to look at. */
  fault(where: BillingFault): void;
  /** So many operations were committed together. */
  batch?(operations: number): void;
}
