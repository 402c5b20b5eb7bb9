/** Turns of the reads that add up many rows: how many run at once, of an account and in this process. */

import { BusyError } from './errors.ts';

export interface ReportTurns {
  /** Runs the read when it is its turn. Throws `BusyError` when too many of the account wait already. */
  run<Answer>(accountId: string, read: () => Promise<Answer>): Promise<Answer>;
}

export interface ReportLimits {
  perAccount: number;
  perProcess: number;
  /** Of one account; a page asks for a few at once. */
  maxWaiting: number;
}

/** Less than half of the connections that pages share. */
const defaultReportLimits: ReportLimits = { perAccount: 2, perProcess: 4, maxWaiting: 8 };

interface Waiting {
  accountId: string;
  begin: () => void;
}

export function createReportTurns({
  perAccount,
  perProcess,
  maxWaiting,
}: ReportLimits = defaultReportLimits): ReportTurns {
  const running: string[] = [];
  const waiting: Waiting[] = [];
  const of = (accountId: string) => running.filter((each) => each === accountId).length;
  const isFree = (accountId: string) => running.length < perProcess && of(accountId) < perAccount;

  const begun = (accountId: string): Promise<void> | void => {
    const line = waiting.filter((each) => each.accountId === accountId).length;
    if (line === 0 && isFree(accountId)) {
      running.push(accountId);
      return undefined;
    }
    if (line >= maxWaiting) throw new BusyError();
    return new Promise((begin) => waiting.push({ accountId, begin }));
  };

  const end = (accountId: string): void => {
    running.splice(running.indexOf(accountId), 1);
    // The first whose account has room: an account that waits for itself holds up no other.
    const index = waiting.findIndex((each) => isFree(each.accountId));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    running.push(next.accountId);
    next.begin();
  };

  return {
    async run(accountId, read) {
      await begun(accountId);
      try {
        return await read();
      } finally {
        end(accountId);
      }
    },
  };
}
