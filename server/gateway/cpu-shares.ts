import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/**
 * CpuShares the event loop among long computations: one slice of a few milliseconds in each turn of the loop, account by
 * account, and no more CPU time for an account or for all than their budgets say.
 */
export interface CpuShares {
  /** For one computation of an account. */
  open(accountId: string): CpuSlices;
}

/** The slices of one computation. */
export interface CpuSlices {
  /** Waits for the next slice. False: the budget is used up; what follows must be cheap, and still in slices. */
  next(): Promise<boolean>;
  /** The slice has lasted long enough. */
  isOver(): boolean;
  end(): void;
}

/** A budget fills up evenly to its burst. Milliseconds of CPU time. */
interface Budget {
  leftMs: number;
  at: number;
}

export interface CpuSharesParts {
  sliceMs?: number;
  account?: { msPerSecond: number; burstMs: number };
  total?: { msPerSecond: number; burstMs: number };
  /** Monotonic milliseconds. */
  now?: () => number;
}

export function createCpuShares({
  sliceMs = 4,
  account = { msPerSecond: 100, burstMs: 2_000 },
  total = { msPerSecond: 300, burstMs: 4_000 },
  now = () => performance.now(),
}: CpuSharesParts = {}): CpuShares {
  const accounts = new Map<string, Budget>();
  const all: Budget = { leftMs: total.burstMs, at: now() };
  /** Computations that wait for a slice, by account; the account that waits longest is the first. */
  const waiting = new Map<string, (() => void)[]>();
  let isPumping = false;

  const filled = (budget: Budget, { msPerSecond, burstMs }: typeof total): Budget => {
    budget.leftMs = Math.min(burstMs, budget.leftMs + ((now() - budget.at) / 1_000) * msPerSecond);
    budget.at = now();
    return budget;
  };
  const budgetOf = (accountId: string): Budget => {
    const known = accounts.get(accountId);
    if (known !== undefined) return filled(known, account);
    if (accounts.size >= 10_000) {
      for (const [id, budget] of accounts) if (filled(budget, account).leftMs >= account.burstMs) accounts.delete(id);
    }
    const budget = { leftMs: account.burstMs, at: now() };
    accounts.set(accountId, budget);
    return budget;
  };

  const pump = async (): Promise<void> => {
    isPumping = true;
    while (waiting.size > 0) {
      await yieldToEventLoop();
      const first = waiting.entries().next().value;
      if (first === undefined) break;
      const [accountId, queue] = first;
      const begin = queue.shift();
      waiting.delete(accountId);
      if (queue.length > 0) waiting.set(accountId, queue);
      begin?.();
    }
    isPumping = false;
  };

  return {
    open(accountId) {
      let beganAt: number | null = null;
      const pay = (): void => {
        if (beganAt === null) return;
        const usedMs = now() - beganAt;
        beganAt = null;
        budgetOf(accountId).leftMs -= usedMs;
        filled(all, total).leftMs -= usedMs;
      };
      return {
        async next() {
          pay();
          await new Promise<void>((resolve) => {
            const queue = waiting.get(accountId);
            if (queue === undefined) waiting.set(accountId, [resolve]);
            else queue.push(resolve);
            if (!isPumping) void pump();
          });
          beganAt = now();
          return budgetOf(accountId).leftMs > 0 && filled(all, total).leftMs > 0;
        },
        isOver: () => beganAt === null || now() - beganAt >= sliceMs,
        end: pay,
      };
    },
  };
}
