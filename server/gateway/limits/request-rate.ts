import type { Pool } from 'pg';
import type { Log } from '../../core/log.ts';
import type { Principal } from '../../keys/keyring.ts';
import { createRequestCounts, type Subject } from './request-counts.ts';
import { createRequestDraws, type RateLimited } from './request-draws.ts';
import { secondsUntilRoom } from './request-ring.ts';

/**
 * Limits the requests per minute of keys and accounts, counted across processes. Two ways, by what a limit is for:
 *
 * - A limit that a key or an account was given is exact. Requests are drawn from the database before they are admitted, many in one
 *   statement, and ahead of need while the limit is far. However many processes there are, no 60 seconds hold more; unused
 *   draws and the ring of 62 seconds may admit a little less.
 * - The service's own limits protect it, so they cost nothing until they are near. A process counts in memory, and shares
 *   its counts once a second from the moment that a subject has used a 32nd of its limit here. At worst, each further process
 *   adds a 32nd, and all of them what they admit within a second.
 */
export interface RequestRates {
  /** Counts one request. Null: it may proceed. A promise only where a key or its account has its own limit. */
  take(principal: Principal): RateLimited | null | Promise<RateLimited | null>;
  /** Counts a call that the vendor refused: it costs nothing, so only the request rate bounds it. */
  chargeRefusedCall(principal: Principal): void;
  close(): Promise<void>;
}

/** Requests per minute, for keys and accounts that have no limit of their own. */
export interface RequestRateLimits {
  perKey: number;
  perAccount: number;
  /** Of an account that has only trial budget, and of each of its keys. */
  trial: number;
}

/**
 * Seconds of the request rate that a refused call uses: at most 60 refused calls a minute on a trial, 600 otherwise.
 */
const refusedCallSeconds = { trial: 1, paid: 0.1 };
export interface RequestRatesParts {
  pool: Pick<Pool, 'query'>;
  limits: RequestRateLimits;
  log: Pick<Log, 'warn'>;
  /** Monotonic milliseconds. */
  now?: () => number;
}

export function createRequestRates({
  pool,
  limits,
  log,
  now = () => performance.now(),
}: RequestRatesParts): RequestRates {
  const counts = createRequestCounts({ pool, log, now });
  const draws = createRequestDraws({ pool, now });

  /** Checks a limit by this process's counts. */
  const limitedBy = (of: RateLimited['of'], id: string, subject: Subject, limit: number): RateLimited | null => {
    const others = counts.others(subject);
    if (subject.own.sum + others < limit) return null;
    // The other processes' counts may be outdated: the next request finds fresh ones.
    if (others > 0) counts.shareSoon(id, subject);
    return { of, limit, resetS: subject.own.sum === 0 ? 1 : secondsUntilRoom(subject.own) };
  };

  /** Draws for the account what may have been drawn for the key, which has its request again if the account has none. */
  const drawBoth = async (of: {
    drawn: RateLimited | null | Promise<RateLimited | null>;
    keyId: string;
    accountId: string;
    limit: number;
  }): Promise<RateLimited | null> => {
    const refused = await of.drawn;
    if (refused !== null) return refused;
    const limited = await draws.draw('account', of.accountId, of.limit);
    if (limited !== null) draws.giveBack(of.keyId);
    return limited;
  };

  const limitsOf = ({ trial }: Principal): { key: number; account: number } =>
    trial ? { key: limits.trial, account: limits.trial } : { key: limits.perKey, account: limits.perAccount };

  return {
    take(principal) {
      const { accountId, keyId, requestsPerMinute } = principal;
      const ofAll = principal.account?.requestsPerMinute ?? null;
      const { key, account } = limitsOf(principal);
      const [ofAccount, ofKey] = [counts.of(accountId), counts.of(keyId)];
      const limited = limitedBy('account', accountId, ofAccount, account) ?? limitedBy('key', keyId, ofKey, key);
      if (limited !== null) return limited;
      // The draws keep their subject's own count, in the same row.
      const admitted = (): null => {
        if (ofAll === null) counts.add(accountId, ofAccount, 1, account);
        if (requestsPerMinute === null) counts.add(keyId, ofKey, 1, key);
        return null;
      };
      if (requestsPerMinute === null && ofAll === null) return admitted();
      const drawn = requestsPerMinute === null ? null : draws.draw('key', keyId, requestsPerMinute);
      if (ofAll === null)
        return drawn instanceof Promise ? drawn.then((refused) => refused ?? admitted()) : (drawn ?? admitted());
      return drawBoth({ drawn, keyId, accountId, limit: ofAll }).then((refused) => refused ?? admitted());
    },
    chargeRefusedCall(principal) {
      const { accountId, keyId, trial, requestsPerMinute } = principal;
      const { key, account } = limitsOf(principal);
      const seconds = trial ? refusedCallSeconds.trial : refusedCallSeconds.paid;
      counts.add(accountId, counts.of(accountId), Math.ceil((account / 60) * seconds) - 1, account);
      if (requestsPerMinute === null) counts.add(keyId, counts.of(keyId), Math.ceil((key / 60) * seconds) - 1, key);
    },
    close: () => counts.close(),
  };
}
