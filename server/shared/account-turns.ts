/** Turns of heavy work: how much of it runs at once, of an account and in this process. */

export interface AccountTurnLimits {
  perAccount: number;
  perProcess: number;
  /** How much of one account's work waits, and the error that refuses more; absent: all of it waits. */
  line?: { max: number; refusal: () => Error };
}

/** Runs work of an account when it is its turn. */
export type AccountTurns = <Answer>(accountId: string, work: () => Promise<Answer>) => Promise<Answer>;

/** Work begins in the order of its arrival, but an account that waits for itself holds up no other. */
export function createAccountTurns({ perAccount, perProcess, line }: AccountTurnLimits): AccountTurns {
  const running: string[] = [];
  const waiting: { accountId: string; begin: () => void }[] = [];
  const isFree = (accountId: string): boolean =>
    running.length < perProcess && running.filter((each) => each === accountId).length < perAccount;

  const beginNext = (): void => {
    for (;;) {
      const index = waiting.findIndex(({ accountId }) => isFree(accountId));
      const [next] = index < 0 ? [] : waiting.splice(index, 1);
      if (next === undefined) return;
      running.push(next.accountId);
      next.begin();
    }
  };

  return async (accountId, work) => {
    if (line !== undefined && !isFree(accountId)) {
      if (waiting.filter((each) => each.accountId === accountId).length >= line.max) throw line.refusal();
    }
    await new Promise<void>((begin) => {
      waiting.push({ accountId, begin });
      beginNext();
    });
    try {
      return await work();
    } finally {
      running.splice(running.indexOf(accountId), 1);
      beginNext();
    }
  };
}
