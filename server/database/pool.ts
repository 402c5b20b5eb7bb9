/** Connection pools: parsers that keep BIGINT exact, session settings, time-outs. */

import { Client, type ClientBase, type CustomTypesConfig, Pool, type QueryConfig, types } from 'pg';
import type { Log } from '../core/log.ts';
import { connecting } from './address.ts';

const bigint = 20;
const bigintArray = 1016;

// pg's own type for type ids lists scalars only, though it has parsers for arrays too.
const builtIn = types.getTypeParser as (oid: number, format?: string) => (value: string) => unknown;
const parseArray = builtIn(bigintArray) as (text: string) => (string | null)[];

function bigints(text: string): (bigint | null)[] {
  return parseArray(text).map((item) => (item === null ? null : BigInt(item)));
}

/** A pool or a connection. */
export type Queryable = Pick<Pool | ClientBase, 'query'>;

/**
 * Money is `bigint`: a BIGINT must never pass through a floating-point number. The parsers belong to single
 * connections; pg's global ones stay unchanged for its other users.
 */
export const bigintTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: string) => {
    if (format !== 'binary' && oid === bigint) return BigInt;
    if (format !== 'binary' && oid === bigintArray) return bigints;
    return builtIn(oid, format);
  }) as CustomTypesConfig['getTypeParser'],
};

/**
 * The logger of unexpected errors that the pool survives. The connection's address is never logged: it may carry a
 * password.
 */
export type DatabaseLog = Pick<Log, 'info' | 'warn'>;

/** Session settings of every connection, e.g. `{ lock_timeout: '1s' }`. */
export type SessionSettings = Readonly<Record<string, string>>;

/** A client whose connection others use between its transactions: a statement's name would be unknown, or taken. */
class SharedClient extends Client {
  constructor(...given: ConstructorParameters<typeof Client>) {
    super(...given);
    const query = this.query.bind(this) as (...all: unknown[]) => unknown;
    const unnamed = (what: unknown, ...rest: unknown[]): unknown =>
      query(isNamed(what) ? withoutName(what) : what, ...rest);
    this.query = unnamed as Client['query'];
  }
}

function isNamed(what: unknown): what is QueryConfig {
  return typeof what === 'object' && what !== null && 'name' in what && 'text' in what && !('submit' in what);
}

function withoutName({ name: _name, ...rest }: QueryConfig): QueryConfig {
  return rest;
}

/**
 * A connection pool. Sessions always run in UTC: Prisma's adapter reads every timestamp as UTC whatever its offset, and
 * months begin in UTC. BIGINT arrives as `bigint`. Settings are sent as a query, because poolers refuse them as
 * connection parameters; one in transaction mode keeps the time zone for each client, and no other setting.
 */
export function openPool(options: {
  url: string;
  /** Shown in `pg_stat_activity`. */
  name: string;
  max: number;
  settings?: SessionSettings;
  /** Whether a pooler may hand the connections on between transactions: then `settings` would be another client's. */
  isShared?: boolean;
  /** Client-side timeout of a query: the last resort when the network drops everything. */
  queryTimeoutMs?: number;
  /** Timeout of a caller's wait for a connection. */
  connectTimeoutMs?: number;
  log: DatabaseLog;
}): Pool {
  const settings = { timezone: 'UTC', ...(options.isShared === true ? {} : options.settings) };
  const pool = new Pool({
    ...connecting(options.url),
    application_name: `steyg ${options.name}`,
    max: options.max,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    keepAlive: true,
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
    types: bigintTypes,
    ...(options.isShared === true ? { Client: SharedClient } : {}),
    // The pool waits for the promise and never returns a connection whose settings failed; its types only know `void`.
    onConnect: (client) => applySettings(client, settings) as unknown as void,
  });
  // A broken idle connection is replaced by the next query; without a listener its error would end the process.
  pool.on('error', (error: Error & { code?: string }) => {
    // The server may be stopped while our last messages are still on their way to it.
    if (pool.ending) return;
    options.log.warn({ pool: options.name, code: error.code }, 'an idle database connection broke');
  });
  return pool;
}

/** Sets session settings with one query. */
export async function applySettings(client: ClientBase, settings: SessionSettings): Promise<void> {
  await client.query(
    'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting (name, value)',
    [Object.keys(settings), Object.values(settings)],
  );
}
