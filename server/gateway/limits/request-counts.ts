import type { Pool } from 'pg';
import type { Log } from '../../core/log.ts';
import { describeError } from '../../runtime/http.ts';
import { countRequests, emptyRing, type Ring, turn } from './request-ring.ts';

/** Counts requests in memory, and shares the counts of subjects near their limits among processes. */
export interface RequestCounts {
  /** The counts of a key or an account, as of this second. */
  of(id: string): Subject;
  /** Known requests of other processes within the minute. */
  others(subject: Subject): number;
  add(id: string, subject: Subject, requests: number, limit: number): void;
  /** Shares the count within a second, and reads the other processes' counts. */
  shareSoon(id: string, subject: Subject): void;
  close(): Promise<void>;
}

/** The part of a limit that a process may admit before it shares its count. */
const unsharedShare = 1 / 32;
const shareEveryMs = 1_000;
/** Above this number, subjects that were idle for a minute are removed. */
const minSubjectsToForget = 10_000;

export interface Subject {
  own: Ring;
  /** Requests of other processes at the last sharing, and its moment. */
  others: number;
  sharedAt: number;
  unshared: number;
}

export interface RequestCountsParts {
  pool: Pick<Pool, 'query'>;
  log: Pick<Log, 'warn'>;
  /** Monotonic milliseconds. */
  now: () => number;
}

export function createRequestCounts({ pool, log, now }: RequestCountsParts): RequestCounts {
  const subjects = new Map<string, Subject>();
  /** Subjects whose counts are to be shared. */
  let near = new Map<string, Subject>();
  let timer: NodeJS.Timeout | null = null;
  let sharing: Promise<void> = Promise.resolve();
  let isClosed = false;
  let forgetAt = minSubjectsToForget;

  /** Counts that have left the minute are no longer shared. */
  const turnOn = (subject: Subject): void => {
    turn(subject.own, Math.floor(now() / 1_000));
    subject.unshared = Math.min(subject.unshared, subject.own.sum);
  };

  const subjectOf = (id: string): Subject => {
    let subject = subjects.get(id);
    if (subject === undefined) {
      if (subjects.size >= forgetAt) forgetIdle();
      subject = { own: emptyRing(), others: 0, sharedAt: Number.NEGATIVE_INFINITY, unshared: 0 };
      subjects.set(id, subject);
    }
    turnOn(subject);
    return subject;
  };

  const forgetIdle = (): void => {
    for (const [id, subject] of subjects) {
      turnOn(subject);
      if (subject.own.sum === 0) subjects.delete(id);
    }
    forgetAt = Math.max(minSubjectsToForget, subjects.size * 2);
  };

  /** Requests of other processes leave the minute too; until the next sharing, evenly by assumption. */
  const othersNow = ({ others, sharedAt }: Subject): number =>
    others === 0 ? 0 : Math.max(0, others * (1 - (now() - sharedAt) / 60_000));

  const share = async (): Promise<void> => {
    const shared = [...near].toSorted(([a], [b]) => (a < b ? -1 : 1));
    near = new Map();
    const amounts = shared.map(([, subject]) => {
      turnOn(subject);
      return subject.unshared;
    });
    try {
      const { rows } = await pool.query<{ subject: string; total: number }>({
        name: 'request_rate.count',
        text: 'SELECT subject, total FROM count_requests($1, $2)',
        values: [shared.map(([id]) => id), amounts],
      });
      for (const [index, [, subject]] of shared.entries()) {
        subject.unshared -= amounts[index] ?? 0;
        subject.sharedAt = now();
        turnOn(subject);
        subject.others = Math.max(0, (rows[index]?.total ?? 0) - (subject.own.sum - subject.unshared));
      }
    } catch (error) {
      // The next sharing includes them; without a database nothing is admitted anyway.
      log.warn(describeError(error), 'request counts could not be shared among processes');
    }
  };

  const shareAndGoOn = async (): Promise<void> => {
    await share();
    timer = null;
    const [next] = near;
    if (next !== undefined) shareSoon(...next);
  };

  const shareSoon = (id: string, subject: Subject): void => {
    near.set(id, subject);
    if (timer !== null || isClosed) return;
    timer = setTimeout(() => {
      sharing = shareAndGoOn();
    }, shareEveryMs);
    timer.unref();
  };

  const add = (id: string, subject: Subject, requests: number, limit: number): void => {
    countRequests(subject.own, requests);
    subject.unshared += requests;
    if (subject.own.sum >= limit * unsharedShare) shareSoon(id, subject);
  };

  return {
    of: subjectOf,
    others: othersNow,
    add,
    shareSoon,
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await sharing;
    },
  };
}
