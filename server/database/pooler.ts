import { Client } from 'pg';
import { connecting } from './address.ts';

/**
 * Finds out whether a pooler (PgBouncer) hands connections on between transactions or statements. The money lane, the
 * listener, migrations and the schedule need sessions of their own: named statements, `LISTEN`, settings, locks.
 */

/** The pooler's mode does not fit. A retry does not help; the sentence is for the operator. */
export class PoolerRefused extends Error {
  override name = 'PoolerRefused';
}

const timeoutMs = 5_000;

export interface Addresses {
  /** `DATABASE_URL`: may be a pooler that hands connections on between transactions if the other one is not. */
  url: string;
  /** `DATABASE_DIRECT_URL`, or the same. */
  directUrl: string;
}

/** Throws `PoolerRefused` when the addresses cannot be worked with. */
export async function checkPoolers({ url, directUrl }: Addresses): Promise<void> {
  const isSame = url === directUrl;
  const kept = await whatIsKept(directUrl);
  const direct = isSame ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  if (kept === 'session') {
    if (!isSame && (await whatIsKept(url)) === 'statement')
      throw new PoolerRefused(sentences.statement('DATABASE_URL'));
    return;
  }
  throw new PoolerRefused(kept === 'statement' ? sentences.statement(direct) : sentences.transaction(direct));
}

const sentences = {
  statement: (variable: string): string =>
    `${variable} leads to a pooler in statement mode, in which there are no transactions, and money is moved by nothing else. Set pool_mode = transaction or session.`,
  transaction: (variable: string): string =>
    `${variable} leads to a pooler in transaction mode, which hands a connection to another client after each transaction. The money lane and LISTEN need sessions of their own: ${
      variable === 'DATABASE_URL'
        ? 'set DATABASE_DIRECT_URL to PostgreSQL itself (or to a pooler in session mode), or set pool_mode = session.'
        : 'it has to be PostgreSQL itself, or a pooler in session mode.'
    }`,
};

/** For how long a client has its connection to PostgreSQL for itself. */
async function whatIsKept(url: string): Promise<'session' | 'transaction' | 'statement'> {
  const [one, other] = [client(url), client(url)];
  try {
    await Promise.all([one.connect(), other.connect()]);
    const before = await backendOf(one);
    try {
      await other.query('BEGIN');
    } catch (error) {
      // A pooler's own error: PostgreSQL never refuses BEGIN.
      if (/statement pooling/i.test((error as Error).message)) return 'statement';
      throw error;
    }
    // The other client now occupies what is free: in transaction mode this may be what the first one had before.
    if ((await backendOf(other)) === before) return 'transaction';
    for (let i = 0; i < 4; i += 1) if ((await backendOf(one)) !== before) return 'transaction';
    await other.query('ROLLBACK');
    return 'session';
  } finally {
    await Promise.all([one, other].map((each) => each.end().catch(() => undefined)));
  }
}

function client(url: string): Client {
  const made = new Client({
    ...connecting(url),
    application_name: 'steyg start',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  made.on('error', () => undefined);
  return made;
}

async function backendOf(connection: Client): Promise<number> {
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}
