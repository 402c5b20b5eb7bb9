import type { Log } from '../core/log.ts';

/** The log and the metrics of billing. Ids, counts and kinds of errors only. */
export type BillingLog = Pick<Log, 'info' | 'warn' | 'error'>;

/** `quarantine`: a settlement that the database refused, or an unreadable line, was set aside. */
export type BillingFault = 'ledger_quarantine' | 'spool_quarantine' | 'spool_unwritable' | 'invariant_broken';

/** Metrics of billing. */
export interface BillingMetrics {
  /** A fault that an operator has to look at. */
  fault(where: BillingFault): void;
  /** A batch of `operations` was committed. */
  batch?(operations: number): void;
}
