import { type AccountTurns, createAccountTurns } from '../../shared/account-turns.ts';
import { BusyError } from '../types/errors.ts';

/** Who waits when too much is asked at once: operations, and among them reports. `connection-shares.ts`: their queries. */

/**
 * Reads that add up many rows: less than half of the connections that pages share. A page asks for a few at once, so some of
 * an account wait.
 */
export const createReportTurns = (): AccountTurns =>
  createAccountTurns({ perAccount: 2, perProcess: 4, line: { max: 8, refusal: () => new BusyError() } });

/**
 * Operations that run at once: a page begins about eight. Those of one principal beyond that wait for each other, and a
 * few dozen more are refused.
 */
export const createOperationTurns = (): AccountTurns =>
  createAccountTurns({ perAccount: 6, perProcess: 64, line: { max: 60, refusal: () => new BusyError() } });
