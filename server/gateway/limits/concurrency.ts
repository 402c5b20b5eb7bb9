import type { Pool } from 'pg';
import type { Principal } from '../../keys/keyring.ts';
import { type ClaimLine, createClaimLine, type OwnLimit, ownLimits, takeEach } from './claims.ts';

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
  of: OwnLimit['of'];
  limit: number;
}

interface Subject {
  limit: number;
  running: number;
  /** As the row has it. */
  reported: number;
  line: ClaimLine<undefined, boolean>;
}

/** The pause before a count that could not be reported is reported again. */
const retryMs = 1_000;

export function createConcurrency({ pool, processId }: { pool: Pick<Pool, 'query'>; processId: string }): Concurrency {
  const subjects = new Map<string, Subject>();

  const claim = async (id: string, subject: Subject, asks: readonly undefined[]): Promise<boolean[]> => {
    const { running, limit } = subject;
    try {
      const { rows } = await pool.query<{ granted: number }>({
        name: 'running_requests.claim',
        text: 'SELECT claim_running($1, $2, $3, $4, $5) AS granted',
        values: [id, processId, running, asks.length, limit],
      });
      const granted = rows[0]?.granted ?? 0;
      subject.reported = running + granted;
      subject.running += granted;
      return asks.map((_ask, index) => index < granted);
    } catch (error) {
      // Whether it was counted is unknown: the next report says how many run.
      subject.reported = Number.NaN;
      if (asks.length === 0) await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      throw error;
    }
  };

  const subjectOf = (id: string, limit: number): Subject => {
    const known = subjects.get(id);
    if (known !== undefined) {
      known.limit = limit;
      return known;
    }
    const subject: Subject = {
      limit,
      running: 0,
      reported: 0,
      line: createClaimLine({
        state: (asks) => claim(id, subject, asks),
        owes: () => subject.reported !== subject.running,
        atRest() {
          if (subject.running === 0) subjects.delete(id);
        },
      }),
    };
    subjects.set(id, subject);
    return subject;
  };

  const give = (subjects: readonly Subject[]): void => {
    for (const subject of subjects) {
      subject.running -= 1;
      void subject.line.run();
    }
  };

  const takeAll = async (limits: readonly OwnLimit[]): Promise<Running | ConcurrencyFull> => {
    const outcome = await takeEach(
      limits,
      async ({ of, id, limit }) => {
        const subject = subjectOf(id, limit);
        const full: ConcurrencyFull = { kind: 'full', of, limit };
        return (await subject.line.claim(undefined)) ? { taken: subject } : { refused: full };
      },
      give,
    );
    return 'refused' in outcome ? outcome.refused : { kind: 'running', give: () => give(outcome.taken) };
  };

  return {
    take(principal) {
      const limits = ownLimits(principal, 'maxConcurrent');
      return limits.length === 0 ? null : takeAll(limits);
    },
  };
}
