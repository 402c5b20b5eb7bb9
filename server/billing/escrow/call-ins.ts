import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { callOthers } from '../lane/statements.ts';
import type { Escrows } from './escrows.ts';

/**
 * Calls in the idle money of an account, from this process and from others, and asks again until the answer changes or
 * the delays are over.
 */
export interface CallIns {
  after<T>(accountId: string, again: () => Promise<T>, isFinal: (answer: T) => boolean): Promise<T>;
}

/** Delays of the questions: how long other processes have to return idle money. */
const waitsMs = [20, 50, 100, 150];
/** How long an account is not called in again after that was in vain. */
const pauseMs = 1_000;
const maxInVain = 1_000;

export function createCallIns(pool: Pool, processId: string, escrows: Escrows): CallIns {
  /** Accounts whose last call-in was in vain, and until when they are not called in again. Monotonic milliseconds. */
  const inVain = new Map<string, number>();

  const callOthersOf = async (accountId: string): Promise<number> => {
    try {
      const { text, values } = callOthers(processId, accountId);
      const { rows } = await pool.query<{ count: string | bigint }>(text, [...values]);
      return Number(rows[0]?.count ?? 0);
    } catch {
      return 0;
    }
  };

  return {
    async after(accountId, again, isFinal) {
      escrows.callIn(accountId);
      const others = (inVain.get(accountId) ?? 0) > performance.now() ? 0 : await callOthersOf(accountId);
      let answer = await again();
      for (const waitMs of others === 0 ? [] : waitsMs) {
        if (isFinal(answer)) return answer;
        await delay(waitMs, undefined, { ref: false });
        answer = await again();
      }
      if (others > 0 && !isFinal(answer)) {
        if (inVain.size > maxInVain) inVain.clear();
        inVain.set(accountId, performance.now() + pauseMs);
      }
      return answer;
    },
  };
}
