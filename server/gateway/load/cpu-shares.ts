import { createLoopTurns } from '../../shared/loop-turns.ts';

/**
 * Shares the event loop among long computations: one slice of a few milliseconds per turn of the loop, round-robin over
 * accounts, within CPU budgets per account and in total.
 */
export interface CpuShares {
  /** Opens the slices of one computation of an account. */
  open(accountId: string): CpuSlices;
}

/** The slices of one computation. */
export interface CpuSlices {
  /** Waits for the next slice. False: the budget is used up; the rest must be cheap, and still run in slices. */
  next(): Promise<boolean>;
  /** Whether the current slice has used its time. */
  isOver(): boolean;
  end(): void;
}

/** A token bucket of CPU milliseconds. */
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
  const turns = createLoopTurns();

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
          await turns.next(accountId);
          beganAt = now();
          return budgetOf(accountId).leftMs > 0 && filled(all, total).leftMs > 0;
        },
        isOver: () => beganAt === null || now() - beganAt >= sliceMs,
        end: pay,
      };
    },
  };
}
