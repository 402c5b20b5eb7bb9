import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Pool } from 'pg';

/**
 * Throttles attempts by counters in the database, shared by all processes and safe across restarts. Subjects are stored
 * as digests only. Times are the database's.
 */
export interface Throttle {
  /** Allows `limit` attempts in each window. Returns null, or the seconds until the next one. */
  take(subject: string, limit: { attempts: number; windowS: number }): Promise<number | null>;
  /**
   * Allows a few attempts in a row, then one after a delay that doubles up to a bound: guessing becomes hopeless, and
   * no owner is locked out for good. Every attempt counts as failed until `forget` is called; so concurrent ones cannot
   * slip through together.
   */
  slow(subject: string, delay: { free: number; maxS: number }): Promise<number | null>;
  /** The attempt was right: its counter is reset. */
  forget(subject: string): Promise<void>;
  /** Drops expired counters. */
  sweep(): Promise<void>;
}

// The longest window and delay in use; older rows have no effect.
const keepS = 86_400;

export function createThrottle({ pool }: { pool: Pool }): Throttle {
  return {
    async take(subject, { attempts, windowS }) {
      const { rows } = await pool.query<{ count: number; wait: number }>(
        `INSERT INTO throttle AS t (subject, count, since, until) VALUES ($1, 1, now(), now() + make_interval(secs => $2))
         ON CONFLICT (subject) DO UPDATE SET
           count = CASE WHEN t.until <= now() THEN 1 ELSE t.count + 1 END,
           since = CASE WHEN t.until <= now() THEN now() ELSE t.since END,
           until = CASE WHEN t.until <= now() THEN excluded.until ELSE t.until END
         RETURNING count, extract(epoch FROM until - now())::float8 AS wait`,
        [digest(subject), windowS],
      );
      const row = rows[0];
      return row === undefined || row.count <= attempts ? null : wholeSeconds(row.wait);
    },
    async slow(subject, { free, maxS }) {
      // The row changes only when the attempt is allowed; otherwise the statement returns nothing.
      const { rows } = await pool.query(
        `INSERT INTO throttle AS t (subject, count, since, until) VALUES ($1, 1, now(), now())
         ON CONFLICT (subject) DO UPDATE SET
           count = CASE WHEN t.since < now() - make_interval(secs => $4) THEN 1 ELSE t.count + 1 END,
           since = now(),
           until = now() + make_interval(secs =>
             CASE WHEN t.count < $2 OR t.since < now() - make_interval(secs => $4) THEN 0
                  ELSE least(power(2, least(t.count - $2, 20)), $3) END)
         WHERE t.until <= now()
         RETURNING count`,
        [digest(subject), free, maxS, keepS],
      );
      if (rows.length > 0) return null;
      const waiting = await pool.query<{ wait: number }>(
        'SELECT extract(epoch FROM until - now())::float8 AS wait FROM throttle WHERE subject = $1',
        [digest(subject)],
      );
      return wholeSeconds(waiting.rows[0]?.wait ?? 0);
    },
    async forget(subject) {
      await pool.query('DELETE FROM throttle WHERE subject = $1', [digest(subject)]);
    },
    async sweep() {
      await pool.query('DELETE FROM throttle WHERE until < now() - make_interval(secs => $1)', [keepS]);
    },
  };
}

function digest(subject: string): Buffer {
  return createHash('sha256').update(subject).digest();
}

function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}

/**
 * The subject behind an address: one machine with IPv4, one network (/64) with IPv6, where machines have many
 * addresses.
 */
export function networkOf(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
