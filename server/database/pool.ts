import { type ClientBase, type CustomTypesConfig, Pool, types } from 'pg';

const bigint = 20;
const bigintArray = 1016;

// pg's own type for type numbers lists scalars only, though it has parsers for arrays too.
const builtIn = types.getTypeParser as (oid: number, format?: string) => (value: string) => unknown;
const parseArray = builtIn(bigintArray) as (text: string) => (string | null)[];

function bigints(text: string): (bigint | null)[] {
  return parseArray(text).map((item) => (item === null ? null : BigInt(item)));
}

/**
 * Money is `bigint`: a BIGINT must never pass through a floating-point number. Only the connections that ask for
 * these parsers have them; pg's global ones stay as every other user of pg expects them.
 */
export const bigintTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: string) => {
    if (format !== 'binary' && oid === bigint) return BigInt;
    if (format !== 'binary' && oid === bigintArray) return bigints;
    return builtIn(oid, format);
  }) as CustomTypesConfig['getTypeParser'],
};

/** Where unexpected but survivable things go. The connection's address never does: it may carry a password. */
export interface DatabaseLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What every connection of a pool starts with, e.g. `{ lock_timeout: '1s' }`. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * A connection pool. Sessions always run in UTC: Prisma's adapter takes every timestamp for UTC whatever its offset
 * says, and months begin in UTC. BIGINT arrives as `bigint`. Settings are sent as a query, because poolers refuse them as part of the connection.
 */
export function openPool(options: {
  url: string;
  /** Shown in `pg_stat_activity`. */
  name: string;
  max: number;
  settings?: SessionSettings;
  /** How long a query may take as seen from here: the last resort when the network swallows everything. */
  queryTimeoutMs?: number;
  /** How long a caller waits for a connection. */
  connectTimeoutMs?: number;
  log: DatabaseLog;
}): Pool {
  const settings = { timezone: 'UTC', ...options.settings };
  const pool = new Pool({
    connectionString: options.url,
    application_name: `steyg ${options.name}`,
    max: options.max,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    keepAlive: true,
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
    types: bigintTypes,
    // The pool waits for the promise and hands out no connection whose settings failed; its types know only `void`.
    onConnect: (client) => applySettings(client, settings) as unknown as void,
  });
  // An idle connection that breaks is replaced by the next query; without a listener it would end the process.
  pool.on('error', (error: Error & { code?: string }) => {
    // The server may be told to stop while our last goodbyes are still on their way to it.
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
