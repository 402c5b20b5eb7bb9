import type { Pool } from 'pg';
import type { Principal } from '../keys/keyring.ts';
import { describeError } from '../runtime/http.ts';

/**
 * Limits the requests per minute of keys and accounts, counted across processes. Two ways, by what a limit is for:
 *
 * - A limit that a key was given is exact. Requests are drawn from the database before they are admitted, many in one
 *   statement, and ahead of need while the limit is far. However many processes there are, no 60 seconds hold more; unused
 *   draws and the ring of 62 seconds may admit a little less.
 * - The service's own limits protect it, so they cost nothing until they are near. A process counts in memory, and shares
 *   its counts once a second from the moment that a subject has used a 32nd of its limit here. At worst, each further process
 *   adds a 32nd, and all of them what they admit within a second.
 */
export interface RequestRates {
  /** Counts one request. Null: it may go on. A promise only for a key with a limit of its own. */
  take(principal: Principal): RateLimited | null | Promise<RateLimited | null>;
  /** Counts a call that the vendor refused: it costs nothing, so its pace is all that bounds it. */
  chargeRefusedCall(principal: Principal): void;
  close(): Promise<void>;
}

/** Whose limit is reached, and when it has room again. */
export interface RateLimited {
  of: 'key' | 'account';
  /** Requests per minute. */
  limit: number;
  /** Seconds. */
  resetS: number;
}

/** Requests per minute, for keys and accounts that have no limit of their own. */
export interface RequestRateLimits {
  perKey: number;
  perAccount: number;
  /** Of an account that has nothing but trial budget, and of each of its keys. */
  trial: number;
}

/** Two seconds more than a minute, as in the database. */
const ringSeconds = 62;
/** The part of a limit that a process may admit before it shares its count. */
const unsharedShare = 1 / 32;
const shareEveryMs = 1_000;
/** A refused call counts for so many seconds of the pace: at most 60 of them a minute on a trial, 600 otherwise. */
const refusedCallSeconds = { trial: 1, paid: 0.1 };
/** From so many on, subjects that were idle for a minute are forgotten. */
const minSubjectsToForget = 10_000;
/** How long requests that were drawn ahead may be used. */
const drawnForMs = 1_000;
/** Below it, and above half of a limit, each request is drawn when it comes: what is drawn ahead and not used is lost. */
const leastLimitToDrawAhead = 640;

/** Requests of the last minute, one slot a second. */
interface Ring {
  slots: Uint32Array;
  second: number;
  sum: number;
}

interface Subject {
  own: Ring;
  /** Requests of other processes when the counts were shared last, and when that was. */
  others: number;
  sharedAt: number;
  unshared: number;
}

/** Requests of a key with a limit of its own, as this process draws them. */
interface Draws {
  waiting: ((limited: RateLimited | null) => void)[];
  failed: ((error: unknown) => void)[];
  isRunning: boolean;
  spare: number;
  spareUntil: number;
  fullUntil: number;
  /** Requests within the ring, as the latest draw found it. */
  total: number;
  /** Requests that came in the second before this one, and in it. */
  usedBefore: number;
  used: number;
  usedSecond: number;
}

export interface RequestRatesParts {
  pool: Pick<Pool, 'query'>;
  limits: RequestRateLimits;
  log: { warn(fields: object, text: string): void };
  /** Monotonic milliseconds. */
  now?: () => number;
}

export function createRequestRates({
  pool,
  limits,
  log,
  now = () => performance.now(),
}: RequestRatesParts): RequestRates {
  const subjects = new Map<string, Subject>();
  const draws = new Map<string, Draws>();
  /** Subjects whose counts are to be shared. */
  let near = new Map<string, Subject>();
  let timer: NodeJS.Timeout | null = null;
  let sharing: Promise<void> = Promise.resolve();
  let isClosed = false;
  let forgetAt = minSubjectsToForget;

  const subjectOf = (id: string): Subject => {
    let subject = subjects.get(id);
    if (subject === undefined) {
      if (subjects.size >= forgetAt) forgetIdle();
      subject = { own: emptyRing(), others: 0, sharedAt: Number.NEGATIVE_INFINITY, unshared: 0 };
      subjects.set(id, subject);
    }
    turn(subject.own, Math.floor(now() / 1_000));
    return subject;
  };

  const forgetIdle = (): void => {
    const second = Math.floor(now() / 1_000);
    for (const [id, { own }] of subjects) {
      turn(own, second);
      if (own.sum === 0) subjects.delete(id);
    }
    forgetAt = Math.max(minSubjectsToForget, subjects.size * 2);
    for (const [id, draw] of draws) if (!draw.isRunning && draw.spareUntil < now()) draws.delete(id);
  };

  /** Requests of other processes leave the minute too; until the next sharing they are taken to do so evenly. */
  const othersNow = ({ others, sharedAt }: Subject): number =>
    others === 0 ? 0 : Math.max(0, others * (1 - (now() - sharedAt) / 60_000));

  const share = async (): Promise<void> => {
    const shared = [...near].toSorted(([a], [b]) => (a < b ? -1 : 1));
    near = new Map();
    const amounts = shared.map(([, { unshared }]) => unshared);
    try {
      const { rows } = await pool.query<{ subject: string; total: number }>({
        name: 'request_rate.count',
        text: 'SELECT subject, total FROM count_requests($1, $2)',
        values: [shared.map(([id]) => id), amounts],
      });
      for (const [index, [, subject]] of shared.entries()) {
        subject.unshared -= amounts[index] ?? 0;
        subject.sharedAt = now();
        turn(subject.own, Math.floor(now() / 1_000));
        subject.others = Math.max(0, (rows[index]?.total ?? 0) - (subject.own.sum - subject.unshared));
      }
    } catch (error) {
      // They are shared with the next ones; without a database nothing is admitted anyway.
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
    const slot = subject.own.second % ringSeconds;
    subject.own.slots[slot] = (subject.own.slots[slot] ?? 0) + requests;
    subject.own.sum += requests;
    subject.unshared += requests;
    if (subject.own.sum >= limit * unsharedShare) shareSoon(id, subject);
  };

  /** By what this process knows. */
  const limitedBy = (of: RateLimited['of'], id: string, subject: Subject, limit: number): RateLimited | null => {
    const others = othersNow(subject);
    if (subject.own.sum + others < limit) return null;
    // What others had is perhaps over: the next try finds a fresh figure.
    if (others > 0) shareSoon(id, subject);
    return { of, limit, resetS: subject.own.sum === 0 ? 1 : secondsUntilRoom(subject.own) };
  };

  const limitsOf = ({ trial }: Principal): { key: number; account: number } =>
    trial ? { key: limits.trial, account: limits.trial } : { key: limits.perKey, account: limits.perAccount };

  const flight = async (keyId: string, limit: number, draw: Draws): Promise<void> => {
    const { waiting, failed } = draw;
    draw.waiting = [];
    draw.failed = [];
    const mayDrawAhead = limit >= leastLimitToDrawAhead && draw.total < limit / 2;
    const ahead = mayDrawAhead ? Math.min(draw.usedBefore, Math.floor(limit * unsharedShare)) : 0;
    const wanted = waiting.length + ahead;
    try {
      const { rows } = await pool.query<{ granted: number; total: number; freeIn: number | null }>({
        name: 'request_rate.draw',
        text: 'SELECT granted, total, free_in AS "freeIn" FROM draw_requests($1, $2, $3)',
        values: [keyId, limit, wanted],
      });
      const { granted = 0, total = limit, freeIn = 1 } = rows[0] ?? {};
      draw.total = total;
      const resetS = freeIn ?? 1;
      for (const [index, resolve] of waiting.entries()) resolve(index < granted ? null : { of: 'key', limit, resetS });
      draw.spare = Math.max(0, granted - waiting.length);
      draw.spareUntil = now() + drawnForMs;
      // Nothing leaves the ring before, so nothing needs to be asked before.
      if (granted < waiting.length) draw.fullUntil = now() + (resetS - 1) * 1_000;
    } catch (error) {
      for (const reject of failed) reject(error);
    }
  };

  const run = async (keyId: string, limit: number, draw: Draws): Promise<void> => {
    draw.isRunning = true;
    while (draw.waiting.length > 0) await flight(keyId, limit, draw);
    draw.isRunning = false;
  };

  const draw = (keyId: string, limit: number): RateLimited | null | Promise<RateLimited | null> => {
    let state = draws.get(keyId);
    if (state === undefined) {
      state = {
        waiting: [],
        failed: [],
        isRunning: false,
        spare: 0,
        spareUntil: 0,
        fullUntil: 0,
        total: 0,
        usedBefore: 0,
        used: 0,
        usedSecond: 0,
      };
      draws.set(keyId, state);
    }
    const known = state;
    const second = Math.floor(now() / 1_000);
    if (known.usedSecond !== second) {
      known.usedBefore = known.usedSecond === second - 1 ? known.used : 0;
      [known.used, known.usedSecond] = [0, second];
    }
    known.used += 1;
    if (known.spare > 0 && now() < known.spareUntil) {
      known.spare -= 1;
      return null;
    }
    if (now() < known.fullUntil) {
      return { of: 'key', limit, resetS: Math.ceil((known.fullUntil - now()) / 1_000) + 1 };
    }
    return new Promise((resolve, reject) => {
      known.waiting.push(resolve);
      known.failed.push(reject);
      if (!known.isRunning) void run(keyId, limit, known);
    });
  };

  return {
    take(principal) {
      const { accountId, keyId, requestsPerMinute } = principal;
      const { key, account } = limitsOf(principal);
      const [ofAccount, ofKey] = [subjectOf(accountId), subjectOf(keyId)];
      const limited = limitedBy('account', accountId, ofAccount, account) ?? limitedBy('key', keyId, ofKey, key);
      if (limited !== null) return limited;
      const admitted = (): void => add(accountId, ofAccount, 1, account);
      if (requestsPerMinute === null) {
        admitted();
        add(keyId, ofKey, 1, key);
        return null;
      }
      // The key's own count is kept by its draws alone, which write to the same row.
      const drawn = draw(keyId, requestsPerMinute);
      if (drawn === null) admitted();
      if (!(drawn instanceof Promise)) return drawn;
      return drawn.then((refused) => {
        if (refused === null) admitted();
        return refused;
      });
    },
    chargeRefusedCall(principal) {
      const { accountId, keyId, trial, requestsPerMinute } = principal;
      const { key, account } = limitsOf(principal);
      const seconds = trial ? refusedCallSeconds.trial : refusedCallSeconds.paid;
      add(accountId, subjectOf(accountId), Math.ceil((account / 60) * seconds) - 1, account);
      if (requestsPerMinute === null) add(keyId, subjectOf(keyId), Math.ceil((key / 60) * seconds) - 1, key);
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await sharing;
    },
  };
}

function emptyRing(): Ring {
  return { slots: new Uint32Array(ringSeconds), second: 0, sum: 0 };
}

/** Forgets the seconds that are over. */
function turn(ring: Ring, second: number): void {
  for (let passed = Math.max(ring.second + 1, second - ringSeconds + 1); passed <= second; passed += 1) {
    const slot = passed % ringSeconds;
    ring.sum -= ring.slots[slot] ?? 0;
    ring.slots[slot] = 0;
  }
  ring.second = Math.max(ring.second, second);
}

/** Until the oldest counted second is over. */
function secondsUntilRoom({ slots, second }: Ring): number {
  for (let age = ringSeconds - 1; age > 0; age -= 1) {
    if ((slots[(second - age + ringSeconds) % ringSeconds] ?? 0) > 0) return ringSeconds - age;
  }
  return ringSeconds;
}
