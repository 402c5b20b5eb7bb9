import type { Pool } from 'pg';
import type { Principal } from '../../keys/keyring.ts';

/**
 * Requests at once of keys and accounts that set themselves a maximum, exact across processes: each process keeps how many
 * it runs in one row of the subject, and claims more under its lock. A process whose lease has ended runs nothing. Others
 * cost nothing; `slots.ts` has the service's own limits, which are counted by process.
 */
export interface Concurrency {
  /** Null: no such maximum applies. */
  take(principal: Principal): Promise<Running | ConcurrencyFull> | null;
}

/** A request that counts as running until it is given back, once. */
export interface Running {
  kind: 'running';
  give(): void;
}

export interface ConcurrencyFull {
  kind: 'full';
  of: 'key' | 'account';
  limit: number;
}

interface Subject {
  max: number;
  running: number;
  /** As the row has it. */
  reported: number;
  waiting: { resolve(granted: boolean): void; reject(error: unknown): void }[];
  isClaiming: boolean;
}

/** The pause before a count that could not be reported is reported again. */
const retryMs = 1_000;

export function createConcurrency({ pool, processId }: { pool: Pick<Pool, 'query'>; processId: string }): Concurrency {
  const subjects = new Map<string, Subject>();

  const claim = async (id: string, subject: Subject): Promise<void> => {
    const { waiting, running, max } = subject;
    subject.waiting = [];
    try {
      const { rows } = await pool.query<{ granted: number }>({
        name: 'running_requests.claim',
        text: 'SELECT claim_running($1, $2, $3, $4, $5) AS granted',
        values: [id, processId, running, waiting.length, max],
      });
      const granted = rows[0]?.granted ?? 0;
      subject.reported = running + granted;
      subject.running += granted;
      for (const [index, { resolve }] of waiting.entries()) resolve(index < granted);
    } catch (error) {
      // Whether it was counted is unknown: the next report says how many run.
      subject.reported = Number.NaN;
      for (const { reject } of waiting) reject(error);
      if (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
    }
  };

  const run = async (id: string, subject: Subject): Promise<void> => {
    if (subject.isClaiming) return;
    subject.isClaiming = true;
    while (subject.waiting.length > 0 || subject.reported !== subject.running) await claim(id, subject);
    subject.isClaiming = false;
    if (subject.running === 0) subjects.delete(id);
  };

  const takeOne = async (id: string, max: number): Promise<(() => void) | null> => {
    const subject = subjects.get(id) ?? { max, running: 0, reported: 0, waiting: [], isClaiming: false };
    subject.max = max;
    subjects.set(id, subject);
    const granted = await new Promise<boolean>((resolve, reject) => {
      subject.waiting.push({ resolve, reject });
      void run(id, subject);
    });
    if (!granted) return null;
    return () => {
      subject.running -= 1;
      void run(id, subject);
    };
  };

  const takeAll = async (
    limits: readonly { of: ConcurrencyFull['of']; id: string; max: number }[],
  ): Promise<Running | ConcurrencyFull> => {
    const taken: (() => void)[] = [];
    const give = (): void => {
      for (const each of taken.splice(0)) each();
    };
    try {
      for (const { of, id, max } of limits) {
        const one = await takeOne(id, max);
        if (one === null) {
          give();
          return { kind: 'full', of, limit: max };
        }
        taken.push(one);
      }
      return { kind: 'running', give };
    } catch (error) {
      give();
      throw error;
    }
  };

  return {
    take({ keyId, accountId, maxConcurrent, account }) {
      const limits: { of: ConcurrencyFull['of']; id: string; max: number }[] = [];
      if (maxConcurrent !== null) limits.push({ of: 'key', id: keyId, max: maxConcurrent });
      const ofAccount = account?.maxConcurrent ?? null;
      if (ofAccount !== null) limits.push({ of: 'account', id: accountId, max: ofAccount });
      return limits.length === 0 ? null : takeAll(limits);
    },
  };
}
